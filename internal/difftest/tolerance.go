package difftest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
)

// Tolerance is how far a number of the compiled program may be from the evaluator's, in relation to the largest of its array. Integers,
// predicates and everything that only moves data are compared bit by bit.
//
// The evaluator keeps sums wide and rounds each instruction's result once; the compiled program adds float32 in another order, and may
// keep a value wide from one fused instruction to the next. With u half an ulp, a value of d roundings is off by d·u, and a tree sum of n
// terms by log2(n)·u times their magnitudes. The 64 roundings allowed for f32 and f64 cover a few dozen instructions over sums of
// thousands of terms; narrow types round after each instruction on both sides, so theirs is less. What multiplies errors, a
// cancellation or a step, does not fit and is judged by [illConditioned].
func Tolerance(t hlo.PrimitiveType) float64 {
	switch t.ComponentType() {
	case hlo.F64:
		return 64 * 0x1p-53
	case hlo.F32:
		return 64 * 0x1p-24
	case hlo.F16:
		return 4 * 0x1p-11
	case hlo.BF16:
		return 4 * 0x1p-8
	}
	if t.IsFloat() {
		return 0.25 // an ulp either way of what has two bits of mantissa
	}
	return 0
}

// widened is the largest tolerance of a type that m converts to a wider floating-point type: the result is no better than what it was made of.
func widened(m hlo.Module) (worst float64) {
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if in.Opcode() == hlo.OpConvert && in.Shape().Type().IsFloat() {
				worst = max(worst, Tolerance(in.OperandInstr(0).Shape().Type()))
			}
		}
	}
	return worst
}

// differ says how got differs from want beyond the tolerance of its type, or beyond atLeast if that is more; or nothing.
func differ(got, want *hlo.Literal, atLeast float64) error {
	t := want.Shape().Type()
	switch {
	case !want.Shape().IsArray() || bytes.Equal(got.Bytes(), want.Bytes()):
		return nil
	case !t.IsFloat() && !t.IsComplex():
		d := arrays.Compare(got, want, 0, 0)
		if d.Bad == 0 {
			d.Bad = 1 // beyond the precision of float64
		}
		return fmt.Errorf("%v", d)
	}
	rtol := max(Tolerance(t), atLeast)
	if d := arrays.Compare(got, want, rtol, max(rtol*largest(want), denormal(t))); d.Bad > 0 {
		return fmt.Errorf("%v", d)
	}
	return nil
}

// denormal is a few steps between the smallest numbers of a type, where no relative tolerance holds.
func denormal(t hlo.PrimitiveType) float64 {
	switch t.ComponentType() {
	case hlo.F32:
		return 0x1p-143
	case hlo.BF16:
		return 0x1p-131
	case hlo.F16:
		return 0x1p-22
	}
	return 0
}

// largest is the largest finite magnitude.
func largest(l *hlo.Literal) float64 {
	zeros, err := hlo.NewLiteral(l.Shape(), make([]byte, len(l.Bytes())))
	if err != nil {
		return 0
	}
	return arrays.Compare(l, zeros, 0, 0).MaxAbs
}

// illConditioned reports whether the difference of got from want is what the program makes of noise: moved is the evaluator's answer to
// inputs, or constants, that were moved by some ulps. A float may be as far off as 64 ulps move it (64 roundings, as above); an integer may
// be off if any of its array moved by one, since that can only be a rounded float that crossed a step.
func illConditioned(got, want, moved *hlo.Literal, ulps float64) bool {
	t := want.Shape().Type()
	if !t.IsFloat() && !t.IsComplex() {
		return ulps == 1 && !bytes.Equal(want.Bytes(), moved.Bytes())
	}
	shift := arrays.Compare(moved, want, 0, 0)
	return arrays.Compare(got, want, 0, 64/ulps*shift.MaxAbs).Bad == 0
}

// moveConstants is m with every other constant moved. Zeros and infinities stay: they are what sums and maxima begin with, and exact.
func moveConstants(m hlo.Module, half uint64, ulps uint16) hlo.Module {
	e := m.Edit()
	n := half
	for c := range m.Computations() {
		for in := range c.Instructions() {
			l := in.Literal()
			if l == nil || !l.Shape().IsArray() || !l.Shape().Type().IsFloat() {
				continue
			}
			if x := largest(l); x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
				continue
			}
			if n++; n%2 == 0 {
				e.Computation(c.ID()).Instr(in.ID()).SetAttrs(&hlo.ConstantAttrs{Literal: move(move(l, 0, ulps), 1, ulps)})
			}
		}
	}
	return e.Freeze()
}

// move changes one half of the numbers, 0 or 1, by a power of two of ulps. Which half a number is in does not follow the axes of its array: if it
// did, a sum along one might see nothing move.
func move(l *hlo.Literal, half uint64, ulps uint16) *hlo.Literal {
	s := l.Shape()
	switch {
	case s.IsTuple():
		parts := make([]*hlo.Literal, l.NumParts())
		for i := range parts {
			parts[i] = move(l.Part(i), half, ulps)
		}
		return hlo.NewTupleLiteral(parts...)
	case !s.IsArray() || !s.Type().IsFloat() && !s.Type().IsComplex():
		return l
	}
	data := bytes.Clone(l.Bytes())
	size := s.Type().ComponentType().ByteSize()
	for i := 0; i+size <= len(data); i += size {
		if mixed := uint64(i/size+1) * 0x9E3779B97F4A7C15; (mixed^mixed>>31)>>40&1 != half {
			continue
		}
		switch b := data[i:]; size {
		case 8:
			binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)^uint64(ulps))
		case 4:
			binary.LittleEndian.PutUint32(b, binary.LittleEndian.Uint32(b)^uint32(ulps))
		case 2:
			binary.LittleEndian.PutUint16(b, binary.LittleEndian.Uint16(b)^ulps)
		}
	}
	moved, err := hlo.NewLiteral(s, data)
	if err != nil {
		return l
	}
	return moved
}
