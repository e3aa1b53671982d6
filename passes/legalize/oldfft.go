package legalize

import (
	"encoding/binary"
	"math"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

// transform is what the descriptor of a Fourier transform says, a FlatBuffer in the first operand. The fields of the two calls differ in number:
//
//	ducc_fft          type of elements, kind, shape, strides, strides, axes, forward, scale
//	dynamic_ducc_fft  rank, type of elements, kind, axes, forward; what is missing are operands
type transform struct {
	kind    byte // of elements: complex to complex, complex to real, real to complex
	axes    []uint32
	forward bool
	scale   float64 // by which results are multiplied, if that is known; operand 5 otherwise
	known   bool
}

const (
	complexToComplex = iota
	complexToReal
	realToComplex
)

// newTransform is the fft that a call stands for.
func newTransform(in hlo.Instruction, target string) (rewriting, bool) {
	d, ok := descriptorOf(in, target)
	if !ok || !in.Shape().IsArray() || !in.OperandInstr(1).Shape().IsArray() {
		return nil, false
	}
	long, a := in.OperandInstr(1).Shape(), &hlo.FFTAttrs{Type: hlo.FFT} // of its operand and its result, the one with all elements
	points := 1.0
	switch {
	case d.kind == complexToReal && !d.forward:
		a.Type, long = hlo.IRFFT, in.Shape()
	case d.kind == realToComplex && d.forward:
		a.Type = hlo.RFFT
	case d.kind == complexToComplex && !d.forward:
		a.Type = hlo.IFFT
	case d.kind != complexToComplex:
		return nil, false
	}
	if len(d.axes) == 0 || len(d.axes) > long.Rank() {
		return nil, false
	}
	for i, axis := range d.axes { // fft is along the last ones
		if int64(axis) != int64(long.Rank()-len(d.axes)+i) {
			return nil, false
		}
		a.Length = append(a.Length, long.Dim(int(axis)))
		points *= float64(long.Dim(int(axis)))
	}
	scale := 1.0 // which fft has itself
	if !d.forward {
		scale /= points
	}
	return func(c hlo.CompEdit) error {
		now, s := c.At(in.ID()), in.Shape() // operands may have been written anew
		at := emit.Before(c, now)
		v := at.Spec(hlo.InstrSpec{Opcode: hlo.OpFft, Shape: s, Operands: []hlo.InstrID{now.Operand(1)}, Attrs: a, Common: emit.HandedOn(in.Common())})
		var factor hlo.InstrID
		switch {
		case !d.known:
			factor = at.Binary(hlo.OpDivide, at.Reshape(now.Operand(5)), at.Float(hlo.F64, scale))
		case math.Abs(d.scale-scale) > 1e-9*scale:
			factor = at.Float(hlo.F64, d.scale/scale)
		default:
			return emit.Forward(c, in.ID(), v)
		}
		factors := at.OpOf(hlo.OpBroadcast, s, &hlo.BroadcastAttrs{}, at.Convert(factor, s.Type()))
		return emit.Forward(c, in.ID(), at.OpOf(hlo.OpMultiply, s, nil, v, factors))
	}, true
}

func descriptorOf(in hlo.Instruction, target string) (d transform, ok bool) {
	constant := func(i int) *hlo.Literal {
		if c := in.OperandInstr(i); c.Opcode() == hlo.OpConstant && !hlo.AttrsOf[hlo.ConstantAttrs](c).Literal.IsElided() {
			return hlo.AttrsOf[hlo.ConstantAttrs](c).Literal
		}
		return nil
	}
	var kind, axes, forward int
	switch {
	case target == "ducc_fft" && in.NumOperands() == 2:
		kind, axes, forward = 1, 5, 6
	case target == "dynamic_ducc_fft" && (in.NumOperands() == 7 || in.NumOperands() == 6): // the last one is the shape of the result, if that is not known
		kind, axes, forward = 2, 3, 4
		if s := in.OperandInstr(5).Shape(); s.Type() != hlo.F64 || s.NumElements() != 1 {
			return d, false
		}
		if scale := constant(5); scale != nil {
			d.scale, d.known = math.Float64frombits(binary.LittleEndian.Uint64(scale.Bytes())), true
		}
	default:
		return d, false
	}
	l := constant(0)
	if l == nil || l.Shape().Type() != hlo.U8 {
		return d, false
	}
	t, ok := flatTableOf(l.Bytes())
	if !ok {
		return d, false
	}
	d.kind, d.forward = t.byte(kind), t.byte(forward) != 0
	d.axes, ok = t.numbers(axes)
	if target == "ducc_fft" {
		d.scale, d.known = t.float(7), true
	}
	return d, ok
}

// flatTable is a table of a FlatBuffer. What lies outside of it reads as zero, as absent fields do.
type flatTable struct {
	b  []byte
	at int
}

func flatTableOf(b []byte) (flatTable, bool) {
	t := flatTable{b, 0}
	t.at = int(t.uint32(0))
	return t, t.at > 0 && t.at < len(b)
}

func (t flatTable) uint32(at int) uint32 {
	if at < 0 || at > len(t.b)-4 {
		return 0
	}
	return binary.LittleEndian.Uint32(t.b[at:])
}

// field is where field i lies, and 0 if it is absent. In front of the table stands how far back the list of its fields is.
func (t flatTable) field(i int) int {
	list := t.at - int(int32(t.uint32(t.at)))
	entry := list + 4 + 2*i
	if list < 0 || entry > len(t.b)-2 || entry < 0 || int(binary.LittleEndian.Uint16(t.b[list:])) < 4+2*i+2 {
		return 0
	}
	if offset := int(binary.LittleEndian.Uint16(t.b[entry:])); offset > 0 {
		return t.at + offset
	}
	return 0
}

func (t flatTable) byte(i int) byte {
	if at := t.field(i); at > 0 && at < len(t.b) {
		return t.b[at]
	}
	return 0
}

func (t flatTable) float(i int) float64 {
	if at := t.field(i); at > 0 && at <= len(t.b)-8 {
		return math.Float64frombits(binary.LittleEndian.Uint64(t.b[at:]))
	}
	return 0
}

// numbers is a vector of 32-bit numbers.
func (t flatTable) numbers(i int) ([]uint32, bool) {
	at := t.field(i)
	if at == 0 {
		return nil, false
	}
	at += int(t.uint32(at))
	n := int64(t.uint32(at))
	if at < 0 || int64(at)+4+4*n > int64(len(t.b)) {
		return nil, false
	}
	v := make([]uint32, n)
	for j := range v {
		v[j] = t.uint32(at + 4 + 4*j)
	}
	return v, true
}
