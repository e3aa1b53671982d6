package hostkernels

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/gohalo/halo/internal/minifloat"
	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/bef"
)

// elem is a type of tensor elements. Elements are little-endian bytes.
type elem struct {
	suffix string // in names of kernels
	name   string // in prints
	code   bef.AttrType
	class  class
	size   int
	// epsilon and smallest are those of floating-point types: the distance from 1 to the next number, and the least positive number with
	// all its digits.
	epsilon, smallest float64
}

// class is what the bits of an element mean.
type class uint8

const (
	signed class = iota
	unsigned
	truth
	floating
	complexNumber
)

// elems are the types that tensor kernels exist for.
var elems = []*elem{
	{suffix: "ui8", name: "ui8", code: bef.UI8, class: unsigned, size: 1},
	{suffix: "ui16", name: "ui16", code: bef.UI16, class: unsigned, size: 2},
	{suffix: "ui32", name: "ui32", code: bef.UI32, class: unsigned, size: 4},
	{suffix: "ui64", name: "ui64", code: bef.UI64, class: unsigned, size: 8},
	{suffix: "i8", name: "i8", code: bef.I8, class: signed, size: 1},
	{suffix: "i32", name: "i32", code: bef.I32, class: signed, size: 4},
	{suffix: "i64", name: "i64", code: bef.I64, class: signed, size: 8},
	{suffix: "f16", name: "f16", code: bef.F16, class: floating, size: 2, epsilon: 0x1p-10, smallest: 0x1p-14},
	{suffix: "bf16", name: "bf16", code: bef.BF16, class: floating, size: 2, epsilon: 0x1p-7, smallest: 0x1p-126},
	{suffix: "f32", name: "f32", code: bef.F32, class: floating, size: 4, epsilon: 0x1p-23, smallest: 0x1p-126},
	{suffix: "f64", name: "f64", code: bef.F64, class: floating, size: 8, epsilon: 0x1p-52, smallest: 0x1p-1022},
	{suffix: "bool", name: "i1", code: bef.I1, class: truth, size: 1},
	{suffix: "complex64", name: "complex64", code: bef.C64, class: complexNumber, size: 8, epsilon: 0x1p-23, smallest: 0x1p-126},
	{suffix: "complex128", name: "complex128", code: bef.C128, class: complexNumber, size: 16, epsilon: 0x1p-52, smallest: 0x1p-1022},
}

// i16 has no kernels of its own, but constants may be of it.
var i16 = &elem{suffix: "i16", name: "i16", code: bef.I16, class: signed, size: 2}

// elemOf returns the type with that code, or nil.
func elemOf(code bef.AttrType) *elem {
	if code == i16.code {
		return i16
	}
	for _, e := range elems {
		if e.code == code {
			return e
		}
	}
	return nil
}

// elemNamed returns the type that names of kernels have.
func elemNamed(suffix string) *elem {
	for _, e := range elems {
		if e.suffix == suffix {
			return e
		}
	}
	panic("hostkernels: no element type " + suffix)
}

// part is the type of the real and the imaginary part.
func (e *elem) part() *elem {
	switch e.code {
	case bef.C64:
		return elemNamed("f32")
	case bef.C128:
		return elemNamed("f64")
	}
	return e
}

// bits returns the bits of an element of up to eight bytes.
func (e *elem) bits(b []byte) uint64 {
	var word [8]byte
	copy(word[:], b[:e.size])
	return binary.LittleEndian.Uint64(word[:])
}

// put writes the low bits of x as an element.
func (e *elem) put(b []byte, x uint64) {
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], x)
	copy(b[:e.size], word[:])
}

// int returns the value of a signed integer.
func (e *elem) int(b []byte) int64 {
	shift := 64 - 8*e.size
	return int64(e.bits(b)<<shift) >> shift
}

// real returns the value of a floating-point number.
func (e *elem) real(b []byte) float64 {
	bits := e.bits(b)
	switch e.code {
	case bef.F16:
		return float64(minifloat.F16ToFloat32(uint16(bits)))
	case bef.BF16:
		return float64(minifloat.BF16ToFloat32(uint16(bits)))
	case bef.F32:
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}

// complex returns the value of a complex number.
func (e *elem) complex(b []byte) complex128 {
	p := e.part()
	return complex(p.real(b), p.real(b[p.size:]))
}

// format prints an element.
func (e *elem) format(b []byte) string {
	switch e.class {
	case signed:
		return strconv.FormatInt(e.int(b), 10)
	case unsigned, truth:
		return strconv.FormatUint(e.bits(b), 10)
	case floating:
		return FormatFloat('e', e.real(b))
	}
	x := e.complex(b)
	return "(" + FormatFloat('e', real(x)) + "," + FormatFloat('e', imag(x)) + ")"
}

// equal compares as the processor does: zeros of both signs are equal, and nothing equals NaN.
func (e *elem) equal(a, b []byte) bool {
	switch e.class {
	case floating:
		return e.real(a) == e.real(b)
	case complexNumber:
		return e.complex(a) == e.complex(b)
	}
	return e.bits(a) == e.bits(b)
}

// close reports whether two numbers differ by no more than so many units in the last place of their sum, or by less than anything that
// has all its digits. Integers must be equal.
func (e *elem) close(a, b []byte, ulps float64) bool {
	var difference, sum float64
	switch e.class {
	case floating:
		x, y := e.real(a), e.real(b)
		difference, sum = math.Abs(x-y), math.Abs(x+y)
	case complexNumber:
		x, y := e.complex(a), e.complex(b)
		difference, sum = abs(x-y), abs(x+y)
	default:
		return e.equal(a, b)
	}
	return difference <= e.epsilon*sum*ulps || difference < e.smallest
}

func abs(x complex128) float64 { return math.Hypot(real(x), imag(x)) }

// scalarValue returns the bytes of an available scalar, if it is of type e.
func (e *elem) scalarValue(v *async.Value) ([]byte, error) {
	b := make([]byte, e.size)
	var x any
	for _, get := range scalarReaders {
		if x = get(v); x != nil {
			break
		}
	}
	code, bits := bef.AttrType(0), uint64(0)
	switch x := x.(type) {
	case bool:
		code = bef.I1
		if x {
			bits = 1
		}
	case int32:
		code, bits = bef.I32, uint64(x)
	case int64:
		code, bits = bef.I64, uint64(x)
	case uint8:
		code, bits = bef.UI8, uint64(x)
	case uint16:
		code, bits = bef.UI16, uint64(x)
	case uint32:
		code, bits = bef.UI32, uint64(x)
	case uint64:
		code, bits = bef.UI64, x
	case int8:
		code, bits = bef.I8, uint64(x)
	case F16:
		code, bits = bef.F16, uint64(x)
	case BF16:
		code, bits = bef.BF16, uint64(x)
	case float32:
		code, bits = bef.F32, uint64(math.Float32bits(x))
	case float64:
		code, bits = bef.F64, math.Float64bits(x)
	case complex64:
		code, bits = bef.C64, uint64(math.Float32bits(real(x)))|uint64(math.Float32bits(imag(x)))<<32
	case complex128:
		if e.code == bef.C128 {
			binary.LittleEndian.PutUint64(b, math.Float64bits(real(x)))
			binary.LittleEndian.PutUint64(b[8:], math.Float64bits(imag(x)))
			return b, nil
		}
	}
	if code != e.code {
		return nil, fmt.Errorf("want a value of type %s, got %v", e.name, v)
	}
	e.put(b, bits)
	return b, nil
}

// scalarReaders read a value as one of the types that scalars have.
var scalarReaders = []func(*async.Value) any{
	read[bool], read[int8], read[int32], read[int64], read[uint8], read[uint16], read[uint32], read[uint64],
	read[F16], read[BF16], read[float32], read[float64], read[complex64], read[complex128],
}

func read[T any](v *async.Value) any {
	if x, ok := async.GetIfPresent[T](v); ok {
		return x
	}
	return nil
}

// constantElement reads an attribute as one element.
func (e *elem) constantElement(p *bef.Pool, a bef.Attr) ([]byte, error) {
	from := elemOf(a.Type)
	if from == nil { // the file does not tell
		from = e
	}
	b, err := p.Bytes(a.Offset, from.size)
	if err != nil {
		return nil, err
	}
	out := make([]byte, e.size)
	return out, e.convert(out, from, b)
}

// constantElements reads an array as elements, and returns their bytes. The parts of complex numbers stand one after the other.
func (e *elem) constantElements(p *bef.Pool, a bef.Attr) ([]byte, error) {
	to := e.part()
	if a.Type == bef.EmptyArray && to.code != bef.I32 {
		if b, err := p.Array(a.Offset, to.code); err == nil && len(b) == 0 {
			return nil, nil
		}
	}
	from := to
	if a.Type.IsArray() && elemOf(a.Type.Elem()) != nil {
		from = elemOf(a.Type.Elem())
	}
	b, err := p.Array(a.Offset, from.code)
	if err != nil || from == to {
		return b, err
	}
	out := make([]byte, len(b)/from.size*to.size)
	for i := range len(b) / from.size {
		if err := to.convert(out[i*to.size:][:to.size], from, b[i*from.size:]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// convert writes a constant of another type as an element of this one, if that loses nothing: an integer that fits, or the real part of a
// complex number.
func (e *elem) convert(out []byte, from *elem, b []byte) error {
	switch {
	case e.code == from.code:
		copy(out, b[:e.size])
		return nil
	case e.class == complexNumber && e.part().code == from.code:
		copy(out, b[:from.size])
		return nil
	case e.class <= truth && from.class <= truth:
		x := int64(from.bits(b))
		if from.class == signed {
			x = from.int(b)
		}
		e.put(out, uint64(x))
		if back := e.bits(out); e.class == signed && e.int(out) == x || e.class == unsigned && int64(back) == x || e.class == truth && back == uint64(x) && x&^1 == 0 {
			return nil
		}
		return fmt.Errorf("constant %s is not of type %s", from.format(b), e.name)
	}
	return fmt.Errorf("constant of type %s, want %s", from.name, e.name)
}
