package collectives

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

// canLift reports whether an op of a round can be done for a batch of rounds, with a leading dimension that counts them.
func (w *pipelined) canLift(body hlo.Computation, in hlo.Instruction, tail map[hlo.InstrID]bool) bool {
	if !in.Shape().IsArray() || !in.Shape().IsStatic() {
		return false
	}
	for o := range in.Operands() {
		if !o.Shape().IsArray() || !o.Shape().IsStatic() {
			return false
		}
	}
	if !slices.Contains(w.kinds, in.Opcode()) && w.formats != nil && !w.formats(in.Opcode()) {
		return false
	}
	scalarsPlain := func() bool {
		for i := 1; i < in.NumOperands(); i++ {
			if !invariant(in.OperandInstr(i), 8) || tail[in.Operand(i)] {
				return false
			}
		}
		return true
	}
	//halo:allow opswitch the ops that have a batched form here
	switch in.Opcode() {
	case hlo.OpAllReduce, hlo.OpCollectivePermute:
		return in.NumOperands() == 1 && in.Shape().EqualIgnoringLayout(in.OperandInstr(0).Shape())
	case hlo.OpBroadcast, hlo.OpReshape, hlo.OpTranspose, hlo.OpSlice, hlo.OpReverse, hlo.OpConcatenate, hlo.OpCopy:
		return true
	case hlo.OpReduce:
		return in.NumOperands() == 2 && scalarsPlain()
	case hlo.OpPad:
		return scalarsPlain()
	case hlo.OpStochasticConvert:
		return false
	}
	return hlo.Info(in.Opcode()).Traits.Has(hlo.TraitElementwise)
}

// lifting does ops of rounds for all of them.
type lifting struct {
	at     emit.At
	body   hlo.Computation
	trip   int64
	values map[hlo.InstrID]hlo.InstrID // with the leading dimension
	plain  map[hlo.InstrID]hlo.InstrID // what is the same in every round, without it
}

// same is a value that every round has.
func (l *lifting) same(in hlo.Instruction) hlo.InstrID {
	if v, ok := l.plain[in.ID()]; ok {
		return v
	}
	spec := emit.Again(in)
	for i := range spec.Operands {
		spec.Operands[i] = l.same(in.OperandInstr(i))
	}
	l.plain[in.ID()] = l.at.Spec(spec)
	return l.plain[in.ID()]
}

// whole is a value for all rounds.
func (l *lifting) whole(in hlo.Instruction) hlo.InstrID {
	if v, ok := l.values[in.ID()]; ok {
		return v
	}
	dims := in.Shape().Dimensions()
	l.values[in.ID()] = l.at.Broadcast(l.same(in), axesFrom(1, len(dims)), append([]int64{l.trip}, dims...)...)
	return l.values[in.ID()]
}

// axesFrom counts n axes from one on.
func axesFrom(first, n int) []int64 {
	axes := make([]int64, n)
	for i := range axes {
		axes[i] = int64(first + i)
	}
	return axes
}

func shifted(axes []int64) []int64 {
	up := slices.Clone(axes)
	for i := range up {
		up[i]++
	}
	return up
}

// lift makes an op for all rounds.
func (l *lifting) lift(in hlo.Instruction) hlo.InstrID {
	dims := append([]int64{l.trip}, in.Shape().Dimensions()...)
	shape := hlo.MakeShape(in.Shape().Type(), dims...)
	spec := emit.Again(in)
	spec.Shape, spec.Control = shape, nil
	if c := spec.Common; c != nil && (c.Sharding != nil || c.Origin != nil) {
		own := *c
		own.Sharding, own.Origin = nil, nil // those of one round
		spec.Common = &own
	}
	first := func() hlo.InstrID { return l.whole(in.OperandInstr(0)) }
	//halo:allow opswitch as in canLift
	switch in.Opcode() {
	case hlo.OpBroadcast:
		spec.Operands = []hlo.InstrID{first()}
		spec.Attrs = &hlo.BroadcastAttrs{Dimensions: append([]int64{0}, shifted(hlo.AttrsOf[hlo.BroadcastAttrs](in).Dimensions)...)}
	case hlo.OpReshape:
		spec.Operands, spec.Attrs = []hlo.InstrID{first()}, &hlo.ReshapeAttrs{InferredDimension: -1}
	case hlo.OpTranspose:
		spec.Operands = []hlo.InstrID{first()}
		spec.Attrs = &hlo.DimensionsAttrs{Dimensions: append([]int64{0}, shifted(hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions)...)}
	case hlo.OpSlice:
		spec.Operands = []hlo.InstrID{first()}
		spec.Attrs = &hlo.SliceAttrs{Slice: append([]hlo.SliceDim{{Start: 0, Limit: l.trip, Stride: 1}}, hlo.AttrsOf[hlo.SliceAttrs](in).Slice...)}
	case hlo.OpReverse:
		spec.Operands = []hlo.InstrID{first()}
		spec.Attrs = &hlo.DimensionsAttrs{Dimensions: shifted(hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions)}
	case hlo.OpReduce:
		spec.Operands = []hlo.InstrID{first(), l.same(in.OperandInstr(1))}
		spec.Attrs = &hlo.DimensionsAttrs{Dimensions: shifted(hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions)}
	case hlo.OpPad:
		spec.Operands = []hlo.InstrID{first(), l.same(in.OperandInstr(1))}
		spec.Attrs = &hlo.PadAttrs{Padding: append([]hlo.PaddingDim{{}}, hlo.AttrsOf[hlo.PadAttrs](in).Padding...)}
	case hlo.OpConcatenate:
		for i := range spec.Operands {
			spec.Operands[i] = l.whole(in.OperandInstr(i))
		}
		spec.Attrs = &hlo.AxisAttrs{Dimensions: shifted(hlo.AttrsOf[hlo.AxisAttrs](in).Dimensions)}
	default: // element by element, or the same exchange for each
		for i := range spec.Operands {
			v := l.whole(in.OperandInstr(i))
			if in.OperandInstr(i).Shape().Rank() < in.Shape().Rank() { // a scalar beside arrays
				v = l.at.Broadcast(v, []int64{0}, dims...)
			}
			spec.Operands[i] = v
		}
	}
	return l.at.Spec(spec)
}
