package stablehlo

import (
	"strings"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// writers make the operation of each opcode that has a counterpart. Opcodes without attributes or callees whose name is that of an
// operation need no row.
var writers [256]func(*bodyWriter, hlo.Instruction) written

var fillWriters sync.Once

// writerOf is the writer of an opcode, nil when there is none. The table is filled when it is first wanted, like that of reading.
func writerOf(op hlo.Opcode) func(*bodyWriter, hlo.Instruction) written {
	fillWriters.Do(func() {
		setWriters()
		setCollectiveWriters()
	})
	return writers[op]
}

func setWriters() {
	for op := range hlo.Opcodes {
		name := "stablehlo." + strings.ReplaceAll(op.String(), "-", "_")
		info := hlo.Info(op)
		if rows()[name] != nil && info.NewAttrs == nil && len(info.Callees) == 0 {
			writers[op] = func(*bodyWriter, hlo.Instruction) written { return written{name: name} }
		}
	}
	for op, name := range map[hlo.Opcode]string{
		hlo.OpOptBarrier: "stablehlo.optimization_barrier", hlo.OpErf: "chlo.erf", hlo.OpMulhi: "chlo.mulhi", hlo.OpTan: "stablehlo.tan",
		hlo.OpAcos: "chlo.acos", hlo.OpAcosh: "chlo.acosh", hlo.OpAsin: "chlo.asin", hlo.OpAsinh: "chlo.asinh", hlo.OpAtanh: "chlo.atanh",
		hlo.OpCosh: "chlo.cosh", hlo.OpSinh: "chlo.sinh", hlo.OpReshape: "stablehlo.reshape",
	} {
		writers[op] = func(*bodyWriter, hlo.Instruction) written { return written{name: name} }
	}
	for op, f := range map[hlo.Opcode]func(*bodyWriter, hlo.Instruction) written{
		hlo.OpConstant: writeConstant, hlo.OpIota: writeIota, hlo.OpBroadcast: writeBroadcast, hlo.OpCompare: writeCompare,
		hlo.OpTranspose: listOf[hlo.DimensionsAttrs]("transpose", "permutation"), hlo.OpReverse: listOf[hlo.DimensionsAttrs]("reverse", "dimensions"),
		hlo.OpConcatenate: writeConcatenate, hlo.OpSlice: writeSlice, hlo.OpDynamicSlice: writeDynamicSlice, hlo.OpPad: writePad,
		hlo.OpGather: writeGather, hlo.OpScatter: writeScatter, hlo.OpDot: writeDot, hlo.OpConvolution: writeConvolution,
		hlo.OpReduce: writeReduce, hlo.OpReduceWindow: writeReduceWindow, hlo.OpSelectAndScatter: writeSelectAndScatter,
		hlo.OpMap: writeMap, hlo.OpSort: writeSort, hlo.OpWhile: writeWhile, hlo.OpConditional: writeConditional, hlo.OpCall: writeCall, hlo.OpFusion: writeCall,
		hlo.OpCustomCall: writeCustomCall, hlo.OpFft: writeFFT, hlo.OpCholesky: writeCholesky, hlo.OpTriangularSolve: writeTriangularSolve,
		hlo.OpReducePrecision: writeReducePrecision, hlo.OpRngBitGenerator: writeRngBitGenerator, hlo.OpTopk: writeTopK,
		hlo.OpBatchNormTraining: writeBatchNorm("training"), hlo.OpBatchNormInference: writeBatchNorm("inference"),
		hlo.OpBatchNormGrad: writeBatchNorm("grad"), hlo.OpGetDimensionSize: writeDimensionSize,
	} {
		writers[op] = f
	}
}

// The values of attributes.

func (w *writer) ints(v []int64) mlir.Attr {
	return mlir.DenseArray{Elem: w.types.Scalar(hlo.S64), Values: append([]int64{}, v...)}
}

func (w *writer) i64(v int64) mlir.Attr { return mlir.Int{Value: v, Type: w.types.Scalar(hlo.S64)} }
func (w *writer) i32(v int64) mlir.Attr { return mlir.Int{Value: v, Type: w.types.Scalar(hlo.S32)} }

func word(kind, v string) mlir.Attr { return mlir.Enum{Kind: kind, Value: v} }

// matrix is rows of integers as dense elements.
func (w *writer) matrix(rows [][2]int64) mlir.Attr {
	d := mlir.Dense{Type: w.types.Tensor(w.types.Scalar(hlo.S64), []int64{int64(len(rows)), 2}, nil)}
	for _, r := range rows {
		d.Data = append(append(d.Data, mlir.ElementBytes(hlo.S64, uint64(r[0]))...), mlir.ElementBytes(hlo.S64, uint64(r[1]))...)
	}
	return d
}

func attrs(pairs ...any) mlir.Attrs {
	var list mlir.Attrs
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, mlir.NamedAttr{Name: pairs[i].(string), Value: pairs[i+1].(mlir.Attr)})
	}
	return list
}

func record(name string, pairs ...any) mlir.Struct {
	return mlir.Struct{Name: name, Fields: attrs(pairs...)}
}

func writeConstant(b *bodyWriter, in hlo.Instruction) written {
	l := in.Literal()
	t := b.typ(in.Shape())
	if l == nil || l.IsElided() || !in.Shape().IsArray() {
		b.missing["constants without data"] = true
		return written{name: "stablehlo.constant"}
	}
	d := mlir.Dense{Type: t, Data: l.Bytes()}
	if size := t.Elem.ByteSize(); l.IsSplat() && len(d.Data) > size {
		d.Data, d.Splat = d.Data[:size], true
	}
	return written{name: "stablehlo.constant", attrs: attrs("value", d)}
}

func writeIota(b *bodyWriter, in hlo.Instruction) written {
	return written{name: "stablehlo.iota", attrs: attrs("iota_dimension", b.i64(hlo.AttrsOf[hlo.IotaAttrs](in).Dimension))}
}

func writeBroadcast(b *bodyWriter, in hlo.Instruction) written {
	return written{name: "stablehlo.broadcast_in_dim", attrs: attrs("broadcast_dimensions", b.ints(hlo.AttrsOf[hlo.BroadcastAttrs](in).Dimensions))}
}

func writeCompare(b *bodyWriter, in hlo.Instruction) written {
	a := hlo.AttrsOf[hlo.CompareAttrs](in)
	list := attrs("comparison_direction", word("comparison_direction", a.Direction.String()))
	if a.Type != hlo.CompareDefault {
		list = append(list, attrs("compare_type", word("comparison_type", a.Type.String()))...)
	}
	return written{name: "stablehlo.compare", attrs: list}
}

// listOf is an operation whose only attribute is a list of dimensions.
func listOf[T hlo.DimensionsAttrs](name, attr string) func(*bodyWriter, hlo.Instruction) written {
	return func(b *bodyWriter, in hlo.Instruction) written {
		a := hlo.DimensionsAttrs(hlo.AttrsOf[T](in))
		return written{name: "stablehlo." + name, attrs: attrs(attr, b.ints(a.Dimensions))}
	}
}

func writeConcatenate(b *bodyWriter, in hlo.Instruction) written {
	return written{name: "stablehlo.concatenate", attrs: attrs("dimension", b.i64(hlo.AttrsOf[hlo.AxisAttrs](in).Dimensions[0]))}
}

func writeDimensionSize(b *bodyWriter, in hlo.Instruction) written {
	return written{name: "stablehlo.get_dimension_size", attrs: attrs("dimension", b.i64(hlo.AttrsOf[hlo.AxisAttrs](in).Dimensions[0]))}
}

func writeSlice(b *bodyWriter, in hlo.Instruction) written {
	var start, limit, strides []int64
	for _, d := range hlo.AttrsOf[hlo.SliceAttrs](in).Slice {
		start, limit, strides = append(start, d.Start), append(limit, d.Limit), append(strides, d.Stride)
	}
	return written{name: "stablehlo.slice", attrs: attrs("start_indices", b.ints(start), "limit_indices", b.ints(limit), "strides", b.ints(strides))}
}

func writeDynamicSlice(b *bodyWriter, in hlo.Instruction) written {
	return written{name: "stablehlo.dynamic_slice", attrs: attrs("slice_sizes", b.ints(hlo.AttrsOf[hlo.DynamicSliceAttrs](in).Sizes))}
}

func writePad(b *bodyWriter, in hlo.Instruction) written {
	var low, high, interior []int64
	for _, d := range hlo.AttrsOf[hlo.PadAttrs](in).Padding {
		low, high, interior = append(low, d.Low), append(high, d.High), append(interior, d.Interior)
	}
	return written{name: "stablehlo.pad", attrs: attrs("edge_padding_low", b.ints(low), "edge_padding_high", b.ints(high), "interior_padding", b.ints(interior))}
}

func writeGather(b *bodyWriter, in hlo.Instruction) written {
	a := hlo.AttrsOf[hlo.GatherAttrs](in)
	return written{name: "stablehlo.gather", attrs: attrs("dimension_numbers", record("gather", "offset_dims", b.ints(a.OffsetDims),
		"collapsed_slice_dims", b.ints(a.CollapsedSliceDims), "operand_batching_dims", b.ints(a.OperandBatchingDims),
		"start_indices_batching_dims", b.ints(a.StartIndicesBatchingDims), "start_index_map", b.ints(a.StartIndexMap),
		"index_vector_dim", b.i64(a.IndexVectorDim)), "slice_sizes", b.ints(a.SliceSizes), "indices_are_sorted", mlir.Bool(a.IndicesAreSorted))}
}

func writeScatter(b *bodyWriter, in hlo.Instruction) written {
	a := hlo.AttrsOf[hlo.ScatterAttrs](in)
	return written{name: "stablehlo.scatter", regions: []mlir.Region{b.region(in, 0)}, attrs: attrs("scatter_dimension_numbers", record("scatter",
		"update_window_dims", b.ints(a.UpdateWindowDims), "inserted_window_dims", b.ints(a.InsertedWindowDims),
		"input_batching_dims", b.ints(a.InputBatchingDims), "scatter_indices_batching_dims", b.ints(a.ScatterIndicesBatchingDims),
		"scatter_dims_to_operand_dims", b.ints(a.ScatterDimsToOperandDims), "index_vector_dim", b.i64(a.IndexVectorDim)),
		"indices_are_sorted", mlir.Bool(a.IndicesAreSorted), "unique_indices", mlir.Bool(a.UniqueIndices))}
}

func precisions(p hlo.PrecisionConfig) mlir.Array {
	list := mlir.Array{word("precision", "DEFAULT"), word("precision", "DEFAULT")}
	for i, x := range p {
		if i < len(list) {
			list[i] = word("precision", strings.ToUpper(x.String()))
		}
	}
	return list
}

func writeDot(b *bodyWriter, in hlo.Instruction) written {
	a := hlo.AttrsOf[hlo.DotAttrs](in)
	list := attrs("dot_dimension_numbers", record("dot", "lhs_batching_dimensions", b.ints(a.LHSBatch), "rhs_batching_dimensions", b.ints(a.RHSBatch),
		"lhs_contracting_dimensions", b.ints(a.LHSContracting), "rhs_contracting_dimensions", b.ints(a.RHSContracting)),
		"precision_config", precisions(a.Precision))
	if a.Algorithm != hlo.AlgUnset {
		for key, alg := range algorithms {
			if alg == a.Algorithm {
				list = append(list, attrs("algorithm", b.algorithmOf(strings.Fields(key)))...)
			}
		}
	}
	return written{name: "stablehlo.dot_general", attrs: list}
}

// algorithmOf is the record of an algorithm, by the words of its key.
func (w *writer) algorithmOf(words []string) mlir.Attr {
	t := func(name string) mlir.Attr {
		if name == "tf32" {
			return mlir.TypeAttr{Type: w.types.TF32()}
		}
		e, _ := mlir.ElementByName(name)
		return mlir.TypeAttr{Type: w.types.Scalar(e)}
	}
	return record("dot_algorithm", "lhs_precision_type", t(words[0]), "rhs_precision_type", t(words[1]), "accumulation_type", t(words[2]),
		"lhs_component_count", w.i64(1), "rhs_component_count", w.i64(1), "num_primitive_operations", w.i64(int64(words[3][0]-'0')),
		"allow_imprecise_accumulation", mlir.Bool(false))
}

// window are the attributes of a window; base and dilation are what its dilations are called.
func (w *writer) window(win *hlo.Window, base, dilation string) (size []int64, list mlir.Attrs) {
	var strides, lhs, rhs []int64
	var pad [][2]int64
	if win != nil {
		for _, d := range win.Dims {
			size, strides = append(size, d.Size), append(strides, d.Stride)
			lhs, rhs = append(lhs, d.BaseDilation), append(rhs, d.WindowDilation)
			pad = append(pad, [2]int64{d.PadLow, d.PadHigh})
		}
	}
	list = attrs("window_strides", w.ints(strides), "padding", w.matrix(pad))
	if base != "" {
		list = append(list, attrs(base, w.ints(lhs), dilation, w.ints(rhs))...)
	}
	return size, list
}

func writeConvolution(b *bodyWriter, in hlo.Instruction) written {
	a := hlo.AttrsOf[hlo.ConvolutionAttrs](in)
	_, list := b.window(a.Window, "lhs_dilation", "rhs_dilation")
	if a.Window != nil {
		reversal := mlir.DenseArray{Elem: b.types.Scalar(hlo.PRED)}
		for _, d := range a.Window.Dims {
			bit := int64(0)
			if d.Reversal {
				bit = 1
			}
			reversal.Values = append(reversal.Values, bit)
		}
		list = append(list, attrs("window_reversal", reversal)...)
	}
	d := a.DimLabels
	dims := record("conv", "input_batch_dimension", b.i64(d.InputBatch), "input_feature_dimension", b.i64(d.InputFeature),
		"input_spatial_dimensions", b.ints(d.InputSpatial), "kernel_input_feature_dimension", b.i64(d.KernelInput),
		"kernel_output_feature_dimension", b.i64(d.KernelOutput), "kernel_spatial_dimensions", b.ints(d.KernelSpatial),
		"output_batch_dimension", b.i64(d.OutputBatch), "output_feature_dimension", b.i64(d.OutputFeature),
		"output_spatial_dimensions", b.ints(d.OutputSpatial))
	list = append(list, attrs("dimension_numbers", dims, "feature_group_count", b.i64(a.FeatureGroupCount), "batch_group_count", b.i64(a.BatchGroupCount),
		"precision_config", precisions(a.Precision))...)
	return written{name: "stablehlo.convolution", attrs: list}
}

func writeReduce(b *bodyWriter, in hlo.Instruction) written {
	return written{name: "stablehlo.reduce", regions: []mlir.Region{b.region(in, 0)},
		attrs: attrs("dimensions", b.ints(hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions))}
}

func writeReduceWindow(b *bodyWriter, in hlo.Instruction) written {
	size, list := b.window(hlo.AttrsOf[hlo.WindowAttrs](in).Window, "base_dilations", "window_dilations")
	return written{name: "stablehlo.reduce_window", regions: []mlir.Region{b.region(in, 0)}, attrs: append(list, attrs("window_dimensions", b.ints(size))...)}
}

func writeSelectAndScatter(b *bodyWriter, in hlo.Instruction) written {
	size, list := b.window(hlo.AttrsOf[hlo.WindowAttrs](in).Window, "", "")
	return written{name: "stablehlo.select_and_scatter", regions: []mlir.Region{b.region(in, 0), b.region(in, 1)},
		attrs: append(list, attrs("window_dimensions", b.ints(size))...)}
}

func writeMap(b *bodyWriter, in hlo.Instruction) written {
	return written{name: "stablehlo.map", regions: []mlir.Region{b.region(in, 0)}, attrs: attrs("dimensions", b.ints(hlo.AttrsOf[hlo.MapAttrs](in).Dimensions))}
}

func writeSort(b *bodyWriter, in hlo.Instruction) written {
	a := hlo.AttrsOf[hlo.SortAttrs](in)
	return written{name: "stablehlo.sort", regions: []mlir.Region{b.region(in, 0)},
		attrs: attrs("dimension", b.i64(a.Dimensions[0]), "is_stable", mlir.Bool(a.IsStable))}
}

// writeWhile: the body is the first callee, the condition the first region.
func writeWhile(b *bodyWriter, in hlo.Instruction) written {
	return written{name: "stablehlo.while", regions: []mlir.Region{b.region(in, 1), b.region(in, 0)}}
}

// writeConditional: branches have no arguments; they see the values outside.
func writeConditional(b *bodyWriter, in hlo.Instruction) written {
	w := written{name: "stablehlo.case", operands: b.values[in.Operand(0)].leaves()}
	if in.OperandInstr(0).Shape().Type() == hlo.PRED {
		w.name = "stablehlo.if"
	}
	for n := range in.NumCallees() {
		r := b.region(in, n)
		block := r.Blocks[0]
		outer := make(map[*mlir.Value]*mlir.Value)
		for i, v := range b.values[in.Operand(n+1)].leaves() {
			outer[&block.Args[i]] = v
		}
		block.Args = nil
		for _, op := range block.Ops {
			op.Walk(func(op *mlir.Op) {
				for i, v := range op.Operands {
					if o := outer[v]; o != nil {
						op.Operands = replaced(op.Operands, i, o)
					}
				}
			})
		}
		w.regions = append(w.regions, r)
	}
	return w
}

func writeCall(b *bodyWriter, in hlo.Instruction) written {
	callee := b.m.MustComputation(in.Callee(0))
	b.function(callee, callee.Name())
	return written{name: "func.call", attrs: attrs("callee", mlir.Symbol(callee.Name()))}
}

func writeCustomCall(b *bodyWriter, in hlo.Instruction) written {
	a := hlo.AttrsOf[hlo.CustomCallAttrs](in)
	list := attrs("call_target_name", mlir.String(a.Target))
	if a.HasSideEffect {
		list = append(list, attrs("has_side_effect", mlir.Bool(true))...)
	}
	config := ""
	if c := in.Common(); c != nil {
		config = c.BackendConfig
	}
	for n, v := range apiVersions {
		if v == a.APIVersion && n > 0 {
			list = append(list, attrs("api_version", b.i32(int64(n)))...)
			break
		}
	}
	if config != "" {
		var value mlir.Attr = mlir.String(config)
		if a.APIVersion == hlo.APITypedFFI {
			if d, err := mlir.ParseAttr(b.types, config); err == nil {
				value = d
			}
		}
		list = append(list, attrs("backend_config", value)...)
	}
	list = append(list, b.customLayouts(in, a)...)
	var called mlir.Array
	for id := range in.Callees() {
		c := b.m.MustComputation(id)
		b.function(c, c.Name())
		called = append(called, mlir.Symbol(c.Name()))
	}
	if called != nil {
		list = append(list, attrs("called_computations", called)...)
	}
	return written{name: "stablehlo.custom_call", attrs: list}
}

func writeFFT(b *bodyWriter, in hlo.Instruction) written {
	a := hlo.AttrsOf[hlo.FFTAttrs](in)
	return written{name: "stablehlo.fft", attrs: attrs("fft_type", word("fft_type", a.Type.String()), "fft_length", b.ints(a.Length))}
}

func writeCholesky(_ *bodyWriter, in hlo.Instruction) written {
	return written{name: "stablehlo.cholesky", attrs: attrs("lower", mlir.Bool(hlo.AttrsOf[hlo.CholeskyAttrs](in).Lower))}
}

func writeTriangularSolve(_ *bodyWriter, in hlo.Instruction) written {
	a := hlo.AttrsOf[hlo.TriangularSolveAttrs](in)
	return written{name: "stablehlo.triangular_solve", attrs: attrs("left_side", mlir.Bool(a.LeftSide), "lower", mlir.Bool(a.Lower),
		"unit_diagonal", mlir.Bool(a.UnitDiagonal), "transpose_a", word("transpose", max(a.TransposeA, hlo.NoTranspose).String()))}
}

func writeReducePrecision(b *bodyWriter, in hlo.Instruction) written {
	a := hlo.AttrsOf[hlo.ReducePrecisionAttrs](in)
	return written{name: "stablehlo.reduce_precision", attrs: attrs("exponent_bits", b.i32(a.ExponentBits), "mantissa_bits", b.i32(a.MantissaBits))}
}

func writeRngBitGenerator(_ *bodyWriter, in hlo.Instruction) written {
	a := hlo.AttrsOf[hlo.RngBitGeneratorAttrs](in)
	return written{name: "stablehlo.rng_bit_generator", attrs: attrs("rng_algorithm", word("rng_algorithm", rngAlgorithms[a.Algorithm]))}
}

func writeTopK(b *bodyWriter, in hlo.Instruction) written {
	a := hlo.AttrsOf[hlo.TopKAttrs](in)
	if !a.Largest {
		b.missing["topk of the smallest"] = true
	}
	return written{name: "chlo.top_k", attrs: attrs("k", b.i64(a.K))}
}

func writeBatchNorm(kind string) func(*bodyWriter, hlo.Instruction) written {
	return func(b *bodyWriter, in hlo.Instruction) written {
		a := hlo.AttrsOf[hlo.BatchNormAttrs](in)
		f32 := b.types.Scalar(hlo.F32)
		return written{name: "stablehlo.batch_norm_" + kind, attrs: attrs("epsilon", mlir.FloatOf(f32, float64(a.Epsilon)),
			"feature_index", b.i64(a.FeatureIndex))}
	}
}
