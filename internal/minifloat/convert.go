package minifloat

import (
	"math"
	"sync"
)

const (
	mantissa64 = 52
	bias64     = 1023
	inf64      = 0x7ff << mantissa64
)

// Float64 returns the value of code, exactly. Bits of code above f.Bits are ignored.
func (f Format) Float64(code uint16) float64 {
	l := &layouts[f]
	code &= l.mask
	magnitude := code &^ l.sign
	var x float64
	switch {
	case f.IsNaN(code):
		bits := uint64(inf64 | 1<<(mantissa64-1))
		if l.family == ieee {
			payload := uint64(code) & (1<<l.mantissa - 1)
			bits |= payload << (mantissa64 - l.mantissa)
		}
		if l.family == unsignedZero {
			code = 0
		}
		x = math.Float64frombits(bits)
	case magnitude > l.max:
		x = math.Inf(1)
	default:
		field := int(magnitude >> l.mantissa)
		mantissa := int(magnitude) & (1<<l.mantissa - 1)
		if field >= l.minField {
			mantissa |= 1 << l.mantissa
		} else {
			field = l.minField
		}
		x = math.Ldexp(float64(mantissa), field-l.bias-l.mantissa)
	}
	if code&l.sign != 0 {
		return math.Copysign(x, -1)
	}
	return x
}

// Float32 returns the value of code, exactly. Bits of code above f.Bits are ignored.
func (f Format) Float32(code uint16) float32 {
	switch f {
	case F16:
		return F16ToFloat32(code)
	case BF16:
		return BF16ToFloat32(code)
	}
	return bytesTo32()[f][uint8(code)]
}

// FromFloat64 returns the code nearest to x, ties to even.
func (f Format) FromFloat64(x float64) uint16 {
	l := &layouts[f]
	bits := math.Float64bits(x)
	sign := l.sign & -uint16(bits>>63)
	bits &^= 1 << 63
	switch {
	case bits > inf64:
		return l.fromNaN(sign, bits)
	case l.family == scale && (bits == 0 || math.Signbit(x)):
		return l.nan
	}

	// The code of a finite value is its exponent field followed by its mantissa, and the
	// next larger value has the next code, across the exponents too. So rounding is
	// dropping low bits of that pair, and a carry does the right thing.
	field := int(bits>>mantissa64) - bias64 + l.bias
	mantissa := bits & (1<<mantissa64 - 1)
	drop := mantissa64 - l.mantissa
	one := uint64(1) << mantissa64
	var code uint64
	switch {
	case field > 1<<9:
		return l.overflow(sign) // infinity, and what would not fit below
	case field >= l.minField:
		// The last kept bit decides a tie. With no mantissa left it is the implicit one, which is odd.
		odd := (mantissa | one) >> drop & 1
		code = (uint64(field)<<mantissa64 + mantissa + 1<<(drop-1) - 1 + odd) >> drop
	case l.family == scale:
		if bits <= (bias64-150)<<mantissa64 {
			return l.nan // zero already in f32, by way of which XLA converts
		}
		return 0 // no zero to go to
	default:
		// Below the smallest normal value the leading one is explicit and moves right. A denormal
		// float64 is given a leading one it does not have: it is far below half of anything.
		drop += l.minField - field
		if drop > mantissa64+1 {
			break
		}
		mantissa |= one
		code = (mantissa + 1<<(drop-1) - 1 + mantissa>>drop&1) >> drop
	}
	switch {
	case code > uint64(l.max):
		return l.overflow(sign)
	case code == 0 && l.family == unsignedZero:
		return 0
	}
	return sign | uint16(code)
}

// FromFloat32 returns the code nearest to x, ties to even.
func (f Format) FromFloat32(x float32) uint16 {
	switch f {
	case F16:
		return F16FromFloat32(x)
	case BF16:
		return BF16FromFloat32(x)
	}
	return f.FromFloat64(float64(x))
}

// overflow is the code of a value beyond the largest finite one, of the given sign.
func (l *layout) overflow(sign uint16) uint16 {
	if l.family == unsignedZero {
		return l.nan
	}
	return sign | l.over
}

// fromNaN is the code of a float64 NaN with the given sign and magnitude bits.
func (l *layout) fromNaN(sign uint16, bits uint64) uint16 {
	switch l.family {
	case ieee:
		payload := uint16(bits >> (mantissa64 - l.mantissa) & (1<<l.mantissa - 1))
		return sign | l.nan | payload
	case oneNaN:
		return sign | l.nan
	}
	return l.nan
}

// bytesTo32 holds the value of every byte in the formats of 8 bits and fewer.
// High bits of the narrower ones are ignored by repetition.
var bytesTo32 = sync.OnceValue(func() *[numFormats][256]float32 {
	all := new([numFormats][256]float32)
	for f := F8E5M2; f < numFormats; f++ {
		for code := range all[f] {
			all[f][code] = float32(f.Float64(uint16(code)))
		}
	}
	return all
})

// Table32 returns the value of every byte as an element of f, a format of at most 8 bits.
// The table is shared and must not be written.
func (f Format) Table32() *[256]float32 {
	if f < F8E5M2 {
		panic("minifloat: Table32 of " + f.String() + ", which is wider than a byte")
	}
	return &bytesTo32()[f]
}

// WidenBytes sets dst to the values of src, one element of f per byte. f has at most 8 bits,
// and dst is at least as long as src.
func (f Format) WidenBytes(dst []float32, src []byte) {
	table := f.Table32()
	dst = dst[:len(src)]
	for i, code := range src {
		dst[i] = table[code]
	}
}

// NarrowBytes sets dst to the codes nearest to src, one element of f per byte, high bits zero.
// f has at most 8 bits, and dst is at least as long as src.
func (f Format) NarrowBytes(dst []byte, src []float32) {
	if f < F8E5M2 {
		panic("minifloat: NarrowBytes to " + f.String() + ", which is wider than a byte")
	}
	dst = dst[:len(src)]
	if len(src) < manyBytes {
		for i, x := range src {
			dst[i] = byte(f.FromFloat64(float64(x)))
		}
		return
	}
	table := f.codesOf32()
	for i, x := range src {
		b := math.Float32bits(x)
		dst[i] = table[b>>16|(b&0xffff+0xffff)>>16]
	}
}

// manyBytes is the number of elements for which NarrowBytes makes a table.
const manyBytes = 256

// codesOf32 is the code for every upper half of a float32, the lowest bit of which says that a bit below is set too. That is enough to
// round by: a format of 8 bits has at most four bits behind the point, and two more decide.
func (f Format) codesOf32() *[1 << 16]byte {
	t := &narrowTables[f]
	t.once.Do(func() {
		for upper := range t.codes {
			t.codes[upper] = byte(f.FromFloat32(math.Float32frombits(uint32(upper) << 16)))
		}
	})
	return &t.codes
}

var narrowTables [numFormats]struct {
	once  sync.Once
	codes [1 << 16]byte
}
