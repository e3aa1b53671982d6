package proto

import "github.com/gohalo/halo/hlo"

// encodeOwn writes the attributes that belong to an opcode; it is the inverse of attrDecoder.fill.
func (e *encoder) encodeOwn(in *ownMsg, attrs hlo.OpAttrs) {
	switch t := attrs.(type) {
	case *hlo.ParameterAttrs:
		in.ParameterNumber = t.Number
	case *hlo.ConstantAttrs: // its literal is written where it stands
	case *hlo.DimensionsAttrs:
		in.Dimensions = t.Dimensions
	case *hlo.BroadcastAttrs:
		in.Dimensions = t.Dimensions
	case *hlo.MapAttrs:
		in.Dimensions = t.Dimensions
	case *hlo.AxisAttrs:
		in.Dimensions = t.Dimensions
	case *hlo.SortAttrs:
		in.Dimensions, in.IsStable = t.Dimensions, t.IsStable
	case *hlo.TopKAttrs:
		in.K, in.Largest, in.IsStable = t.K, t.Largest, t.IsStable
	case *hlo.ReducePrecisionAttrs:
		in.ExponentBits, in.MantissaBits = t.ExponentBits, t.MantissaBits
	case *hlo.BatchNormAttrs:
		in.Epsilon, in.FeatureIndex = t.Epsilon, t.FeatureIndex
	case *hlo.CallAttrs:
		in.IsComposite = t.IsComposite
	case *hlo.FusionAttrs:
		in.FusionKind, in.OutputAliasing = t.Kind.String(), encodeOutputAliasing(t.OutputAliasing)
	case *hlo.CholeskyAttrs:
		in.Cholesky = &choleskyMsg{t.Lower}
	case *hlo.TriangularSolveAttrs:
		in.TriangularSolve = &triangularMsg{t.LeftSide, t.Lower, t.UnitDiagonal, int32(t.TransposeA)}
	case *hlo.CompareAttrs:
		in.ComparisonDirection = t.Direction.String()
		if t.Type != hlo.CompareDefault {
			in.ComparisonType = t.Type.String()
		}
	case *hlo.ConvolutionAttrs:
		in.Window, in.ConvDims = mustWindow(t.Window), encodeConvDims(t.DimLabels)
		in.FeatureGroupCount, in.BatchGroupCount, in.ConvKind = t.FeatureGroupCount, t.BatchGroupCount, convKinds.encode(t.Kind)
		in.PrecisionConfig, in.Sparsity = encodePrecision(t.Precision, t.Algorithm), encodeSparsity(t.Sparsity)
	case *hlo.DotAttrs:
		in.DotDims = &dotDimsMsg{t.LHSContracting, t.RHSContracting, t.LHSBatch, t.RHSBatch}
		in.PrecisionConfig = encodePrecision(t.Precision, t.Algorithm)
	case *hlo.RaggedDotAttrs:
		in.RaggedDotDims = &raggedDotMsg{&dotDimsMsg{t.LHSContracting, t.RHSContracting, t.LHSBatch, t.RHSBatch}, t.LHSRagged, t.RHSGroup}
		in.PrecisionConfig = encodePrecision(t.Precision, hlo.AlgUnset)
	case *hlo.DynamicSliceAttrs:
		in.DynamicSliceSizes = t.Sizes
	case *hlo.FFTAttrs:
		in.FFTType, in.FFTLength = int32(t.Type)-1, t.Length
	case *hlo.GatherAttrs:
		in.GatherDims = &gatherDimsMsg{
			t.OffsetDims, t.CollapsedSliceDims, t.StartIndexMap, t.IndexVectorDim, t.OperandBatchingDims, t.StartIndicesBatchingDims,
		}
		in.GatherSliceSizes, in.IndicesAreSorted = t.SliceSizes, t.IndicesAreSorted
	case *hlo.ScatterAttrs:
		in.ScatterDims = &scatterDimsMsg{
			t.UpdateWindowDims, t.InsertedWindowDims, t.ScatterDimsToOperandDims, t.IndexVectorDim, t.InputBatchingDims, t.ScatterIndicesBatchingDims,
		}
		in.IndicesAreSorted, in.UniqueIndices = t.IndicesAreSorted, t.UniqueIndices
	case *hlo.TupleElementAttrs:
		in.TupleIndex = t.Index
	case *hlo.IotaAttrs:
		in.Dimensions = []int64{t.Dimension}
	case *hlo.PadAttrs:
		in.Padding = new(paddingMsg)
		for _, d := range t.Padding {
			in.Padding.Dims = append(in.Padding.Dims, &paddingDimMsg{d.Low, d.High, d.Interior})
		}
	case *hlo.ReshapeAttrs:
		if t.InferredDimension != -1 {
			in.Dimensions = []int64{t.InferredDimension}
		}
	case *hlo.WindowAttrs:
		in.Window = mustWindow(t.Window)
	case *hlo.SliceAttrs:
		for _, d := range t.Slice {
			in.SliceDimensions = append(in.SliceDimensions, &sliceMsg{d.Start, d.Limit, d.Stride})
		}
	case *hlo.ScanAttrs:
		in.Dimensions, in.NumCarries, in.IsReverse, in.IsAssociative = t.Dimensions, t.NumCarries, t.IsReverse, 2
		if t.IsAssociative {
			in.IsAssociative = 1
		}
	case *hlo.RngAttrs:
		in.Distribution = int32(t.Distribution)
	case *hlo.RngBitGeneratorAttrs:
		in.RngAlgorithm = int32(t.Algorithm)
	case *hlo.RngStateAttrs:
		in.Delta = t.Delta
	case *hlo.DomainAttrs:
		in.DomainEntry, in.DomainExit = e.sharding(t.Domain.Exit), e.sharding(t.Domain.Entry)
	default:
		e.encodeCommunication(in, attrs)
	}
}

// encodeCommunication is encodeOwn for asynchronous, collective and custom ops.
func (e *encoder) encodeCommunication(in *ownMsg, attrs hlo.OpAttrs) {
	switch t := attrs.(type) {
	case *hlo.AsyncStartAttrs:
		in.AsyncThread, in.OutputAliasing = t.ExecutionThread, encodeOutputAliasing(t.OutputAliasing)
	case *hlo.AsyncUpdateAttrs:
		if in.OutputAliasing = encodeOutputAliasing(t.OutputAliasing); len(t.OutputAliasing) > 0 {
			in.extra().KeepAliasing = true
		}
	case *hlo.CopyStartAttrs:
		in.PrefetchIndex = t.CrossProgramPrefetchIndex
	case *hlo.SendRecvAttrs:
		in.ChannelID, in.IsHostTransfer = t.ChannelID, t.IsHostTransfer
	case *hlo.InfeedAttrs:
		in.InfeedConfig = t.Config
	case *hlo.OutfeedAttrs:
		in.OutfeedConfig = t.Config
		if t.Shape.IsValid() {
			in.OutfeedShape = e.shape(t.Shape)
		}
	case *hlo.AllGatherAttrs:
		in.ChannelID, in.ConstrainLayout, in.UseGlobalDeviceIDs, in.Dimensions = t.ChannelID, t.ConstrainLayout, t.UseGlobalDeviceIDs, t.Dimensions
		encodeGroups(in, t.ReplicaGroups)
	case *hlo.AllReduceAttrs:
		in.ChannelID, in.ConstrainLayout, in.UseGlobalDeviceIDs = t.ChannelID, t.ConstrainLayout, t.UseGlobalDeviceIDs
		encodeGroups(in, t.ReplicaGroups)
	case *hlo.ReduceScatterAttrs:
		in.ChannelID, in.ConstrainLayout, in.UseGlobalDeviceIDs, in.Dimensions = t.ChannelID, t.ConstrainLayout, t.UseGlobalDeviceIDs, t.Dimensions
		encodeGroups(in, t.ReplicaGroups)
	case *hlo.AllToAllAttrs:
		in.ChannelID, in.ConstrainLayout, in.Dimensions = t.ChannelID, t.ConstrainLayout, t.Dimensions
		encodeGroups(in, t.ReplicaGroups)
	case *hlo.CollectiveBroadcastAttrs:
		in.ChannelID, in.HasDynamicRoot = t.ChannelID, t.HasDynamicRoot
		encodeGroups(in, t.ReplicaGroups)
	case *hlo.RaggedAllToAllAttrs:
		in.ChannelID = t.ChannelID
		encodeGroups(in, t.ReplicaGroups)
	case *hlo.CollectivePermuteAttrs:
		in.ChannelID = t.ChannelID
		for _, p := range t.SourceTargetPairs {
			if len(p) == 2 {
				in.SourceTargetPairs = append(in.SourceTargetPairs, &sourceTargetMsg{p[0], p[1]})
			}
		}
		for _, s := range t.SliceSizes {
			in.DynamicSliceSizes = append(in.DynamicSliceSizes, s...)
			in.extra().SliceSizes = append(in.extra().SliceSizes, &intsMsg{s})
		}
	case *hlo.CustomCallAttrs:
		e.encodeCustomCall(in, t)
	}
}

func (e *encoder) encodeCustomCall(in *ownMsg, t *hlo.CustomCallAttrs) {
	in.Window = encodeWindow(t.Window)
	if t.DimLabels != nil {
		in.ConvDims = encodeConvDims(t.DimLabels)
	}
	in.FeatureGroupCount, in.BatchGroupCount = t.FeatureGroupCount, t.BatchGroupCount
	if len(t.Precision) > 0 {
		in.PrecisionConfig = encodePrecision(t.Precision, hlo.AlgUnset)
	}
	in.PaddingType, in.CustomCallTarget, in.HasSideEffect = int32(t.PaddingType), t.Target, t.HasSideEffect
	if t.OperandLayouts != nil {
		in.ConstrainLayout = true
		for _, s := range t.OperandLayouts.Shapes {
			in.OperandShapes = append(in.OperandShapes, e.shape(s))
		}
	}
	if t.Literal != nil {
		in.Literal = marshal(nil, e.literal(t.Literal, nil))
	}
	in.OutputAliasing = encodeOutputAliasing(t.OutputAliasing)
	in.CustomCallSchedule, in.CustomCallAPI = int32(t.Schedule), int32(t.APIVersion)+1
}

func encodeWindow(w *hlo.Window) *windowMsg {
	if w == nil {
		return nil
	}
	m := new(windowMsg)
	for _, d := range w.Dims {
		m.Dims = append(m.Dims, &windowDimMsg{d.Size, d.Stride, d.PadLow, d.PadHigh, d.WindowDilation, d.BaseDilation, d.Reversal})
	}
	return m
}

// mustWindow is encodeWindow for ops of which XLA wants a window, if an empty one.
func mustWindow(w *hlo.Window) *windowMsg {
	if w == nil {
		return new(windowMsg)
	}
	return encodeWindow(w)
}

func encodeConvDims(d *hlo.ConvDims) *convDimsMsg {
	if d == nil {
		return nil
	}
	return &convDimsMsg{
		KernelInput: d.KernelInput, KernelOutput: d.KernelOutput, KernelSpatial: d.KernelSpatial,
		InputBatch: d.InputBatch, InputFeature: d.InputFeature, InputSpatial: d.InputSpatial,
		OutputBatch: d.OutputBatch, OutputFeature: d.OutputFeature, OutputSpatial: d.OutputSpatial,
	}
}

// encodePrecision writes one precision per operand; those of a config that is all default are two.
func encodePrecision(p hlo.PrecisionConfig, alg hlo.DotAlgorithm) *precisionMsg {
	m := &precisionMsg{Algorithm: algorithms.encode(alg), Operands: []int64{0, 0}}
	if len(p) > 0 {
		m.Operands = nil
		for _, v := range p {
			m.Operands = append(m.Operands, int64(v))
		}
	}
	return m
}

func encodeOutputAliasing(list []hlo.OutputAlias) (out []*outputAliasMsg) {
	for _, a := range list {
		out = append(out, &outputAliasMsg{a.Output, a.Operand, a.OperandIndex})
	}
	return out
}

func encodeSparsity(c *hlo.SparsityConfig) *sparsityMsg {
	if c == nil {
		return nil
	}
	side := func(s *hlo.Sparsity) *operandSparsityMsg {
		if s == nil {
			return nil
		}
		return &operandSparsityMsg{s.NonZeros, s.Block, s.Dimension, s.Stride, s.Index}
	}
	return &sparsityMsg{side(c.LHS), side(c.RHS)}
}

func (m *ownMsg) extra() *ownExtra {
	if m.Extra == nil {
		m.Extra = new(ownExtra)
	}
	return m.Extra
}
