package bytecode

import (
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// Attributes of Shardy have an encoding of their own: a code, then fields. They are kept as the text that MLIR prints for them, like those
// of a program that is text.

// sdyKind is how one attribute of Shardy is written and encoded.
type sdyKind struct {
	before, after string // around it, when it stands by itself
	read          func(d *decoder, r *reader) string
}

// The codes of those attributes that others have in them.
const (
	sdyMeshAxis          = 1
	sdyMesh              = 2
	sdySubAxis           = 3
	sdyAxisRef           = 4
	sdyDimensionSharding = 5
	sdySharding          = 6
	sdyDimMapping        = 8
	sdyTensorMapping     = 9
	sdyAxisRefList       = 11
	sdyAllToAllParam     = 13
	sdyUnreducedSharding = 15
)

// sdyKinds are the attributes by their codes.
var sdyKinds []sdyKind

func init() {
	sdyKinds = []sdyKind{
		0:                    {"#sdy<manual_axes", ">", (*decoder).sdyManualAxes},
		sdyMeshAxis:          {"#sdy<mesh_axis", ">", (*decoder).sdyMeshAxis},
		sdyMesh:              {"#sdy.mesh", "", (*decoder).sdyMesh},
		sdySubAxis:           {"#sdy<sub_axis_info", ">", (*decoder).sdySubAxis},
		sdyAxisRef:           {"#sdy<axis_ref", ">", (*decoder).sdyAxisRef},
		sdyDimensionSharding: {"#sdy<dimension_sharding", ">", (*decoder).sdyDimensionSharding},
		sdySharding:          {"#sdy.sharding", "", func(d *decoder, r *reader) string { return d.sdySharding(r, false) }},
		7: {"#sdy.sharding_per_value<", ">", func(d *decoder, r *reader) string {
			return "[" + d.sdyList(r, sdySharding) + "]"
		}},
		sdyDimMapping:    {"#sdy<dim_mapping", ">", (*decoder).sdyFactors},
		sdyTensorMapping: {"#sdy<tensor_mapping", ">", func(d *decoder, r *reader) string { return "[" + d.sdyList(r, sdyDimMapping) + "]" }},
		10:               {"#sdy.op_sharding_rule<", ">", (*decoder).sdyShardingRule},
		sdyAxisRefList:   {"#sdy<axis_ref_list", ">", func(d *decoder, r *reader) string { return "{" + d.sdyList(r, sdyAxisRef) + "}" }},
		12: {"#sdy<list_of_axis_ref_lists", ">", func(d *decoder, r *reader) string {
			return "[" + d.sdyList(r, sdyAxisRefList) + "]"
		}},
		sdyAllToAllParam: {"#sdy<all_to_all_param", ">", func(d *decoder, r *reader) string {
			axes := d.sdyList(r, sdyAxisRef)
			from := mlir.Decimal(r.svarint())
			return "{" + axes + "}: " + from + "->" + mlir.Decimal(r.svarint())
		}},
		14: {"#sdy<all_to_all_param_list", ">", func(d *decoder, r *reader) string {
			return "[" + d.sdyList(r, sdyAllToAllParam) + "]"
		}},
		sdyUnreducedSharding: {"#sdy.sharding", "", func(d *decoder, r *reader) string { return d.sdySharding(r, true) }},
	}
}

// sdyPart is an attribute of Shardy as it stands in another one.
type sdyPart struct {
	code uint64
	text string
}

// sdyAttr reads an attribute of Shardy.
func (d *decoder) sdyAttr(r *reader, e *entry) mlir.Attr {
	code := r.varint()
	if code >= uint64(len(sdyKinds)) {
		r.fail("the dialect sdy has no attribute of code %d that this halo knows", code)
	}
	k := &sdyKinds[code]
	text := k.read(d, r)
	d.expand(r, len(text))
	if d.sdyTexts += len(text); d.sdyTexts > maxShardyTexts {
		r.fail("attributes of Shardy of more than %d bytes", maxShardyTexts)
	}
	if d.sdy == nil {
		d.sdy = make(map[*entry]sdyPart)
	}
	if code == sdyUnreducedSharding {
		code = sdySharding
	}
	d.sdy[e] = sdyPart{code, text}
	return mlir.Text(k.before + text + k.after)
}

// sdyPart reads the index of an attribute that must be of a code.
func (d *decoder) sdyPart(r *reader, code uint64) string {
	e := d.attrAt(r, r.varint())
	p, ok := d.sdy[e]
	if !ok || p.code != code {
		r.fail("an attribute that is no %s", strings.Trim(sdyKinds[code].before, "#<."))
	}
	return p.text
}

// sdyList reads a list of attributes of a code, with commas between them.
func (d *decoder) sdyList(r *reader, code uint64) string {
	return joined(r, func() string { return d.sdyPart(r, code) })
}

// joined reads a list, with commas between the elements.
func joined(r *reader, read func() string) string {
	var b strings.Builder
	for i := range r.count("elements") {
		if i > 0 {
			b.WriteString(", ")
		}
		if b.WriteString(read()); b.Len() > maxShardyText {
			r.fail("an attribute of more than %d bytes", maxShardyText)
		}
	}
	return b.String()
}

// maxShardyText bounds the text of an attribute, and maxShardyTexts that of all: attributes are shared in the file, but their texts are not.
const (
	maxShardyText  = 1 << 22
	maxShardyTexts = 1 << 26
)

func quoted(s string) string { return string(mlir.AppendQuoted(nil, s)) }

// flag is a byte that is 0 or 1.
func (r *reader) flag() bool {
	b := r.byte()
	if b > 1 {
		r.pos--
		r.fail("a byte of %d, want 0 or 1", b)
	}
	return b != 0
}

func (d *decoder) sdyManualAxes(r *reader) string {
	return "{" + joined(r, func() string {
		name := quoted(d.stringAttr(r))
		d.expand(r, len(name))
		return name
	}) + "}"
}

func (d *decoder) sdyMeshAxis(r *reader) string {
	name := quoted(d.str(r))
	return name + "=" + mlir.Decimal(r.svarint())
}

func (d *decoder) sdyMesh(r *reader) string {
	text := "<[" + d.sdyList(r, sdyMeshAxis) + "]"
	if ids := joined(r, func() string { return mlir.Decimal(r.svarint()) }); ids != "" {
		text += ", device_ids=[" + ids + "]"
	}
	return text + ">"
}

func (d *decoder) sdySubAxis(r *reader) string {
	pre := mlir.Decimal(r.svarint())
	return "(" + pre + ")" + mlir.Decimal(r.svarint())
}

func (d *decoder) sdyAxisRef(r *reader) string {
	text := quoted(d.str(r))
	if v := r.varint(); v != 0 {
		p, ok := d.sdy[d.attrAt(r, v>>1)]
		if !ok || p.code != sdySubAxis {
			r.fail("an axis with a part that is none")
		}
		text += ":" + p.text
	}
	return text
}

// sdyDimensionSharding is the axes of one dimension; others may be added when it is open.
func (d *decoder) sdyDimensionSharding(r *reader) string {
	text := "{" + d.sdyList(r, sdyAxisRef)
	if closed := r.flag(); !closed {
		if text != "{" {
			text += ", "
		}
		text += "?"
	}
	text += "}"
	if v := r.varint(); v != 0 {
		text += "p" + strconv.FormatUint(v>>1, 10)
	}
	return text
}

// sdySharding is the sharding of one value: a mesh in place or its name, the dimensions, and the axes that replicate.
func (d *decoder) sdySharding(r *reader, unreduced bool) string {
	var text string
	switch e := d.attrAt(r, r.varint()); a := e.attr.(type) {
	case mlir.Symbol:
		text = "<" + string(mlir.AppendAttr(nil, a))
		d.expand(r, len(text))
	default:
		p, ok := d.sdy[e]
		if !ok || p.code != sdyMesh {
			r.fail("a sharding without a mesh")
		}
		text = "<mesh" + p.text
	}
	text += ", [" + d.sdyList(r, sdyDimensionSharding) + "]"
	if axes := d.sdyList(r, sdyAxisRef); axes != "" {
		text += ", replicated={" + axes + "}"
	}
	if unreduced {
		if axes := d.sdyList(r, sdyAxisRef); axes != "" {
			text += ", unreduced={" + axes + "}"
		}
	}
	return text + ">"
}

// sdyFactor is the name of a factor: the letters from i on, then z_1 and so on.
func sdyFactor(r *reader, n int64) string {
	const letters = 'z' - 'i' + 1
	switch {
	case n < 0:
		r.fail("factor %d", n)
	case n < letters:
		return string(rune('i' + n))
	}
	return "z_" + mlir.Decimal(n-letters+1)
}

// sdyFactors is the factors of one dimension.
func (d *decoder) sdyFactors(r *reader) string {
	var b strings.Builder
	for range r.count("factors") {
		b.WriteString(sdyFactor(r, r.svarint()))
	}
	return b.String()
}

// sdyShardingRule says which factors the dimensions of operands and results are made of.
func (d *decoder) sdyShardingRule(r *reader) string {
	n := int64(-1)
	sizes := joined(r, func() string {
		n++
		return sdyFactor(r, n) + "=" + mlir.Decimal(r.svarint())
	})
	text := "(" + d.sdyList(r, sdyTensorMapping) + ")->("
	text += d.sdyList(r, sdyTensorMapping) + ")"
	if sizes != "" {
		text += " {" + sizes + "}"
	}
	for _, name := range []string{"reduction", "need_replication", "permutation", "blocked_propagation"} {
		if list := joined(r, func() string { return sdyFactor(r, r.svarint()) }); list != "" {
			text += " " + name + "={" + list + "}"
		}
	}
	if r.flag() {
		text += ", custom"
	}
	return text
}

// sdyProperties are the properties of operations of Shardy, in the order of the file; those that may be missing end in a question mark.
var sdyProperties = map[string]string{
	"all_gather":              "gathering_axes out_sharding",
	"all_reduce":              "out_sharding reduction_axes",
	"all_slice":               "out_sharding slicing_axes",
	"all_to_all":              "out_sharding params",
	"collective_permute":      "out_sharding",
	"constant":                "value",
	"data_flow_edge":          "sharding?",
	"manual_computation":      "in_shardings manual_axes out_shardings",
	"mesh":                    "mesh sym_name",
	"named_computation":       "in_shardings? name out_shardings?",
	"propagation_barrier":     "allowed_direction",
	"reduce_scatter":          "out_sharding reduce_scatter_axes",
	"reshard":                 "sharding",
	"sharded_to_unreduced":    "axes out_sharding",
	"sharding_constraint":     "sharding",
	"sharding_group":          "group_id",
	"replicated_to_unreduced": "axes out_sharding",
}

// readSDYProperties reads the properties of an operation of Shardy.
func (d *decoder) readSDYProperties(r *reader, name string) mlir.Attrs {
	names, ok := sdyProperties[name]
	if !ok {
		r.fail("'sdy.%s' is an operation that this halo does not know", name)
	}
	var attrs mlir.Attrs
	for field := range strings.FieldsSeq(names) {
		name, optional := strings.CutSuffix(field, "?")
		a := mlir.Attr(nil)
		if optional {
			a = d.optionalAttr(r)
		} else {
			a = d.attr(r)
		}
		if a != nil {
			attrs = append(attrs, mlir.NamedAttr{Name: name, Value: a})
		}
	}
	return attrs
}
