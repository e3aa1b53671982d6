package spmd

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

func init() {
	factorsOfOp[hlo.OpSlice] = sliceFactors
	factorsOfOp[hlo.OpPad] = padFactors
	factorsOfOp[hlo.OpConcatenate] = concatenateFactors
	factorsOfOp[hlo.OpReverse] = reverseFactors
	factorsOfOp[hlo.OpDynamicSlice] = dynamicSliceFactors
	factorsOfOp[hlo.OpDynamicUpdateSlice] = dynamicUpdateFactors
	handlers[hlo.OpSlice] = withAttrs(func(in hlo.Instruction, _ *plan, operands []*value) hlo.OpAttrs {
		a := hlo.AttrsOf[hlo.SliceAttrs](in)
		a.Slice = slices.Clone(a.Slice)
		for k := range a.Slice {
			if isWholeSlice(in, k) {
				a.Slice[k].Limit = operands[0].v.Shape().Dim(k)
			}
		}
		return &a
	})
	handlers[hlo.OpDynamicSlice] = withAttrs(func(in hlo.Instruction, p *plan, _ []*value) hlo.OpAttrs {
		return &hlo.DynamicSliceAttrs{Sizes: p.result.shard(in.Shape()).Dimensions()}
	})
}

// withAttrs is the general method for an op whose attributes contain sizes.
func withAttrs(attrs func(in hlo.Instruction, p *plan, operands []*value) hlo.OpAttrs) handler {
	return func(s *scope, in hlo.Instruction, want []*Tiling) ([]*value, error) {
		return s.general(in, want, &details{attrs: attrs})
	}
}

// kindIf is whole when a dimension is touched by an op that moves elements along it.
func kindIf(touched bool) factorKind {
	if touched {
		return wholeFactor
	}
	return passFactor
}

func isWholeSlice(in hlo.Instruction, k int) bool {
	d := hlo.AttrsOf[hlo.SliceAttrs](in).Slice[k]
	return d.Start == 0 && d.Stride == 1 && d.Limit == in.OperandInstr(0).Shape().Dim(k)
}

func sliceFactors(in hlo.Instruction) (all []factor) {
	for k := range in.Shape().Rank() {
		all = append(all, along(1, kindIf(!isWholeSlice(in, k)), k, [2]int{0, k}))
	}
	return all
}

func padFactors(in hlo.Instruction) (all []factor) {
	for k, d := range hlo.AttrsOf[hlo.PadAttrs](in).Padding {
		all = append(all, along(2, kindIf(d != hlo.PaddingDim{}), k, [2]int{0, k}))
	}
	return all
}

func concatenateFactors(in hlo.Instruction) (all []factor) {
	axis := int(hlo.AttrsOf[hlo.DimensionAttrs](in).Dimensions[0])
	for k := range in.Shape().Rank() {
		all = append(all, factor{kindIf(k == axis), dimOfEach(in, k, func(int) bool { return true }), k})
	}
	return all
}

func reverseFactors(in hlo.Instruction) (all []factor) {
	dims := hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions
	for k := range in.Shape().Rank() {
		all = append(all, along(1, kindIf(slices.Contains(dims, int64(k)) && in.Shape().Dim(k) > 1), k, [2]int{0, k}))
	}
	return all
}

func dynamicSliceFactors(in hlo.Instruction) (all []factor) {
	x := in.OperandInstr(0).Shape()
	for k := range x.Rank() {
		all = append(all, along(in.NumOperands(), kindIf(in.Shape().Dim(k) != x.Dim(k)), k, [2]int{0, k}))
	}
	return all
}

func dynamicUpdateFactors(in hlo.Instruction) (all []factor) {
	x, u := in.Shape(), in.OperandInstr(1).Shape()
	for k := range x.Rank() {
		all = append(all, along(in.NumOperands(), kindIf(u.Dim(k) != x.Dim(k)), k, [2]int{0, k}, [2]int{1, k}))
	}
	return all
}
