package spmd

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

func init() {
	factorsOfOp[hlo.OpDot] = dotFactors
	handlers[hlo.OpDot] = dot
}

func dotFactors(in hlo.Instruction) (all []factor) {
	a := hlo.AttrsOf[hlo.DotAttrs](in)
	n := in.NumOperands()
	to := 0
	for i, k := range a.LHSBatch {
		all = append(all, along(n, passFactor, to, [2]int{0, int(k)}, [2]int{1, int(a.RHSBatch[i])}))
		to++
	}
	for k := range in.OperandInstr(0).Shape().Rank() {
		if !slices.Contains(a.LHSBatch, int64(k)) && !slices.Contains(a.LHSContracting, int64(k)) {
			all = append(all, along(n, passFactor, to, [2]int{0, k}))
			to++
		}
	}
	for k := range in.OperandInstr(1).Shape().Rank() {
		if !slices.Contains(a.RHSBatch, int64(k)) && !slices.Contains(a.RHSContracting, int64(k)) {
			all = append(all, along(n, passFactor, to, [2]int{1, k}))
			to++
		}
	}
	for i, k := range a.LHSContracting {
		all = append(all, along(n, reduceFactor, -1, [2]int{0, int(k)}, [2]int{1, int(a.RHSContracting[i])}))
	}
	return all
}

// dot sums over split contracting dimensions at the end. Padding of both sides is zero then: it may hold NaN, which no zero on one side removes.
func dot(s *scope, in hlo.Instruction, want []*Tiling) ([]*value, error) {
	t := in.Shape().Type()
	d := &details{mask: func(i int) hlo.Value { return s.d.scalar(in.OperandInstr(i).Shape().Type(), 0) }}
	if _, ok := emit.Identity(hlo.OpAdd, t); ok && in.NumOperands() == 2 {
		d.combine = by(s.p.binary(hlo.OpAdd, t))
	}
	return s.general(in, want, d)
}
