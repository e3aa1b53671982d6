package mlir

import (
	"encoding/binary"
	"math"

	"github.com/gohalo/halo/hlo"
)

// Attr is a constant that belongs to an operation: one of the types below. It is never written once it is made: operations share those that
// are written alike.
type Attr interface{ attr() }

type (
	// Bool is true or false.
	Bool bool
	// Unit is there or not.
	Unit struct{}
	// Int is an integer; Value holds the bits of unsigned ones.
	Int struct {
		Value int64
		Type  *Type
	}
	// Float is a floating-point number as the bits of its type.
	Float struct {
		Bits uint64
		Type *Type
	}
	// String is any bytes.
	String string
	// Symbol names a function or a mesh; nested ones are joined by "::".
	Symbol string
	// TypeAttr is a type.
	TypeAttr struct{ Type *Type }
	// Array is a list.
	Array []Attr
	// Dict is a dictionary.
	Dict Attrs
	// DenseArray is a list of numbers of a scalar type: integers, or the bits of floats.
	DenseArray struct {
		Elem   *Type
		Values []int64
	}
	// Dense is the elements of a tensor, little-endian, a byte at least for each; when it is a splat, those of one element.
	Dense struct {
		Type  *Type
		Data  []byte
		Splat bool
	}
	// Enum is a word of a dialect: #stablehlo<comparison_direction LT>.
	Enum struct{ Kind, Value string }
	// Struct is a record of a dialect: #stablehlo.gather<offset_dims = [0]>. The name has no dialect.
	Struct struct {
		Name    string
		Fields  Attrs
		Dialect string // "" is stablehlo
	}
	// Text is an attribute of which only the text is known.
	Text string
)

func (Bool) attr()       {}
func (Unit) attr()       {}
func (Int) attr()        {}
func (Float) attr()      {}
func (String) attr()     {}
func (Symbol) attr()     {}
func (TypeAttr) attr()   {}
func (Array) attr()      {}
func (Dict) attr()       {}
func (DenseArray) attr() {}
func (Dense) attr()      {}
func (Enum) attr()       {}
func (Struct) attr()     {}
func (Text) attr()       {}

// Float64 is the value of a float.
func (f Float) Float64() float64 { return floatOf(f.Type.Elem, f.Bits) }

// floatOf is the number that bits of type t stand for.
func floatOf(t hlo.PrimitiveType, bits uint64) float64 {
	switch t {
	case hlo.F64:
		return math.Float64frombits(bits)
	case hlo.F32:
		return float64(math.Float32frombits(uint32(bits)))
	}
	return formats[t].Float64(uint16(bits))
}

// Ints is a list of integers in any of the forms that such lists have had: a dense array, dense elements, an array of integers.
func Ints(a Attr) ([]int64, bool) {
	switch a := a.(type) {
	case DenseArray:
		return a.Values, a.Elem.Elem.IsInteger() || a.Elem.Elem == hlo.PRED
	case Dense:
		return a.Ints()
	case Array:
		out := make([]int64, len(a))
		for i, x := range a {
			switch x := x.(type) {
			case Int:
				out[i] = x.Value
			case Bool:
				if x {
					out[i] = 1
				}
			default:
				return nil, false
			}
		}
		return out, true
	}
	return nil, false
}

// maxListed bounds the lists that are made of dense elements: attributes of operations are short, and a splat may stand for any number.
const maxListed = 1 << 24

// Ints lists dense integers; false when they are of another type, or too many.
func (d Dense) Ints() ([]int64, bool) {
	t := d.Type.Elem
	n := d.Type.NumElements()
	if !t.IsInteger() && t != hlo.PRED || n > maxListed {
		return nil, false
	}
	size := t.ByteSize()
	out := make([]int64, n)
	for i := range out {
		at := i * size
		if d.Splat {
			at = 0
		}
		out[i] = intAt(d.Data[at:], t)
	}
	return out, true
}

func intAt(b []byte, t hlo.PrimitiveType) int64 {
	signed := t.IsSigned()
	switch t.ByteSize() {
	case 1:
		if signed {
			return int64(int8(b[0]))
		}
		return int64(b[0])
	case 2:
		v := binary.LittleEndian.Uint16(b)
		if signed {
			return int64(int16(v))
		}
		return int64(v)
	case 4:
		v := binary.LittleEndian.Uint32(b)
		if signed {
			return int64(int32(v))
		}
		return int64(v)
	}
	return int64(binary.LittleEndian.Uint64(b))
}

// IntAt is the element at the beginning of data, of an integer type or as the bits of a float; data must be long enough.
func IntAt(data []byte, t hlo.PrimitiveType) int64 { return int64(elementBits(data, t)) }

// FloatOf is a float of type f32 or f64.
func FloatOf(t *Type, x float64) Float {
	if t.Elem == hlo.F32 {
		return Float{uint64(math.Float32bits(float32(x))), t}
	}
	return Float{math.Float64bits(x), t}
}
