package tile

import (
	"unsafe"

	"github.com/gohalo/halo/hlo"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// reducePrecisionLoop rounds numbers of type t to fewer mantissa bits, then applies the exponent range of an IEEE format with fewer
// exponent bits: what is above becomes infinity, what would be denormal there becomes zero. It is nil where a narrow type cannot be
// treated as the float32 numbers that registers hold: where its denormal numbers would stay, but with fewer bits.
func reducePrecisionLoop(t hlo.PrimitiveType, exponent, mantissa int64) loop {
	if exponent < 1 || mantissa < 0 {
		return nil
	}
	switch t {
	case hlo.F64:
		return precisionLoop[uint64](hlo.F64, 11, 52, exponent, mantissa)
	case hlo.F16:
		if exponent >= 5 {
			if mantissa < 10 {
				return nil
			}
			exponent = 8
		}
	case hlo.F32, hlo.BF16:
	default:
		return nil
	}
	return precisionLoop[uint32](hlo.F32, 8, 23, exponent, mantissa)
}

// precision is what rounding does to the codes of magnitudes: it adds a number that depends on the lowest bit that stays, clears the bits
// that do not, and replaces what is below the least or not below the limit.
type precision[U uint32 | uint64] struct{ lowest, toEven, toOdd, keep, least, limit U }

// precisionLoop is for codes of t, which has so many exponent and mantissa bits.
func precisionLoop[U uint32 | uint64](t hlo.PrimitiveType, exponentBits, mantissaBits, exponent, mantissa int64) loop {
	infinity := (U(1)<<exponentBits - 1) << mantissaBits
	p := &precision[U]{keep: ^U(0), limit: infinity}
	if drop := mantissaBits - mantissa; drop > 0 {
		p.lowest, p.keep = 1<<drop, ^U(0)<<drop
		p.toOdd = 1 << (drop - 1)
		p.toEven = p.toOdd - 1
	}
	if exponent < exponentBits {
		bias, reduced := U(1)<<(exponentBits-1)-1, U(1)<<(exponent-1)-1
		p.least, p.limit = (bias-reduced+1)<<mantissaBits, (bias+reduced+1)<<mantissaBits
	}
	round := vectors.Find(vectors.Of(hlo.OpReducePrecision, t), func(n int, d, a, b, _ unsafe.Pointer) {
		z, x, p := vec[U](d, n), vec[U](a, n), (*precision[U])(b)
		for i, code := range x {
			z[i] = p.round(code, infinity)
		}
	})
	return func(n int, d, a, _, _ unsafe.Pointer) { round(n, d, a, unsafe.Pointer(p), nil) }
}

func (p *precision[U]) round(code, infinity U) U {
	m := code << 1 >> 1
	sign := code ^ m
	if m >= infinity {
		return code
	}
	if m&p.lowest != 0 {
		m += p.toOdd
	} else {
		m += p.toEven
	}
	switch m &= p.keep; {
	case m < p.least:
		m = 0
	case m >= p.limit:
		m = infinity
	}
	return sign | m
}
