package kernels

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

const (
	// leastFoldedRow is the smallest row, in elements, for which it pays to compute and fold in one pass, in registers. Tiles that are folded afterwards go through the nearest
	// cache once more, but a row ends with fewer steps.
	leastFoldedRow = 256
	// leastFoldedRows is the smallest number of rows that keep all workers busy. Of fewer rows, each worker folds parts.
	leastFoldedRows = 32
)

// fusedRowFolds serves fusions that compute the elements of long rows and fold them, as sums of squares: one pass over rows without another one behind it.
func fusedRowFolds(s *site) (runtime.Bound, bool) {
	c, ok := s.m.Computation(s.in.Callee(0))
	if !ok || c.Root().Opcode() != hlo.OpReduce || !isRowFold(s.m, c.Root()) {
		return runtime.Bound{}, false
	}
	x, rows := c.Root().OperandInstr(0), c.Root().Shape().NumElements()
	if isRead(x) || rows < leastFoldedRows || x.Shape().NumElements() < leastFoldedRow*rows {
		return runtime.Bound{}, false
	}
	return fusedRows(s)
}

// isRead reports whether elements are folded as they are in memory, or decoded only, which loops do that fold whole rows.
func isRead(x hlo.Instruction) bool {
	if x.Opcode() == hlo.OpConvert {
		x = x.OperandInstr(0)
	}
	return x.Opcode() == hlo.OpParameter
}
