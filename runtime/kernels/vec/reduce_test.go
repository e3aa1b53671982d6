package vec

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func fold[T Number](t *testing.T, name string, identity T, pair func(x, y T) T) {
	t.Helper()
	loop := FindFold(name, pair, func(x []T) T { return Fold(x, identity, pair) })
	if loop == nil {
		require.Equal(t, AVX2, InUse(), "no loop %s", name)
		return
	}
	rng := rand.New(rand.NewPCG(5, uint64(len(name))))
	for _, n := range append(lengths()[1:], 4000) {
		x := sample[T](rng, n+1)[1:]
		for _, plain := range []bool{false, true} {
			for i := range x {
				if plain {
					x[i] = T(rng.IntN(100)) / 3
				}
			}
			var got T
			loop(&got, x)
			want := Fold(x, identity, pair)
			require.True(t, sameBits(want, got), "%s of %d: %v, want %v", name, n, got, want)
		}
	}
}

func TestFold(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		folds[float32](t, "f32", "f32", float32(math.Inf(-1)), float32(math.Inf(1)))
		folds[float64](t, "f64", "f64", math.Inf(-1), math.Inf(1))
		folds[int8](t, "i8", "s8", math.MinInt8, math.MaxInt8)
		folds[uint8](t, "i8", "u8", 0, math.MaxUint8)
		folds[int16](t, "i16", "s16", math.MinInt16, math.MaxInt16)
		folds[uint16](t, "i16", "u16", 0, math.MaxUint16)
		fold(t, "fold-and.64", math.MaxUint64, func(x, y uint64) uint64 { return x & y })
		fold(t, "fold-or.64", 0, func(x, y uint64) uint64 { return x | y })
		fold(t, "fold-xor.64", 0, func(x, y uint64) uint64 { return x ^ y })
		folds[int32](t, "i32", "s32", math.MinInt32, math.MaxInt32)
		folds[uint32](t, "i32", "u32", 0, math.MaxUint32)
		folds[int64](t, "i64", "s64", math.MinInt64, math.MaxInt64)
		fold(t, "magnitude.f32", 0, func(x, y float32) float32 {
			const magnitude = math.MaxInt32
			return math.Float32frombits(max(math.Float32bits(x)&magnitude, math.Float32bits(y)&magnitude))
		})
		folds[uint64](t, "i64", "u64", 0, math.MaxUint64)
	})
	require.Equal(t, 3.0, SumOf([]float64{1, 2}))
}

func folds[T Number](t *testing.T, sum, order string, lowest, highest T) {
	fold(t, "sum."+sum, 0, func(x, y T) T { return x + y })
	fold(t, "greatest."+order, lowest, func(x, y T) T { return max(x, y) })
	fold(t, "least."+order, highest, func(x, y T) T { return min(x, y) })
}
