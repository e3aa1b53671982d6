package expand

import (
	"math"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

// BatchedGatherScatterNormalizer makes batching dimensions dimensions that are indexed.
var BatchedGatherScatterNormalizer = expander("batched-gather-scatter-normalizer", "write the batching dimensions of gather and scatter as indices that count", batched,
	func(at emit.At, in hlo.Instruction) hlo.InstrID {
		spec := emit.Again(in)
		if g, ok := spec.Attrs.(*hlo.GatherAttrs); ok {
			a := *g
			spec.Operands[1] = counted(at, spec.Operands[1], in.OperandInstr(0).Shape(), a.IndexVectorDim, a.OperandBatchingDims, a.StartIndicesBatchingDims)
			a.CollapsedSliceDims = slices.Sorted(slices.Values(slices.Concat(a.CollapsedSliceDims, a.OperandBatchingDims)))
			a.StartIndexMap = slices.Concat(a.OperandBatchingDims, a.StartIndexMap)
			a.IndicesAreSorted = a.IndicesAreSorted && slices.IsSorted(a.StartIndicesBatchingDims) && leads(a.StartIndicesBatchingDims)
			a.OperandBatchingDims, a.StartIndicesBatchingDims = nil, nil
			spec.Attrs = &a
			return at.Spec(spec)
		}
		a := *spec.Attrs.(*hlo.ScatterAttrs)
		i := len(spec.Operands) / 2
		spec.Operands[i] = counted(at, spec.Operands[i], in.OperandInstr(0).Shape(), a.IndexVectorDim, a.InputBatchingDims, a.ScatterIndicesBatchingDims)
		a.InsertedWindowDims = slices.Sorted(slices.Values(slices.Concat(a.InsertedWindowDims, a.InputBatchingDims)))
		a.ScatterDimsToOperandDims = slices.Concat(a.InputBatchingDims, a.ScatterDimsToOperandDims)
		a.IndicesAreSorted = a.IndicesAreSorted && slices.IsSorted(a.ScatterIndicesBatchingDims) && leads(a.ScatterIndicesBatchingDims)
		a.InputBatchingDims, a.ScatterIndicesBatchingDims = nil, nil
		spec.Attrs = &a
		return at.Spec(spec)
	})

func batched(in hlo.Instruction) bool {
	switch a := in.Attrs().(type) {
	case *hlo.GatherAttrs:
		return len(a.OperandBatchingDims) > 0 && hlo.CheckBatching(in) == nil && in.OperandInstr(1).Shape().IsStatic()
	case *hlo.ScatterAttrs:
		return len(a.InputBatchingDims) > 0 && hlo.CheckBatching(in) == nil && in.OperandInstr(in.NumOperands()/2).Shape().IsStatic()
	}
	return false
}

// leads reports whether dims are the first dimensions: what is sorted within them is then sorted with them in front.
func leads(dims []int64) bool {
	for i, d := range dims {
		if int64(i) != d {
			return false
		}
	}
	return true
}

// counted is the indices with one for each batching dimension before them.
func counted(at emit.At, indices hlo.InstrID, operand hlo.Shape, vector int64, batching, of []int64) hlo.InstrID {
	s := at.Shape(indices)
	t := s.Type()
	for _, d := range batching {
		if !holds(t, operand.Dim(int(d))) {
			t = hlo.S32
			if operand.Dim(int(d)) > math.MaxInt32 {
				t = hlo.S64
			}
		}
	}
	indices = at.Convert(indices, t)
	dims := slices.Clone(s.Dimensions())
	if int(vector) == len(dims) {
		dims = append(dims, 1)
		indices = at.Reshape(indices, dims...)
	}
	dims[vector] = 1
	var parts []hlo.InstrID
	for _, d := range of {
		parts = append(parts, at.Iota(t, d, dims...))
	}
	return at.Concatenate(vector, append(parts, indices)...)
}

// holds reports whether an index type has a value.
func holds(t hlo.PrimitiveType, v int64) bool {
	bits := t.Bits()
	if t.IsSigned() {
		bits--
	}
	return bits >= 63 || v < 1<<bits
}
