package vec

import (
	"fmt"
	"math"
	mathbits "math/bits"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
)

// eachLevel runs f for every instruction set that this processor has, but the portable one.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	for l := AVX2; l <= Best(); l++ {
		t.Run(l.String(), func(t *testing.T) {
			defer Use(l)()
			f(t)
		})
	}
}

func TestUse(t *testing.T) {
	restore := Use(Portable)
	require.Equal(t, Portable, InUse())
	require.False(t, Has(named("add.f32")))
	restore()
	require.Equal(t, Best(), InUse())
	require.Nil(t, Find(Of(hlo.OpTuple), nil))
}

// edges are numbers at which functions and conversions turn.
func edges() []float64 {
	v := []float64{0, 0.5, 1, 1.5, 2.5, 3, 7, 127, 128, 255, 256, 88, 89, 104, 709, 745, 0x1p23, 0x1p24, 0x1p31 - 128, 0x1p31, 0x1p52, 0x1p63,
		0x1p64, 1e-30, 1e-40, 0x1p-149, 0x1p-126, 0x1p-1022, 0x1p-1074, math.MaxFloat32, math.MaxFloat64, 3.4e38, 1 - 0x1p-24, 0x1.fep0, 0x1.fffp0, math.Inf(1)}
	for _, x := range v {
		v = append(v, -x)
	}
	return append(v, math.NaN())
}

// sample is random elements with edges among them.
func sample[T Number](rng *rand.Rand, n int) []T {
	e := edges()
	v := make([]T, n)
	for i := range v {
		switch {
		case isFloat[T]() && rng.IntN(3) > 0:
			v[i] = T(e[rng.IntN(len(e))])
		case isFloat[T]():
			v[i] = T((rng.Float64()*2 - 1) * math.Exp(rng.Float64()*12-6))
		case rng.IntN(3) == 0:
			v[i] = T(uint64(rng.IntN(5)) - 2)
		default:
			v[i] = T(rng.Uint64())
		}
	}
	return v
}

func isFloat[T Number]() bool { return T(1)/2 != 0 }

func pointer[T any](v []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(v)) }

// lengths has all tails, and a main loop with each of them.
func lengths() (n []int) {
	for i := range 2*64 + 2 {
		n = append(n, i)
	}
	return append(n, 255, 256, 257, 1000)
}

// check compares a loop with a function of one element, at every length, in place too, at addresses that are aligned to an element only.
// Nothing behind the end may be written.
func check[D, A, B, C Number](t *testing.T, name string, arity int, want func(a A, b B, c C) D) {
	t.Helper()
	portable := func(n int, d, a, b, c unsafe.Pointer) {
		for i := range n {
			var x A
			var y B
			var z C
			x = unsafe.Slice((*A)(a), n)[i]
			if arity > 1 {
				y = unsafe.Slice((*B)(b), n)[i]
			}
			if arity > 2 {
				z = unsafe.Slice((*C)(c), n)[i]
			}
			unsafe.Slice((*D)(d), n)[i] = want(x, y, z)
		}
	}
	if !Has(named(name)) {
		if InUse() == AVX512 {
			t.Errorf("no loop %s", name)
		}
		return
	}
	loop := Find(named(name), portable)
	rng := rand.New(rand.NewPCG(1, uint64(len(name))))
	for _, n := range lengths() {
		a, b, c := sample[A](rng, n+1)[1:], sample[B](rng, n+1)[1:], sample[C](rng, n+1)[1:]
		expected, got := make([]D, n+2), make([]D, n+2)
		for i := range got {
			got[i], expected[i] = 77, 77
		}
		portable(n, pointer(expected[1:]), pointer(a), pointer(b), pointer(c))
		loop(n, pointer(got[1:]), pointer(a), pointer(b), pointer(c))
		for i := range got {
			if !sameBits(got[i], expected[i]) {
				k := max(0, i-1)
				t.Fatalf("%s, n = %d: element %d is %v, want %v, of %v, %v, %v", name, n, i-1, got[i], expected[i], a[k], b[k], c[k])
			}
		}
		if x, ok := any(a).([]D); ok {
			loop(n, pointer(x), pointer(x), pointer(b), pointer(c))
			for i := range x {
				require.True(t, sameBits(x[i], expected[i+1]), "%s in place", name)
			}
		}
	}
}

// sameBits compares by bits, but for NaN.
func sameBits[T Number](x, y T) bool {
	return x != x && y != y || x == y && math.Signbit(float64(x)) == math.Signbit(float64(y))
}

func truth(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

func binary[T Number](t *testing.T, name string, f func(a, b T) T) {
	t.Helper()
	check(t, name, 2, func(a, b, _ T) T { return f(a, b) })
}

func unary[T Number](t *testing.T, name string, f func(a T) T) {
	t.Helper()
	check(t, name, 1, func(a, _, _ T) T { return f(a) })
}

func compare[T Number](t *testing.T, name string, f func(a, b T) bool) {
	t.Helper()
	check(t, name, 2, func(a, b, _ T) uint8 { return truth(f(a, b)) })
}

func checkFloats[T float32 | float64](t *testing.T, typ string) {
	binary(t, "add."+typ, func(a, b T) T { return a + b })
	binary(t, "subtract."+typ, func(a, b T) T { return a - b })
	binary(t, "multiply."+typ, func(a, b T) T { return a * b })
	binary(t, "divide."+typ, func(a, b T) T { return a / b })
	binary(t, "maximum."+typ, func(a, b T) T { return max(a, b) })
	binary(t, "minimum."+typ, func(a, b T) T { return min(a, b) })
	of := func(f func(float64) float64) func(T) T { return func(x T) T { return T(f(float64(x))) } }
	unary(t, "negate."+typ, func(x T) T { return -x })
	unary(t, "abs."+typ, of(math.Abs))
	unary(t, "sqrt."+typ, of(math.Sqrt))
	unary(t, "rsqrt."+typ, func(x T) T { return 1 / T(math.Sqrt(float64(x))) })
	unary(t, "floor."+typ, of(math.Floor))
	unary(t, "ceil."+typ, of(math.Ceil))
	unary(t, "round-nearest-even."+typ, of(math.RoundToEven))
	unary(t, "round-nearest-afz."+typ, of(math.Round))
	unary(t, "sign."+typ, func(x T) T {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return x
	})
	check(t, "clamp."+typ, 3, func(lo, x, hi T) T { return min(hi, max(x, lo)) })
	check(t, "is-finite."+typ, 1, func(x, _, _ T) uint8 { return truth(x-x == 0) })
	compareAll(t, "", "", typ, func(a, b T) bool { return a == b }, func(a, b T) bool { return a < b }, func(a, b T) bool { return a <= b })
}

func compareAll[T Number](t *testing.T, equal, order, typ string, eq, lt, le func(a, b T) bool) {
	compare(t, "eq-compare."+equal+typ, eq)
	compare(t, "ne-compare."+equal+typ, func(a, b T) bool { return !eq(a, b) })
	compare(t, "lt-compare."+order+typ, lt)
	compare(t, "le-compare."+order+typ, le)
}

func TestFloats(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		checkFloats[float32](t, "f32")
		checkFloats[float64](t, "f64")
		key32 := func(x float32) int32 { k := int32(math.Float32bits(x)); return k ^ k>>31&math.MaxInt32 }
		compare(t, "lt-total-compare.f32", func(a, b float32) bool { return key32(a) < key32(b) })
		compare(t, "le-total-compare.f32", func(a, b float32) bool { return key32(a) <= key32(b) })
		key64 := func(x float64) int64 { k := int64(math.Float64bits(x)); return k ^ k>>63&math.MaxInt64 }
		compare(t, "lt-total-compare.f64", func(a, b float64) bool { return key64(a) < key64(b) })
		compare(t, "le-total-compare.f64", func(a, b float64) bool { return key64(a) <= key64(b) })
	})
}

// checkIntegers is for a signed and the unsigned type of the same width.
func checkIntegers[S int8 | int16 | int32 | int64, U uint8 | uint16 | uint32 | uint64](t *testing.T, bits int) {
	w := fmt.Sprint(bits)
	binary(t, "add.u"+w, func(a, b S) S { return a + b })
	binary(t, "subtract.u"+w, func(a, b U) U { return a - b })
	binary(t, "multiply.u"+w, func(a, b S) S { return a * b })
	binary(t, "maximum.s"+w, func(a, b S) S { return max(a, b) })
	binary(t, "minimum.s"+w, func(a, b S) S { return min(a, b) })
	binary(t, "maximum.u"+w, func(a, b U) U { return max(a, b) })
	binary(t, "minimum.u"+w, func(a, b U) U { return min(a, b) })
	unary(t, "negate.u"+w, func(a S) S { return -a })
	unary(t, "abs.s"+w, func(a S) S { return max(a, -a) })
	unary(t, "sign.s"+w, func(a S) S { return min(1, max(-1, a)) })
	unary(t, "popcnt.u"+w, func(a U) U { return U(mathbits.OnesCount64(uint64(a))) })
	unary(t, "count-leading-zeros.u"+w, func(a U) U { return U(bits - mathbits.Len64(uint64(a))) })
	check(t, "clamp.s"+w, 3, func(lo, x, hi S) S { return min(hi, max(x, lo)) })
	check(t, "clamp.u"+w, 3, func(lo, x, hi U) U { return min(hi, max(x, lo)) })
	binary(t, "power.u"+w, power[U])
	binary(t, "power.s"+w, func(a, b S) S {
		switch {
		case b >= 0:
			return power(a, b)
		case a == 1:
			return 1
		}
		return 0
	})
	checkQuotients(t, "s"+w, func(a, b S) (S, S) {
		if b == 0 {
			return -1, a
		}
		return a / b, a % b
	})
	checkQuotients(t, "u"+w, func(a, b U) (U, U) {
		if b == 0 {
			return ^U(0), a
		}
		return a / b, a % b
	})
	compareAll(t, "u", "s", w, func(a, b S) bool { return a == b }, func(a, b S) bool { return a < b }, func(a, b S) bool { return a <= b })
	compareAll(t, "u", "u", w, func(a, b U) bool { return a == b }, func(a, b U) bool { return a < b }, func(a, b U) bool { return a <= b })
	binary(t, "and.u"+w, func(a, b U) U { return a & b })
	binary(t, "or.u"+w, func(a, b U) U { return a | b })
	binary(t, "xor.u"+w, func(a, b U) U { return a ^ b })
	unary(t, "not.u"+w, func(a U) U { return ^a })
	check(t, "select.u"+w, 3, func(p uint8, a, b U) U {
		if p != 0 {
			return a
		}
		return b
	})
	if bits >= 32 {
		check(t, "rotate-shift-left.u"+w, 2, func(a, b, _ U) U { return a<<(b%U(bits)) | a>>(U(bits)-b%U(bits)) })
	}
	if bits <= 16 {
		binary(t, "mulhi.s"+w, func(a, b S) S { return S(int64(a) * int64(b) >> bits) })
		binary(t, "mulhi.u"+w, func(a, b U) U { return U(uint64(a) * uint64(b) >> bits) })
	}
	check(t, "shift-left.u"+w, 2, func(a, b, _ U) U { return a << b })
	check(t, "shift-right-logical.u"+w, 2, func(a, b, _ U) U { return a >> b })
	check(t, "shift-right-arithmetic.u"+w, 2, func(a S, b, _ U) S { return a >> b })
}

// checkQuotients tries random numbers of all sizes, too, multiples of the divisor and their neighbours, which a quotient that is rounded wrongly would have at
// the wrong side. Of 8 bits it tries all pairs, of 16 all divisors.
func checkQuotients[T Number](t *testing.T, typ string, want func(a, b T) (q, r T)) {
	binary(t, "divide."+typ, func(a, b T) T { q, _ := want(a, b); return q })
	binary(t, "remainder."+typ, func(a, b T) T { _, r := want(a, b); return r })
	if !Has(named("divide." + typ)) {
		return
	}
	rng := rand.New(rand.NewPCG(4, 4))
	const n = 1 << 16
	a, b, got := make([]T, n), make([]T, n), make([]T, n)
	size := int(unsafe.Sizeof(a[0]))
	for round := range 8 {
		for i := range a {
			random := func() T { return T(rng.Uint64() >> rng.IntN(64)) }
			switch {
			case size == 1:
				a[i], b[i] = T(i), T(i>>8)
				continue
			case size == 2:
				b[i] = T(i)
			default:
				b[i] = random()
			}
			switch a[i] = random()*b[i] + T(i%3) - 1; round % 4 {
			case 1:
				a[i] = random()
			case 2:
				a[i] = T(0) - b[i] - T(i>>3&1)
			}
		}
		for k, name := range []string{"divide.", "remainder."} {
			exact := func(a, b T) T {
				q, r := want(a, b)
				return [...]T{q, r}[k]
			}
			none := func(n int, _, _, _, _ unsafe.Pointer) { require.Zero(t, n) } // of which the rest is, behind whole vectors
			Find(named(name+typ), none)(n, pointer(got), pointer(a), pointer(b), nil)
			for i := range a {
				if w := exact(a[i], b[i]); w != got[i] {
					require.Equal(t, w, got[i], "%s of %v and %v", name+typ, a[i], b[i])
				}
			}
		}
	}
}

// power squares.
func power[T Number](x, y T) T {
	r := T(1)
	for n := uint64(y); n > 0; n >>= 1 {
		if n&1 != 0 {
			r *= x
		}
		x *= x
	}
	return r
}

func TestIntegers(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		checkIntegers[int8, uint8](t, 8)
		checkIntegers[int16, uint16](t, 16)
		checkIntegers[int32, uint32](t, 32)
		checkIntegers[int64, uint64](t, 64)
		unary(t, "not.pred", func(x uint8) uint8 { return x ^ 1 })
	})
}

func TestFill(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, n := range lengths() {
			fillAs[uint8](t, "broadcast.u8", n)
			fillAs[uint16](t, "broadcast.u16", n)
			fillAs[uint32](t, "broadcast.u32", n)
			fillAs[uint64](t, "broadcast.u64", n)
		}
	})
}

func fillAs[T Number](t *testing.T, name string, n int) {
	portable := func(n int, d, a, _, _ unsafe.Pointer) {
		for i := range n {
			unsafe.Slice((*T)(d), n)[i] = *(*T)(a)
		}
	}
	x, v := T(91), make([]T, n+1)
	Find(named(name), portable)(n, pointer(v), unsafe.Pointer(&x), nil, nil)
	for i, y := range v {
		require.Equal(t, i < n, y == x, "%s of %d", name, n)
	}
}
