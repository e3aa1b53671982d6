package tile

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// TestRemainder32 compares with math.Mod: random bits, numbers near multiples of each other, and special ones.
func TestRemainder32(t *testing.T) {
	check := func(x, y float32) {
		want, got := float32(math.Mod(float64(x), float64(y))), remainder32(x, y)
		if math.Float32bits(want) != math.Float32bits(got) && !(want != want && got != got) {
			require.Failf(t, "differs", "%v mod %v: %v, not %v", x, y, got, want)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	inf := float32(math.Inf(1))
	special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 3, inf, -inf, float32(math.NaN()), math.MaxFloat32, math.SmallestNonzeroFloat32, 1 << 29, 1<<24 - 1}
	for _, x := range special {
		for _, y := range special {
			check(x, y)
		}
	}
	for range 300_000 {
		x, y := math.Float32frombits(r.Uint32()), math.Float32frombits(r.Uint32())
		check(x, y)
		y = float32(r.NormFloat64())
		check(float32(r.NormFloat64())*100, y)
		multiple := y * float32(r.IntN(1<<r.IntN(31))+1)
		for _, near := range []float32{multiple, math.Nextafter32(multiple, 0), math.Nextafter32(multiple, inf)} {
			check(near, y)
			check(-near, y)
		}
	}
}

// TestRemainders compares the loops with math.Mod, in place too: with quotients all of which are small, and among which there are large ones and no numbers.
func TestRemainders(t *testing.T) {
	for level := vectors.Portable; level <= vectors.Best(); level++ {
		restore := vectors.Use(level)
		testRemainders(t, hlo.F32, func(r *rand.Rand) float32 { return math.Float32frombits(r.Uint32()) })
		testRemainders(t, hlo.F64, func(r *rand.Rand) float64 { return math.Float64frombits(r.Uint64()) })
		restore()
	}
}

func testRemainders[T float](t *testing.T, typ hlo.PrimitiveType, anyBits func(*rand.Rand) T) {
	portable, weight := floatBinary[T](hlo.OpRemainder)
	o := operation{fn: portable, weight: weight}
	o.vectorize(vectors.Of(hlo.OpRemainder, typ))
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 3, 4, 7, 8, 9, 40, 83, 640} {
		for _, large := range []int{0, 1, 2, 30} { // one of so many
			x, y, want, got := make([]T, n), make([]T, n), make([]T, n), make([]T, n)
			for i := range x {
				x[i], y[i] = T(r.NormFloat64()*1000), T(r.NormFloat64())
				if i%5 == 0 {
					y[i] = T(r.IntN(9)) / 4
					x[i] = y[i] * T(r.IntN(1000))
				}
				if large > 0 && r.IntN(large) == 0 {
					x[i], y[i] = anyBits(r), anyBits(r)
				}
				want[i] = T(math.Mod(float64(x[i]), float64(y[i])))
			}
			o.fn(n, unsafe.Pointer(&got[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), nil)
			o.fn(n, unsafe.Pointer(&x[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), nil)
			for i, w := range want {
				if same := func(v T) bool {
					return v == w && math.Signbit(float64(v)) == math.Signbit(float64(w)) || v != v && w != w
				}; !same(got[i]) || !same(x[i]) {
					require.Failf(t, "differs", "%v: element %d of %d: %v, and in place %v, not %v", typ, i, n, got[i], x[i], w)
				}
			}
		}
	}
}

// TestRemainder64 is TestRemainder32 of f64.
func TestRemainder64(t *testing.T) {
	check := func(x, y float64) {
		want, got := math.Mod(x, y), remainder64(x, y)
		if math.Float64bits(want) != math.Float64bits(got) && !(want != want && got != got) {
			require.Failf(t, "differs", "%v mod %v: %v, not %v", x, y, got, want)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	special := []float64{0, math.Copysign(0, -1), 1, -1, 3, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, math.SmallestNonzeroFloat64, 0x1p-1022, 1 << 53, 1<<53 - 1}
	for _, x := range special {
		for _, y := range special {
			check(x, y)
		}
	}
	for range 300_000 {
		x, y := math.Float64frombits(r.Uint64()), math.Float64frombits(r.Uint64())
		check(x, y)
		y = r.NormFloat64()
		check(r.NormFloat64()*100, y)
		check(r.NormFloat64()*0x1p-1060, y*0x1p-1066)
		multiple := y * float64(r.Int64N(1<<r.IntN(60))+1)
		for _, near := range []float64{multiple, math.Nextafter(multiple, 0), math.Nextafter(multiple, math.Inf(1))} {
			check(near, y)
			check(-near, y)
		}
	}
}
