package stablehlo

import (
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// dot contracts the last dimension of the left operand with the first of the right one.
func (c *comp) dot(op *mlir.Op) {
	rank := c.shape(c.operand(0)).Rank()
	if rank == 0 {
		c.fail(op, "'%s' of a scalar", op.Name)
	}
	a := &hlo.DotAttrs{LHSContracting: []int64{int64(rank - 1)}, RHSContracting: []int64{0}, Precision: c.precision()}
	c.set(c.add(hlo.OpDot, c.resultShape(0), a, c.operands()...))
}

func (c *comp) dotGeneral(op *mlir.Op) {
	d := c.record("dot_dimension_numbers")
	a := &hlo.DotAttrs{
		LHSBatch: c.field(d, "lhs_batching_dimensions"), LHSContracting: c.field(d, "lhs_contracting_dimensions"),
		RHSBatch: c.field(d, "rhs_batching_dimensions"), RHSContracting: c.field(d, "rhs_contracting_dimensions"),
		Precision: c.precision(), Algorithm: c.algorithm(),
	}
	if a.Algorithm != hlo.AlgUnset && a.Precision != nil {
		c.fail(op, "'%s' has an algorithm and a precision: with an algorithm, the precision must be DEFAULT", op.Name)
	}
	c.set(c.add(hlo.OpDot, c.resultShape(0), a, c.operands()...))
}

// algorithms are those that have a name, by the types of the operands and the accumulator, and the number of operations.
var algorithms = map[string]hlo.DotAlgorithm{
	"f16 f16 f16 1": hlo.AlgF16F16F16, "f16 f16 f32 1": hlo.AlgF16F16F32,
	"bf16 bf16 bf16 1": hlo.AlgBF16BF16BF16, "bf16 bf16 f32 1": hlo.AlgBF16BF16F32, "bf16 bf16 f32 3": hlo.AlgBF16BF16F32X3,
	"bf16 bf16 f32 6": hlo.AlgBF16BF16F32X6, "bf16 bf16 f32 9": hlo.AlgBF16BF16F32X9,
	"tf32 tf32 f32 1": hlo.AlgTF32TF32F32, "tf32 tf32 f32 3": hlo.AlgTF32TF32F32X3,
	"f32 f32 f32 1": hlo.AlgF32F32F32, "f64 f64 f64 1": hlo.AlgF64F64F64,
}

func (c *comp) algorithm() hlo.DotAlgorithm {
	s, ok := c.op.Attrs.Get("algorithm").(mlir.Struct)
	if !ok {
		return hlo.AlgUnset
	}
	names := make([]string, 3)
	for i, f := range []string{"lhs_precision_type", "rhs_precision_type", "accumulation_type"} {
		t, ok := s.Fields.Get(f).(mlir.TypeAttr)
		if !ok {
			c.fail(c.op, "the algorithm has no %s", f)
		}
		names[i] = t.Type.String()
	}
	n := max(c.fieldInt(s, "num_primitive_operations"), 1)
	imprecise := flagOf(s.Fields.Get("allow_imprecise_accumulation"))
	if strings.HasPrefix(names[0], "f8") && strings.HasPrefix(names[1], "f8") && names[2] == "f32" && n == 1 {
		if imprecise {
			return hlo.AlgAnyF8AnyF8F32FastAccum
		}
		return hlo.AlgAnyF8AnyF8F32
	}
	alg, ok := algorithms[strings.Join(names, " ")+" "+string(rune('0'+min(n, 10)))]
	if !ok || imprecise || c.fieldInt(s, "lhs_component_count") > 1 || c.fieldInt(s, "rhs_component_count") > 1 {
		c.fail(c.op, "no algorithm multiplies %s and %s into %s in %d operations", names[0], names[1], names[2], n)
	}
	return alg
}

// einsum is a contraction and a transpose to the order of the result.
func (c *comp) einsum(op *mlir.Op) {
	config := strings.ReplaceAll(c.str("einsum_config"), " ", "")
	in, out, ok := strings.Cut(config, "->")
	lhs, rhs, ok2 := strings.Cut(in, ",")
	ids := c.operands()
	ls, rs := c.shape(ids[0]), c.shape(ids[1])
	if !ok || !ok2 || len(lhs) != ls.Rank() || len(rhs) != rs.Rank() || repeats(lhs) || repeats(rhs) || repeats(out) {
		c.fail(op, "einsum_config %q is not understood: want a letter for each dimension, as in \"ab,bc->ac\"", config)
	}
	a := &hlo.DotAttrs{Precision: c.precision(), LHSContracting: []int64{}, RHSContracting: []int64{}}
	var dims []int64
	var order string
	for i, l := range lhs {
		j := strings.IndexRune(rhs, l)
		switch kept := strings.ContainsRune(out, l); {
		case j >= 0 && kept:
			a.LHSBatch, a.RHSBatch = append(a.LHSBatch, int64(i)), append(a.RHSBatch, int64(j))
			order, dims = order+string(l), append(dims, ls.Dim(i))
		case j >= 0:
			a.LHSContracting, a.RHSContracting = append(a.LHSContracting, int64(i)), append(a.RHSContracting, int64(j))
		case !kept:
			c.fail(op, "einsum_config %q sums over %c, which is in one operand only", config, l)
		}
	}
	for i, l := range lhs {
		if !strings.ContainsRune(rhs, l) {
			order, dims = order+string(l), append(dims, ls.Dim(i))
		}
	}
	for i, l := range rhs {
		if !strings.ContainsRune(lhs, l) {
			if !strings.ContainsRune(out, l) {
				c.fail(op, "einsum_config %q sums over %c, which is in one operand only", config, l)
			}
			order, dims = order+string(l), append(dims, rs.Dim(i))
		}
	}
	if len(order) != len(out) {
		c.fail(op, "einsum_config %q has other letters on the right than on the left", config)
	}
	save := c.common
	common := hlo.Common{}
	if save != nil {
		common = *save
	}
	common.FrontendAttributes = withFrontend(withFrontend(common.FrontendAttributes, "grad_x", "false"), "grad_y", "false")
	c.common = &common
	shape := c.resultShape(0)
	id := c.add(hlo.OpDot, arrayShape(shape.Type(), dims...), a, ids...)
	c.common = save
	perm := make([]int64, len(out))
	for i, l := range out {
		perm[i] = int64(strings.IndexRune(order, l))
	}
	c.set(c.transposed(id, perm))
}

func repeats(s string) bool {
	for i := range len(s) {
		if strings.IndexByte(s[i+1:], s[i]) >= 0 {
			return true
		}
	}
	return false
}

// unaryEinsum is refused, as XLA's converter refuses it.
func (c *comp) unaryEinsum(op *mlir.Op) {
	c.failHint(op, "write it as a reduce and a transpose", "'%s' is not supported", op.Name)
}

func (c *comp) convolution(op *mlir.Op) {
	d := c.record("dimension_numbers")
	ids := c.operands()
	kernel := c.shape(ids[1])
	dims := &hlo.ConvDims{
		InputBatch: c.fieldInt(d, "input_batch_dimension"), InputFeature: c.fieldInt(d, "input_feature_dimension"),
		InputSpatial: c.field(d, "input_spatial_dimensions"),
		KernelInput:  c.fieldInt(d, "kernel_input_feature_dimension"), KernelOutput: c.fieldInt(d, "kernel_output_feature_dimension"),
		KernelSpatial: c.field(d, "kernel_spatial_dimensions"),
		OutputBatch:   c.fieldInt(d, "output_batch_dimension"), OutputFeature: c.fieldInt(d, "output_feature_dimension"),
		OutputSpatial: c.field(d, "output_spatial_dimensions"),
	}
	size := make([]int64, len(dims.KernelSpatial))
	for i, k := range dims.KernelSpatial {
		if k < 0 || k >= int64(kernel.Rank()) {
			c.fail(op, "kernel dimension %d of '%s', the kernel has %d", k, op.Name, kernel.Rank())
		}
		size[i] = kernel.Dim(int(k))
	}
	a := &hlo.ConvolutionAttrs{
		Window: c.window(size, "lhs_dilation", "rhs_dilation"), DimLabels: dims, Precision: c.precision(),
		FeatureGroupCount: c.intOr("feature_group_count", 1), BatchGroupCount: c.intOr("batch_group_count", 1),
	}
	c.set(c.add(hlo.OpConvolution, c.resultShape(0), a, ids...))
}

func (c *comp) fft(op *mlir.Op) {
	a := &hlo.FFTAttrs{Length: c.ints("fft_length")}
	a.Type = hlo.FFTType(max(slices.Index(a.Type.EnumNames(), c.enum("fft_type")), 0))
	c.set(c.add(hlo.OpFft, c.resultShape(0), a, c.operand(0)))
}

func (c *comp) cholesky(*mlir.Op) {
	c.set(c.add(hlo.OpCholesky, c.resultShape(0), &hlo.CholeskyAttrs{Lower: c.flag("lower")}, c.operand(0)))
}

func (c *comp) triangularSolve(*mlir.Op) {
	a := &hlo.TriangularSolveAttrs{LeftSide: c.flag("left_side"), Lower: c.flag("lower"), UnitDiagonal: c.flag("unit_diagonal")}
	a.TransposeA = hlo.Transpose(max(slices.Index(a.TransposeA.EnumNames(), c.enum("transpose_a")), 0))
	c.set(c.add(hlo.OpTriangularSolve, c.resultShape(0), a, c.operands()...))
}

func batchNorm(opcode hlo.Opcode) func(*comp, *mlir.Op) {
	return func(c *comp, op *mlir.Op) {
		epsilon, ok := op.Attrs.Get("epsilon").(mlir.Float)
		if !ok {
			c.fail(op, "'%s' wants the attribute epsilon, a float", op.Name)
		}
		a := &hlo.BatchNormAttrs{Epsilon: float32(epsilon.Float64()), FeatureIndex: c.int("feature_index")}
		c.setAll(c.add(opcode, c.allShape(), a, c.operands()...))
	}
}
