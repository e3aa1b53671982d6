package proto

import "github.com/gohalo/halo/hlo"

// What stands in attributes: windows, numbers of dimensions, precision, and what else several opcodes have or takes more than a field to read.

func (a *attrDecoder) literal() (*hlo.Literal, error) {
	if a.in.Literal == nil {
		return nil, within(errorf("missing"), "literal")
	}
	l, err := decodeLiteral(a.in.Literal, a.d.shapes)
	if err != nil {
		return nil, within(err, "literal")
	}
	return l, nil
}

// single is the dimensions of an op that has exactly one.
func (a *attrDecoder) single() ([]int64, error) {
	if len(a.in.Dimensions) != 1 {
		return nil, errorf("%v with %d dimensions", a.op, len(a.in.Dimensions))
	}
	return a.in.Dimensions, nil
}

// channel is the channel id; older programs have that of an all-reduce in another field.
func (a *attrDecoder) channel() hlo.OptInt {
	if !a.in.ChannelID.Set && a.in.AllReduceID > 0 {
		return hlo.SomeInt(a.in.AllReduceID)
	}
	return a.in.ChannelID
}

// sliceSizes cuts the flat list of sizes of an in-place collective-permute into one per slice, of the rank of the arrays sliced.
func (a *attrDecoder) sliceSizes() ([][]int64, error) {
	if x := a.in.Extra; x != nil && len(x.SliceSizes) > 0 {
		var out [][]int64
		for _, v := range x.SliceSizes {
			out = append(out, v.Values)
		}
		return out, nil
	}
	flat := a.in.DynamicSliceSizes
	if len(flat) == 0 {
		return nil, nil
	}
	var ranks []int
	for _, leaf := range a.operands[0].Leaves {
		ranks = append(ranks, leaf.Rank())
	}
	var out [][]int64
	for i := 0; len(flat) > 0; i++ {
		if len(ranks) == 0 || ranks[i%len(ranks)] == 0 || ranks[i%len(ranks)] > len(flat) {
			return nil, within(errorf("%d sizes do not fit operand %v", len(a.in.DynamicSliceSizes), a.operands[0]), "dynamic_slice_sizes")
		}
		n := ranks[i%len(ranks)]
		out = append(out, flat[:n:n])
		flat = flat[n:]
	}
	return out, nil
}

func decodeWindow(m *windowMsg) *hlo.Window {
	if m == nil || len(m.Dims) == 0 {
		return nil
	}
	w := &hlo.Window{Dims: make([]hlo.WindowDim, 0, len(m.Dims))}
	for _, d := range m.Dims {
		w.Dims = append(w.Dims, hlo.WindowDim{
			Size: d.Size, Stride: d.Stride, PadLow: d.PadLow, PadHigh: d.PadHigh, BaseDilation: d.BaseDilation, WindowDilation: d.WindowDilation,
			Reversal: d.Reversal,
		})
	}
	return w
}

// convDims reads the dimension numbers of a convolution. Axes that have no number are those written `?` in text; how many there are
// follows from the ranks.
func (a *attrDecoder) convDims() (*hlo.ConvDims, error) {
	m := a.in.ConvDims
	if m == nil {
		return nil, nil
	}
	d := &hlo.ConvDims{
		InputBatch: m.InputBatch, InputFeature: m.InputFeature, InputSpatial: m.InputSpatial,
		KernelInput: m.KernelInput, KernelOutput: m.KernelOutput, KernelSpatial: m.KernelSpatial,
		OutputBatch: m.OutputBatch, OutputFeature: m.OutputFeature, OutputSpatial: m.OutputSpatial,
	}
	a.unusual = true
	var err error
	part := func(name string, rank int, x, y int64, spatial []int64) (unknown []int64) {
		used := make([]bool, max(rank, 2+len(spatial)))
		for _, axis := range append([]int64{x, y}, spatial...) {
			if axis < 0 || axis >= int64(len(used)) || used[axis] {
				err = within(errorf("%s axes %d, %d, %v of rank %d", name, x, y, spatial, rank), "convolution_dimension_numbers")
				return nil
			}
			used[axis] = true
		}
		for axis, is := range used {
			if !is {
				unknown = append(unknown, int64(axis))
			}
		}
		return unknown
	}
	out := a.shape
	if out.IsTuple() && out.NumElems() > 0 {
		out = out.Elem(0)
	}
	d.InputUnknown = part("input", a.operands[0].Rank(), d.InputBatch, d.InputFeature, d.InputSpatial)
	d.KernelUnknown = part("kernel", a.operands[1].Rank(), d.KernelInput, d.KernelOutput, d.KernelSpatial)
	d.OutputUnknown = part("output", out.Rank(), d.OutputBatch, d.OutputFeature, d.OutputSpatial)
	return d, err
}

func dotDims(m *dotDimsMsg) (lhsContracting, rhsContracting, lhsBatch, rhsBatch []int64) {
	if m == nil {
		return nil, nil, nil, nil
	}
	return m.LHSContracting, m.RHSContracting, m.LHSBatch, m.RHSBatch
}

func decodePrecision(m *precisionMsg) (hlo.PrecisionConfig, hlo.DotAlgorithm, error) {
	if m == nil {
		return nil, 0, nil
	}
	var p hlo.PrecisionConfig
	for _, v := range m.Operands {
		if v < 0 || v > int64(hlo.PrecisionHighest) {
			return nil, 0, within(errorf("precision %d", v), "precision_config")
		}
		p = append(p, hlo.Precision(v))
	}
	if p.IsDefault() {
		p = nil
	}
	return p, algorithms.decode(m.Algorithm), nil
}

func decodeOutputAliasing(list []*outputAliasMsg) (out []hlo.OutputAlias) {
	for _, m := range list {
		out = append(out, hlo.OutputAlias{Output: m.Output, Operand: m.Operand, OperandIndex: m.OperandIndex})
	}
	return out
}

func decodeSparsity(m *sparsityMsg) *hlo.SparsityConfig {
	if m == nil || m.LHS == nil && m.RHS == nil {
		return nil
	}
	side := func(m *operandSparsityMsg) *hlo.Sparsity {
		if m == nil {
			return nil
		}
		return &hlo.Sparsity{NonZeros: m.NonZeros, Block: m.Block, Dimension: m.Dimension, Stride: m.Stride, Index: m.Index}
	}
	return &hlo.SparsityConfig{LHS: side(m.LHS), RHS: side(m.RHS)}
}
