package eval

import (
	"math"
	"sync"
	"unsafe"

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

// view is b as elements of type E. Its start must be aligned for E, which [bytesOf] and memory made here are.
func view[E hlo.Element](b []byte) []E {
	if len(b) == 0 {
		return nil
	}
	var e E
	return unsafe.Slice((*E)(unsafe.Pointer(&b[0])), len(b)/int(unsafe.Sizeof(e)))
}

// bytesOf is the data of an array literal, aligned to its elements. It must not be written.
func bytesOf(l *hlo.Literal) []byte {
	b := l.Bytes()
	w := uintptr(min(l.Shape().Type().ByteSize(), 8))
	if len(b) > 0 && uintptr(unsafe.Pointer(&b[0]))%w != 0 {
		b = append(make([]byte, 0, len(b)), b...)
	}
	return b
}

// decodeFloats sets dst to the elements of type t in b, exactly.
func decodeFloats(dst []float64, t hlo.PrimitiveType, b []byte) {
	switch t {
	case hlo.F64:
		copy(dst, view[float64](b))
	case hlo.F32:
		src := view[float32](b)
		dst = dst[:len(src)]
		for i, x := range src {
			if dst[i] = float64(x); x != x {
				dst[i] = wideNaN(uint64(math.Float32bits(x)), 8, 23)
			}
		}
	case hlo.BF16:
		src := view[uint16](b)
		dst = dst[:len(src)]
		for i, x := range src {
			if dst[i] = float64(minifloat.BF16ToFloat32(x)); dst[i] != dst[i] {
				dst[i] = wideNaN(uint64(x), 8, 7)
			}
		}
	case hlo.F16:
		src := view[uint16](b)
		dst = dst[:len(src)]
		for i, x := range src {
			if dst[i] = float64(minifloat.F16ToFloat32(x)); dst[i] != dst[i] {
				dst[i] = wideNaN(uint64(x), 5, 10)
			}
		}
	default:
		table := narrowValues()[t]
		dst = dst[:len(b)]
		for i, x := range b {
			dst[i] = table[x]
		}
	}
}

// wideNaN is the NaN of a format as a float64, with the sign and all of the payload: a conversion would make it quiet, and the total order
// sees the difference.
func wideNaN(code uint64, exponent, mantissa int) float64 {
	sign := code >> (exponent + mantissa) & 1
	payload := code & (1<<mantissa - 1)
	return math.Float64frombits(sign<<63 | 0x7ff<<52 | payload<<(52-mantissa))
}

// narrowValues is the value of every byte in the formats of at most 8 bits.
var narrowValues = sync.OnceValue(func() map[hlo.PrimitiveType]*[256]float64 {
	all := make(map[hlo.PrimitiveType]*[256]float64)
	for t, f := range formats {
		if f.Bits() > 8 {
			continue
		}
		table, info := new([256]float64), f.Info()
		for code := range table {
			table[code] = f.Float64(uint16(code))
			if f.IsNaN(uint16(code)) && info.PayloadBits > 0 {
				table[code] = wideNaN(uint64(code), info.ExponentBits, info.MantissaBits)
			}
		}
		all[t] = table
	}
	return all
})

// encodeFloats rounds src to type t into b.
func encodeFloats(b []byte, t hlo.PrimitiveType, src []float64) {
	switch t {
	case hlo.F64:
		copy(view[float64](b), src)
	case hlo.F32:
		dst := view[float32](b)[:len(src)]
		for i, x := range src {
			dst[i] = float32(x)
		}
	case hlo.BF16:
		dst := view[uint16](b)[:len(src)]
		for i, x := range src {
			dst[i] = minifloat.BF16FromFloat32(float32(x))
		}
	case hlo.F16:
		dst := view[uint16](b)[:len(src)]
		for i, x := range src {
			dst[i] = minifloat.F16FromFloat32(float32(x))
		}
	default:
		f := formats[t]
		b = b[:len(src)]
		for i, x := range src {
			b[i] = byte(f.FromFloat64(x))
		}
	}
}

// roundFloats rounds each number to floating type t. To f16 and bf16 it goes by way of f32, as HLO's convert does; that changes no
// basic operation.
func roundFloats(v []float64, t hlo.PrimitiveType) {
	switch t {
	case hlo.F64:
	case hlo.F32:
		for i, x := range v {
			v[i] = float64(float32(x))
		}
	case hlo.BF16:
		for i, x := range v {
			v[i] = float64(minifloat.BF16ToFloat32(minifloat.BF16FromFloat32(float32(x))))
		}
	case hlo.F16:
		for i, x := range v {
			v[i] = float64(minifloat.F16ToFloat32(minifloat.F16FromFloat32(float32(x))))
		}
	default:
		f := formats[t]
		table := f.Table32()
		for i, x := range v {
			v[i] = float64(table[byte(f.FromFloat64(x))])
		}
	}
}

// roundTo is roundFloats of one number.
func roundTo(t hlo.PrimitiveType, x float64) float64 {
	v := [1]float64{x}
	roundFloats(v[:], t)
	return v[0]
}

// decodeInts sets dst to the elements of an integer type or pred: signed types sign-extended, unsigned ones zero-extended, pred 0 or 1.
func decodeInts(dst []int64, t hlo.PrimitiveType, b []byte) {
	switch t {
	case hlo.S64, hlo.U64:
		copy(dst, view[int64](b))
	case hlo.S32:
		extend(dst, view[int32](b))
	case hlo.U32:
		extend(dst, view[uint32](b))
	case hlo.S16:
		extend(dst, view[int16](b))
	case hlo.U16:
		extend(dst, view[uint16](b))
	case hlo.S8:
		extend(dst, view[int8](b))
	case hlo.U8:
		extend(dst, b)
	default:
		extend(dst, b)
		wrapInts(dst[:len(b)], t)
	}
}

func extend[E int8 | uint8 | int16 | uint16 | int32 | uint32](dst []int64, src []E) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = int64(x)
	}
}

// encodeInts stores the low bits of each number, which must be within the type for types narrower than a byte.
func encodeInts(b []byte, t hlo.PrimitiveType, src []int64) {
	switch t.ByteSize() {
	case 8:
		copy(view[int64](b), src)
	case 4:
		cut(view[int32](b), src)
	case 2:
		cut(view[int16](b), src)
	default:
		cut(b, src)
	}
}

func cut[E uint8 | int16 | int32](dst []E, src []int64) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = E(x)
	}
}

// wrapInts cuts each number to the width of t and extends it again; of pred it makes 0 and 1.
func wrapInts(v []int64, t hlo.PrimitiveType) {
	shift := 64 - t.Bits()
	switch {
	case t == hlo.PRED:
		for i, x := range v {
			v[i] = int64(min(uint64(x), 1))
		}
	case shift == 0:
	case t.IsSigned():
		for i, x := range v {
			v[i] = x << shift >> shift
		}
	default:
		for i, x := range v {
			v[i] = int64(uint64(x) << shift >> shift)
		}
	}
}

// wrap is wrapInts of one number.
func wrap(t hlo.PrimitiveType, x int64) int64 {
	v := [1]int64{x}
	wrapInts(v[:], t)
	return v[0]
}

// decodeComplex sets dst to the elements of a complex type.
func decodeComplex(dst []complex128, t hlo.PrimitiveType, b []byte) {
	if t == hlo.C128 {
		copy(dst, view[complex128](b))
		return
	}
	src := view[complex64](b)
	dst = dst[:len(src)]
	for i, z := range src {
		dst[i] = complex128(z)
	}
}

func encodeComplex(b []byte, t hlo.PrimitiveType, src []complex128) {
	if t == hlo.C128 {
		copy(view[complex128](b), src)
		return
	}
	dst := view[complex64](b)[:len(src)]
	for i, z := range src {
		dst[i] = complex64(z)
	}
}

func roundComplex(v []complex128, t hlo.PrimitiveType) {
	if t == hlo.C64 {
		for i, z := range v {
			v[i] = complex128(complex64(z))
		}
	}
}

// floatsOf decodes the elements of a floating literal. The caller owns the slice.
func floatsOf(l *hlo.Literal) []float64 {
	v := make([]float64, l.Shape().NumElements())
	decodeFloats(v, l.Shape().Type(), bytesOf(l))
	return v
}

// intsOf decodes the elements of an integer or pred literal. The caller owns the slice.
func intsOf(l *hlo.Literal) []int64 {
	v := make([]int64, l.Shape().NumElements())
	decodeInts(v, l.Shape().Type(), bytesOf(l))
	return v
}

// complexOf decodes the elements of a complex literal, or of a floating one as real numbers. The caller owns the slice.
func complexOf(l *hlo.Literal) []complex128 {
	v := make([]complex128, l.Shape().NumElements())
	if l.Shape().Type().IsFloat() {
		for i, x := range floatsOf(l) {
			v[i] = complex(x, 0)
		}
		return v
	}
	decodeComplex(v, l.Shape().Type(), bytesOf(l))
	return v
}

// packFloats rounds the numbers to the shape's element type.
func packFloats(s hlo.Shape, v []float64) (*hlo.Literal, error) {
	b := make([]byte, len(v)*s.Type().ByteSize())
	encodeFloats(b, s.Type(), v)
	return hlo.NewLiteral(s, b)
}

// packInts cuts the numbers to the shape's element type. It writes to v.
func packInts(s hlo.Shape, v []int64) (*hlo.Literal, error) {
	wrapInts(v, s.Type())
	b := make([]byte, len(v)*s.Type().ByteSize())
	encodeInts(b, s.Type(), v)
	return hlo.NewLiteral(s, b)
}

// packComplex rounds the numbers to the shape's element type; of a floating type it takes the real parts.
func packComplex(s hlo.Shape, v []complex128) (*hlo.Literal, error) {
	if s.Type().IsFloat() {
		re := make([]float64, len(v))
		for i, z := range v {
			re[i] = real(z)
		}
		return packFloats(s, re)
	}
	b := make([]byte, len(v)*s.Type().ByteSize())
	encodeComplex(b, s.Type(), v)
	return hlo.NewLiteral(s, b)
}
