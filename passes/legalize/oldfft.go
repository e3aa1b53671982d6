package legalize

import (
	"encoding/binary"
	"math"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/flatbuf"
	"github.com/gohalo/halo/passes/emit"
)

// transform is what the descriptor of a Fourier transform says, a FlatBuffer in the first operand: rank, type of elements, kind, axes, direction.
type transform struct {
	kind    int64 // of elements: complex to complex, complex to real, real to complex
	axes    []int64
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
func newTransform(in hlo.Instruction) (rewriting, bool) {
	d, ok := descriptorOf(in)
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
		if axis != int64(long.Rank()-len(d.axes)+i) {
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

func descriptorOf(in hlo.Instruction) (d transform, ok bool) {
	constant := func(i int) *hlo.Literal {
		if c := in.OperandInstr(i); c.Opcode() == hlo.OpConstant && !hlo.AttrsOf[hlo.ConstantAttrs](c).Literal.IsElided() {
			return hlo.AttrsOf[hlo.ConstantAttrs](c).Literal
		}
		return nil
	}
	if n := in.NumOperands(); n != 6 && n != 7 { // the last one is the shape of the result, if that is not known
		return d, false
	}
	l, scale := constant(0), in.OperandInstr(5).Shape()
	if l == nil || l.Shape().Type() != hlo.U8 || scale.Type() != hlo.F64 || scale.NumElements() != 1 {
		return d, false
	}
	const kind, axes, forward = 2, 3, 4 // slots
	d, err := flatbuf.Read(l.Bytes(), func(t flatbuf.Table) transform {
		return transform{kind: t.Number(kind, 1), axes: t.Numbers(axes, 4), forward: t.Number(forward, 1) != 0}
	})
	if scale := constant(5); scale != nil {
		d.scale, d.known = math.Float64frombits(binary.LittleEndian.Uint64(scale.Bytes())), true
	}
	return d, err == nil
}
