package arrays

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gohalo/halo/hlo"
)

// Difference says how far two arrays are apart.
type Difference struct {
	Elements, Bad  int     // of how many; beyond the tolerance
	MaxAbs, MaxRel float64 // over finite elements
	FirstBad       int     // flat row-major index, -1 for none
	Got, Want      complex128
	ZeroSigns      int // zeros that are of the other sign: no difference in value, and not counted as bad
}

func (d Difference) String() string {
	s := fmt.Sprintf("%d elements, largest difference %.3g, relative %.3g", d.Elements, d.MaxAbs, d.MaxRel)
	if d.ZeroSigns > 0 {
		s += fmt.Sprintf(", %d zeros of the other sign", d.ZeroSigns)
	}
	if d.Bad > 0 && d.FirstBad >= 0 {
		s += fmt.Sprintf(", %d beyond the tolerance, the first at %d: got %v want %v", d.Bad, d.FirstBad, Number(d.Got), Number(d.Want))
	}
	return s
}

// Number is z as it is printed: a real number if its imaginary part is zero.
func Number(z complex128) any {
	if imag(z) == 0 {
		return real(z)
	}
	return z
}

// Tolerance is how far results of a type may be from a reference by default, relative and absolute: what a sum in another
// order costs for the wide floats, a unit in the last place for the narrow ones, nothing for integers.
func Tolerance(t hlo.PrimitiveType) float64 {
	switch t {
	case hlo.F64, hlo.C128:
		return 1e-10
	case hlo.F32, hlo.C64:
		return 1e-5
	}
	if f, ok := narrowFormat(t); ok {
		return f.Info().Epsilon
	}
	return 0
}

// Compare measures got against want, which have the same dimensions: abs(got-want) <= atol + rtol*abs(want), NaN matches NaN, an infinity only
// itself; complex by modulus.
func Compare(got, want *hlo.Literal, rtol, atol float64) Difference {
	return CompareExactly(got, want, rtol, atol, Exactness{})
}

// CompareExactly is [Compare] with a say in zeros, NaNs and infinities. The arrays may be of different types, and then are compared as numbers.
func CompareExactly(got, want *hlo.Literal, rtol, atol float64, e Exactness) Difference {
	d := Difference{FirstBad: -1}
	t, u := got.Shape().Type(), want.Shape().Type()
	n := int(got.Shape().NumElements())
	d.Elements = n
	for i := range n {
		g, w := element(got.Bytes(), t, i), element(want.Bytes(), u, i)
		diff := 0.0 // of equal infinities too, whose difference is NaN
		if g != w {
			diff = modulus(g - w)
		} else if t == u && t.IsInteger() && t.ByteSize() == 8 {
			diff = lowDigits(got.Bytes()[8*i:], want.Bytes()[8*i:])
		}
		ok := diff <= atol+rtol*modulus(w) && !math.IsInf(modulus(w), 0)
		switch {
		case g == w && diff == 0 || anyNaN(g) && anyNaN(w):
			ok = !(e.NaNBits && t == u && anyNaN(g) && !sameBits(got, want, i))
			if otherZero(real(g), real(w)) || otherZero(imag(g), imag(w)) {
				d.ZeroSigns++
				ok = !e.ZeroSigns
			}
		case e.IgnoreInfinities && (math.IsInf(modulus(g), 0) || math.IsInf(modulus(w), 0)):
			continue
		case !math.IsNaN(diff) && !math.IsInf(diff, 0):
			d.MaxAbs = max(d.MaxAbs, diff)
			if m := modulus(w); m > 0 {
				d.MaxRel = max(d.MaxRel, diff/m)
			}
		}
		if !ok {
			if d.Bad == 0 {
				d.FirstBad, d.Got, d.Want = i, g, w
			}
			d.Bad++
		}
	}
	return d
}

// lowDigits is the difference of two integers that are equal as floats.
func lowDigits(a, b []byte) float64 {
	d := int64(binary.LittleEndian.Uint64(a) - binary.LittleEndian.Uint64(b))
	return math.Abs(float64(d))
}

func otherZero(x, y float64) bool { return x == 0 && y == 0 && math.Signbit(x) != math.Signbit(y) }

func anyNaN(z complex128) bool { return math.IsNaN(real(z)) || math.IsNaN(imag(z)) }

func modulus(z complex128) float64 { return math.Hypot(real(z), imag(z)) }

// element decodes element i as a number; integers beyond 2^53 lose their last digits.
func element(data []byte, t hlo.PrimitiveType, i int) complex128 {
	w := t.ByteSize()
	b := data[i*w : (i+1)*w]
	switch t {
	case hlo.F64:
		return complex(math.Float64frombits(binary.LittleEndian.Uint64(b)), 0)
	case hlo.F32:
		return complex(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), 0)
	case hlo.C64:
		return complex(real(element(b[:4], hlo.F32, 0)), real(element(b[4:], hlo.F32, 0)))
	case hlo.C128:
		return complex(real(element(b[:8], hlo.F64, 0)), real(element(b[8:], hlo.F64, 0)))
	}
	var v uint64
	for k := range b {
		v |= uint64(b[k]) << (8 * k)
	}
	if f, ok := narrowFormat(t); ok {
		return complex(f.Float64(uint16(v)), 0)
	}
	if t.IsSigned() {
		shift := 64 - 8*w
		return complex(float64(int64(v<<shift)>>shift), 0)
	}
	return complex(float64(v), 0)
}
