package tile

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/native"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// isSplit reports whether the code has the complex numbers of a register as their parts.
func (w *nativeWriter) isSplit(reg int) bool { return w.imaginary != nil && w.p.pairs[reg] }

func (w *nativeWriter) setParts(reg int, re, im native.Value) {
	w.set(reg, re)
	w.imaginary[reg] = im
}

func (w *nativeWriter) constant(s *splat) {
	v, truth := s.value[:w.p.widths[s.reg]], w.p.truth[s.reg]
	if w.isSplit(s.reg) {
		half := len(v) / 2
		w.setParts(s.reg, w.Constant(v[:half], false), w.Constant(v[half:], false))
	} else {
		w.set(s.reg, w.Constant(v, truth))
	}
}

func (w *nativeWriter) store(reg int, convert vectors.Name) {
	if w.isSplit(reg) {
		w.StorePair(w.p.widths[reg]/2, w.regs[reg], w.imaginary[reg])
	} else {
		w.Store(w.regs[reg], convert)
	}
}

// hasParts reports whether a step computes complex numbers, or something of them.
func (w *nativeWriter) hasParts(s *step, arity int) bool {
	is := w.isSplit(s.d)
	for _, r := range []int{s.a, s.b, s.c}[:arity] {
		is = is || w.isSplit(r)
	}
	return is
}

// partType is the type of the parts of the complex numbers that a step computes, or computes of.
func (w *nativeWriter) partType(s *step) hlo.PrimitiveType {
	for _, r := range []int{s.d, s.a, s.b} {
		if w.isSplit(r) && w.p.widths[r] == hlo.C64.ByteSize() {
			return hlo.F32
		}
	}
	return hlo.F64
}

// onParts writes a step on parts of complex numbers. It reports false for ops that are left to the loops.
func (w *nativeWriter) onParts(s *step) bool {
	re, im, part := w.regs, w.imaginary, w.partType(s)
	both := func(name vectors.Name, args func(parts []native.Value) []native.Value) bool {
		w.setParts(s.d, w.Op(name, false, args(re)...), w.Op(name, false, args(im)...))
		return true
	}
	unary := func(x []native.Value) []native.Value { return []native.Value{x[s.a]} }
	binary := func(x []native.Value) []native.Value { return []native.Value{x[s.a], x[s.b]} }
	switch op := s.vector.Op; op {
	case hlo.OpNegate:
		return both(vectorName(op, part), unary)
	case hlo.OpAdd, hlo.OpSubtract:
		return both(vectorName(op, part), binary)
	case hlo.OpSelect:
		return both(vectors.Of(op, vectors.Sized(part.ByteSize())), func(x []native.Value) []native.Value {
			return []native.Value{re[s.a], x[s.b], x[s.c]}
		})
	case hlo.OpMultiply, hlo.OpDivide:
		args := []native.Value{re[s.a], im[s.a], re[s.b], im[s.b]}
		w.setParts(s.d, w.Op(s.vector.In(vectors.RealPart), false, args...), w.Op(s.vector.In(vectors.ImaginaryPart), false, args...))
	case hlo.OpAbs:
		w.set(s.d, w.Op(s.vector.In(vectors.RealPart), false, re[s.a], im[s.a]))
	case hlo.OpReal:
		w.set(s.d, re[s.a])
	case hlo.OpImag:
		w.set(s.d, im[s.a])
	case hlo.OpComplex:
		w.setParts(s.d, re[s.a], re[s.b])
	case hlo.OpConvert:
		if s.vector.Types[0] != part {
			return false
		}
		w.setParts(s.d, re[s.a], w.Constant(make([]byte, part.ByteSize()), false))
	case hlo.OpCompare:
		name := compareName(part, map[vectors.Mode]hlo.Direction{vectors.Equal: hlo.EQ, vectors.NotEqual: hlo.NE}[s.vector.Mode], hlo.CompareFloat)
		joins := map[vectors.Mode]hlo.Opcode{vectors.Equal: hlo.OpAnd, vectors.NotEqual: hlo.OpOr}[s.vector.Mode]
		w.set(s.d, w.Op(vectors.Of(joins, hlo.U8), true, w.Op(name, true, binary(re)...), w.Op(name, true, binary(im)...)))
	default:
		return false
	}
	return true
}
