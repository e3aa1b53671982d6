package mlir

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// constantForm: `dense<...> : type`; the type is that of the value. The generic form may follow without its quotes, `() <{value = ...}>`.
func (r *reader) constantForm(op *Op) {
	if r.is("(") {
		r.generic(op)
		return
	}
	r.attributes(op)
	v := r.attr()
	if op.Attrs == nil {
		op.Attrs = cutOf(&r.attrs, 1)[:0]
	}
	r.setAttr(op, "value", v)
	switch v := v.(type) {
	case Dense:
		r.result(op, v.Type)
	case Int:
		r.result(op, v.Type)
	case Float:
		r.result(op, v.Type)
	case Bool:
		r.result(op, r.types.Scalar(hlo.PRED))
	default:
		r.failAt(op.Pos, "'%s' wants dense elements", op.Name)
	}
}

// moduleForm: `@name attributes {...} { ... }`.
func (r *reader) moduleForm(op *Op) {
	if r.peek() == '@' {
		r.setAttr(op, "sym_name", String(r.symbol()))
	}
	if r.accept("attributes") {
		op.Attrs = r.dictionary(op.Attrs)
	}
	op.Regions = []Region{r.region(nil)}
}

// functionForm: `public @name(%a: type {attrs}) -> (type {attrs}) attributes {...} { ... }`.
func (r *reader) functionForm(op *Op) {
	for _, v := range []string{"public", "private", "nested"} {
		if r.accept(v) {
			op.Attrs = append(op.Attrs, NamedAttr{"sym_visibility", String(v)})
			break
		}
	}
	r.space()
	at := r.pos
	name := string(r.symbol())
	if before, dup := r.functions[name]; dup {
		r.failAt(at, "the function @%s is defined twice, first in line %d", name, r.src.Position(before).Line)
	}
	r.functions[name] = at
	op.Attrs = append(op.Attrs, NamedAttr{"sym_name", String(name)})
	mark := r.scope.mark()
	block := &Block{}
	var args, results Array
	var in, out []*Type
	r.expect("(")
	if r.peek() == '%' {
		r.arguments(block, func(i int) { args = r.attrsOfOne(args, i) })
	} else { // a declaration: types alone
		for i := 0; !r.accept(")"); i++ {
			if i > 0 {
				r.expect(",")
			}
			in = append(in, r.typ())
			args = r.attrsOfOne(args, i)
		}
	}
	in = slices.Grow(in, len(block.Args))
	for i := range block.Args {
		in = append(in, block.Args[i].Type)
	}
	if r.accept("->") {
		if r.accept("(") {
			for i := 0; !r.accept(")"); i++ {
				if i > 0 {
					r.expect(",")
				}
				out = append(out, r.typ())
				results = r.attrsOfOne(results, i)
			}
		} else {
			out = append(out, r.typ())
		}
	}
	op.Attrs = append(op.Attrs, NamedAttr{"function_type", TypeAttr{r.types.Func(in, out)}})
	if args != nil {
		op.Attrs = append(op.Attrs, NamedAttr{"arg_attrs", padded(args, len(in))})
	}
	if results != nil {
		op.Attrs = append(op.Attrs, NamedAttr{"res_attrs", padded(results, len(out))})
	}
	if r.accept("attributes") {
		op.Attrs = r.dictionary(op.Attrs)
	}
	op.Regions = []Region{{}}
	if r.is("{") {
		body := r.region(block.Args)
		body.Blocks[0].ArgLocs = block.ArgLocs
		op.Regions[0] = body
	}
	r.scope.forget(mark)
}

// attrsOfOne reads the dictionary of argument or result i, if there is one.
func (r *reader) attrsOfOne(list Array, i int) Array {
	if !r.is("{") {
		return list
	}
	list = padded(list, i)
	return append(list, Dict(r.dictionary(nil)))
}

func padded(list Array, n int) Array {
	for len(list) < n {
		list = append(list, Dict(nil))
	}
	return list
}

// sliceForm: `%a [0:3, 0:4:2]`.
func (r *reader) sliceForm(op *Op) {
	op.Operands = cutOf(&r.uses, 1)
	op.Operands[0] = r.use()
	op.Attrs = cutOf(&r.attrs, 3)[:0]
	i64 := r.types.Scalar(hlo.S64)
	lists := [3][]int64{{}, {}, {}}
	r.expect("[")
	for !r.accept("]") {
		if len(lists[0]) > 0 {
			r.expect(",")
		}
		lists[0] = append(lists[0], r.integer())
		r.expect(":")
		lists[1] = append(lists[1], r.integer())
		stride := int64(1)
		if r.accept(":") {
			stride = r.integer()
		}
		lists[2] = append(lists[2], stride)
	}
	for i, name := range []string{"start_indices", "limit_indices", "strides"} {
		r.setAttr(op, name, DenseArray{i64, lists[i]})
	}
	r.attributes(op)
	r.sameTypes(op)
}

// dotForm: `%a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGH, HIGH], algorithm = <...>`.
func (r *reader) dotForm(op *Op) {
	op.Operands = cutOf(&r.uses, 2)
	op.Operands[0] = r.use()
	r.expect(",")
	op.Operands[1] = r.use()
	op.Attrs = cutOf(&r.attrs, 3)[:0]
	dims := Struct{Name: "dot", Fields: cutOf(&r.attrs, 4)[:0]}
	for r.accept(",") {
		r.space()
		at := r.pos
		switch w := r.word("batching_dims, contracting_dims, precision or algorithm"); w {
		case "batching_dims", "contracting_dims":
			names := [2]string{"lhs_batching_dimensions", "rhs_batching_dimensions"}
			if w == "contracting_dims" {
				names = [2]string{"lhs_contracting_dimensions", "rhs_contracting_dimensions"}
			}
			r.expect("=")
			lhs := r.ints()
			r.expect("x")
			dims.Fields = append(dims.Fields, NamedAttr{names[0], lhs}, NamedAttr{names[1], r.ints()})
		case "precision":
			r.setAttr(op, "precision_config", r.repeated(at, r.through(at, ']'), func() Attr {
				r.expect("=")
				return r.precisions()
			}))
		case "algorithm":
			r.expect("=")
			r.expect("<")
			r.setAttr(op, "algorithm", r.structBody("dot_algorithm", structs["dot_algorithm"], true))
			r.expect(">")
		default:
			r.fail("'%s' is no part of a dot product: want batching_dims, contracting_dims, precision or algorithm", w)
		}
	}
	if op.Name == "stablehlo.dot_general" || op.Name == "mhlo.dot_general" {
		if !dims.Fields.Has("lhs_contracting_dimensions") {
			r.failAt(r.pos, "expected ', contracting_dims =' in '%s'", op.Name)
		}
		r.setAttr(op, "dot_dimension_numbers", dims)
	}
	r.attributes(op)
	r.sameTypes(op)
}

// precisions reads `[HIGH, DEFAULT]`.
func (r *reader) precisions() Array {
	list := Array{}
	r.expect("[")
	for !r.accept("]") {
		if len(list) > 0 {
			r.expect(",")
		}
		list = append(list, r.enumValue("precision", enums["precision"]))
	}
	return slices.Clip(list) // it may be shared
}

// convolutionForm: `(%a, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], ...}`.
func (r *reader) convolutionForm(op *Op) {
	r.expect("(")
	op.Operands = r.useList()
	r.expect(")")
	op.Attrs = cutOf(&r.attrs, 9)[:0]
	r.expect("dim_numbers")
	r.expect("=")
	r.space()
	at := r.pos
	key, _, _ := strings.Cut(r.near(at), ", window")
	r.setAttr(op, "dimension_numbers", r.repeated(at, key, func() Attr { return r.convDims() }))
	r.expect(",")
	r.expect("window")
	r.expect("=")
	r.expect("{")
	for first := true; !r.accept("}"); first = false {
		if !first {
			r.expect(",")
		}
		r.space()
		at := r.pos
		w := r.word("stride, pad, lhs_dilate, rhs_dilate or reverse")
		r.expect("=")
		switch w {
		case "stride":
			r.setAttr(op, "window_strides", r.ints())
		case "lhs_dilate":
			r.setAttr(op, "lhs_dilation", r.ints())
		case "rhs_dilate":
			r.setAttr(op, "rhs_dilation", r.ints())
		case "pad":
			key, _, _ := strings.Cut(r.near(at), ", lhs")
			r.setAttr(op, "padding", r.repeated(at, key, r.attr))
		case "reverse":
			r.setAttr(op, "window_reversal", r.repeated(at, r.through(at, ']'), r.attr))
		default:
			r.fail("'%s' is no part of a window: want stride, pad, lhs_dilate, rhs_dilate or reverse", w)
		}
	}
	r.attributes(op)
	r.sameTypes(op)
}

// reduceForm: `(%a init: %f), (%b init: %z) applies stablehlo.add across dimensions = [1] : type`, or with a region after the type.
func (r *reader) reduceForm(op *Op) {
	var fewInputs, fewInits [2]*Value
	inputs, inits := fewInputs[:0], fewInits[:0]
	for {
		r.expect("(")
		inputs = append(inputs, r.use())
		r.expect("init")
		r.expect(":")
		inits = append(inits, r.use())
		r.expect(")")
		if !r.accept(",") {
			break
		}
	}
	op.Operands = cutOf(&r.uses, 2*len(inputs))
	copy(op.Operands, inputs)
	copy(op.Operands[len(inputs):], inits)
	applies := ""
	if r.accept("applies") {
		r.space()
		applies = r.word("an operation")
	}
	r.expect("across")
	r.expect("dimensions")
	r.expect("=")
	op.Attrs = cutOf(&r.attrs, 1)[:0]
	r.setAttr(op, "dimensions", r.ints())
	r.attributes(op)
	r.sameTypes(op)
	if applies != "" {
		if len(inputs) != 1 {
			r.failAt(op.Pos, "'%s' applies an operation to %d inputs: want one", op.Name, len(inputs))
		}
		if r.is("loc") {
			op.Loc = r.trailingLocation()
		}
		op.Regions = r.applied(op, applies)
		return
	}
	if r.is("loc") {
		op.Loc = r.trailingLocation()
	}
	r.expect("reducer")
	op.Regions = []Region{r.reducer(len(inputs))}
}

// applied is the one region that applies an operation to two elements.
func (r *reader) applied(op *Op, name string) []Region {
	f := r.form(name)
	if f == nil || f.name != name {
		r.unknownOp(op.Pos, name)
	}
	elem := r.types.WithDims(op.Operands[0].Type, nil)
	args := cutOf(&r.values, 2)
	args[0], args[1] = Value{Type: elem, N: 0}, Value{Type: elem, N: 1}
	apply, end := r.newOp(op.Pos), r.newOp(op.Pos)
	apply.Name, apply.Operands, apply.Loc = f.name, cutOf(&r.uses, 2), op.Loc
	apply.Operands[0], apply.Operands[1] = &args[0], &args[1]
	r.result(apply, elem)
	end.Name, end.Operands = r.form(op.Dialect()+".return").name, cutOf(&r.uses, 1)
	end.Operands[0] = &apply.Results[0]
	ops, locs := cutOf(&r.opRefs, 2), cutOf(&r.locs, 2)
	ops[0], ops[1], locs[0], locs[1] = apply, end, op.Loc, op.Loc
	return r.body(Block{Args: args, ArgLocs: locs, Ops: ops, Pos: op.Pos})
}

// reducer reads `(%x: type, %y: type) (%u: type, %v: type) { ... }`: the arguments of the region are x, u, y, v.
func (r *reader) reducer(inputs int) Region {
	var pairs []argument
	for range inputs {
		r.expect("(")
		pair := r.argumentList(nil)
		if len(pair) != 2 {
			r.fail("%d arguments, want two for each input", len(pair))
		}
		pairs = append(pairs, pair...)
	}
	ordered := make([]argument, 0, len(pairs))
	for k := range 2 {
		for i := k; i < len(pairs); i += 2 {
			ordered = append(ordered, pairs[i])
		}
	}
	mark := r.scope.mark()
	b := &Block{}
	r.defineArguments(b, ordered)
	region := r.region(b.Args)
	region.Blocks[0].ArgLocs = b.ArgLocs
	r.scope.forget(mark)
	return region
}

// whileForm: `(%x = %a, %i = %c) : type, type attributes {...} cond { ... } do { ... }`.
func (r *reader) whileForm(op *Op) {
	var few [8]argument
	var fewInits [8]*Value
	args, inits := few[:0], fewInits[:0]
	r.expect("(")
	for !r.accept(")") {
		if len(args) > 0 {
			r.expect(",")
		}
		r.space()
		at := r.pos
		r.expect("%")
		args = append(args, argument{name: r.suffix("value"), at: at})
		r.expect("=")
		inits = append(inits, r.use())
	}
	if len(args) > 0 {
		op.Operands = cutOf(&r.uses, len(inits))
		copy(op.Operands, inits)
		types := r.operandTypes(op)
		for i, t := range types {
			args[i].typ = t
		}
		r.results(op, types)
	}
	if r.accept("attributes") {
		op.Attrs = r.dictionary(op.Attrs)
	}
	op.Regions = make([]Region, 2)
	for i, w := range [2]string{"cond", "do"} {
		r.expect(w)
		mark := r.scope.mark()
		b := &Block{}
		r.defineArguments(b, args)
		op.Regions[i] = r.region(b.Args)
		r.scope.forget(mark)
	}
}

// reducePrecisionForm: `%a, format = e5m2`.
func (r *reader) reducePrecisionForm(op *Op) {
	op.Operands = []*Value{r.use()}
	r.expect(",")
	r.expect("format")
	r.expect("=")
	r.space()
	at := r.pos
	exponent, mantissa, ok := strings.Cut(strings.TrimPrefix(r.word("a format"), "e"), "m")
	e, err1 := strconv.ParseInt(exponent, 10, 32)
	m, err2 := strconv.ParseInt(mantissa, 10, 32)
	if !ok || err1 != nil || err2 != nil {
		r.failAt(at, "expected a format such as e5m2")
	}
	i32 := r.types.Scalar(hlo.S32)
	r.setAttr(op, "exponent_bits", Int{e, i32})
	r.setAttr(op, "mantissa_bits", Int{m, i32})
	r.attributes(op)
	r.sameTypes(op)
}

// compositeForm: `"name" %a, %b ({ ... }) {...} : type`.
func (r *reader) compositeForm(op *Op) {
	r.setAttr(op, "name", String(r.quoted()))
	op.Operands = r.useList()
	if r.is("(") {
		r.regions(op)
	}
	r.attributes(op)
	r.sameTypes(op)
}

// scanForm: `(%x) inits (%c) dimension=0 attributes {...} { ... } : type`.
func (r *reader) scanForm(op *Op) {
	i64 := r.types.Scalar(hlo.S64)
	r.expect("(")
	inputs := r.useList()
	r.expect(")")
	r.expect("inits")
	r.expect("(")
	inits := r.useList()
	r.expect(")")
	op.Operands = append(append([]*Value(nil), inputs...), inits...)
	r.expect("dimension")
	r.expect("=")
	r.setAttr(op, "dimension", Int{r.integer(), i64})
	r.setAttr(op, "num_carries", Int{int64(len(inits)), i64})
	if r.accept("attributes") || r.is("{") && !r.startsRegion() {
		op.Attrs = r.dictionary(op.Attrs)
	}
	op.Regions = []Region{r.region(nil)}
	r.sameTypes(op)
}

// startsRegion reports whether the brace at the present place opens a region with a block label, and no dictionary.
func (r *reader) startsRegion() bool {
	save := r.pos
	defer func() { r.pos = save }()
	r.pos++
	return r.peek() == '^'
}
