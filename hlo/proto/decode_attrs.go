package proto

import "github.com/gohalo/halo/hlo"

// attrDecoder reads the attributes of one instruction.
type attrDecoder struct {
	d        *decoder
	in       *attributesMsg
	op       hlo.Opcode
	shape    hlo.Shape
	operands [2]hlo.Shape // of the first operands, as far as there are any
	// unusual says that the attributes depend on the shapes of other operands than the first.
	unusual bool
}

func (a *attrDecoder) read(rest spans) (read attributes, err error) {
	*a.in = attributesMsg{}
	for _, run := range rest {
		if err := unmarshal(run, a.in); err != nil {
			return read, err
		}
	}
	if read.own, err = a.own(); err == nil {
		read.common, err = a.common()
	}
	return read, err
}

// own reads the attributes that belong to the opcode. Messages have one flat set of fields for all opcodes; which of them count is a
// matter of the type of the attribute struct.
func (a *attrDecoder) own() (hlo.OpAttrs, error) {
	newAttrs := hlo.Info(a.op).NewAttrs
	if newAttrs == nil {
		return nil, nil
	}
	attrs := newAttrs()
	err := a.fill(attrs)
	return attrs, err
}

func (a *attrDecoder) fill(attrs hlo.OpAttrs) (err error) {
	in := a.in
	switch t := attrs.(type) {
	case *hlo.ParameterAttrs:
		t.Number = in.ParameterNumber
	case *hlo.ConstantAttrs:
		t.Literal, err = a.literal()
		if err == nil && !t.Literal.Shape().Compatible(a.shape) {
			err = within(errorf("shape %v of a constant of shape %v", t.Literal.Shape(), a.shape), "literal")
		}
	case *hlo.DimensionsAttrs:
		t.Dimensions = in.Dimensions
	case *hlo.BroadcastAttrs:
		t.Dimensions = in.Dimensions
	case *hlo.MapAttrs:
		t.Dimensions = in.Dimensions
	case *hlo.AxisAttrs:
		t.Dimensions, err = a.single()
	case *hlo.SortAttrs:
		t.IsStable = in.IsStable
		t.Dimensions, err = a.single()
	case *hlo.TopKAttrs:
		t.K, t.Largest, t.IsStable = in.K, in.Largest, in.IsStable
	case *hlo.ReducePrecisionAttrs:
		t.ExponentBits, t.MantissaBits = in.ExponentBits, in.MantissaBits
	case *hlo.BatchNormAttrs:
		t.Epsilon, t.FeatureIndex = in.Epsilon, in.FeatureIndex
	case *hlo.CallAttrs:
		t.IsComposite = in.IsComposite
	case *hlo.FusionAttrs:
		t.OutputAliasing = decodeOutputAliasing(in.OutputAliasing)
		t.Kind, err = enumByName[hlo.FusionKind]("fusion_kind", in.FusionKind)
	case *hlo.CholeskyAttrs:
		t.Lower = in.Cholesky != nil && in.Cholesky.Lower
	case *hlo.TriangularSolveAttrs:
		if o := in.TriangularSolve; o != nil {
			t.LeftSide, t.Lower, t.UnitDiagonal = o.LeftSide, o.Lower, o.UnitDiagonal
			t.TransposeA, err = enumByValue[hlo.Transpose]("transpose_a", o.TransposeA, 0)
		}
	case *hlo.CompareAttrs:
		if t.Direction, err = enumByName[hlo.Direction]("comparison_direction", in.ComparisonDirection); err != nil {
			return err
		}
		if in.ComparisonType != "" {
			t.Type, err = enumByName[hlo.CompareType]("comparison_type", in.ComparisonType)
		}
		if t.Type == hlo.DefaultCompareType(a.operands[0].Type()) {
			t.Type = hlo.CompareDefault
		}
	case *hlo.ConvolutionAttrs:
		t.Window = decodeWindow(in.Window)
		if t.DimLabels, err = a.convDims(); err != nil {
			return err
		}
		if t.DimLabels == nil {
			return within(errorf("missing"), "convolution_dimension_numbers")
		}
		t.FeatureGroupCount, t.BatchGroupCount = max(in.FeatureGroupCount, 1), max(in.BatchGroupCount, 1)
		t.Kind = convKinds.decode(in.ConvKind)
		t.Sparsity = decodeSparsity(in.Sparsity)
		t.Precision, t.Algorithm, err = decodePrecision(in.PrecisionConfig)
	case *hlo.DotAttrs:
		t.LHSContracting, t.RHSContracting, t.LHSBatch, t.RHSBatch = dotDims(in.DotDims)
		t.Precision, t.Algorithm, err = decodePrecision(in.PrecisionConfig)
	case *hlo.RaggedDotAttrs:
		if r := in.RaggedDotDims; r != nil {
			t.LHSContracting, t.RHSContracting, t.LHSBatch, t.RHSBatch = dotDims(r.Dot)
			t.LHSRagged, t.RHSGroup = r.LHSRagged, r.RHSGroup
		}
		t.Precision, _, err = decodePrecision(in.PrecisionConfig)
	case *hlo.DynamicSliceAttrs:
		t.Sizes = in.DynamicSliceSizes
	case *hlo.FFTAttrs:
		t.Length = in.FFTLength
		t.Type, err = enumByValue[hlo.FFTType]("fft_type", in.FFTType, 1)
	case *hlo.GatherAttrs:
		if g := in.GatherDims; g != nil {
			t.OffsetDims, t.CollapsedSliceDims, t.StartIndexMap = g.OffsetDims, g.CollapsedSliceDims, g.StartIndexMap
			t.OperandBatchingDims, t.StartIndicesBatchingDims, t.IndexVectorDim = g.OperandBatchingDims, g.StartIndicesBatchingDims, g.IndexVectorDim
		}
		t.SliceSizes, t.IndicesAreSorted = in.GatherSliceSizes, in.IndicesAreSorted
	case *hlo.ScatterAttrs:
		if s := in.ScatterDims; s != nil {
			t.UpdateWindowDims, t.InsertedWindowDims, t.ScatterDimsToOperandDims = s.UpdateWindowDims, s.InsertedWindowDims, s.ScatterDimsToOperandDims
			t.InputBatchingDims, t.ScatterIndicesBatchingDims, t.IndexVectorDim = s.InputBatchingDims, s.ScatterIndicesBatchingDims, s.IndexVectorDim
		}
		t.IndicesAreSorted, t.UniqueIndices = in.IndicesAreSorted, in.UniqueIndices
	case *hlo.TupleElementAttrs:
		t.Index = in.TupleIndex
	case *hlo.IotaAttrs:
		var dims []int64
		if dims, err = a.single(); err == nil {
			t.Dimension = dims[0]
		}
	case *hlo.PadAttrs:
		if in.Padding != nil {
			for _, d := range in.Padding.Dims {
				t.Padding = append(t.Padding, hlo.PaddingDim{Low: d.Low, High: d.High, Interior: d.Interior})
			}
		}
	case *hlo.ReshapeAttrs:
		if len(in.Dimensions) == 1 {
			t.InferredDimension = in.Dimensions[0]
		}
	case *hlo.WindowAttrs:
		t.Window = decodeWindow(in.Window)
	case *hlo.SliceAttrs:
		for _, s := range in.SliceDimensions {
			t.Slice = append(t.Slice, hlo.SliceDim{Start: s.Start, Limit: s.Limit, Stride: s.Stride})
		}
	case *hlo.ScanAttrs:
		t.NumCarries, t.IsReverse, t.IsAssociative = in.NumCarries, in.IsReverse, in.IsAssociative == 1
		t.Dimensions, err = a.single()
	case *hlo.RngAttrs:
		t.Distribution, err = enumByValue[hlo.RandomDistribution]("distribution", in.Distribution, 0)
	case *hlo.RngBitGeneratorAttrs:
		t.Algorithm, err = enumByValue[hlo.RandomAlgorithm]("rng_algorithm", in.RngAlgorithm, 0)
	case *hlo.RngStateAttrs:
		t.Delta = in.Delta
	case *hlo.DomainAttrs:
		t.Domain = new(hlo.Domain)
		if in.DomainEntry == nil || in.DomainExit == nil {
			return errorf("domain without shardings")
		}
		// The message names the sides as seen from the operand, text as seen from the user.
		if t.Domain.Entry, err = a.d.sharding(in.DomainExit); err == nil {
			t.Domain.Exit, err = a.d.sharding(in.DomainEntry)
		}
	default:
		return a.fillCommunication(attrs)
	}
	return err
}

// fillCommunication is fill for asynchronous, collective and custom ops.
func (a *attrDecoder) fillCommunication(attrs hlo.OpAttrs) (err error) {
	in := a.in
	switch t := attrs.(type) {
	case *hlo.AsyncStartAttrs:
		if in.AsyncThread != "" {
			t.ExecutionThread = in.AsyncThread
		}
		t.OutputAliasing = decodeOutputAliasing(in.OutputAliasing)
	case *hlo.AsyncUpdateAttrs:
		// XLA writes this, but does not read it.
		if in.Extra != nil && in.Extra.KeepAliasing {
			t.OutputAliasing = decodeOutputAliasing(in.OutputAliasing)
		}
	case *hlo.AsyncDoneAttrs:
	case *hlo.CopyStartAttrs:
		t.CrossProgramPrefetchIndex = in.PrefetchIndex
		if in.IsPrefetch && !in.PrefetchIndex.Set {
			t.CrossProgramPrefetchIndex = hlo.SomeInt(0)
		}
	case *hlo.SendRecvAttrs:
		t.ChannelID, t.IsHostTransfer = a.channel(), in.IsHostTransfer
	case *hlo.InfeedAttrs:
		t.Config = in.InfeedConfig
	case *hlo.OutfeedAttrs:
		t.Config = in.OutfeedConfig
		if t.Shape, err = a.d.shape(in.OutfeedShape); err != nil {
			err = within(err, "outfeed_shape")
		}
	case *hlo.AllGatherAttrs:
		t.ChannelID, t.ConstrainLayout, t.UseGlobalDeviceIDs = a.channel(), in.ConstrainLayout, in.UseGlobalDeviceIDs
		if t.Dimensions, err = a.single(); err == nil {
			t.ReplicaGroups, err = a.groups()
		}
	case *hlo.AllReduceAttrs:
		t.ChannelID, t.ConstrainLayout, t.UseGlobalDeviceIDs = a.channel(), in.ConstrainLayout, in.UseGlobalDeviceIDs
		t.ReplicaGroups, err = a.groups()
	case *hlo.ReduceScatterAttrs:
		t.ChannelID, t.ConstrainLayout, t.UseGlobalDeviceIDs = a.channel(), in.ConstrainLayout, in.UseGlobalDeviceIDs
		if t.Dimensions, err = a.single(); err == nil {
			t.ReplicaGroups, err = a.groups()
		}
	case *hlo.AllToAllAttrs:
		t.ChannelID, t.ConstrainLayout, t.Dimensions = a.channel(), in.ConstrainLayout, in.Dimensions
		t.ReplicaGroups, err = a.groups()
	case *hlo.CollectiveBroadcastAttrs:
		t.ChannelID, t.HasDynamicRoot = a.channel(), in.HasDynamicRoot
		t.ReplicaGroups, err = a.groups()
	case *hlo.RaggedAllToAllAttrs:
		t.ChannelID = a.channel()
		t.ReplicaGroups, err = a.groups()
	case *hlo.CollectivePermuteAttrs:
		t.ChannelID = a.channel()
		for _, p := range in.SourceTargetPairs {
			t.SourceTargetPairs = append(t.SourceTargetPairs, []int64{p.Source, p.Target})
		}
		t.SliceSizes, err = a.sliceSizes()
	case *hlo.CustomCallAttrs:
		err = a.fillCustomCall(t)
	default:
		err = errorf("no attributes of type %T in a message", attrs)
	}
	return err
}

func (a *attrDecoder) fillCustomCall(t *hlo.CustomCallAttrs) (err error) {
	in := a.in
	if in.Window != nil {
		if t.Window = decodeWindow(in.Window); t.Window == nil {
			t.Window = new(hlo.Window)
		}
	}
	if t.DimLabels, err = a.convDims(); err != nil {
		return err
	}
	t.FeatureGroupCount, t.BatchGroupCount = max(in.FeatureGroupCount, 1), max(in.BatchGroupCount, 1)
	if t.Precision, _, err = decodePrecision(in.PrecisionConfig); err != nil {
		return err
	}
	if t.PaddingType, err = enumByValue[hlo.PaddingType]("padding_type", in.PaddingType, 0); err != nil {
		return err
	}
	t.Target, t.HasSideEffect, t.OutputAliasing = in.CustomCallTarget, in.HasSideEffect, decodeOutputAliasing(in.OutputAliasing)
	if in.ConstrainLayout {
		t.OperandLayouts = new(hlo.ShapeList)
		for i, m := range in.OperandShapes {
			s, err := a.d.shape(m)
			if err != nil {
				return within(err, at("operand_shapes_with_layout", i))
			}
			t.OperandLayouts.Shapes = append(t.OperandLayouts.Shapes, s)
		}
	}
	if in.Literal != nil {
		if t.Literal, err = a.literal(); err != nil {
			return err
		}
	}
	if t.Schedule, err = enumByValue[hlo.CustomCallSchedule]("custom_call_schedule", in.CustomCallSchedule, 0); err != nil {
		return err
	}
	t.APIVersion, err = enumByValue[hlo.APIVersion]("custom_call_api_version", max(in.CustomCallAPI, 1), -1)
	return err
}

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
