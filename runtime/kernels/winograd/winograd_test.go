package winograd

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// matrix is the left factor of a transformation; the right one is its transpose.
type matrix [][]float64

var (
	ofPatch = matrix{{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}}
	ofGroup = matrix{{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}}
	ofSums  = matrix{{1, 1, 1, 0}, {0, 1, -1, -1}}
)

func (m matrix) transposed() matrix {
	t := make(matrix, len(m[0]))
	for i := range t {
		for j := range m {
			t[i] = append(t[i], m[j][i])
		}
	}
	return t
}

// apply is m·x·mᵀ.
func (m matrix) apply(x [][]float64) [][]float64 {
	r := make([][]float64, len(m))
	for i := range m {
		r[i] = make([]float64, len(m))
		for j := range m {
			for a, p := range m[i] {
				for b, q := range m[j] {
					r[i][j] += p * x[a][b] * q
				}
			}
		}
	}
	return r
}

// onBoth calls f with vectors of all sizes that this processor has.
func onBoth(t *testing.T, f func()) {
	if !Has() {
		t.Skip("this processor has no loops for combinations")
	}
	f()
	defer narrow()()
	f()
}

func TestTransforms(t *testing.T) {
	onBoth(t, func() {
		for _, c := range []struct {
			matrix   matrix
			run      func(count, n int, dst []float32, to Lines, src []float32, from Lines)
			from, to size
		}{{ofPatch, Patches, patch, combinations}, {ofGroup, Filters, filter, combinations}, {ofSums, Sums, combinations, result},
			{ofSums.transposed(), Gradients, result, combinations}, {ofGroup.transposed(), Weights, combinations, filter}} {
			for _, n := range []int{8, 16, 24, 64, 72} {
				for _, count := range []int{1, 3} {
					from := Lines{Row: 5 * (n + 3), Column: n + 3, Next: 2 * (n + 3)}
					to := Lines{Row: 4*count*n + 7, Column: count*n + 1, Next: n}
					src := make([]float32, from.reach(count, n, c.from))
					for i := range src {
						src[i] = float32(rand.IntN(2001) - 1000)
					}
					got := make([]float32, to.reach(count, n, c.to))
					c.run(count, n, got, to, src, from)
					want := make([]float32, len(got))
					for grid := range count {
						for k := range n {
							x := make([][]float64, c.from.rows)
							for i := range x {
								for j := range c.from.columns {
									x[i] = append(x[i], float64(src[i*from.Row+j*from.Column+grid*from.Next+k]))
								}
							}
							for i, row := range c.matrix.apply(x) {
								for j, y := range row {
									want[i*to.Row+j*to.Column+grid*to.Next+k] = float32(y)
								}
							}
						}
					}
					require.Equal(t, want, got)
				}
			}
		}
	})
}

// TestIdentity checks the three transformations together: they are a convolution.
func TestIdentity(t *testing.T) {
	onBoth(t, func() {
		const n = 16
		d, g := make([]float32, 16*n), make([]float32, 9*n)
		for i := range d {
			d[i] = float32(rand.IntN(9) - 4)
		}
		for i := range g {
			g[i] = float32(rand.IntN(9) - 4)
		}
		v, u, y := make([]float32, 16*n), make([]float32, 16*n), make([]float32, 4*n)
		four := Lines{Row: 4 * n, Column: n}
		Patches(1, n, v, four, d, four)
		Filters(1, n, u, four, g, Lines{Row: 3 * n, Column: n})
		for i := range v {
			v[i] *= u[i]
		}
		Sums(1, n, y, Lines{Row: 2 * n, Column: n}, v, four)
		for i := range y {
			line, k := i/n, i%n
			var want float32
			for tap := range 9 {
				want += d[((line/2+tap/3)*4+line%2+tap%3)*n+k] * g[tap*n+k]
			}
			require.Equal(t, want, y[i])
		}
	})
}

// TestGradient checks that the gradient of filters is one.
func TestGradient(t *testing.T) {
	onBoth(t, func() {
		const n = 16
		d, h := make([]float32, 16*n), make([]float32, 4*n)
		for i := range d {
			d[i] = float32(rand.IntN(9) - 4)
		}
		for i := range h {
			h[i] = float32(rand.IntN(9) - 4)
		}
		v, u, w := make([]float32, 16*n), make([]float32, 16*n), make([]float32, 9*n)
		four := Lines{Row: 4 * n, Column: n}
		Patches(1, n, v, four, d, four)
		Gradients(1, n, u, four, h, Lines{Row: 2 * n, Column: n})
		for i := range v {
			v[i] *= u[i]
		}
		Weights(1, n, w, Lines{Row: 3 * n, Column: n}, v, four)
		for i := range w {
			tap, k := i/n, i%n
			var want float32
			for line := range 4 {
				want += d[((line/2+tap/3)*4+line%2+tap%3)*n+k] * h[line*n+k]
			}
			require.Equal(t, want, w[i])
		}
	})
}

func TestTooShort(t *testing.T) {
	onBoth(t, func() {
		four, three := Lines{Row: 32, Column: 8}, Lines{Row: 24, Column: 8}
		b := func(n int) []float32 { return make([]float32, n) }
		require.NotPanics(t, func() { Filters(1, 8, b(128), four, b(72), three) })
		require.Panics(t, func() { Filters(1, 8, b(127), four, b(72), three) })
		require.Panics(t, func() { Filters(1, 8, b(128), four, b(71), three) })
		require.Panics(t, func() { Filters(2, 8, b(128), four, b(72), Lines{Row: 24, Column: 8, Next: 1}) })
		require.Panics(t, func() { Filters(1, 4, b(128), four, b(72), three) })
		require.Panics(t, func() { Filters(0, 8, b(128), four, b(72), three) })
		require.Panics(t, func() { Largest(8, make([]uint32, 2), b(15)) })
	})
}

func TestLargest(t *testing.T) {
	onBoth(t, func() {
		values := []float32{0, 1, -2, 1e-40, -3e38, float32(math.Inf(-1)), float32(math.NaN())}
		for _, n := range []int{8, 16, 40, 96} {
			for some := range len(values) + 1 {
				src, want := make([]float32, 5*n), make([]uint32, 5)
				for i := range src {
					if some > 0 && rand.IntN(n) < 3 {
						src[i] = values[rand.IntN(some)]
					}
					want[i/n] = max(want[i/n], math.Float32bits(src[i])&^(1<<31))
				}
				got := make([]uint32, 5)
				Largest(n, got, src)
				require.Equal(t, want, got)
			}
		}
	})
}

// TestAllows compares with the definition, window by window.
func TestAllows(t *testing.T) {
	values := []float32{0, 1, 7, 8, 9, 60, 1e-44, 1e20, float32(math.Inf(1)), float32(math.NaN())}
	allowed := 0
	for range 20000 {
		rows, columns := 1+rand.IntN(2), 1+rand.IntN(5)
		var m [4][]uint32
		some := 1 + rand.IntN(len(values))
		for i := range m {
			m[i] = make([]uint32, (columns+1)/2*2+2)
			for j := range m[i] {
				m[i][j] = math.Float32bits(values[min(rand.IntN(some), rand.IntN(some)+1)%len(values)])
			}
		}
		want := true
		for x := 0; x < columns; x += 2 {
			largest := largestIn(m, 0, x, 4)
			for i := range rows {
				for j := range min(2, columns-x) {
					window := largestIn(m, i, x+j, 3)
					want = want && largest <= mostBits && largest <= window+farFrom<<exponent
				}
			}
		}
		require.Equal(t, want, Allows(m, rows, columns))
		if want {
			allowed++
		}
	}
	require.Greater(t, allowed, 1000)
	require.Less(t, allowed, 19000)
}

func largestIn(m [4][]uint32, y, x, side int) (largest uint32) {
	for i := range side {
		for j := range side {
			largest = max(largest, m[y+i][x+j])
		}
	}
	return largest
}
