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
