package eval

import (
	"math"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/elementary"
)

// The functions of complex64 whose values are large where their arguments are not: powers, exponentials, and sines and cosines. They
// are computed in single precision in the order of XLA's CPU compiler, whose numbers JAX's users compare with. The polar form and
// the halves of exponentials make a relative error of a few ulps, so exact values and XLA's differ by as much as a number of 1e13 has ulps.
var (
	singleUnary = map[hlo.Opcode]laneOp{
		hlo.OpExponential: complexFunc(single(expOf64)),
		hlo.OpSine:        complexFunc(single(sinOf64)),
		hlo.OpCosine:      complexFunc(single(cosOf64)),
	}
	// singleFloat is the part of these functions that JAX computes itself, from the parts of a complex number.
	singleFloat = map[hlo.Opcode]laneOp{
		hlo.OpExponentialMinusOne: floatFunc(func(x float64) float64 { return float64(elementary.Expm1of32(float32(x))) }),
	}
	singleBinary = map[hlo.Opcode]laneOp{
		hlo.OpPower: complexFunc2(func(x, y complex128) complex128 { return complex128(powerOf64(complex64(x), complex64(y))) }),
	}
)

func single(f func(complex64) complex64) func(complex128) complex128 {
	return func(z complex128) complex128 { return complex128(f(complex64(z))) }
}

func expOf64(z complex64) complex64 {
	e := elementary.Exp32(real(z))
	s, c := elementary.Sincos32(imag(z))
	re, im := e*c, e*s
	if math.IsInf(float64(e), 1) { // the product may be finite yet
		h := elementary.Exp32(real(z) * 0.5)
		re, im = h*c*h, h*s*h
	}
	if imag(z) == 0 {
		im = 0
	}
	return complex(re, im)
}

// halves are e^x/2 and e^-x/2.
func halves(x float32) (up, down float32) {
	e := elementary.Exp32(x)
	return e * 0.5, 0.5 / e
}

func sinOf64(z complex64) complex64 {
	s, c := elementary.Sincos32(real(z))
	up, down := halves(imag(z))
	return complex(float32(up+down)*s, float32(up-down)*c)
}

func cosOf64(z complex64) complex64 {
	s, c := elementary.Sincos32(real(z))
	up, down := halves(imag(z))
	return complex(float32(down+up)*c, float32(down-up)*s)
}

// powerOf64 is z^w in polar form.
func powerOf64(z, w complex64) complex64 {
	if p, ok := exactPower(complex128(z), complex128(w)); ok {
		return complex64(p)
	}
	a, b, c, d := real(z), imag(z), real(w), imag(w)
	m := modulusOf64(a, b)
	t := elementary.Atan2of32(b, a)
	r := float32(math.Pow(float64(m), float64(c))) * elementary.Exp32(-d*t)
	q := c * t
	if d != 0 {
		q = float32(float64(c)*float64(t) + float64(d*elementary.Log32(m)))
	}
	sin, cos := elementary.Sincos32(q)
	return complex(r*cos, r*sin)
}

// modulusOf64 is the modulus, with the smaller part where the larger gives no number.
func modulusOf64(a, b float32) float32 {
	a, b = float32(math.Abs(float64(a))), float32(math.Abs(float64(b)))
	m, n := max(a, b), min(a, b)
	r := n / m
	if h := m * float32(math.Sqrt(float64(float32(float64(r)*float64(r)+1)))); h == h {
		return h
	}
	return n
}
