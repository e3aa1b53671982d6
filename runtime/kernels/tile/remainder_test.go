package tile

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
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

// TestRemainder64 does the same.
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
