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
