package hlo

import (
	"fmt"
	"slices"
)

// CheckBatching reports a batching axis of a gather or scatter that has another role as well, which shape inference lets through as XLA's does:
// one of the operand that is also left out of the windows or indexed, or one of the indices that holds the index vectors. Such an instruction
// has no meaning. in is valid otherwise.
func CheckBatching(in Instruction) error {
	switch a := in.Attrs().(type) {
	case *GatherAttrs:
		return batchingRoles(in, 1, a.IndexVectorDim, a.OperandBatchingDims, a.StartIndicesBatchingDims, a.CollapsedSliceDims, a.StartIndexMap)
	case *ScatterAttrs:
		return batchingRoles(in, in.NumOperands()/2, a.IndexVectorDim, a.InputBatchingDims, a.ScatterIndicesBatchingDims, a.InsertedWindowDims, a.ScatterDimsToOperandDims)
	}
	return nil
}

func batchingRoles(in Instruction, indices int, vector int64, axes, indexAxes, left, indexed []int64) error {
	for k, axis := range axes {
		if slices.Contains(left, axis) || slices.Contains(indexed, axis) {
			return fmt.Errorf("batching axis %d of operand 0, %v, is also left out of the windows or indexed", axis, in.OperandInstr(0).Shape())
		}
		if at := indexAxes[k]; at == vector {
			return fmt.Errorf("batching axis %d of the indices, %v, is the one that holds the index vectors", at, in.OperandInstr(indices).Shape())
		}
	}
	return nil
}

// PicksNothing reports whether the windows have no elements. What a gather of such windows has nevertheless, since it lacks the axis that is
// empty, is 0.
func (a *GatherAttrs) PicksNothing() bool { return slices.Contains(a.SliceSizes, 0) }
