package stablehlo

import (
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// chloRows are the operations of CHLO: those that HLO has, those that broadcast their operands first, and those that are expanded.
func chloRows() map[string]*row {
	rows := map[string]*row{
		"erf":              op1(realFloat(hlo.OpErf)),
		"tan":              unary(hlo.OpTan),
		"mulhi":            binary(hlo.OpMulhi),
		"top_k":            {1, 1, 0, 2, (*comp).topK, false},
		"ragged_dot":       op3((*comp).raggedDot),
		"scan":             {1, -1, 1, -1, (*comp).scan, false},
		"constant_like":    op1((*comp).constantLike),
		"broadcast_select": expanded(3),
	}
	for _, name := range strings.Fields("add and atan2 compare complex divide maximum minimum multiply or power remainder shift_left " +
		"shift_right_arithmetic shift_right_logical subtract xor") {
		rows["broadcast_"+name] = expanded(2)
	}
	for _, name := range []string{"next_after", "polygamma", "zeta"} {
		rows[name] = expanded(2)
		rows["broadcast_"+name] = expanded(2)
	}
	for _, name := range strings.Fields("_asin_acos_kernel acos acosh asin asinh atan atanh bessel_i1e conj cosh digamma erf_inv erfc is_inf " +
		"is_neg_inf is_pos_inf lgamma sinh square") {
		rows[name] = expanded(1)
	}
	rows["asin_acos_kernel"] = rows["_asin_acos_kernel"]
	return rows
}

// realFloat is an operation of real floating-point numbers.
func realFloat(opcode hlo.Opcode) func(*comp, *mlir.Op) {
	return func(c *comp, op *mlir.Op) {
		if !op.Operands[0].Type.Elem.IsFloat() {
			c.fail(op, "'%s' of %v: want real floating-point numbers", op.Name, op.Operands[0].Type)
		}
		same(opcode)(c, op)
	}
}

// expanded is an operation that is written out before the program is converted: see simplifier.expand.
func expanded(operands int) *row {
	return &row{min: operands, max: operands, results: 1, expanded: true, emit: func(c *comp, op *mlir.Op) {
		c.fail(op, "'%s' of %v is not supported", op.Name, op.Operands[0].Type)
	}}
}

// like is an operation at the place of another, with the same operands and results.
func like(op *mlir.Op, name string, attrs mlir.Attrs) *mlir.Op {
	o := &mlir.Op{Name: name, Operands: op.Operands, Attrs: attrs, Regions: op.Regions, Loc: op.Loc, Pos: op.Pos}
	o.Results = make([]mlir.Value, len(op.Results))
	for i := range o.Results {
		o.Results[i] = mlir.Value{Type: op.Results[i].Type, Def: o, N: i}
	}
	return o
}

// broadcastOperands brings operands to the dimensions of the result, as numpy does, and applies the operation without its prefix.
func (s *simplifier) broadcastOperands(op *mlir.Op, rest string) *mlir.Op {
	t := op.Results[0].Type
	name := "stablehlo." + rest
	if rows()[name] == nil {
		name = "chlo." + rest
	}
	explicit, given := mlir.Ints(op.Attrs.Get("broadcast_dimensions"))
	operands := make([]*mlir.Value, len(op.Operands))
	for i, v := range op.Operands {
		operands[i] = v
		if v.Type.Kind != mlir.Tensor || len(v.Type.Dims) > len(t.Dims) {
			s.fail(op, "operand %d of '%s' is %v, the result %v", i, op.Name, v.Type, t)
		}
		if slices.Equal(v.Type.Dims, t.Dims) {
			continue
		}
		rank := len(v.Type.Dims)
		dims := make([]int64, rank)
		for d := range dims {
			dims[d] = int64(len(t.Dims) - rank + d)
		}
		if given && len(explicit) == rank && rank < len(t.Dims) {
			dims = explicit
		}
		operands[i] = s.put(op, "stablehlo.broadcast_in_dim", s.m.Types.WithDims(v.Type, t.Dims),
			mlir.Attrs{{Name: "broadcast_dimensions", Value: s.list(dims...)}}, v)
	}
	next := instead(op, name, op.Attrs.Without("broadcast_dimensions"), operands...)
	s.checkOp(next)
	return next
}

func (c *comp) constantLike(op *mlir.Op) {
	shape := c.resultShape(0)
	scalar := c.m.Types.WithDims(op.Results[0].Type, nil)
	d := mlir.Dense{Type: scalar, Splat: true}
	switch v := op.Attrs.Get("value").(type) {
	case mlir.Float:
		d.Data = mlir.ElementBytes(v.Type.Elem, v.Bits)
	case mlir.Int:
		d.Data = mlir.ElementBytes(v.Type.Elem, uint64(v.Value))
	case mlir.Dense:
		d = v
	}
	if len(d.Data) != scalar.Elem.ByteSize() {
		c.fail(op, "'%s' wants the attribute value, a number of type %s", op.Name, mlir.ElementName(scalar.Elem))
	}
	c.set(c.splat(d, shape))
}

func (c *comp) topK(op *mlir.Op) {
	a := &hlo.TopKAttrs{K: c.int("k"), Largest: true, IsStable: true}
	if op.Attrs.Has("largest") && !c.flag("largest") {
		c.fail(op, "'%s' of the smallest elements is not supported: negate the operand", op.Name)
	}
	if op.Attrs.Has("is_stable") {
		a.IsStable = c.flag("is_stable")
	}
	c.setAll(c.add(hlo.OpTopk, c.tupleShape(), a, c.operand(0)))
}

// raggedDot along a batch dimension is a dot.
func (c *comp) raggedDot(op *mlir.Op) {
	d := c.record("ragged_dot_dimension_numbers")
	ids := c.operands()
	a := &hlo.RaggedDotAttrs{
		LHSBatch: c.field(d, "lhs_batching_dimensions"), LHSContracting: c.field(d, "lhs_contracting_dimensions"),
		RHSBatch: c.field(d, "rhs_batching_dimensions"), RHSContracting: c.field(d, "rhs_contracting_dimensions"),
		LHSRagged: c.field(d, "lhs_ragged_dimensions"), RHSGroup: c.field(d, "rhs_group_dimensions"), Precision: c.precision(),
	}
	for _, b := range a.LHSBatch {
		if len(a.LHSRagged) == 1 && a.LHSRagged[0] == b {
			c.set(c.add(hlo.OpDot, c.resultShape(0), &hlo.DotAttrs{
				LHSBatch: a.LHSBatch, LHSContracting: a.LHSContracting, RHSBatch: a.RHSBatch, RHSContracting: a.RHSContracting,
				Precision: a.Precision,
			}, ids[0], ids[1]))
			return
		}
	}
	c.set(c.add(hlo.OpRaggedDot, c.resultShape(0), a, ids...))
}

func (c *comp) scan(op *mlir.Op) {
	carries := c.intOr("num_carries", -1)
	if carries < 0 { // of the results, those that have the dimensions of the last operands
		n, ok := mlir.Ints(op.Attrs.Get("operandSegmentSizes"))
		if !ok || len(n) != 2 {
			c.fail(op, "'%s' does not say how many values it carries", op.Name)
		}
		carries = n[1]
	}
	a := &hlo.ScanAttrs{
		Dimensions: []int64{c.int("dimension")}, NumCarries: carries, IsReverse: c.flag("is_reverse"), IsAssociative: c.flag("is_associative"),
	}
	ids := c.operands()
	id := c.addCalling(hlo.OpScan, c.tupleShape(), a, []hlo.CompID{c.simpleRegion(0)}, ids...)
	c.setElements(id, len(op.Results))
}

// compositeOps are the operations of CHLO that composites and custom calls of exports stand for.
var compositeOps = map[string]bool{
	"acos": true, "acosh": true, "asin": true, "asinh": true, "atanh": true, "cosh": true, "erf": true, "mulhi": true, "ragged_dot": true,
	"scan": true, "sinh": true, "top_k": true,
}

// compositeOf is the operation of CHLO that a composite stands for, nil when it stands for none.
func (c *converter) compositeOf(op *mlir.Op, name string) *mlir.Op {
	rest, ok := strings.CutPrefix(name, "chlo.")
	if !ok || !compositeOps[rest] || intOf(op.Attrs.Get("version")) != 1 {
		return nil
	}
	d, _ := op.Attrs.Get("composite_attributes").(mlir.Dict)
	attrs := mlir.Attrs(d)
	switch rest {
	case "ragged_dot":
		attrs = c.raggedAttrs(op, attrs)
	case "scan":
		if len(op.Regions) == 0 {
			return nil
		}
	}
	return like(op, name, attrs)
}

// raggedAttrs are the attributes of a ragged dot whose dimension numbers are an array of lists, as composites have them.
func (c *converter) raggedAttrs(op *mlir.Op, attrs mlir.Attrs) mlir.Attrs {
	lists, ok := attrs.Get("ragged_dot_dimension_numbers").(mlir.Array)
	names, _ := mlir.StructFields("ragged_dot")
	if !ok {
		return attrs
	}
	if len(lists) != len(names) {
		c.fail(op, "the composite chlo.ragged_dot has %d lists of dimensions, want %d", len(lists), len(names))
	}
	s := mlir.Struct{Name: "ragged_dot"}
	for i, name := range names {
		s.Fields = append(s.Fields, mlir.NamedAttr{Name: name, Value: lists[i]})
	}
	out := mlir.Attrs{{Name: "ragged_dot_dimension_numbers", Value: s}}
	if words, ok := attrs.Get("precision_config").(mlir.Array); ok {
		var list mlir.Array
		for _, w := range words {
			list = append(list, mlir.Enum{Kind: "precision", Value: stringOf(w)})
		}
		out = append(out, mlir.NamedAttr{Name: "precision_config", Value: list})
	}
	return out
}
