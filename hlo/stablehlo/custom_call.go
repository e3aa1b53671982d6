package stablehlo

import (
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// customCall keeps the call, but for those that stand for operations of CHLO and those that exports make of dynamic shapes.
func (c *comp) customCall(op *mlir.Op) {
	target := c.str("call_target_name")
	if strings.HasPrefix(target, "stablehlo.dynamic_") {
		c.notRefined(op)
	}
	if target == "shape_assertion" {
		c.fail(op, "the condition of this shape assertion is not known before the program runs")
	}
	if target == "ApproxTopK" {
		c.approxTopK()
		return
	}
	a := &hlo.CustomCallAttrs{Target: target, FeatureGroupCount: 1, BatchGroupCount: 1, HasSideEffect: c.flag("has_side_effect")}
	a.APIVersion = c.apiVersion()
	shape := c.allShape()
	if layouts := c.layouts("result_layouts"); layouts != nil {
		if len(op.Results) == 1 {
			shape = c.withLayout(shape, layouts, 0)
		} else {
			parts := shape.Elems()
			for i := range parts {
				parts[i] = c.withLayout(parts[i], layouts, i)
			}
			shape = hlo.MakeTuple(parts...)
		}
	}
	ids := c.operands()
	if layouts := c.layouts("operand_layouts"); layouts != nil {
		a.OperandLayouts = &hlo.ShapeList{}
		for i, id := range ids {
			a.OperandLayouts.Shapes = append(a.OperandLayouts.Shapes, c.withLayout(c.shape(id), layouts, i))
		}
	}
	a.OutputAliasing = c.outputAliases()
	c.setBackendConfig()
	common := c.common
	id := c.addCalling(hlo.OpCustomCall, shape, a, c.calledComputations(), ids...)
	if common != nil && common.BackendConfig != "" { // that is not for what the result is taken apart with
		plain := *common
		plain.BackendConfig = ""
		c.common = &plain
	}
	c.setAll(id)
}

// calledComputations are the functions that a custom call names.
func (c *comp) calledComputations() []hlo.CompID {
	var callees []hlo.CompID
	list, _ := c.op.Attrs.Get("called_computations").(mlir.Array)
	for _, s := range list {
		f := c.funcs[stringOf(s)]
		if f == nil || f.body == nil {
			c.failHint(c.op, c.funcMeant(stringOf(s)), "'%s' calls @%s, and there is no such function", c.op.Name, stringOf(s))
		}
		callees = append(callees, c.function(f, c.op))
	}
	return callees
}

// approxTopK is the first of the sorted operands, as XLA's converter has it where a platform has no other way: the result of
// jax.lax.approx_max_k is then exact. The second half of the operands, initial values, goes unused.
func (c *comp) approxTopK() {
	op := c.op
	n := len(op.Operands) / 2
	d, ok := op.Attrs.Get("mhlo.backend_config").(mlir.Dict)
	if !ok {
		d, _ = op.Attrs.Get("backend_config").(mlir.Dict)
	}
	dim, ok := mlir.Attrs(d).Get("reduction_dim").(mlir.Int)
	callees := c.calledComputations()
	if !ok || n == 0 || len(op.Operands) != 2*n || len(op.Results) != n || len(callees) != 1 {
		c.fail(op, "ApproxTopK with %s, %d results and %d called computations, and reduction_dim %v: want a pair of operands for each result, one computation, and a dimension",
			plural(len(op.Operands)), len(op.Results), len(callees), mlir.Attrs(d).Get("reduction_dim"))
	}
	ids := c.operands()[:n]
	shapes := make([]hlo.Shape, n)
	for i, id := range ids {
		shapes[i] = c.shape(id)
		want := c.resultShape(i)
		if dim.Value < 0 || dim.Value >= int64(shapes[i].Rank()) || want.Rank() != shapes[i].Rank() || want.Dim(int(dim.Value)) > shapes[i].Dim(int(dim.Value)) {
			c.fail(op, "ApproxTopK of %v in dimension %d gives no %v", shapes[i], dim.Value, want)
		}
	}
	shape := shapes[0]
	if n > 1 {
		shape = hlo.MakeTuple(shapes...)
	}
	sorted := c.addCalling(hlo.OpSort, shape, &hlo.SortAttrs{Dimensions: []int64{dim.Value}}, callees, ids...)
	first := make([]hlo.InstrID, n)
	for i := range first {
		all := sorted
		if n > 1 {
			all = c.element(sorted, i)
		}
		shape := c.resultShape(i)
		a := &hlo.SliceAttrs{Slice: make([]hlo.SliceDim, shape.Rank())}
		for j := range a.Slice {
			a.Slice[j] = hlo.SliceDim{Limit: shape.Dim(j), Stride: 1}
		}
		first[i] = c.add(hlo.OpSlice, shape, a, all)
	}
	if n == 1 {
		c.set(first[0])
		return
	}
	c.setElements(c.tuple(first...), n)
}

// apiVersions are the calling conventions by their numbers in StableHLO.
var apiVersions = []hlo.APIVersion{hlo.APIOriginal, hlo.APIOriginal, hlo.APIStatusReturning, hlo.APIStatusReturningUnified, hlo.APITypedFFI}

func (c *comp) apiVersion() hlo.APIVersion {
	n := int64(0)
	if _, ok := c.op.Attrs.Get("mhlo.backend_config").(mlir.Dict); ok {
		n = int64(len(apiVersions) - 1) // only this convention has a dictionary
	}
	switch v := c.op.Attrs.Get("api_version").(type) {
	case mlir.Int:
		n = v.Value
	case mlir.Enum:
		for i := range int64(len(apiVersions)) {
			if e, _ := mlir.EnumValue("custom_call_api_version", i); e.Value == v.Value {
				n = i
			}
		}
	}
	if n < 0 || n >= int64(len(apiVersions)) {
		c.fail(c.op, "api_version = %d of '%s': want 0 to %d", n, c.op.Name, len(apiVersions)-1)
	}
	return apiVersions[n]
}

// setBackendConfig puts the backend configuration, a string or a dictionary, where HLO has it.
func (c *comp) setBackendConfig() {
	var text string
	switch v := c.op.Attrs.Get("backend_config").(type) {
	case mlir.String:
		text = string(v)
	case mlir.Dict:
		text = string(mlir.AppendDict(nil, mlir.Attrs(v)))
	}
	if v, ok := c.op.Attrs.Get("mhlo.backend_config").(mlir.Dict); ok && text == "" {
		text = string(mlir.AppendDict(nil, mlir.Attrs(v)))
	}
	rule, ruled := c.op.Attrs.Get("sdy.sharding_rule").(mlir.Text)
	if text == "" && !ruled {
		return
	}
	var common hlo.Common
	if c.common != nil {
		common = *c.common
	}
	common.BackendConfig = text
	if ruled {
		common.FrontendAttributes = withFrontend(common.FrontendAttributes, "xla.sdy.sharding_rule", string(rule))
	}
	c.common = &common
}

// layouts are lists of dimensions, minor to major; nil without the attribute.
func (c *comp) layouts(name string) [][]int64 {
	list, ok := c.op.Attrs.Get(name).(mlir.Array)
	if !ok {
		return nil
	}
	out := make([][]int64, len(list))
	for i, a := range list {
		v, ok := mlir.Ints(a)
		if !ok {
			c.fail(c.op, "element %d of %s is no list of dimensions", i, name)
		}
		out[i] = v
	}
	return out
}

func (c *comp) withLayout(s hlo.Shape, layouts [][]int64, i int) hlo.Shape {
	if !s.IsArray() {
		return s
	}
	if i >= len(layouts) || len(layouts[i]) != s.Rank() {
		c.fail(c.op, "the layouts of '%s' are not those of its types", c.op.Name)
	}
	return s.WithLayout(&hlo.Layout{MinorToMajor: layouts[i]})
}

func (c *comp) outputAliases() []hlo.OutputAlias {
	list, _ := c.op.Attrs.Get("output_operand_aliases").(mlir.Array)
	var out []hlo.OutputAlias
	for _, a := range list {
		s, ok := a.(mlir.Struct)
		if !ok {
			c.fail(c.op, "an element of output_operand_aliases is no alias")
		}
		out = append(out, hlo.OutputAlias{
			Output: c.field(s, "output_tuple_indices"), Operand: c.fieldInt(s, "operand_index"), OperandIndex: c.field(s, "operand_tuple_indices"),
		})
	}
	return out
}

// customOp is the operation of CHLO that a custom call of an older export stands for, nil when it stands for none.
func (c *converter) customOp(op *mlir.Op, target string) *mlir.Op {
	d, _ := op.Attrs.Get("mhlo.attributes").(mlir.Dict)
	attrs := mlir.Attrs(d)
	rest, ok := strings.CutPrefix(target, "mhlo.")
	if !ok {
		if rest, ok = strings.CutPrefix(target, "chlo."); !ok {
			return nil
		}
	}
	switch {
	case rest == "topk":
		rest = "top_k"
	case rest == "tan" || compositeOps[rest]:
	default:
		return nil
	}
	return like(op, "chlo."+rest, attrs)
}
