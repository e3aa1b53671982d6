package mlir

import (
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// enums are the attributes of the StableHLO dialects that are words, and what the words are; the position is the number of VHLO where
// the two agree.
var enums = map[string][]string{
	"comparison_direction": {"EQ", "NE", "GE", "GT", "LE", "LT"},
	"comparison_type":      {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"},
	"precision":            {"DEFAULT", "HIGH", "HIGHEST"},
	"fft_type":             {"FFT", "IFFT", "RFFT", "IRFFT"},
	"transpose":            {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"},
	"rng_distribution":     {"", "UNIFORM", "NORMAL"},
	"rng_algorithm":        {"DEFAULT", "THREE_FRY", "PHILOX"},
	"result_accuracy_mode": {"DEFAULT", "HIGHEST", "TOLERANCE"},
	"custom_call_api_version": {"API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
		"API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"},
}

// EnumValue is value number n of an enumeration; false when there is none.
func EnumValue(kind string, n int64) (Enum, bool) {
	names := enums[kind]
	if n < 0 || n >= int64(len(names)) || names[n] == "" {
		return Enum{}, false
	}
	return Enum{kind, names[n]}, true
}

// structs are the attributes that are records, and their fields.
var structs = map[string][]string{
	"dot": {"lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions", "rhs_contracting_dimensions"},
	"gather": {"offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims", "start_index_map",
		"index_vector_dim"},
	"scatter": {"update_window_dims", "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims",
		"scatter_dims_to_operand_dims", "index_vector_dim"},
	"conv": {"input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions", "kernel_input_feature_dimension",
		"kernel_output_feature_dimension", "kernel_spatial_dimensions", "output_batch_dimension", "output_feature_dimension",
		"output_spatial_dimensions"},
	"channel_handle":       {"handle", "type"},
	"output_operand_alias": {"output_tuple_indices", "operand_index", "operand_tuple_indices"},
	"dot_algorithm": {"lhs_precision_type", "rhs_precision_type", "accumulation_type", "lhs_component_count", "rhs_component_count",
		"num_primitive_operations", "allow_imprecise_accumulation"},
	"result_accuracy": {"atol", "rtol", "ulps", "mode"},
	"ragged_dot": {"lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions", "rhs_contracting_dimensions",
		"lhs_ragged_dimensions", "rhs_group_dimensions"},
	"mesh_axis":               {"name", "size"},
	"mesh":                    {"axes", "device_ids"},
	"axis_ref":                {"name", "sub_axis_info"},
	"replica_group_mesh_axes": {"mesh", "axes"},
	"type_extensions":         {"bounds"},
	"bounds":                  nil,
	"sub_axis_info":           nil,
}

// StructFields are the fields of a record of the StableHLO dialects, in order; false when there is no such record.
func StructFields(name string) ([]string, bool) {
	f, ok := structs[name]
	return f, ok
}

// stablehloAttr reads `<kind value>` after the name of a dialect, or `<...>` after dialect.kind.
func (r *reader) stablehloAttr(at int, kind string, nested bool) Attr {
	r.expect("<")
	if !nested {
		kind = r.word("the name of an attribute")
	}
	if values, ok := enums[kind]; ok {
		e := r.enumValue(kind, values)
		r.expect(">")
		return e
	}
	fields, ok := structs[kind]
	if !ok {
		r.failAt(at, "'%s' is no attribute of StableHLO", kind)
	}
	s := r.structBody(kind, fields, nested)
	r.expect(">")
	return s
}

func (r *reader) enumValue(kind string, values []string) Enum {
	r.space()
	at := r.pos
	w := r.ident()
	if w == "" || !slices.Contains(values, w) {
		r.failHint(at, "want one of "+strings.Join(slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" }), ", "), "'%s' is no %s", w, kind)
	}
	return Enum{kind, w}
}

// structBody reads what is in the brackets of a record; with the other spelling, `#dialect<kind<...>>`, there are two pairs of them.
func (r *reader) structBody(kind string, fields []string, nested bool) Struct {
	inner := !nested && r.accept("<")
	s := Struct{Name: kind}
	switch {
	case kind == "bounds":
		s.Fields = Attrs{{"bounds", r.sizes()}}
	case kind == "conv" && !r.accept("raw"):
		s = r.convDims()
	default:
		for r.peek() != '>' {
			if len(s.Fields) > 0 {
				r.expect(",")
			}
			s.Fields = append(s.Fields, r.field(kind, fields, s.Fields))
		}
	}
	if inner {
		r.expect(">")
	}
	return s
}

func (r *reader) field(kind string, fields []string, before Attrs) NamedAttr {
	r.space()
	at := r.pos
	name := r.word("a field of " + kind)
	if !slices.Contains(fields, name) {
		r.failHint(at, "its fields are "+joinWords(fields), "'%s' is no field of %s", name, kind)
	}
	if before.Has(name) {
		r.failAt(at, "the field %s is there twice", name)
	}
	r.expect("=")
	switch {
	case name == "bounds":
		r.expect("[")
		v := r.sizes()
		r.expect("]")
		return NamedAttr{name, v}
	case name == "sub_axis_info": // (1)2
		r.expect("(")
		pre := r.integer()
		r.expect(")")
		return NamedAttr{name, DenseArray{r.types.Scalar(hlo.S64), []int64{pre, r.integer()}}}
	}
	return NamedAttr{name, r.attr()}
}

func joinWords(words []string) string {
	s := ""
	for i, w := range words {
		if i > 0 {
			s += ", "
		}
		s += w
	}
	return s
}

// sizes reads sizes, `?` among them, up to the closing bracket.
func (r *reader) sizes() DenseArray {
	a := DenseArray{Elem: r.types.Scalar(hlo.S64)}
	for c := r.peek(); c != '>' && c != ']'; c = r.peek() {
		if len(a.Values) > 0 {
			r.expect(",")
		}
		if r.accept("?") {
			a.Values = append(a.Values, hlo.UnboundedSize)
		} else {
			a.Values = append(a.Values, r.integer())
		}
	}
	return a
}

// convDims reads `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
func (r *reader) convDims() Struct {
	in := r.convSide('b', 'f')
	r.expect("x")
	kernel := r.convSide('i', 'o')
	r.expect("->")
	out := r.convSide('b', 'f')
	fields := structs["conv"]
	s := Struct{Name: "conv"}
	for i, side := range []convSide{in, kernel, out} {
		for j, v := range []int64{side.first, side.second} {
			s.Fields = append(s.Fields, NamedAttr{fields[3*i+j], Int{v, r.types.Scalar(hlo.S64)}})
		}
		s.Fields = append(s.Fields, NamedAttr{fields[3*i+2], DenseArray{r.types.Scalar(hlo.S64), side.spatial}})
	}
	if len(in.spatial) != len(kernel.spatial) || len(in.spatial) != len(out.spatial) {
		r.fail("the three lists of dimensions differ in their spatial dimensions")
	}
	return s
}

// convSide is which dimensions of an operand are what.
type convSide struct {
	first, second int64 // batch and feature, or input and output feature
	spatial       []int64
}

func (r *reader) convSide(first, second byte) convSide {
	r.space()
	at := r.pos
	side := convSide{first: -1, second: -1}
	spatial := map[int64]int64{}
	r.expect("[")
	for n := int64(0); !r.accept("]"); n++ {
		if n > 0 {
			r.expect(",")
		}
		switch c := r.peek(); {
		case c == '?':
			r.pos++
		case class[c]&digit != 0:
			k := r.natural()
			if _, dup := spatial[k]; dup {
				r.failAt(at, "the spatial dimension %d is there twice", k)
			}
			spatial[k] = n
		default:
			w := r.ident()
			switch {
			case w == string(first) && side.first < 0:
				side.first = n
			case w == string(second) && side.second < 0:
				side.second = n
			default:
				r.failAt(at, "'%s' among the dimensions: want each of %c and %c once, and the numbers of spatial dimensions", w, first, second)
			}
		}
	}
	if side.first < 0 || side.second < 0 {
		r.failAt(at, "the dimensions must have %c and %c", first, second)
	}
	side.spatial = make([]int64, len(spatial))
	for k, n := range spatial {
		if k >= int64(len(spatial)) {
			r.failAt(at, "the spatial dimensions are not 0 to %d", len(spatial)-1)
		}
		side.spatial[k] = n
	}
	return side
}
