package fourier

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTransform(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 20, 25, 27, 30, 49, 60, 64, 100, 128, 182, 210, 256, 360, 17, 34, 101, 247, 323, 19, 23, 31, 61, 77, 143, 122, 53 * 7, 67, 134} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			for name, v := range map[string]vectors[float32]{"best": best[float32](), "narrow": narrow[float32](), "portable": portable[float32]()} {
				testTransform(t, name, n, v, 1e-6)
			}
			for name, v := range map[string]vectors[float64]{"best": best[float64](), "narrow": narrow[float64](), "portable": portable[float64]()} {
				testTransform(t, name, n, v, 1e-15)
			}
		})
	}
	_, ok := NewPlan[float32](1<<16 + 1)
	require.False(t, ok)
}

// testTransform compares each line with the sums of the definition; errors grow with the logarithm of the length, relative to the norm.
func testTransform[T Float](t *testing.T, name string, n int, v vectors[T], eps float64) {
	t.Helper()
	p, ok := newPlan(n, v)
	require.True(t, ok)
	if p.chirp != nil {
		eps *= 4 // two transforms of at least twice the length, and three products
	}
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	a, b := make([]T, p.Len()), make([]T, p.Len())
	for i := range a {
		a[i] = T(rng.NormFloat64())
	}
	x := append([]T(nil), a...)
	y := p.Transform(a, b)
	testBackwards(t, name, p, y)
	lanes := p.Lanes()
	at := func(v []T, i, lane int) complex128 {
		return complex(float64(v[2*(i*lanes+lane)]), float64(v[2*(i*lanes+lane)+1]))
	}
	for lane := range lanes {
		norm := 0.0
		for i := range n {
			norm += real(at(x, i, lane) * cmplx.Conj(at(x, i, lane)))
		}
		for k := range n {
			sum := complex128(0)
			for i := range n {
				s, c := math.Sincos(-2 * math.Pi * float64(i*k%n) / float64(n))
				sum += at(x, i, lane) * complex(c, s)
			}
			d := cmplx.Abs(at(y, k, lane) - sum)
			require.LessOrEqual(t, d, eps*math.Sqrt(norm)*(2+math.Log2(float64(n))), "%s, lane %d, element %d", name, lane, k)
		}
	}
}

// testBackwards brings the result of a transform in the order of the inverse one, as one line and as strips, without changing it.
func testBackwards[T Float](t *testing.T, name string, p *Plan[T], y []T) {
	t.Helper()
	row := 2 * p.lanes
	for _, vectors := range []int{1, 2, 3} {
		wide := make([]T, 0, vectors*p.n*row)
		for i := range p.n {
			for v := range vectors {
				for _, x := range y[i*row:][:row] {
					wide = append(wide, x+T(v))
				}
			}
		}
		got := append([]T(nil), wide...)
		p.Backwards(got, vectors)
		for i := range p.n {
			for k, x := range wide[i*row*vectors:][:row*vectors] {
				require.Equal(t, x*(1/T(p.n)), got[(p.n-i)%p.n*row*vectors+k], "%s, %d vectors, element %d", name, vectors, i)
			}
		}
	}
}

// TestReal holds the transform of real numbers to that of complex ones whose imaginary parts are zero.
func TestReal(t *testing.T) {
	for _, n := range []int{2, 4, 6, 8, 10, 12, 30, 34, 60, 64, 100, 256, 360, 1024} {
		for name, v := range map[string]vectors[float32]{"best": best[float32](), "narrow": narrow[float32](), "portable": portable[float32]()} {
			testReal(t, name, n, v, 1e-6)
		}
		for name, v := range map[string]vectors[float64]{"best": best[float64](), "narrow": narrow[float64](), "portable": portable[float64]()} {
			testReal(t, name, n, v, 1e-15)
		}
	}
	for _, n := range []int{0, 1, 7} {
		_, ok := NewReal[float32](n)
		require.False(t, ok)
	}
}

func testReal[T Float](t *testing.T, name string, n int, v vectors[T], eps float64) {
	t.Helper()
	r, ok := newReal(n, v)
	require.True(t, ok)
	p, ok := newPlan(n, v)
	require.True(t, ok)
	lanes := p.Lanes()
	a, b := make([]T, r.Len()), make([]T, r.Len())
	x, y := make([]T, p.Len()), make([]T, p.Len())
	rng := rand.New(rand.NewPCG(2, uint64(n)))
	norm := 0.0
	for i := range n {
		for lane := range lanes {
			number := T(rng.NormFloat64())
			norm += float64(number * number)
			a[2*(i/2*lanes+lane)+i%2], x[2*(i*lanes+lane)] = number, number
		}
	}
	got, want := r.Transform(a, b), p.Transform(x, y)
	for i := range 2 * lanes * (n/2 + 1) {
		require.InDelta(t, want[i], got[i], 4*eps*math.Sqrt(norm)*(2+math.Log2(float64(n))), "%s, %d, number %d", name, n, i)
	}
}

func BenchmarkTransform(b *testing.B) {
	for _, n := range []int{256, 1000, 1024} {
		b.Run(fmt.Sprintf("f32/%d", n), func(b *testing.B) {
			p, _ := NewPlan[float32](n)
			x, y := make([]float32, p.Len()), make([]float32, p.Len())
			b.ReportAllocs()
			for b.Loop() {
				p.Transform(x, y)
			}
			b.ReportMetric(5*float64(n)*math.Log2(float64(n))*float64(p.Lanes())*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFlop/s")
		})
	}
}

// TestInverseReal goes there and back.
func TestInverseReal(t *testing.T) {
	for _, n := range []int{2, 4, 6, 8, 10, 30, 34, 64, 134, 360, 1024} {
		for name, v := range map[string]vectors[float64]{"best": best[float64](), "narrow": narrow[float64](), "portable": portable[float64]()} {
			r, ok := newReal(n, v)
			require.True(t, ok)
			rng := rand.New(rand.NewPCG(3, uint64(n)))
			a, b := make([]float64, r.Len()), make([]float64, r.Len())
			for i := range n * r.Lanes() {
				a[i] = rng.NormFloat64()
			}
			x := append([]float64(nil), a...)
			y := r.Transform(a, b)
			spare := a
			if &y[0] == &a[0] {
				spare = b
			}
			z := InverseReal[float64]{r}.Transform(y, spare)
			for i := range n * r.Lanes() {
				require.InDelta(t, x[i], z[i], 1e-13, "%s, %d, number %d", name, n, i)
			}
		}
	}
}
