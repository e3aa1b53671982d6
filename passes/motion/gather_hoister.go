package motion

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// GatherHoister computes what a gather takes rather than whole arrays.
var GatherHoister = &pass.Pass{
	Name: "gather-hoister",
	Doc: `gather(op(x, y), i) → op(gather(x, i), gather(y, i)) of elementwise ops, where few elements are taken

A loss that takes the logarithm of one probability of each row then subtracts numbers of a row, and an embedding that is converted is converted where it is
taken. If others need the result of the op, too, it is done where they can be computed beside it, and far fewer elements are taken.`,
	About: []hlo.Opcode{hlo.OpGather},
	Lent:  true,
	Local: func(ctx *pass.Context, _ hlo.Module, c hlo.CompEdit) error {
		var work []hlo.InstrID
		for in := range pass.EachOf(c, hlo.OpGather) {
			work = append(work, in.ID())
		}
		for len(work) > 0 {
			in := c.At(work[len(work)-1])
			work = work[:len(work)-1]
			if !gathersFew(in) || !ctx.Spend("hoist") {
				continue
			}
			ctx.Count("ops", 1)
			made, err := computeGathered(c, in)
			if err != nil {
				return err
			}
			work = append(work, made...)
		}
		return nil
	},
}

// An element that is gathered takes about as long as fewGathered that are computed one beside the other, and those that others need as well are computed anyway.
const (
	fewGathered    = 4
	fewBesideOther = 16
)

// gathersFew reports whether a gather takes so little of what an elementwise op computes that it may go in front of the op.
func gathersFew(gather hlo.Instruction) bool {
	whole := gather.OperandInstr(0)
	if !whole.IsElementwise() || whole.NumOperands() == 0 || whole.NumCallees() > 0 || whole.IsRoot() || !isFree(whole) || !isFree(gather) {
		return false
	}
	var arrays int64
	for o := range whole.Operands() {
		switch {
		case !o.Shape().IsArray() || !o.Shape().IsStatic():
			return false
		case o.Shape().Rank() == 0 && whole.Shape().Rank() > 0:
		case !slices.Equal(o.Shape().Dimensions(), whole.Shape().Dimensions()):
			return false
		case !isSpread(gather, o):
			arrays++
		}
	}
	few := int64(fewGathered)
	for u := range whole.Users() {
		if u != gather {
			few = fewBesideOther
			if !u.IsElementwise() && u.Opcode() != hlo.OpReduce {
				return false
			}
		}
	}
	return arrays*few*gather.Shape().NumElements() <= whole.Shape().NumElements()
}

// isSpread reports whether a gather takes all of a broadcast array, in each place: along the axes of the broadcast it has no choice.
func isSpread(gather, array hlo.Instruction) bool {
	if array.Opcode() != hlo.OpBroadcast {
		return false
	}
	a := hlo.AttrsOf[hlo.GatherAttrs](gather)
	return !slices.ContainsFunc(hlo.AttrsOf[hlo.BroadcastAttrs](array).Dimensions, func(axis int64) bool {
		return !slices.Contains(a.OperandBatchingDims, axis) &&
			(slices.Contains(a.CollapsedSliceDims, axis) || a.SliceSizes[axis] != array.Shape().Dim(int(axis)))
	})
}

// computeGathered puts a gather in front of the op whose result it takes from, and lists the gathers that it has made.
func computeGathered(c hlo.CompEdit, gather hlo.Instruction) (made []hlo.InstrID, err error) {
	at, id, indices, attrs, shape := emit.Before(c, gather), gather.ID(), gather.OperandInstr(1).ID(), gather.Attrs(), gather.Shape()
	spec := emit.Again(gather.OperandInstr(0))
	spec.Name, spec.Shape = "", shape.WithType(spec.Shape.Type())
	wholes := spec.Operands
	spec.Operands = slices.Clone(wholes)
	spread := make([][]int64, len(wholes)) // axes of the broadcasts that take their place
	for i, o := range wholes {
		if array := c.At(o); isSpread(gather, array) {
			spread[i], spec.Operands[i] = spreadAxes(gather, array), array.OperandInstr(0).ID()
		}
	}
	for i, o := range wholes {
		switch {
		case spread[i] != nil:
			spec.Operands[i] = at.Broadcast(spec.Operands[i], spread[i], shape.Dimensions()...)
		case at.Shape(o).Rank() == 0:
		case slices.Contains(wholes[:i], o):
			spec.Operands[i] = spec.Operands[slices.Index(wholes, o)]
		default:
			spec.Operands[i] = at.OpOf(hlo.OpGather, shape.WithType(at.Shape(o).Type()), attrs, o, indices)
			made = append(made, spec.Operands[i])
		}
	}
	return made, emit.Replace(c, id, at.Spec(spec))
}

// spreadAxes are the axes of a gather's result along which a broadcast that [isSpread] lies.
func spreadAxes(gather, array hlo.Instruction) []int64 {
	a := hlo.AttrsOf[hlo.GatherAttrs](gather)
	result := make([]int64, len(a.SliceSizes)) // the axis of the result for each of the array
	var batch, offset []int64
	for axis := range int64(gather.Shape().Rank()) {
		if !slices.Contains(a.OffsetDims, axis) {
			batch = append(batch, axis)
		}
	}
	offset = a.OffsetDims
	for axis := range result {
		if k := slices.Index(a.OperandBatchingDims, int64(axis)); k >= 0 {
			of := a.StartIndicesBatchingDims[k]
			if of > a.IndexVectorDim {
				of--
			}
			result[axis] = batch[of]
		} else if !slices.Contains(a.CollapsedSliceDims, int64(axis)) {
			result[axis], offset = offset[0], offset[1:]
		}
	}
	axes := []int64{}
	for _, axis := range hlo.AttrsOf[hlo.BroadcastAttrs](array).Dimensions {
		axes = append(axes, result[axis])
	}
	return axes
}
