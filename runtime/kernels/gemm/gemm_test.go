package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// multiply packs and multiplies a[m,k] with b[k,n]. Where the kernel can use b as it is, the product has to be the same.
func multiply[T Number](g Kernel[T], m, n, k int, a, b []T) []T {
	c, onRows, inPlace, anywhere, bySteps := make([]T, m*n), make([]T, m*n), make([]T, m*n), make([]T, m*n), make([]T, m*n)
	rows := func(n, by int) []int {
		v := make([]int, n)
		for i := range v {
			v[i] = i * by
		}
		return v
	}
	left, right := NewMatrix(rows(m, k), rows(k, 1)), NewMatrix(rows(n, 1), rows(k, n))
	tile := make([]T, g.MR*g.NR)
	for k0 := 0; k0 < k; k0 += KC {
		k1 := min(k, k0+KC)
		pa, pb := make([]T, Padded(m, g.MR)*(k1-k0)), make([]T, Padded(n, g.NR)*(k1-k0))
		Pack(&left, pa, a, g.MR, 0, m, k0, k1)
		Pack(&right, pb, b, g.NR, 0, n, k0, k1)
		g.Block(m, n, k1-k0, pa, pb, c, n, k0 > 0, tile)
		if stride, ok := right.RowStride(); ok && g.RunOnRows != nil {
			g.BlockOnRows(m, n, k1-k0, pa, b[k0*n:], stride, onRows, n, k0 > 0, tile, make([]T, g.NR*(k1-k0)))
		}
		if g.HasInPlace() {
			g.BlockInPlace(n, a, left.Rows, left.Ks[k0:k1], pb, 0, inPlace, n, k0 > 0, tile, make([]int, g.MR))
			g.BlockInPlaceBySteps(5, n, a, NewRows(left.Rows, left.Ks[k0:k1]), pb, 0, bySteps, n, k0 > 0, tile, make([]int, g.MR))
		}
		if g.ReadsRows() {
			g.BlockInPlace(n, a, left.Rows, left.Ks[k0:k1], b[k0*n:k1*n], n, anywhere, n, k0 > 0, tile, make([]int, g.MR))
		}
	}
	for i := range c {
		if g.HasInPlace() && c[i] != inPlace[i] {
			panic(fmt.Sprintf("element %d is %v from a packed matrix and %v from one in place", i, c[i], inPlace[i]))
		}
		if g.HasInPlace() && c[i] != bySteps[i] {
			panic(fmt.Sprintf("element %d is %v in one step and %v in several", i, c[i], bySteps[i]))
		}
		if g.ReadsRows() && c[i] != anywhere[i] {
			panic(fmt.Sprintf("element %d is %v from packed matrices and %v from two in place", i, c[i], anywhere[i]))
		}
	}
	if g.RunOnRows != nil {
		for i := range c {
			if c[i] != onRows[i] {
				panic(fmt.Sprintf("element %d is %v from a packed matrix and %v from rows", i, c[i], onRows[i]))
			}
		}
	}
	return c
}

func testMultiply[T Number](t *testing.T, of func(int) T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range [][3]int{{1, 1, 1}, {2, 4, 3}, {3, 5, 7}, {14, 32, 9}, {33, 47, 800}, {29, 65, 1}} {
		m, n, k := s[0], s[1], s[2]
		a, b, want := make([]T, m*k), make([]T, k*n), make([]T, m*n)
		for i := range a {
			a[i] = of(rng.IntN(7) - 3)
		}
		for i := range b {
			b[i] = of(rng.IntN(7) - 3)
		}
		for i := range m {
			for j := range n {
				for x := range k {
					want[i*n+j] += a[i*k+x] * b[x*n+j]
				}
			}
		}
		require.Equal(t, want, multiply(For[T](), m, n, k, a, b), "%v", s)
		require.Equal(t, want, multiply(portable[T](), m, n, k, a, b), "portable %v", s)
		require.Equal(t, want, multiply(Fit[T](m, n), m, n, k, a, b), "fit %v", s)
	}
}

func TestMultiply(t *testing.T) {
	testMultiply(t, func(x int) float32 { return float32(x) })
	testMultiply(t, func(x int) float64 { return float64(x) })
	testMultiply(t, func(x int) int32 { return int32(x) << 29 })
	testMultiply(t, func(x int) int8 { return int8(x) })
	testMultiply(t, func(x int) int64 { return int64(x) })
	testMultiply(t, func(x int) complex64 { return complex(float32(x), 1) })
}

// TestPairs holds the kernels of pairs to plain sums, with the largest products too.
func TestPairs(t *testing.T) {
	const m, n, k = 29, 37, 50
	rng := rand.New(rand.NewPCG(3, 4))
	number := func() int16 {
		if rng.IntN(4) == 0 {
			return -1 << 15
		}
		return int16(rng.Uint32())
	}
	a, b, want := make([]int32, m*k), make([]int32, k*n), make([]int32, m*n)
	for i := range a {
		a[i] = Pair(number(), number())
	}
	for i := range b {
		b[i] = Pair(number(), number())
	}
	for i := range m {
		for j := range n {
			for x := range k {
				p, q := a[i*k+x], b[x*n+j]
				want[i*n+j] += int32(int16(p))*int32(int16(q)) + (p>>16)*(q>>16)
			}
		}
	}
	require.Equal(t, want, multiply(Pairs(), m, n, k, a, b))
	require.Equal(t, want, multiply(portablePairs(), m, n, k, a, b))
}

// TestPack holds panels to their definition, wherever rows and ks lie: in runs of all lengths, evenly apart, or anywhere.
func TestPack(t *testing.T) {
	testPack[float32](t)
	testPack[float64](t)
	testPack[int8](t)
}

func testPack[T float32 | float64 | int8](t *testing.T) {
	const n, k = 75, 90
	rng := rand.New(rand.NewPCG(5, 6))
	inRuns := func(n, run, apart int) []int {
		v := make([]int, n)
		for i := range v {
			v[i] = i/run*apart + i%run
		}
		return v
	}
	src := make([]T, 1<<17)
	for i := range src {
		src[i] = T(rng.IntN(200) - 100)
	}
	falling := inRuns(k, k, 0)
	slices.Reverse(falling)
	for _, m := range []Matrix{
		NewMatrix(inRuns(n, 1, 100), falling), NewMatrix(rng.Perm(n), falling),
		NewMatrix(inRuns(n, 1, 100), inRuns(k, k, 0)), NewMatrix(inRuns(n, n, 0), inRuns(k, 1, 100)),
		NewMatrix(inRuns(n, 40, 9000), inRuns(k, 1, 50)), NewMatrix(inRuns(n, 1, 50), inRuns(k, 20, 5000)),
		NewMatrix(inRuns(n, 1, 40), inRuns(k, 33, 5000)), NewMatrix(inRuns(n, 1, 8), inRuns(k, 7, 5000)),
		NewMatrix(rng.Perm(n), rng.Perm(k)), NewMatrix(inRuns(n, n, 0), rng.Perm(k)),
	} {
		for _, r := range []int{2, 4, 6, 8, 12, 14, 16, 32} {
			for _, at := range [][4]int{{0, n, 0, k}, {r, 2 * r, 3, 70}, {5, min(n, 5+r+1), 10, 11}} {
				i0, i1, k0, k1 := at[0], at[1], at[2], at[3]
				got, want := make([]T, Padded(i1-i0, r)*(k1-k0)+1), make([]T, Padded(i1-i0, r)*(k1-k0)+1)
				for i := range got {
					got[i] = 101
				}
				want[len(want)-1] = 101
				for i := i0; i < i1; i++ {
					for x := k0; x < k1; x++ {
						want[(i-i0)/r*r*(k1-k0)+(x-k0)*r+(i-i0)%r] = src[m.Rows[i]+m.Ks[x]]
					}
				}
				Pack(&m, got, src, r, i0, i1, k0, k1)
				require.Equal(t, want, got, "panels of %d, %v", r, at)
			}
		}
	}
}

// TestPackBF16 holds panels to those of the same numbers as f32.
func TestPackBF16(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	src := make([]uint16, 1<<17)
	wide := make([]uint32, len(src))
	for i := range src {
		src[i] = uint16(rng.Uint32())
		wide[i] = uint32(src[i]) << 16
	}
	const n, k = 75, 90
	every := func(n, by int) []int {
		v := make([]int, n)
		for i := range v {
			v[i] = i * by
		}
		return v
	}
	reversed := every(k, 100)
	slices.Reverse(reversed)
	for _, m := range []Matrix{
		NewMatrix(every(n, 100), every(k, 1)), NewMatrix(every(n, 1), every(k, 100)), NewMatrix(every(n, 1), rng.Perm(k)), NewMatrix(every(n, 1), reversed),
		NewMatrix(every(n, 40), every(k, 1)), NewMatrix(rng.Perm(n), rng.Perm(k)), NewMatrix(rng.Perm(n), every(k, 1)), NewMatrix(every(n, 1), every(k, 0)),
	} {
		for _, r := range []int{2, 4, 6, 8, 14, 16, 32} {
			for _, at := range [][4]int{{0, n, 0, k}, {r, 2 * r, 3, 70}, {5, min(n, 5+r+1), 10, 11}, {0, 3, 0, 32}, {1, n, 1, 32}} {
				i0, i1, k0, k1 := at[0], at[1], at[2], at[3]
				got, want := make([]uint32, Padded(i1-i0, r)*(k1-k0)+1), make([]uint32, Padded(i1-i0, r)*(k1-k0)+1)
				for i := range got {
					got[i] = 101
				}
				want[len(want)-1] = 101
				for i := i0; i < i1; i++ {
					for x := k0; x < k1; x++ {
						want[(i-i0)/r*r*(k1-k0)+(x-k0)*r+(i-i0)%r] = wide[m.Rows[i]+m.Ks[x]]
					}
				}
				PackBF16(&m, unsafe.Slice((*float32)(unsafe.Pointer(&got[0])), len(got)), src, r, i0, i1, k0, k1)
				require.Equal(t, want, got, "panels of %d, %v", r, at)
			}
		}
	}
}

// TestBlockOnBF16 holds products that decode the right side to those of the same numbers as f32, packed: blocks of all forms, with what was in the result and without.
func TestBlockOnBF16(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	kernels := append(smallerKernels[float32](), For[float32]())
	tested := 0
	for _, g := range kernels {
		if !g.ReadsBF16() {
			continue
		}
		tested++
		for _, n := range []int{1, g.NR - 1, g.NR, 3*g.NR + 5} {
			for _, m := range []int{1, g.MR - 1, g.MR, g.MR + 1, 3*g.MR + 2} {
				for _, k := range []int{1, 2, 37} {
					stride := n + rng.IntN(3)
					codes, b := make([]uint16, (k-1)*stride+n), make([]float32, Padded(n, g.NR)*k)
					for x := range k {
						for j := range n {
							code := uint16(rng.Uint32()) & 0xBFFF // of no infinity
							codes[x*stride+j] = code
							b[j/g.NR*g.NR*k+x*g.NR+j%g.NR] = math.Float32frombits(uint32(code) << 16)
						}
					}
					a := make([]float32, Padded(m, g.MR)*k)
					for i := range a {
						a[i] = rng.Float32() - 0.5
					}
					got, want := make([]float32, m*n), make([]float32, m*n)
					tile, panel := make([]float32, g.MR*g.NR), make([]float32, g.NR*k)
					for _, add := range []bool{false, true} {
						g.Block(m, n, k, a, b, want, n, add, tile)
						g.BlockOnBF16(m, n, k, a, codes, stride, got, n, add, tile, panel)
						require.Equal(t, want, got, "%d by %d panels, %d×%d over %d, adding: %t", g.MR, g.NR, m, n, k, add)
					}
				}
			}
		}
	}
	if tested == 0 {
		t.Skip("no kernel of this processor decodes")
	}
}

func BenchmarkBlock(b *testing.B) {
	for _, n := range []int{128, 384} {
		b.Run(fmt.Sprintf("f32/%d", n), func(b *testing.B) {
			g := For[float32]()
			a, x := make([]float32, Padded(n, g.MR)*n), make([]float32, Padded(n, g.NR)*n)
			c, tile := make([]float32, n*n), make([]float32, g.MR*g.NR)
			b.ReportAllocs()
			for b.Loop() {
				g.Block(n, n, n, a, x, c, n, false, tile)
			}
			b.ReportMetric(2*float64(n)*float64(n)*float64(n)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFlop/s")
		})
	}
}

// BenchmarkMicro is the inner loop alone, on panels in the nearest cache.
func BenchmarkMicro(b *testing.B) {
	for name, g := range map[string]Kernel[float32]{"best": For[float32](), "portable": portable[float32]()} {
		b.Run("f32/"+name, func(b *testing.B) {
			const k = 256
			x, y, c := make([]float32, g.MR*k), make([]float32, g.NR*k), make([]float32, g.MR*g.NR)
			b.ReportAllocs()
			for b.Loop() {
				g.Run(1, k, x, y, c, g.NR, true, Ahead[float32]{From: y})
			}
			b.ReportMetric(float64(2*g.MR*g.NR*k)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFlop/s")
		})
	}
}

// BenchmarkPack is the packing of a right matrix whose columns lie together, and of a left one whose rows do.
func BenchmarkPack(b *testing.B) {
	for _, s := range [][3]int{{64, 1024, 32}, {4096, 32, 32}, {2048, 512, 32}, {32, 256, 32}, {112, 256, 14}, {1008, 1024, 14}} {
		n, k, r := s[0], s[1], s[2]
		b.Run(fmt.Sprintf("%dx%d/%d", n, k, r), func(b *testing.B) {
			rows, ks := make([]int, n), make([]int, k)
			for i := range rows {
				rows[i] = i * k
			}
			for i := range ks {
				ks[i] = i
			}
			m := NewMatrix(rows, ks)
			src, dst := make([]float32, n*k), make([]float32, Padded(n, r)*k)
			for b.Loop() {
				for k0 := 0; k0 < k; k0 += KC {
					k1 := min(k, k0+KC)
					Pack(&m, dst[k0*Padded(n, r):], src, r, 0, n, k0, k1)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n*k), "ns/element")
		})
	}
}
