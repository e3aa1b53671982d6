package tile

import (
	"math"
	"sync"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// Loops over complex numbers of two f64 take these apart, some at a time, and call the loops over f64 on the parts, in memory that stays in the nearest cache.

// someNumbers is how many numbers are taken apart at a time.
const someNumbers = 128

// parts64 are parts, or what is computed of them.
type parts64 [someNumbers]float64

func (x *parts64) at() unsafe.Pointer { return unsafe.Pointer(x) }

// partOf sets d to the parts with index k of complex numbers of two f64.
func partOf(k int) loop {
	every := vectors.FindEvery(8, 2)
	return func(n int, d, a, _, _ unsafe.Pointer) {
		z, x := vec[float64](d, n), vec[[2]float64](a, n)
		i := 0
		if every != nil && n > 1 { // which reads what is behind the last one
			every(n-1, d, unsafe.Pointer(&x[0][k]), nil, nil)
			i = n - 1
		}
		for ; i < n; i++ {
			z[i] = x[i][k]
		}
	}
}

// joinParts sets d to the complex numbers with real parts a and imaginary parts b.
func joinParts() loop {
	const round = 8
	var picks []vectors.Pick
	for i := range round {
		picks = append(picks, vectors.Pick{Array: 0, Offset: 8 * i}, vectors.Pick{Array: 1, Offset: 8 * i})
	}
	p := vectors.NewPermutation(8, picks, [2]int{8 * round, 8 * round})
	return func(n int, d, a, b, _ unsafe.Pointer) {
		z, x, y := vec[complex128](d, n), vec[float64](a, n), vec[float64](b, n)
		i := 0
		if p != nil && n >= round {
			p.Run(n/round, d, a, b)
			i = n / round * round
		}
		for ; i < n; i++ {
			z[i] = complex(x[i], y[i])
		}
	}
}

// onNumbers are loops over f64.
type onNumbers struct{ abs, sqrt, add, subtract, multiply, divide, maximum, minimum, less, choose loop }

func newOnNumbers() onNumbers {
	find := func(op hlo.Opcode, portable loop) loop { return vectors.Find(vectors.Of(op, hlo.F64), portable) }
	return onNumbers{
		abs: find(hlo.OpAbs, map1(math.Abs)), sqrt: find(hlo.OpSqrt, map1(math.Sqrt)),
		add: find(hlo.OpAdd, add[float64]), subtract: find(hlo.OpSubtract, subtract[float64]),
		multiply: find(hlo.OpMultiply, multiply[float64]), divide: find(hlo.OpDivide, divide[float64]),
		maximum: find(hlo.OpMaximum, maximum[float64]), minimum: find(hlo.OpMinimum, minimum[float64]),
		less:   vectors.Find(compareName(hlo.F64, hlo.LT, hlo.CompareFloat), less[float64]),
		choose: vectors.Find(vectors.Of(hlo.OpSelect, vectors.Sized(8)), selectLoop(8)),
	}
}

var allOnes = func() (x parts64) {
	for i := range x {
		x[i] = 1
	}
	return x
}()

// magnitude128 is the absolute value: the larger part times √(1 + q²), q being the quotient of the smaller and the larger one. Where that is no finite
// number, as of two zeros, it is computed again.
func magnitude128() loop {
	re, im, on := partOf(0), partOf(1), newOnNumbers()
	type space struct{ x, y, p, q parts64 }
	spaces := sync.Pool{New: func() any { return new(space) }}
	return func(n int, d, a, _, _ unsafe.Pointer) {
		s := spaces.Get().(*space)
		x, y, p, q := s.x.at(), s.y.at(), s.p.at(), s.q.at()
		for z, v := vec[float64](d, n), vec[[2]float64](a, n); len(z) > 0; {
			k := min(len(z), someNumbers)
			re(k, x, unsafe.Pointer(&v[0]), nil, nil)
			im(k, y, unsafe.Pointer(&v[0]), nil, nil)
			on.abs(k, x, x, nil, nil)
			on.abs(k, y, y, nil, nil)
			on.maximum(k, p, x, y, nil)
			on.minimum(k, q, x, y, nil)
			on.divide(k, q, q, p, nil)
			on.multiply(k, q, q, q, nil)
			on.add(k, q, q, allOnes.at(), nil)
			on.sqrt(k, q, q, nil, nil)
			on.multiply(k, unsafe.Pointer(&z[0]), p, q, nil)
			for i, m := range z[:k] {
				if m-m != 0 {
					z[i] = modulus(v[i])
				}
			}
			z, v = z[k:], v[k:]
		}
		spaces.Put(s)
	}
}

// modulus is the absolute value of a complex number, NaN if a part is.
func modulus(z [2]float64) float64 {
	if z[0] != z[0] || z[1] != z[1] {
		return math.NaN()
	}
	return math.Hypot(z[0], z[1])
}

// quotient128 divides by Smith's method: where |c| < |d|, both sides of (a + bi) / (c + di) are divided by d, else by c. With r the quotient of the other part
// and this one, the factors of a and b are r and 1. Where both parts come out as no number, infinities and zeros are recovered.
func quotient128() loop {
	re, im, join, on := partOf(0), partOf(1), joinParts(), newOnNumbers()
	type space struct {
		a, b, c, d, r, t, x, y parts64
		below                  [someNumbers]uint8
	}
	spaces := sync.Pool{New: func() any { return new(space) }}
	return func(n int, to, of, by, _ unsafe.Pointer) {
		s := spaces.Get().(*space)
		a, b, c, d, r, t, x, y, below := s.a.at(), s.b.at(), s.c.at(), s.d.at(), s.r.at(), s.t.at(), s.x.at(), s.y.at(), unsafe.Pointer(&s.below)
		for z, u, v := vec[[2]float64](to, n), vec[[2]float64](of, n), vec[[2]float64](by, n); len(z) > 0; {
			k := min(len(z), someNumbers)
			re(k, a, unsafe.Pointer(&u[0]), nil, nil)
			im(k, b, unsafe.Pointer(&u[0]), nil, nil)
			re(k, c, unsafe.Pointer(&v[0]), nil, nil)
			im(k, d, unsafe.Pointer(&v[0]), nil, nil)
			on.abs(k, x, c, nil, nil)
			on.abs(k, y, d, nil, nil)
			on.less(k, below, x, y, nil)
			on.choose(k, x, below, d, c) // the larger part
			on.choose(k, y, below, c, d)
			on.divide(k, r, y, x, nil)
			on.multiply(k, t, y, r, nil)
			on.add(k, t, x, t, nil)
			on.choose(k, c, below, r, allOnes.at())
			on.choose(k, d, below, allOnes.at(), r)
			on.multiply(k, x, a, c, nil)
			on.multiply(k, y, b, d, nil)
			on.add(k, x, x, y, nil)
			on.divide(k, x, x, t, nil)
			on.multiply(k, c, b, c, nil)
			on.multiply(k, d, a, d, nil)
			on.subtract(k, y, c, d, nil)
			on.divide(k, y, y, t, nil)
			for i := range k {
				if s.x[i] != s.x[i] && s.y[i] != s.y[i] {
					s.x[i], s.y[i] = recoverQuotient128(s.x[i], s.y[i], u[i], v[i])
				}
			}
			join(k, unsafe.Pointer(&z[0]), x, y, nil)
			z, u, v = z[k:], u[k:], v[k:]
		}
		spaces.Put(s)
	}
}

// recoverQuotient128 is what x/y is where it has come to (re, im), neither of which is a number.
func recoverQuotient128(re, im float64, x, y [2]float64) (float64, float64) {
	a, b, c, d := x[0], x[1], y[0], y[1]
	infinity := math.Inf(1)
	isInf := func(x, y float64) bool { return math.IsInf(x, 0) || math.IsInf(y, 0) }
	isFinite := func(x, y float64) bool { return x-x == 0 && y-y == 0 }
	unit := func(x float64) float64 { // infinities become one, other numbers zeros
		if math.IsInf(x, 0) {
			return math.Copysign(1, x)
		}
		return math.Copysign(0, x)
	}
	switch {
	case c == 0 && d == 0 && (a == a || b == b):
		infinity = math.Copysign(infinity, c)
		return infinity * a, infinity * b
	case isInf(a, b) && isFinite(c, d):
		a, b = unit(a), unit(b)
		return infinity * (float64(a*c) + float64(b*d)), infinity * (float64(b*c) - float64(a*d))
	case isInf(c, d) && isFinite(a, b):
		c, d = unit(c), unit(d)
		return 0 * (float64(a*c) + float64(b*d)), 0 * (float64(b*c) - float64(a*d))
	}
	return re, im
}
