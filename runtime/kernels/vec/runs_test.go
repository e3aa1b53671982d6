package vec

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
)

func foldRuns[T Number](t *testing.T, name string, identity T, pair func(x, y T) T) {
	t.Helper()
	short := func(y, x []T, run int) {
		for i := range y {
			for _, e := range x[i*run:][:run] {
				y[i] = pair(y[i], e)
			}
		}
	}
	loop, longest := FindFoldRuns(named(name), pair, short)
	if loop == nil {
		require.NotEqual(t, AVX512, InUse(), "no loop %s", name)
		return
	}
	inOrder := named(name).Op == hlo.OpMultiply
	rng := rand.New(rand.NewPCG(6, uint64(len(name))))
	for n := 1; n <= longest; n++ {
		for _, runs := range []int{7, 71} {
			x, got := sample[T](rng, runs*n+1)[1:], make([]T, runs+1)
			first := x[rng.IntN(len(x))]
			x[0] = -x[0] * 0 // perhaps a negative zero, or NaN
			loop(got[:runs], x, n, &first)
			for i := range runs {
				want := []T{first}
				if run := x[i*n:][:n]; inOrder {
					short(want, run, n)
				} else {
					want[0] = pair(first, Fold(run, identity, pair))
				}
				require.True(t, sameBits(want[0], got[i]), "%s of %d: %v, want %v", name, n, got[i], want)
			}
			require.Zero(t, got[runs])
		}
	}
}

func foldsOfRuns[T Number](t *testing.T, typ, unsigned string, lowest, highest T) {
	foldRuns(t, "fold-runs-add."+unsigned, 0, func(x, y T) T { return x + y })
	foldRuns(t, "fold-runs-multiply."+unsigned, 1, func(x, y T) T { return x * y })
	foldRuns(t, "fold-runs-maximum."+typ, lowest, func(x, y T) T { return max(x, y) })
	foldRuns(t, "fold-runs-minimum."+typ, highest, func(x, y T) T { return min(x, y) })
}

func TestFoldRuns(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		foldsOfRuns[float32](t, "f32", "f32", float32(math.Inf(-1)), float32(math.Inf(1)))
		foldsOfRuns[float64](t, "f64", "f64", math.Inf(-1), math.Inf(1))
		foldsOfRuns[int8](t, "s8", "u8", math.MinInt8, math.MaxInt8)
		foldsOfRuns[uint8](t, "u8", "u8", 0, math.MaxUint8)
		foldsOfRuns[int16](t, "s16", "u16", math.MinInt16, math.MaxInt16)
		foldsOfRuns[uint16](t, "u16", "u16", 0, math.MaxUint16)
		foldsOfRuns[int32](t, "s32", "u32", math.MinInt32, math.MaxInt32)
		foldsOfRuns[uint32](t, "u32", "u32", 0, math.MaxUint32)
		foldsOfRuns[int64](t, "s64", "u64", math.MinInt64, math.MaxInt64)
		foldsOfRuns[uint64](t, "u64", "u64", 0, math.MaxUint64)
	})
}

// decodedRuns folds runs of all codes in order, and looks behind the results.
func decodedRuns(t *testing.T, name string, decode func(uint16) float32, pair func(x, y float32) float32) {
	t.Helper()
	short := func(y []float32, x []uint16, run int) {
		for i := range y {
			for _, code := range x[i*run:][:run] {
				y[i] = pair(y[i], decode(code))
			}
		}
	}
	loop, longest := FindDecodedRuns(named(name), short)
	if loop == nil {
		require.NotEqual(t, AVX512, InUse(), "no loop %s", name)
		return
	}
	rng := rand.New(rand.NewPCG(8, uint64(len(name))))
	for n := 1; n <= longest; n++ {
		const runs = 71
		x, got, want := make([]uint16, runs*n), make([]float32, runs+1), make([]float32, runs)
		for i := range x {
			x[i] = uint16(rng.Uint32())
		}
		first := float32(math.Copysign(0, -1))
		for i := range want {
			want[i] = first
		}
		short(want, x, n)
		loop(got[:runs], x, n, &first)
		for i := range want {
			require.True(t, sameBits(want[i], got[i]) || want[i] != want[i] && got[i] != got[i], "%s of %d: %v, want %v", name, n, got[i], want[i])
		}
		require.Zero(t, got[runs])
	}
}

func TestDecodedRuns(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for typ, decode := range map[string]func(uint16) float32{"bf16": minifloat.BF16ToFloat32, "f16": minifloat.F16ToFloat32} {
			decodedRuns(t, "fold-runs-add."+typ, decode, func(x, y float32) float32 { return x + y })
			decodedRuns(t, "fold-runs-multiply."+typ, decode, func(x, y float32) float32 { return x * y })
		}
	})
}
