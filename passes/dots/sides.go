package dots

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// side is the roles of the dimensions of one operand of a dot.
type side struct {
	batch, contracting, free []int64
}

// sidesOf gives the roles of the dimensions of both operands.
func sidesOf(in hlo.Instruction) (lhs, rhs side) {
	a := in.Attrs().(*hlo.DotAttrs)
	of := func(rank int, batch, contracting []int64) side {
		s := side{batch: batch, contracting: contracting}
		for d := range int64(rank) {
			if !slices.Contains(batch, d) && !slices.Contains(contracting, d) {
				s.free = append(s.free, d)
			}
		}
		return s
	}
	return of(in.OperandInstr(0).Shape().Rank(), a.LHSBatch, a.LHSContracting), of(in.OperandInstr(1).Shape().Rank(), a.RHSBatch, a.RHSContracting)
}

// isPlain reports a dot of two operands whose shapes do not change at run time.
func isPlain(in hlo.Instruction) bool {
	if in.Opcode() != hlo.OpDot || in.NumOperands() != 2 || !in.Shape().IsStatic() {
		return false
	}
	return in.OperandInstr(0).Shape().IsStatic() && in.OperandInstr(1).Shape().IsStatic()
}

// consecutive reports whether dims are i, i+1, i+2, …
func consecutive(dims []int64) bool {
	for i := range dims {
		if dims[i] != dims[0]+int64(i) {
			return false
		}
	}
	return true
}

func product(s hlo.Shape, dims []int64) int64 {
	n := int64(1)
	for _, d := range dims {
		n *= s.Dim(int(d))
	}
	return n
}

func sizes(s hlo.Shape, dims []int64) []int64 {
	out := make([]int64, len(dims))
	for i, d := range dims {
		out[i] = s.Dim(int(d))
	}
	return out
}

func iota(n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i)
	}
	return out
}

// withDims is the attributes of a dot with other dimensions.
func withDims(attrs hlo.OpAttrs, lhs, rhs side) *hlo.DotAttrs {
	a := *attrs.(*hlo.DotAttrs)
	a.LHSBatch, a.LHSContracting, a.RHSBatch, a.RHSContracting = lhs.batch, lhs.contracting, rhs.batch, rhs.contracting
	return &a
}
