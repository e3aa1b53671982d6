package types

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// SubByteCollectiveNormalization sends bytes in the place of packed elements.
var SubByteCollectiveNormalization = &pass.Pass{
	Name: "sub-byte-collective-normalization",
	Doc: `send the bytes of arrays whose elements are packed into them

A collective that moves one array of packed 4-bit or 2-bit integers moves bytes instead: the dimension that varies fastest in memory is split into bytes and what is in
one. That dimension must hold whole bytes on every device, and if the collective splits it, whole bytes in each part.`,
	Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		for in := range m.MustComputation(c.ID()).Instructions() {
			if !movesBytes(in) {
				continue
			}
			per := int64(8 / in.Shape().Type().Bits())
			fast := fastest(in.Shape())
			x := in.OperandInstr(0)
			if fastest(x.Shape()) != fast || x.Shape().Dim(fast)%per != 0 || in.Shape().Dim(fast)%per != 0 || splitsBytes(in, fast, per) || !ctx.Spend("bytes") {
				continue
			}
			at, spec := emit.Before(c, c.At(in.ID())), emit.Again(c.At(in.ID()))
			from := at.OpOf(hlo.OpBitcast, inBytes(x.Shape(), fast, per), nil, spec.Operands[0])
			spec.Operands = []hlo.InstrID{at.OpOf(hlo.OpBitcastConvert, asBytes(x.Shape(), fast, per), nil, from)}
			shape := spec.Shape
			spec.Shape = asBytes(shape, fast, per)
			back := at.OpOf(hlo.OpBitcastConvert, inBytes(shape, fast, per), nil, at.Spec(spec))
			if err := emit.Replace(c, in.ID(), at.OpOf(hlo.OpBitcast, shape, nil, back)); err != nil {
				return err
			}
			ctx.Count("collectives", 1)
		}
		return nil
	},
}

// movesBytes reports whether a collective moves one packed array without computing.
func movesBytes(in hlo.Instruction) bool {
	switch in.Opcode() {
	case hlo.OpAllGather, hlo.OpAllToAll, hlo.OpCollectiveBroadcast, hlo.OpCollectivePermute:
	default:
		return false
	}
	if in.NumOperands() != 1 || !in.Shape().IsArray() || !in.Shape().IsStatic() || in.Shape().Rank() == 0 || !in.Shape().Type().IsInteger() {
		return false
	}
	l, ok := in.Shape().Layout()
	o, okO := in.OperandInstr(0).Shape().Layout()
	bits := int64(in.Shape().Type().Bits())
	return ok && okO && bits < 8 && bits > 1 && l.ElementSizeInBits == bits && o.ElementSizeInBits == bits && len(l.Tiles) == 0
}

// fastest is the dimension that varies fastest in memory.
func fastest(s hlo.Shape) int {
	l, _ := s.Layout()
	return int(l.MinorToMajor[0])
}

// splitsBytes reports whether the collective cuts the dimension into parts that are no whole bytes.
func splitsBytes(in hlo.Instruction, fast int, per int64) bool {
	a, ok := in.Attrs().(*hlo.AllToAllAttrs)
	if !ok || len(a.Dimensions) == 0 || int(a.Dimensions[0]) != fast {
		return false
	}
	n := int64(0)
	if g := a.ReplicaGroups; g != nil {
		if l := g.Listed(); l != nil && len(l.Lists) > 0 {
			n = int64(len(l.Lists[0]))
		}
	}
	return n == 0 || in.Shape().Dim(fast)/n%per != 0
}

// inBytes is a shape whose fastest dimension is split into bytes and what is in one, which comes last.
func inBytes(s hlo.Shape, fast int, per int64) hlo.Shape {
	l, _ := s.Layout()
	dims := append(s.Dimensions(), per)
	dims[fast] /= per
	moved := *l
	moved.MinorToMajor = append([]int64{int64(len(dims) - 1)}, l.MinorToMajor...)
	return hlo.MakeArray(s.Type(), dims, nil, &moved)
}

// asBytes is the shape of the bytes.
func asBytes(s hlo.Shape, fast int, per int64) hlo.Shape {
	l, _ := s.Layout()
	dims := s.Dimensions()
	dims[fast] /= per
	moved := *l
	moved.ElementSizeInBits = 0
	t := hlo.S8
	if s.Type().IsUnsigned() {
		t = hlo.U8
	}
	return hlo.MakeArray(t, dims, nil, &moved)
}
