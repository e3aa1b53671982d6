package tile

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
	"github.com/gohalo/halo/runtime/kernels/native"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// withSteps runs p as it is without code.
func withSteps(p *Program, lo, hi int, b Buffers) {
	p.native.once.Do(func() {})
	p.native.code.Store(&nativeSteps{})
	p.Run(lo, hi, b)
}

// TestNative holds machine code to the bits of the steps that it replaces.
func TestNative(t *testing.T) {
	compiled := make(map[string]int)
	for _, level := range []vectors.Level{vectors.AVX512, vectors.AVX2} {
		if vectors.Best() < level {
			continue
		}
		restore := vectors.Use(level)
		for family := range chainOps {
			for seed := range uint64(150) {
				dims := [][]int64{{3000}, {5, 700}, {40, 96}, {64, 3, 20}, {1, 1040}, {1, 1}}[seed%6]
				steps := []int{3, 8, 25, 120}[seed/6%4]
				p, data := randomChain(t, family, seed, dims, steps)
				if p == nil {
					continue
				}
				n := p.Len()
				withSteps(p, 0, n, data)
				want := data.out
				p2, data := randomChain(t, family, seed, dims, steps)
				p2.native.work.Store(payingWork)
				p2.Run(0, n/3, data)
				p2.Run(n/3, n, data)
				if p2.native.code.Load().Code != nil {
					compiled[level.String()+" "+family]++
				}
				for i := range want {
					if family == "bf16" && n <= shortSpace && isNaNOfBF16(want[i]) && isNaNOfBF16(data.out[i]) {
						continue // the steps have loops in Go there, which may pass on another of two NaNs
					}
					require.Equal(t, want[i], data.out[i], "%v %s seed %d output %d", level, family, seed, i)
				}
			}
		}
		restore()
	}
	for key, n := range compiled {
		t.Log(key, n)
		assert.Greater(t, n, 10, key)
	}
}

func isNaNOfBF16(element []byte) bool {
	x := minifloat.BF16ToFloat32(binary.LittleEndian.Uint16(element))
	return x != x
}

// TestNativeFolds holds folds of rows by code to those of tiles, over rows of one block and of several.
func TestNativeFolds(t *testing.T) {
	compiled := make(map[string]int)
	for _, level := range []vectors.Level{vectors.AVX512, vectors.AVX2} {
		if vectors.Best() < level {
			continue
		}
		restore := vectors.Use(level)
		for _, family := range []string{"f32", "bf16", "f64", "c64"} {
			for seed := range uint64(120) {
				dims := [][]int64{{30, 100}, {5, 704}, {3, 7, 96}, {2, 9001}, {33, 16}}[seed%5]
				steps := []int{1, 4, 12, 40}[seed%4]
				rows := int(productOf(dims[:len(dims)-1]))
				p, data := foldedChain(t, family, seed, dims, steps)
				p.native.once.Do(func() {})
				p.native.code.Store(&nativeSteps{})
				p.RunRows(0, rows, data)
				want := data.out
				p2, data := foldedChain(t, family, seed, dims, steps)
				p2.native.work.Store(payingWork)
				p2.RunRows(0, rows/3, data)
				p2.RunRows(rows/3, rows, data)
				if p2.native.code.Load().Code != nil {
					compiled[level.String()+" "+family]++
				}
				require.Equal(t, want, data.out, "%v %s seed %d", level, family, seed)
			}
		}
		restore()
	}
	for key, n := range compiled {
		t.Log(key, n)
		assert.Greater(t, n, 5, key)
	}
}

func productOf(dims []int64) int64 {
	s := Space{dims}
	return s.Len()
}

// TestFold compares folds of rows with plain ones: of integers, whose sums are exact.
func TestFold(t *testing.T) {
	for _, n := range []int{16, 100, 4096, 4100, 20000} {
		b := NewBuilder(Space{[]int64{3, int64(n)}})
		v := b.Input(0, hlo.S32, b.space.RowMajor())
		for i, op := range []hlo.Opcode{hlo.OpAdd, hlo.OpMaximum, hlo.OpMinimum} {
			require.True(t, b.Fold(i, v, op))
		}
		p, ok := b.Build()
		require.True(t, ok)
		data := &raw{in: [][]byte{randomBytes(rand.New(rand.NewPCG(1, uint64(n))), hlo.S32, 3*n)}, out: [][]byte{make([]byte, 12), make([]byte, 12), make([]byte, 12)}}
		p.RunRows(0, 3, data)
		for row := range 3 {
			sum, high, low := int32(0), int32(math.MinInt32), int32(math.MaxInt32)
			for i := range n {
				x := int32(binary.LittleEndian.Uint32(data.in[0][4*(row*n+i):]))
				sum, high, low = sum+x, max(high, x), min(low, x)
			}
			for i, want := range []int32{sum, high, low} {
				require.Equal(t, want, int32(binary.LittleEndian.Uint32(data.out[i][4*row:])), "n %d row %d fold %d", n, row, i)
			}
		}
	}
}

// compiledChain is a random chain that there is code for.
func compiledChain(t testing.TB) (*Program, *raw, uint64) {
	for seed := uint64(2); ; seed++ {
		p, data := randomChain(t, "f32", seed, []int64{40, 512}, 25)
		if _, ok := p.compile(); ok {
			p.native.work.Store(payingWork)
			return p, data, seed
		}
		if seed > 50 {
			t.Skip("no machine code here")
		}
	}
}

// TestNativeAmongGoroutines runs one program in many goroutines while the garbage collector is always at work.
func TestNativeAmongGoroutines(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	p, data, seed := compiledChain(t)
	judge, expected := randomChain(t, "f32", seed, []int64{40, 512}, 25)
	withSteps(judge, 0, p.Len(), expected)
	want := expected.out
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			own := &raw{in: data.in}
			for i := range want {
				own.out = append(own.out, make([]byte, len(want[i])))
			}
			for range 100 {
				p.Run(0, p.Len(), own)
			}
			assert.Equal(t, want, own.out)
		})
	}
	all.Wait()
}

// TestNativeAllocates nothing once it has run.
func TestNativeAllocates(t *testing.T) {
	p, data, _ := compiledChain(t)
	p.Run(0, p.Len(), data)
	require.NotNil(t, p.native.code.Load().Code)
	var b Buffers = data
	assert.Zero(t, testing.AllocsPerRun(20, func() { p.Run(0, p.Len(), b) }))
}

func TestNativeDisabled(t *testing.T) {
	defer native.Disable()()
	p, data := randomChain(t, "f32", 2, []int64{40, 512}, 25)
	p.native.work.Store(payingWork)
	p.Run(0, p.Len(), data)
	assert.Nil(t, p.native.code.Load().Code)
}
