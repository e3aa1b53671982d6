package stablehlo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// Operations of shapes: those of the dialect shape, and those of tensor and arith that compute sizes. HLO has none of them. They are
// computed while a program is refined, as all shapes are known then: a shape becomes a constant list of sizes, a size or an index a constant
// number, a witness the constant true, or an error.

// sizeOp is an operation of shapes: how many operands it has, and how its results follow from them.
type sizeOp struct {
	min, max int // operands; max < 0: any number
	fold     func(s *sizes) [][]int64
}

// row is the row of an operation of shapes, for the checks that all operations go through; it is gone when the program is converted.
func (o *sizeOp) row(results int) *row {
	return &row{o.min, o.max, 0, results, (*comp).notRefined, false}
}

// sizeOps are the operations of shapes by name.
var sizeOps map[string]*sizeOp

func init() {
	sizeOps = map[string]*sizeOp{
		"shape.const_shape":        {0, 0, func(s *sizes) [][]int64 { return one(s.attr("shape")) }},
		"shape.const_size":         {0, 0, func(s *sizes) [][]int64 { return one(s.attr("value")) }},
		"shape.const_witness":      {0, 0, func(s *sizes) [][]int64 { return one(s.attr("passing")) }},
		"shape.shape_of":           {1, 1, func(s *sizes) [][]int64 { return one(s.dims(0)) }},
		"shape.dim":                {2, 2, (*sizes).dimension},
		"tensor.dim":               {2, 2, (*sizes).dimension},
		"shape.rank":               {1, 1, func(s *sizes) [][]int64 { return single(int64(len(s.list(0)))) }},
		"tensor.rank":              {1, 1, func(s *sizes) [][]int64 { return single(int64(len(s.dims(0)))) }},
		"shape.broadcast":          {1, -1, (*sizes).broadcast},
		"shape.num_elements":       {1, 1, (*sizes).numElements},
		"shape.get_extent":         {2, 2, (*sizes).extent},
		"shape.concat":             {2, 2, func(s *sizes) [][]int64 { return one(slices.Concat(s.list(0), s.list(1))) }},
		"shape.split_at":           {2, 2, (*sizes).splitAt},
		"shape.from_extents":       {0, -1, (*sizes).scalars},
		"tensor.from_elements":     {0, -1, (*sizes).scalars},
		"tensor.extract":           {1, -1, (*sizes).extract},
		"shape.cstr_broadcastable": {2, -1, (*sizes).mustBroadcast},
		"shape.is_broadcastable":   {2, -1, func(s *sizes) [][]int64 { return truth(s.broadcastable()) }},
		"shape.cstr_eq":            {1, -1, func(s *sizes) [][]int64 { return s.holds(s.equal(), "the shapes are "+s.texts()) }},
		"shape.shape_eq":           {1, -1, func(s *sizes) [][]int64 { return truth(s.equal()) }},
		"shape.cstr_require":       {1, 1, func(s *sizes) [][]int64 { return s.holds(s.number(0) != 0, stringOf(s.op.Attrs.Get("msg"))) }},
		"shape.assuming_all":       {0, -1, (*sizes).every},
		"arith.cmpi":               {2, 2, (*sizes).compare},
		"arith.select":             {3, 3, (*sizes).choose},
	}
	for name := range strings.FieldsSeq("shape.to_extent_tensor shape.from_extent_tensor shape.value_as_shape shape.value_of shape.index_to_size " +
		"shape.size_to_index tensor.cast arith.index_cast arith.extsi arith.trunci builtin.unrealized_conversion_cast") {
		sizeOps[name] = &sizeOp{1, 1, func(s *sizes) [][]int64 { return one(s.list(0)) }}
	}
	for name := range strings.FieldsSeq("arith.index_castui arith.extui") {
		sizeOps[name] = &sizeOp{1, 1, (*sizes).widenUnsigned}
	}
	for _, dialect := range []string{"stablehlo.", "mhlo."} { // of old programs
		sizeOps[dialect+"compute_reshape_shape"] = &sizeOp{2, 2, (*sizes).reshapeShape}
		sizeOps[dialect+"cstr_reshapable"] = &sizeOp{2, 2, func(s *sizes) [][]int64 {
			_, ok := s.reshaped()
			return s.holds(ok, fmt.Sprintf("%d elements have no shape %s", s.number(0), sizeList(s.list(1))))
		}}
	}
	sizeOps["shape.any"] = &sizeOp{1, -1, func(s *sizes) [][]int64 { return one(s.list(0)) }}
	for name, f := range sizeArithmetic {
		sizeOps[name] = &sizeOp{2, 2, func(s *sizes) [][]int64 { return s.pairs(f) }}
	}
}

// sizeRows adds the rows of these operations.
func sizeRows(all map[string]*row) {
	for name, o := range sizeOps {
		results := 1
		if name == "shape.split_at" {
			results = 2
		}
		all[name] = o.row(results)
	}
	all["shape.assuming"] = &row{1, 1, 1, -1, (*comp).notRefined, false}
	all["shape.assuming_yield"] = &row{0, -1, 0, 0, nil, false}
}

// isSizeOp reports whether an operation is one of shapes.
func isSizeOp(op *mlir.Op) bool {
	return sizeOps[op.Name] != nil || op.Name == "shape.assuming" || isScalarConstant(op)
}

// isScalarConstant reports whether an operation is a number that is no tensor.
func isScalarConstant(op *mlir.Op) bool {
	return op.Name == "arith.constant" && len(op.Results) == 1 && (op.Results[0].Type.Kind == mlir.Index || op.Results[0].Type.Kind == mlir.Scalar)
}

// sizeOp computes an operation of shapes, and reports whether it was one: then it is gone.
func (b *body) sizeOp(op, old *mlir.Op) bool {
	switch {
	case op.Name == "shape.assuming":
		b.assuming(op, old)
		return true
	case isScalarConstant(op):
		v, ok := op.Attrs.Get("value").(mlir.Int)
		if truth, is := op.Attrs.Get("value").(mlir.Bool); is {
			ok = true
			if truth {
				v.Value = 1
			}
		}
		if !ok {
			return false
		}
		b.setSizes(op, old, 0, []int64{v.Value})
		return true
	}
	o := sizeOps[op.Name]
	if o == nil || b.castTensor(op, old) {
		return o != nil
	}
	for i, list := range o.fold(&sizes{b, op}) {
		b.setSizes(op, old, i, list)
	}
	return true
}

// castTensor makes a cast of a tensor that is not known a conversion of its elements, or nothing if they have that type.
func (b *body) castTensor(op, old *mlir.Op) bool {
	if len(op.Operands) != 1 || op.Operands[0].Type.Kind != mlir.Tensor || op.Results[0].Type.Kind != mlir.Tensor {
		return false
	}
	v, t := op.Operands[0], op.Results[0].Type
	if _, ok := known(v); ok && isIntegral(v.Type.Elem) && isIntegral(t.Elem) && v.Type.IsStatic() && v.Type.NumElements() <= maxKnown {
		return false
	}
	switch op.Name {
	case "tensor.cast", "arith.index_cast", "builtin.unrealized_conversion_cast":
	default:
		return false
	}
	if !compatible(v.Type.Dims, t.Dims) || v.Type.Elem != t.Elem && op.Name == "tensor.cast" {
		b.fail(op, "'%s' of %v to %v", op.Name, v.Type, t)
	}
	if v.Type.Elem == t.Elem {
		b.values[&old.Results[0]] = v
		return true
	}
	if !isIntegral(v.Type.Elem) || !isIntegral(t.Elem) {
		b.fail(op, "'%s' of %v to %v: want integers or indices", op.Name, v.Type, t)
	}
	op.Name = "stablehlo.convert"
	op.Results[0].Type = b.m.Types.WithElem(v.Type, t.Elem)
	b.out = append(b.out, op)
	return true
}

// compatible reports whether two lists of sizes can be of one shape.
func compatible(x, y []int64) bool {
	return slices.EqualFunc(x, y, func(a, b int64) bool { return a == b || a == hlo.UnboundedSize || b == hlo.UnboundedSize })
}

// setSizes makes result i a constant.
func (b *body) setSizes(op, old *mlir.Op, i int, list []int64) {
	declared := op.Results[i].Type
	elem, dims := b.m.Types.Index(), []int64{}
	switch {
	case declared.Kind == mlir.Tensor:
		dims = declared.Dims
		if !declared.Index {
			elem = b.m.Types.Scalar(declared.Elem)
		}
		if len(dims) == 1 && dims[0] == hlo.UnboundedSize {
			dims = []int64{int64(len(list))}
		} else if !declared.IsStatic() && len(op.Operands) == 1 && compatible(op.Operands[0].Type.Dims, dims) { // a cast
			dims = op.Operands[0].Type.Dims
		}
	case declared.Kind == mlir.Scalar:
		elem = b.m.Types.Scalar(declared.Elem)
	case declared.Text == "!shape.shape":
		dims = []int64{int64(len(list))}
	case declared.Text == "!shape.witness":
		elem = b.m.Types.Scalar(hlo.PRED)
	case declared.Kind != mlir.Index && declared.Text != "!shape.size":
		b.fail(op, "'%s' has a result of type %v, which is not read: want a shape, a size, a witness or numbers", op.Name, declared)
	}
	t := b.m.Types.Tensor(elem, dims, nil)
	if !isIntegral(t.Elem) || !t.IsStatic() || t.NumElements() != int64(len(list)) {
		b.fail(op, "the result of '%s' is %s, its type %v", op.Name, sizeList(list), declared)
	}
	data := make([]byte, 0, len(list)*8)
	for _, v := range list {
		data = append(data, mlir.ElementBytes(t.Elem, uint64(v))...)
	}
	d, msg := mlir.MakeDense(t, data)
	if msg != "" {
		b.fail(op, "%s", msg)
	}
	made := b.newConstant(op, d)
	b.out = append(b.out, made)
	b.values[&old.Results[i]] = &made.Results[0]
}

// assuming is its region in place: its witness holds.
func (b *body) assuming(op, old *mlir.Op) {
	if s := (&sizes{b, op}); s.number(0) == 0 {
		b.failHint(op, "the program is for other shapes of its arguments", "the witness of 'shape.assuming' is false")
	}
	block := old.Regions[0].Block()
	end := block.Terminator()
	if len(block.Args) != 0 || len(end.Operands) != len(old.Results) {
		b.fail(op, "the region of 'shape.assuming' has %d arguments and yields %d values for %d results", len(block.Args), len(end.Operands),
			len(old.Results))
	}
	b.ops(block.Ops[:len(block.Ops)-1])
	for i, v := range end.Operands {
		if w := b.values[v]; w != nil {
			v = w
		}
		b.values[&old.Results[i]] = v
	}
}

// sizes is one operation that is computed.
type sizes struct {
	b  *body
	op *mlir.Op
}

func one(list []int64) [][]int64 { return [][]int64{list} }

func single(v int64) [][]int64 { return one([]int64{v}) }

func truth(v bool) [][]int64 {
	if v {
		return single(1)
	}
	return single(0)
}

// sizeList is a list of sizes as text.
func sizeList(list []int64) string { return strings.ReplaceAll(fmt.Sprint(list), " ", ", ") }

// dims are the sizes of an operand that is a tensor.
func (s *sizes) dims(i int) []int64 {
	t := s.op.Operands[i].Type
	if t.Kind != mlir.Tensor {
		s.b.fail(s.op, "operand %d of '%s' is a value of type %v, want a tensor", i, s.op.Name, t)
	}
	if !t.IsStatic() {
		s.b.stillDynamic(s.op)
	}
	return t.Dims
}

// list is the value of an operand.
func (s *sizes) list(i int) []int64 {
	list, ok := knownList(s.op.Operands[i])
	if !ok {
		s.b.failHint(s.op, "a shape may depend on the shapes of the arguments, not on their values",
			"operand %d of '%s' is not known before the program runs", i, s.op.Name)
	}
	return list
}

// number is the value of an operand that is one number.
func (s *sizes) number(i int) int64 {
	list := s.list(i)
	if len(list) != 1 {
		s.b.fail(s.op, "operand %d of '%s' is %s, want one number", i, s.op.Name, sizeList(list))
	}
	return list[0]
}

// index is an operand that counts from 0 to below n.
func (s *sizes) index(i int, n int) int64 {
	v := s.number(i)
	if v < 0 || v >= int64(n) {
		s.b.fail(s.op, "'%s' of number %d of %d", s.op.Name, v, n)
	}
	return v
}

// attr is an attribute that is a number or a list of them.
func (s *sizes) attr(name string) []int64 {
	switch a := s.op.Attrs.Get(name).(type) {
	case mlir.Int:
		return []int64{a.Value}
	case mlir.Bool:
		return truth(bool(a))[0]
	default:
		list, ok := mlir.Ints(a)
		if !ok {
			s.b.fail(s.op, "'%s' wants the attribute %s", s.op.Name, name)
		}
		return list
	}
}

// holds is a witness; one that does not hold is an error.
func (s *sizes) holds(ok bool, why string) [][]int64 {
	if !ok {
		s.b.failHint(s.op, "the program is for other shapes of its arguments", "'%s' does not hold: %s", s.op.Name, why)
	}
	return truth(true)
}

func (s *sizes) all() [][]int64 {
	lists := make([][]int64, len(s.op.Operands))
	for i := range lists {
		lists[i] = s.list(i)
	}
	return lists
}

func (s *sizes) texts() string {
	var texts []string
	for _, l := range s.all() {
		texts = append(texts, sizeList(l))
	}
	return strings.Join(texts, " and ")
}

// every is the witness of several.
func (s *sizes) every() [][]int64 {
	for i := range s.op.Operands {
		if s.number(i) == 0 {
			return truth(false)
		}
	}
	return truth(true)
}

func (s *sizes) equal() bool {
	lists := s.all()
	for _, l := range lists[1:] {
		if !slices.Equal(l, lists[0]) {
			return false
		}
	}
	return true
}
