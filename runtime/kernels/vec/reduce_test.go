package vec

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
)

func fold[T Number](t *testing.T, name string, identity T, pair func(x, y T) T) {
	t.Helper()
	loop := FindFold(named(name), pair, func(x []T) T { return Fold(x, identity, pair) })
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
	foldRows(t, name, sample[T], func(x []T) T { return Fold(x, identity, pair) }, pair)
}

// foldRows compares rows, each folded onto one element, with what folds each.
func foldRows[T Number, S any](t *testing.T, name string, sample func(rng *rand.Rand, n int) []S, fold func(x []S) T, pair func(x, y T) T) {
	t.Helper()
	loop, step := FindFoldRows[T, S](named(name))
	if loop == nil {
		require.True(t, named(name).Op == hlo.OpAbs || !named(name).Types[0].IsFloat(), "no loop %s of rows", name)
		return
	}
	rng := rand.New(rand.NewPCG(7, uint64(len(name))))
	for _, n := range append(lengths()[1:], 4000) {
		if step > 0 && n%step != 0 {
			continue
		}
		for _, rows := range []int{0, 1, 5} {
			x, got, first := sample(rng, rows*n+1)[1:], make([]T, rows+1), fold(sample(rng, 1))
			loop(got[:rows], x, n, &first)
			for i := range rows {
				want := pair(first, fold(x[i*n:][:n]))
				require.True(t, sameBits(want, got[i]) || want != want && got[i] != got[i], "%s of row %d of %d: %v, want %v", name, i, n, got[i], want)
			}
			require.Zero(t, got[rows])
		}
	}
}

func TestFold(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		folds[float32](t, "f32", "f32", float32(math.Inf(-1)), float32(math.Inf(1)))
		folds[float64](t, "f64", "f64", math.Inf(-1), math.Inf(1))
		folds[int8](t, "u8", "s8", math.MinInt8, math.MaxInt8)
		folds[uint8](t, "u8", "u8", 0, math.MaxUint8)
		folds[int16](t, "u16", "s16", math.MinInt16, math.MaxInt16)
		folds[uint16](t, "u16", "u16", 0, math.MaxUint16)
		fold(t, "fold-and.u64", math.MaxUint64, func(x, y uint64) uint64 { return x & y })
		fold(t, "fold-or.u64", 0, func(x, y uint64) uint64 { return x | y })
		fold(t, "fold-xor.u64", 0, func(x, y uint64) uint64 { return x ^ y })
		folds[int32](t, "u32", "s32", math.MinInt32, math.MaxInt32)
		folds[uint32](t, "u32", "u32", 0, math.MaxUint32)
		folds[int64](t, "u64", "s64", math.MinInt64, math.MaxInt64)
		fold(t, "fold-abs.f32", 0, func(x, y float32) float32 {
			const magnitude = math.MaxInt32
			return math.Float32frombits(max(math.Float32bits(x)&magnitude, math.Float32bits(y)&magnitude))
		})
		fold(t, "fold-abs.f64", 0, func(x, y float64) float64 {
			const magnitude = math.MaxInt64
			return math.Float64frombits(max(math.Float64bits(x)&magnitude, math.Float64bits(y)&magnitude))
		})
		folds[uint64](t, "u64", "u64", 0, math.MaxUint64)
	})
	rng := rand.New(rand.NewPCG(8, 8))
	for n := range 300 {
		x, bytes := make([]float32, n), make([]int8, n)
		for i := range x {
			x[i], bytes[i] = sample[float32](rng, 1)[0], int8(rng.Uint32())
			if n%3 == 0 {
				x[i] = []float32{0, float32(math.Copysign(0, -1)), 1, -1}[rng.IntN(4)]
			}
		}
		want, got := Fold(x, 0, func(x, y float32) float32 { return x + y }), SumOf(x)
		require.True(t, sameBits(want, got), "%d: %v, want %v", n, got, want)
		require.Equal(t, Fold(bytes, 0, func(x, y int8) int8 { return x + y }), SumOf(bytes))
	}
}

// narrowFold compares a fold of codes with that of the numbers.
func narrowFold(t *testing.T, name string, decode func(uint16) float32, identity float32, pair func(x, y float32) float32) {
	t.Helper()
	loop := FindFold(named(name), pair, func(x []uint16) float32 { return FoldDecoded(x, decode, identity, pair) })
	require.NotNil(t, loop, "no loop %s", name)
	rng := rand.New(rand.NewPCG(6, uint64(len(name))))
	for _, n := range append(lengths()[1:], 4000) {
		x, wide := make([]uint16, n+1)[1:], make([]float32, n)
		for i := range x {
			if x[i] = uint16(rng.Uint32()); n%2 == 0 {
				x[i] &= 0xbbff // no NaN
			}
			wide[i] = decode(x[i])
		}
		var got float32
		loop(&got, x)
		want := Fold(wide, identity, pair)
		if InUse() == AVX2 && n%64 != 0 && n > 64 { // whose rest is a fold of its own
			want = pair(Fold(wide[:n/64*64], identity, pair), Fold(wide[n/64*64:], identity, pair))
		}
		require.True(t, sameBits(want, got) || want != want && got != got, "%s of %d: %v, want %v", name, n, got, want)
	}
	codes := func(rng *rand.Rand, n int) []uint16 {
		x, mask := make([]uint16, n), []uint16{0xbbff, 0xffff}[rng.IntN(2)] // without NaN, or with
		for i := range x {
			x[i] = uint16(rng.Uint32()) & mask
		}
		return x
	}
	foldRows(t, name, codes, func(x []uint16) float32 { return FoldDecoded(x, decode, identity, pair) }, pair)
}

func TestNarrowFold(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for typ, decode := range map[string]func(uint16) float32{"bf16": minifloat.BF16ToFloat32, "f16": minifloat.F16ToFloat32} {
			narrowFold(t, "fold-add."+typ, decode, 0, func(x, y float32) float32 { return x + y })
			narrowFold(t, "fold-maximum."+typ, decode, float32(math.Inf(-1)), func(x, y float32) float32 { return max(x, y) })
			narrowFold(t, "fold-minimum."+typ, decode, float32(math.Inf(1)), func(x, y float32) float32 { return min(x, y) })
		}
	})
}

// windowFold folds runs that overlap, and looks behind the end of the result.
func windowFold[T Number](t *testing.T, op, typ string, pair func(x, y T) T) {
	t.Helper()
	loop := Find(named("window-"+op+"."+typ), nil)
	require.NotNil(t, loop)
	rng := rand.New(rand.NewPCG(7, uint64(len(op))))
	for _, n := range lengths()[1:] {
		x, d := sample[T](rng, 3*n+7), make([]T, n+1)
		d[n] = 42
		runs := []int{4, n, 2 * n}
		for range n % 32 { // and more, which are folded in groups
			runs = append(runs, rng.IntN(2*n+1))
		}
		head := struct {
			count int64
			first T
		}{int64(len(runs)), x[5]}
		var offsets []int64
		for _, r := range runs {
			offsets = append(offsets, int64(r)*int64(unsafe.Sizeof(x[0])))
		}
		loop(n, unsafe.Pointer(&d[0]), unsafe.Pointer(&x[1]), unsafe.Pointer(&offsets[0]), unsafe.Pointer(&head))
		for i, got := range d[:n] {
			want := head.first
			for _, r := range runs {
				want = pair(want, x[1+r+i])
			}
			require.True(t, sameBits(want, got) || want != want && got != got, "%s %s of %d at %d: %v, want %v", op, typ, n, i, got, want)
		}
		require.Equal(t, T(42), d[n])
	}
}

// windowSum adds up runs that overlap, times their factors, and looks behind the end of the result.
func windowSum[T Number](t *testing.T, typ string) {
	t.Helper()
	loop := Find(named("window-convolution."+typ), nil)
	require.NotNil(t, loop)
	rng := rand.New(rand.NewPCG(7, 2))
	for _, n := range lengths()[1:] {
		x, d := sample[T](rng, 3*n+7), make([]T, n+1)
		d[n] = 42
		head := struct {
			count   int64
			factors [3]T
		}{3, [3]T{x[5], x[0], x[1]}}
		runs := []int{4, n, 2 * n}
		var offsets []int64
		for _, r := range runs {
			offsets = append(offsets, int64(r)*int64(unsafe.Sizeof(x[0])))
		}
		loop(n, unsafe.Pointer(&d[0]), unsafe.Pointer(&x[1]), unsafe.Pointer(&offsets[0]), unsafe.Pointer(&head))
		for i, got := range d[:n] {
			var want T
			for k, r := range runs {
				want += T(x[1+r+i] * head.factors[k])
			}
			require.True(t, sameBits(want, got) || want != want && got != got, "sum of %s, %d at %d: %v, want %v", typ, n, i, got, want)
		}
		require.Equal(t, T(42), d[n])
	}
}

func windowFolds[T Number](t *testing.T, typ string) {
	windowFold(t, "add", typ, func(x, y T) T { return x + y })
	windowFold(t, "maximum", typ, func(x, y T) T { return max(x, y) })
	windowFold(t, "minimum", typ, func(x, y T) T { return min(x, y) })
}

func TestWindowFold(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		windowFolds[float32](t, "f32")
		windowFolds[float64](t, "f64")
		windowSum[float32](t, "f32")
		windowSum[float64](t, "f64")
		windowSum[uint32](t, "u32")
	})
}

func folds[T Number](t *testing.T, sum, order string, lowest, highest T) {
	fold(t, "fold-add."+sum, 0, func(x, y T) T { return x + y })
	fold(t, "fold-maximum."+order, lowest, func(x, y T) T { return max(x, y) })
	fold(t, "fold-minimum."+order, highest, func(x, y T) T { return min(x, y) })
}
