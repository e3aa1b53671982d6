package mlir

import (
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// Kind is the kind of a type.
type Kind uint8

// The kinds of type.
const (
	Scalar Kind = iota // an element type by itself, as attributes have
	Index              // the type of shape arithmetic; as an element, s64
	None
	TF32 // of dot algorithms
	Tensor
	Buffer // memref
	Token
	Tuple
	Future
	Func
	Opaque // kept as text: a type of some other dialect
)

// Type is a type. Types of one [Types] are equal when they are the same pointer.
type Type struct {
	Kind   Kind
	Elem   hlo.PrimitiveType // of scalars, tensors and buffers
	Index  bool              // the element type is written `index`
	Dims   []int64           // hlo.UnboundedSize is `?`
	Bounds []int64           // of dynamic dimensions; nil: none, UnboundedSize: none for this one
	Parts  []*Type           // of tuples and futures; the inputs of functions
	Out    []*Type           // the results of functions
	Text   string            // as MLIR prints it
}

// String is the type as MLIR prints it.
func (t *Type) String() string {
	if t == nil {
		return "<no type>"
	}
	return t.Text
}

// IsStatic reports whether a type has no `?`.
func (t *Type) IsStatic() bool {
	for _, d := range t.Dims {
		if d == hlo.UnboundedSize {
			return false
		}
	}
	for _, p := range t.Parts {
		if !p.IsStatic() {
			return false
		}
	}
	return true
}

// IsUnbounded reports whether a tensor has a dynamic dimension without a bound.
func (t *Type) IsUnbounded() bool {
	for i, d := range t.Dims {
		if d == hlo.UnboundedSize && (t.Bounds == nil || t.Bounds[i] == hlo.UnboundedSize) {
			return true
		}
	}
	for _, p := range t.Parts {
		if p.IsUnbounded() {
			return true
		}
	}
	return false
}

// NumElements is the number of elements of a static tensor; it saturates.
func (t *Type) NumElements() int64 {
	n := int64(1)
	for _, d := range t.Dims {
		if d == 0 {
			return 0
		}
		if d < 0 || n > (1<<62)/d {
			n = 1 << 62
			continue
		}
		n *= d
	}
	return n
}

// elementNames are MLIR's names of element types.
var elementNames = map[string]hlo.PrimitiveType{
	"i1": hlo.PRED, "i2": hlo.S2, "i4": hlo.S4, "i8": hlo.S8, "i16": hlo.S16, "i32": hlo.S32, "i64": hlo.S64,
	"si2": hlo.S2, "si4": hlo.S4, "si8": hlo.S8, "si16": hlo.S16, "si32": hlo.S32, "si64": hlo.S64,
	"ui2": hlo.U2, "ui4": hlo.U4, "ui8": hlo.U8, "ui16": hlo.U16, "ui32": hlo.U32, "ui64": hlo.U64,
	"bf16": hlo.BF16, "f16": hlo.F16, "f32": hlo.F32, "f64": hlo.F64,
	"f8E4M3FN": hlo.F8E4M3FN, "f8E5M2": hlo.F8E5M2, "f8E4M3FNUZ": hlo.F8E4M3FNUZ, "f8E5M2FNUZ": hlo.F8E5M2FNUZ,
	"f8E4M3B11FNUZ": hlo.F8E4M3B11FNUZ, "f8E4M3": hlo.F8E4M3, "f8E3M4": hlo.F8E3M4, "f8E8M0FNU": hlo.F8E8M0FNU,
	"f4E2M1FN": hlo.F4E2M1FN, "f6E2M3FN": hlo.F6E2M3FN, "f6E3M2FN": hlo.F6E3M2FN,
}

// elementText is how MLIR prints an element type.
var elementText = func() (t [hlo.NumPrimitiveTypes]string) {
	for name, e := range elementNames {
		if !strings.HasPrefix(name, "si") {
			t[e] = name
		}
	}
	t[hlo.C64], t[hlo.C128] = "complex<f32>", "complex<f64>"
	return t
}()

// ElementByName is the element type that MLIR calls name.
func ElementByName(name string) (hlo.PrimitiveType, bool) {
	t, ok := elementNames[name]
	return t, ok
}

// ElementName is MLIR's name of an element type, "" when it has none.
func ElementName(t hlo.PrimitiveType) string { return elementText[t] }

// MaxTypeText bounds the text of the parts of a type: each type has its text, and parts may be named more often than they are written.
const MaxTypeText = 1 << 22

// Types makes types, each once.
type Types struct {
	byText  map[string]*Type
	scalars [hlo.NumPrimitiveTypes]*Type
	funcs   map[fewTypes]*Type // those of few operands and one result, which are most
}

// fewTypes are the types of a short signature.
type fewTypes struct{ in0, in1, in2, out *Type }

// NewTypes makes an empty set of types.
func NewTypes() *Types {
	return &Types{byText: make(map[string]*Type), funcs: make(map[fewTypes]*Type)}
}

// intern is the type that is written as t is.
func (ts *Types) intern(t Type) *Type {
	if old := ts.byText[t.Text]; old != nil {
		return old
	}
	made := new(Type)
	*made = t
	ts.byText[t.Text] = made
	return made
}

// Scalar is an element type by itself.
func (ts *Types) Scalar(e hlo.PrimitiveType) *Type {
	if ts.scalars[e] == nil {
		ts.scalars[e] = ts.intern(Type{Kind: Scalar, Elem: e, Text: elementText[e]})
	}
	return ts.scalars[e]
}

// Index is the type `index`.
func (ts *Types) Index() *Type {
	return ts.intern(Type{Kind: Index, Elem: hlo.S64, Index: true, Text: "index"})
}

// None, TF32 and Token are the types without parts.
func (ts *Types) None() *Type  { return ts.intern(Type{Kind: None, Text: "none"}) }
func (ts *Types) TF32() *Type  { return ts.intern(Type{Kind: TF32, Text: "tf32"}) }
func (ts *Types) Token() *Type { return ts.intern(Type{Kind: Token, Text: "!stablehlo.token"}) }

// Opaque is a type of which only the text is known.
func (ts *Types) Opaque(text string) *Type { return ts.intern(Type{Kind: Opaque, Text: text}) }

// Tensor is an array type; elem is a scalar or index. The slices are kept.
func (ts *Types) Tensor(elem *Type, dims, bounds []int64) *Type {
	return ts.array(Tensor, elem, dims, bounds)
}

// Buffer is a memref.
func (ts *Types) Buffer(elem *Type, dims []int64) *Type { return ts.array(Buffer, elem, dims, nil) }

func (ts *Types) array(kind Kind, elem *Type, dims, bounds []int64) *Type {
	b := make([]byte, 0, 48)
	if kind == Buffer {
		b = append(b, "memref<"...)
	} else {
		b = append(b, "tensor<"...)
	}
	for _, d := range dims {
		b = append(appendDim(b, d), 'x')
	}
	b = append(b, elem.Text...)
	if bounds != nil {
		b = append(b, ", #stablehlo.bounds<"...)
		for i, d := range bounds {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendDim(b, d)
		}
		b = append(b, '>')
	}
	b = append(b, '>')
	if old := ts.byText[string(b)]; old != nil {
		return old
	}
	return ts.intern(Type{Kind: kind, Elem: elem.Elem, Index: elem.Index, Dims: dims, Bounds: bounds, Text: string(b)})
}

func appendDim(b []byte, d int64) []byte {
	if d == hlo.UnboundedSize {
		return append(b, '?')
	}
	return strconv.AppendInt(b, d, 10)
}

// Tuple is a tuple type. The slice is kept.
func (ts *Types) Tuple(parts []*Type) *Type {
	return ts.intern(Type{Kind: Tuple, Parts: parts, Text: "tuple<" + joinTypes(parts) + ">"})
}

// Future is the type of a value that is not there yet.
func (ts *Types) Future(parts []*Type) *Type {
	return ts.intern(Type{Kind: Future, Parts: parts, Text: "!stablehlo.future<" + joinTypes(parts) + ">"})
}

// Func is a function type. The slices are kept.
func (ts *Types) Func(in, out []*Type) *Type {
	if len(in) > 3 || len(out) != 1 {
		return ts.makeFunc(in, out)
	}
	key := fewTypes{out: out[0]}
	for i, p := range []**Type{&key.in0, &key.in1, &key.in2}[:len(in)] {
		*p = in[i]
	}
	if t := ts.funcs[key]; t != nil {
		return t
	}
	t := ts.makeFunc(append([]*Type(nil), in...), append([]*Type(nil), out...))
	ts.funcs[key] = t
	return t
}

func (ts *Types) makeFunc(in, out []*Type) *Type {
	size := len("() -> ()")
	for _, list := range [][]*Type{in, out} {
		for _, t := range list {
			size += len(t.Text) + len(", ")
		}
	}
	b := append(make([]byte, 0, size), '(')
	b = append(appendTypes(b, in), ") -> "...)
	if len(out) == 1 && out[0].Kind != Func {
		b = append(b, out[0].Text...)
	} else {
		b = append(appendTypes(append(b, '('), out), ')')
	}
	if old := ts.byText[string(b)]; old != nil {
		return old
	}
	return ts.intern(Type{Kind: Func, Parts: in, Out: out, Text: string(b)})
}

func joinTypes(types []*Type) string { return string(appendTypes(nil, types)) }

func appendTypes(b []byte, types []*Type) []byte {
	for i, t := range types {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, t.Text...)
	}
	return b
}

// WithDims is a tensor of the same elements and other dimensions, without bounds.
func (ts *Types) WithDims(t *Type, dims []int64) *Type {
	return ts.array(t.Kind, ts.elem(t), dims, nil)
}

// WithElem is a tensor of the same dimensions and other elements.
func (ts *Types) WithElem(t *Type, e hlo.PrimitiveType) *Type {
	return ts.array(t.Kind, ts.Scalar(e), t.Dims, t.Bounds)
}

func (ts *Types) elem(t *Type) *Type {
	if t.Index {
		return ts.Index()
	}
	return ts.Scalar(t.Elem)
}

// Decimal is a number as text.
func Decimal(v int64) string { return strconv.FormatInt(v, 10) }
