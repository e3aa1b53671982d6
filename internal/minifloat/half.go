package minifloat

import "math"

const (
	signBit32 = 1 << 31
	inf32     = 0x7f800000
	quiet32   = 1 << 22
)

// F16ToFloat32 returns the value of an f16, exactly.
func F16ToFloat32(code uint16) float32 {
	sign := uint32(code&0x8000) << 16
	magnitude := uint32(code&0x7fff) << 13
	switch {
	case magnitude >= 0x7c00<<13: // infinity, NaN: the highest exponent here and there
		bits := sign | magnitude + (255-31)<<23
		if magnitude > 0x7c00<<13 {
			bits |= quiet32
		}
		return math.Float32frombits(bits)
	case magnitude >= 1<<23: // normal: only the bias differs
		return math.Float32frombits(sign | magnitude + (127-15)<<23)
	}
	// Denormal: counted in units of 2^-24, which every float32 in that range is.
	x := float32(code&0x3ff) * 0x1p-24
	return math.Float32frombits(sign | math.Float32bits(x))
}

// F16FromFloat32 returns the f16 nearest to x, ties to even.
func F16FromFloat32(x float32) uint16 {
	bits := math.Float32bits(x)
	sign := uint16(bits >> 16 & 0x8000)
	bits &^= signBit32
	switch {
	case bits < (127-14)<<23:
		// Denormal or zero. Next to 0.5 a float32 counts in units of 2^-24, so the addition
		// rounds, and its last bits are the code; 2^-14 carries into the exponent as it should.
		return sign | uint16(math.Float32bits(math.Float32frombits(bits)+0.5)-0x3f000000)
	case bits < (127+16)<<23:
		bits += 0xfff + bits>>13&1 - (127-15)<<23
		return sign | uint16(bits>>13)
	case bits <= inf32:
		return sign | 0x7c00
	}
	return sign | 0x7e00 | uint16(bits>>13&0x3ff)
}

// BF16ToFloat32 returns the value of a bf16, which is the upper half of a float32.
func BF16ToFloat32(code uint16) float32 {
	return math.Float32frombits(uint32(code) << 16)
}

// BF16FromFloat32 returns the bf16 nearest to x, ties to even.
func BF16FromFloat32(x float32) uint16 {
	bits := math.Float32bits(x)
	if bits&^signBit32 > inf32 {
		return uint16(bits>>16) | 0x40 // the rounding below would carry a NaN into infinity or zero
	}
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}

// WidenF16 sets dst to the values of src; dst is at least as long.
func WidenF16(dst []float32, src []uint16) {
	dst = dst[:len(src)]
	done := widenF16Vector(dst, src)
	dst, src = dst[done:], src[done:]
	for i, code := range src {
		dst[i] = F16ToFloat32(code)
	}
}

// NarrowF16 sets dst to the f16 nearest to each of src; dst is at least as long.
func NarrowF16(dst []uint16, src []float32) {
	dst = dst[:len(src)]
	done := narrowF16Vector(dst, src)
	dst, src = dst[done:], src[done:]
	for i, x := range src {
		dst[i] = F16FromFloat32(x)
	}
}

// WidenBF16 sets dst to the values of src; dst is at least as long.
func WidenBF16(dst []float32, src []uint16) {
	dst = dst[:len(src)]
	done := widenBF16Vector(dst, src)
	dst, src = dst[done:], src[done:]
	for i, code := range src {
		dst[i] = BF16ToFloat32(code)
	}
}

// NarrowBF16 sets dst to the bf16 nearest to each of src; dst is at least as long.
func NarrowBF16(dst []uint16, src []float32) {
	dst = dst[:len(src)]
	done := narrowBF16Vector(dst, src)
	dst, src = dst[done:], src[done:]
	for i, x := range src {
		dst[i] = BF16FromFloat32(x)
	}
}
