package eval

import (
	"math"
	"math/cmplx"

	"github.com/gohalo/halo/internal/elementary"
)

// The inverse functions of complex numbers by the method of Hull, Fairgrieve and Tang: with r and s the distances of z from -1 and 1 and
// a = (r+s)/2, the real part is the arc of x/a and the imaginary part log(a + sqrt(a²-1)), each in a form that does not cancel.

// arcParts is asin and acos of the real part and the size of the imaginary part, for x + iy in the first quadrant.
func arcParts(x, y float64) (arcSine, arcCosine, size float64) {
	r, s := math.Hypot(x+1, y), math.Hypot(x-1, y)
	a := (r + s) / 2
	b := x / a
	if b <= 0.6417 {
		arcSine, arcCosine = math.Asin(b), math.Acos(b)
	} else {
		var leg float64
		sum := a + x
		if x <= 1 {
			leg = math.Sqrt(0.5 * sum * (y*y/(r+(x+1)) + (s + (1 - x))))
		} else {
			leg = y * math.Sqrt(0.5*(sum/(r+(x+1))+sum/(s+(x-1))))
		}
		arcSine, arcCosine = math.Atan2(x, leg), math.Atan2(leg, x)
	}
	switch {
	case y < 1e-150 && x < 1: // y² would vanish
		size = y / math.Sqrt((1-x)*(1+x))
	case y < 1e-150 && x == 1:
		size = math.Sqrt(y)
	case a > 1.5:
		size = elementary.Log(a + math.Sqrt(a*a-1))
	default:
		var more float64 // a - 1
		if x < 1 {
			more = 0.5 * (y*y/(r+(x+1)) + y*y/(s+(1-x)))
		} else {
			more = 0.5 * (y*y/(r+(x+1)) + (s + (x - 1)))
		}
		size = math.Log1p(more + math.Sqrt(more*(a+1)))
	}
	return arcSine, arcCosine, size
}

// ordinary reports whether z is finite and its square neither overflows nor is it zero.
func ordinary(z complex128) bool {
	m := max(math.Abs(real(z)), math.Abs(imag(z)))
	return m < 1e150 && m > 0
}

func complexAsin(z complex128) complex128 {
	if !ordinary(z) {
		return cmplx.Asin(z)
	}
	re, _, im := arcParts(math.Abs(real(z)), math.Abs(imag(z)))
	return complex(math.Copysign(re, real(z)), math.Copysign(im, imag(z)))
}

func complexAcos(z complex128) complex128 {
	if !ordinary(z) {
		return cmplx.Acos(z)
	}
	_, re, im := arcParts(math.Abs(real(z)), math.Abs(imag(z)))
	if math.Signbit(real(z)) {
		re = math.Pi - re
	}
	return complex(re, math.Copysign(im, -imag(z)))
}

func complexAcosh(z complex128) complex128 {
	if !ordinary(z) {
		return cmplx.Acosh(z)
	}
	w := complexAcos(z)
	return complex(math.Abs(imag(w)), math.Copysign(real(w), imag(z)))
}

// complexAsinh is -i·asin(iz).
func complexAsinh(z complex128) complex128 {
	w := complexAsin(complex(-imag(z), real(z)))
	return complex(imag(w), -real(w))
}

func complexAtanh(z complex128) complex128 {
	x, y := real(z), imag(z)
	if !ordinary(z) || math.Abs(x) == 1 && y == 0 {
		return cmplx.Atanh(z)
	}
	d := 1 - math.Abs(x)
	re := 0.25 * math.Log1p(4*math.Abs(x)/(d*d+y*y))
	im := 0.5 * math.Atan2(2*y, d*(1+math.Abs(x))-y*y)
	return complex(math.Copysign(re, x), im)
}
