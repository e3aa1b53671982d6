package eval

import (
	"encoding/binary"
	"math"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
)

// formats gives the narrow floating types their format.
var formats = map[hlo.PrimitiveType]minifloat.Format{
	hlo.F16: minifloat.F16, hlo.BF16: minifloat.BF16, hlo.F8E5M2: minifloat.F8E5M2, hlo.F8E4M3: minifloat.F8E4M3,
	hlo.F8E3M4: minifloat.F8E3M4, hlo.F8E4M3FN: minifloat.F8E4M3FN, hlo.F8E5M2FNUZ: minifloat.F8E5M2FNUZ,
	hlo.F8E4M3FNUZ: minifloat.F8E4M3FNUZ, hlo.F8E4M3B11FNUZ: minifloat.F8E4M3B11FNUZ, hlo.F8E8M0FNU: minifloat.F8E8M0FNU,
	hlo.F6E2M3FN: minifloat.F6E2M3FN, hlo.F6E3M2FN: minifloat.F6E3M2FN, hlo.F4E2M1FN: minifloat.F4E2M1FN,
}

// floatsOf decodes the elements of a floating literal, exactly. The caller owns the slice.
func floatsOf(l *hlo.Literal) []float64 {
	b := l.Bytes()
	switch t := l.Shape().Type(); t {
	case hlo.F64:
		return append([]float64(nil), hlo.Values[float64](l)...)
	case hlo.F32:
		out := make([]float64, len(b)/4)
		for i, v := range hlo.Values[float32](l) {
			out[i] = float64(v)
		}
		return out
	default:
		f := formats[t]
		if t.ByteSize() == 2 {
			out := make([]float64, len(b)/2)
			for i := range out {
				out[i] = float64(f.Float32(binary.LittleEndian.Uint16(b[2*i:])))
			}
			return out
		}
		out := make([]float64, len(b))
		for i := range out {
			out[i] = float64(f.Float32(uint16(b[i])))
		}
		return out
	}
}

// packFloats rounds the numbers once to the shape's element type.
func packFloats(s hlo.Shape, v []float64) (*hlo.Literal, error) {
	switch t := s.Type(); t {
	case hlo.F64:
		return hlo.LiteralOf(s, v...)
	case hlo.F32:
		out := make([]float32, len(v))
		for i, x := range v {
			out[i] = float32(x)
		}
		return hlo.LiteralOf(s, out...)
	default:
		f := formats[t]
		data := make([]byte, len(v)*t.ByteSize())
		for i, x := range v {
			code := f.FromFloat64(x)
			if t.ByteSize() == 2 {
				binary.LittleEndian.PutUint16(data[2*i:], code)
			} else {
				data[i] = byte(code)
			}
		}
		return hlo.NewLiteral(s, data)
	}
}

// roundTo rounds x once to floating type t.
func roundTo(t hlo.PrimitiveType, x float64) float64 {
	switch t {
	case hlo.F64:
		return x
	case hlo.F32:
		return float64(float32(x))
	}
	f := formats[t]
	return float64(f.Float32(f.FromFloat64(x)))
}

// intsOf decodes an integer or pred literal: signed types sign-extended, unsigned ones zero-extended, pred 0 or 1.
func intsOf(l *hlo.Literal) []int64 {
	t, b := l.Shape().Type(), l.Bytes()
	w := t.ByteSize()
	out := make([]int64, len(b)/w)
	for i := range out {
		var v uint64
		switch w {
		case 1:
			v = uint64(b[i])
		case 2:
			v = uint64(binary.LittleEndian.Uint16(b[2*i:]))
		case 4:
			v = uint64(binary.LittleEndian.Uint32(b[4*i:]))
		case 8:
			v = binary.LittleEndian.Uint64(b[8*i:])
		}
		out[i] = wrap(t, v)
	}
	return out
}

// wrap cuts v to the width of t and extends it again.
func wrap(t hlo.PrimitiveType, v uint64) int64 {
	if t == hlo.PRED {
		return int64(min(v, 1))
	}
	shift := 64 - t.Bits()
	if t.IsSigned() {
		return int64(v<<shift) >> shift
	}
	return int64(v << shift >> shift)
}

// packInts stores the low bits of each number.
func packInts(s hlo.Shape, v []int64) (*hlo.Literal, error) {
	t := s.Type()
	w := t.ByteSize()
	data := make([]byte, len(v)*w)
	for i, x := range v {
		x = wrap(t, uint64(x))
		switch w {
		case 1:
			data[i] = byte(x)
		case 2:
			binary.LittleEndian.PutUint16(data[2*i:], uint16(x))
		case 4:
			binary.LittleEndian.PutUint32(data[4*i:], uint32(x))
		case 8:
			binary.LittleEndian.PutUint64(data[8*i:], uint64(x))
		}
	}
	return hlo.NewLiteral(s, data)
}

// complexOf decodes a complex literal.
func complexOf(l *hlo.Literal) []complex128 {
	if l.Shape().Type() == hlo.C128 {
		return append([]complex128(nil), hlo.Values[complex128](l)...)
	}
	v := hlo.Values[complex64](l)
	out := make([]complex128, len(v))
	for i, z := range v {
		out[i] = complex128(z)
	}
	return out
}

func packComplex(s hlo.Shape, v []complex128) (*hlo.Literal, error) {
	if s.Type() == hlo.C128 {
		return hlo.LiteralOf(s, v...)
	}
	out := make([]complex64, len(v))
	for i, z := range v {
		out[i] = complex64(z)
	}
	return hlo.LiteralOf(s, out...)
}

// infinite and isNaN look at both parts.
func isNaN(z complex128) bool { return math.IsNaN(real(z)) || math.IsNaN(imag(z)) }
