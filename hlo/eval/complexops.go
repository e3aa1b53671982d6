package eval

import (
	"fmt"
	"math"
	"math/cmplx"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/elementary"
)

// complexUnary and complexBinary compute in complex128; the caller rounds.
var complexUnary = map[hlo.Opcode]laneOp{
	hlo.OpNegate:              complexFunc(func(z complex128) complex128 { return complex(-real(z), -imag(z)) }),
	hlo.OpSign:                complexFunc(complexSign),
	hlo.OpExponential:         complexFunc(complexExp),
	hlo.OpExponentialMinusOne: complexFunc(complexExpm1),
	hlo.OpLog:                 complexFunc(complexLog),
	hlo.OpLogPlusOne:          complexFunc(complexLog1p),
	hlo.OpSqrt:                complexFunc(complexSqrt),
	hlo.OpRsqrt:               complexFunc(complexRsqrt),
	hlo.OpCosine:              complexFunc(complexCos),
	hlo.OpSine:                complexFunc(complexSin),
	hlo.OpTanh:                complexFunc(complexTanh),
	hlo.OpTan: complexFunc(func(z complex128) complex128 {
		t := complexTanh(complex(-imag(z), real(z)))
		return complex(imag(t), -real(t))
	}),
	hlo.OpLogistic: complexFunc(func(z complex128) complex128 {
		return complexDivide(1, 1+complexExp(complex(-real(z), -imag(z))))
	}),
	hlo.OpAcos:  complexFunc(complexAcos),
	hlo.OpAcosh: complexFunc(complexAcosh),
	hlo.OpAsin:  complexFunc(complexAsin),
	hlo.OpAsinh: complexFunc(complexAsinh),
	hlo.OpAtanh: complexFunc(complexAtanh),
	hlo.OpCosh:  complexFunc(cmplx.Cosh),
	hlo.OpSinh:  complexFunc(cmplx.Sinh),
}

var complexBinary = map[hlo.Opcode]laneOp{
	hlo.OpAdd:      complexFunc2(func(x, y complex128) complex128 { return x + y }),
	hlo.OpSubtract: complexFunc2(func(x, y complex128) complex128 { return x - y }),
	hlo.OpMultiply: complexFunc2(complexMultiply),
	hlo.OpDivide:   complexFunc2(complexDivide),
	hlo.OpPower:    complexFunc2(complexPower),
	hlo.OpAtan2: complexFunc2(func(y, x complex128) complex128 {
		iy := complex(-imag(y), real(y))
		w := complexLog(complexDivide(x+iy, complexSqrt(complexMultiply(x, x)+complexMultiply(y, y))))
		return complex(imag(w), -real(w))
	}),
}

func complexFunc(g func(complex128) complex128) laneOp {
	return func(d, a, _, _ *lanes) {
		for k, z := range a.z {
			d.z[k] = g(z)
		}
	}
}

func complexFunc2(g func(x, y complex128) complex128) laneOp {
	return func(d, a, b, _ *lanes) {
		for k, z := range a.z {
			d.z[k] = g(z, b.z[k])
		}
	}
}

// complexOp composes real and imaginary parts.
func complexOp(in hlo.Instruction, types []hlo.PrimitiveType) (laneOp, error) {
	t := in.Shape().Type()
	if len(types) != 2 || classOf(types[0]) != floats || classOf(types[1]) != floats || !t.IsComplex() {
		return nil, fmt.Errorf("complex of %v gives no %v", types, t)
	}
	return func(d, a, b, _ *lanes) {
		for k, x := range a.f {
			d.z[k] = complex(x, b.f[k])
		}
	}, nil
}

// partOp is real and imag, which are defined on real numbers too.
func partOp(in hlo.Instruction, types []hlo.PrimitiveType) (laneOp, error) {
	if in.Shape().Type() != types[0].ComponentType() {
		return nil, fmt.Errorf("%v of %v gives no %v", in.Opcode(), types[0], in.Shape().Type())
	}
	wantReal := in.Opcode() == hlo.OpReal
	switch {
	case classOf(types[0]) == complexes && wantReal:
		return func(d, a, _, _ *lanes) {
			for k, z := range a.z {
				d.f[k] = real(z)
			}
		}, nil
	case classOf(types[0]) == complexes:
		return func(d, a, _, _ *lanes) {
			for k, z := range a.z {
				d.f[k] = imag(z)
			}
		}, nil
	case wantReal:
		return func(d, a, _, _ *lanes) { d.set(a) }, nil
	}
	return func(d, _, _, _ *lanes) { clear(d.f); clear(d.i) }, nil
}

func complexAbs(t hlo.PrimitiveType) laneOp {
	return func(d, a, _, _ *lanes) {
		for k, z := range a.z {
			d.f[k] = modulus(z)
		}
		roundFloats(d.f, t)
	}
}

// modulus scales by the larger part; where that gives no number, it is the smaller one.
func modulus(z complex128) float64 {
	a, b := math.Abs(real(z)), math.Abs(imag(z))
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.NaN()
	}
	m, n := max(a, b), min(a, b)
	if math.IsInf(m, 0) {
		return m
	}
	if m == 0 {
		return 0
	}
	r := n / m
	return m * math.Sqrt(1+r*r)
}

func complexMultiply(x, y complex128) complex128 {
	a, b, c, d := real(x), imag(x), real(y), imag(y)
	return complex(a*c-b*d, a*d+b*c)
}

// complexDivide is Smith's method, with the recovery of infinities and zeros where both parts come out NaN.
func complexDivide(z, w complex128) complex128 {
	a, b, c, d := real(z), imag(z), real(w), imag(w)
	var re, im float64
	if math.Abs(c) < math.Abs(d) {
		r := c / d
		t := d + c*r
		re, im = (a*r+b)/t, (b*r-a)/t
	} else {
		r := d / c
		t := c + d*r
		re, im = (a+b*r)/t, (b-a*r)/t
	}
	if !math.IsNaN(re) || !math.IsNaN(im) {
		return complex(re, im)
	}
	inf := math.Inf(1)
	box := func(x float64) float64 { return math.Copysign(float64(fromBool(math.IsInf(x, 0))), x) }
	isInf := func(x, y float64) bool { return math.IsInf(x, 0) || math.IsInf(y, 0) }
	isFinite := func(x, y float64) bool { return x-x == 0 && y-y == 0 }
	switch {
	case c == 0 && d == 0 && (!math.IsNaN(a) || !math.IsNaN(b)):
		return complex(math.Copysign(inf, c)*a, math.Copysign(inf, c)*b)
	case isInf(a, b) && isFinite(c, d):
		a, b = box(a), box(b)
		return complex(inf*(a*c+b*d), inf*(b*c-a*d))
	case isInf(c, d) && isFinite(a, b):
		c, d = box(c), box(d)
		return complex(0*(a*c+b*d), 0*(b*c-a*d))
	}
	return complex(re, im)
}

func complexSign(z complex128) complex128 {
	m := modulus(z)
	if m == 0 {
		return 0
	}
	return complex(real(z)/m, imag(z)/m)
}

func complexExp(z complex128) complex128 {
	a, b := real(z), imag(z)
	e := elementary.Exp(a)
	if b == 0 {
		return complex(e, 0)
	}
	s, c := math.Sincos(b)
	if math.IsInf(e, 0) {
		h := elementary.Exp(a / 2)
		return complex(h*c*h, h*s*h)
	}
	return complex(e*c, e*s)
}

func complexExpm1(z complex128) complex128 {
	a, b := real(z), imag(z)
	s, c := math.Sincos(b)
	h := math.Sin(b / 2)
	re := math.Expm1(a)*c - 2*h*h
	if b == 0 {
		return complex(math.Expm1(a), 0)
	}
	return complex(re, elementary.Exp(a)*s)
}

func complexLog(z complex128) complex128 {
	return complex(logModulus(real(z), imag(z)), math.Atan2(imag(z), real(z)))
}

// logModulus is elementary.Log(sqrt(a²+b²)), accurate where the modulus is near 1.
func logModulus(a, b float64) float64 {
	a, b = math.Abs(a), math.Abs(b)
	m, n := max(a, b), min(a, b)
	if math.IsInf(a, 0) || math.IsInf(b, 0) {
		return math.Inf(1)
	}
	if m == 0 || m != m {
		return elementary.Log(m)
	}
	if m > 0.5 && m < 2 { // a²+b²-1 without cancellation
		return 0.5 * math.Log1p((m-1)*(m+1)+n*n)
	}
	r := n / m
	return elementary.Log(m) + 0.5*math.Log1p(r*r)
}

func complexLog1p(z complex128) complex128 {
	a, b := real(z), imag(z)
	re := logModulus(a+1, b)
	if h := math.Abs(a) + math.Abs(b); h < 0.5 { // |1+z|² - 1 = a(2+a) + b²
		re = 0.5 * math.Log1p(math.FMA(a, 2+a, b*b))
	}
	return complex(re, math.Atan2(b, a+1))
}

func complexSqrt(z complex128) complex128 {
	a, b := real(z), imag(z)
	switch {
	case math.IsInf(b, 0):
		return complex(math.Inf(1), b)
	case math.IsInf(a, 1) && b == b:
		return complex(a, math.Copysign(0, b))
	case math.IsInf(a, -1) && b == b:
		return complex(0, math.Copysign(math.Inf(1), b))
	case a == 0 && b == 0:
		return complex(0, b)
	case b == 0 && a > 0:
		return complex(math.Sqrt(a), b)
	case b == 0:
		return complex(0, math.Copysign(math.Sqrt(-a), b))
	}
	return cmplx.Sqrt(z)
}

func complexRsqrt(z complex128) complex128 {
	a, b := real(z), imag(z)
	switch {
	case a == 0 && b == 0:
		return complex(math.Inf(1), math.NaN())
	case math.IsInf(a, 0) || math.IsInf(b, 0) && a != a:
		return complex(math.Copysign(0, a), -math.Copysign(0, b))
	}
	r := 1 / math.Sqrt(modulus(z))
	s, c := math.Sincos(math.Atan2(b, a) / 2)
	return complex(r*c, -r*s)
}

func complexSin(z complex128) complex128 {
	s, c := math.Sincos(real(z))
	return complex(s*math.Cosh(imag(z)), c*math.Sinh(imag(z)))
}

func complexCos(z complex128) complex128 {
	s, c := math.Sincos(real(z))
	return complex(c*math.Cosh(imag(z)), -s*math.Sinh(imag(z)))
}

// complexTanh is (sinh 2a + i sin 2b) / (cosh 2a + cos 2b), arranged so that nothing overflows or cancels.
func complexTanh(z complex128) complex128 {
	a, b := real(z), imag(z)
	switch {
	case b == 0:
		return complex(math.Tanh(a), 0)
	case math.IsInf(a, 0):
		return complex(math.Copysign(1, a), 0)
	case math.IsInf(b, 0) || b != b || a != a:
		return complex(math.NaN(), math.NaN())
	case math.Abs(a) > 20: // tanh is 1 to the last place, the imaginary part 4 sin b cos b e^(-2|a|)
		s, c := math.Sincos(b)
		e := elementary.Exp(-math.Abs(a))
		return complex(math.Copysign(1, a), 4*s*e*c*e)
	}
	s, c := math.Sincos(b)
	sh := math.Sinh(a)
	den := sh*sh + c*c
	return complex(sh*math.Cosh(a)/den, s*c/den)
}

// exactPower is z^w where it needs no logarithm.
func exactPower(z, w complex128) (power complex128, ok bool) {
	c, d := real(w), imag(w)
	switch {
	case z == 1 || w == 0:
		return 1, true
	case z == 0 && d == 0 && c > 0:
		return 0, true
	case math.IsInf(real(z), 1) && imag(z) == 0 && d == 0 && c > 0:
		return complex(math.Inf(1), 0), true
	case math.IsInf(real(z), 1) && imag(z) == 0 && d == 0 && c < 0:
		return 0, true
	}
	return 0, false
}

// complexPower is z^w in polar form.
func complexPower(z, w complex128) complex128 {
	if p, ok := exactPower(z, w); ok {
		return p
	}
	c, d := real(w), imag(w)
	m := modulus(z)
	t := math.Atan2(imag(z), real(z))
	l := elementary.Log(m)
	q := c * t
	if d != 0 {
		q += d * l
	}
	r := math.Pow(m, c) * elementary.Exp(-d*t)
	s, k := math.Sincos(q)
	return complex(r*k, r*s)
}
