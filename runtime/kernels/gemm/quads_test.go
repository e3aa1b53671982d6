package gemm

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestQuads holds products of bytes to plain sums: all combinations of signs, matrices in all orders, and a common dimension that is no multiple of four.
func TestQuads(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	number := func(x byte, isUnsigned bool) int32 {
		if isUnsigned {
			return int32(x)
		}
		return int32(int8(x))
	}
	for _, s := range [][3]int{{1, 1, 1}, {14, 32, 4}, {3, 40, 7}, {29, 37, 50}, {31, 65, 2500}, {28, 64, 1024}} {
		m, n, k := s[0], s[1], s[2]
		a, b := make([]byte, m*k+4), make([]byte, n*k+4)
		for i := range a {
			a[i] = byte(rng.Uint32())
		}
		for i := range b {
			b[i] = byte(rng.Uint32())
			if rng.IntN(3) == 0 {
				b[i] = 0x80 // the largest products
			}
		}
		every := func(n, by int) []int {
			v := make([]int, n)
			for i := range v {
				v[i] = i * by
			}
			return v
		}
		lefts := []Matrix{NewMatrix(every(m, k), every(k, 1)), NewMatrix(every(m, 1), every(k, m)), NewMatrix(every(m, k), rng.Perm(k))}
		rights := []Matrix{NewMatrix(every(n, 1), every(k, n)), NewMatrix(every(n, k), every(k, 1)), NewMatrix(rng.Perm(n), every(k, n))}
		for signs := range 4 {
			for i, left := range lefts {
				for at, right := range rights {
					want := make([]int32, m*n)
					for i := range m {
						for j := range n {
							for x := range k {
								want[i*n+j] += number(a[at+left.Rows[i]+left.Ks[x]], signs&1 != 0) * number(b[at+right.Rows[j]+right.Ks[x]], signs&2 != 0)
							}
						}
					}
					for _, g := range quadKernels() {
						l, r := NewQuads(left, right, signs&1 != 0, signs&2 != 0)
						require.Equal(t, want, multiplyBytes(g, l, r, m, n, k, a, b, at), "%v, signs %d, left %d, right %d, kernel of %d", s, signs, i, at, g.MR)
					}
				}
			}
		}
	}
}

// quadKernels are the best kernel, that of pairs in assembly, and the one in Go.
func quadKernels() []Quads { return []Quads{QuadsFor(), {Kernel: Pairs()}, {Kernel: portablePairs()}} }

func multiplyBytes(g Quads, left, right QuadSide, m, n, k int, a, b []byte, at int) []int32 {
	c, tile, quads := make([]int32, m*n), make([]int32, g.MR*g.NR), (k+3)/4
	for k0 := 0; k0 < quads; k0 += g.Step() {
		k1 := min(quads, k0+g.Step())
		lines := g.Lines(k1 - k0)
		pa, pb := make([]int32, Padded(m, g.MR)*lines), make([]int32, Padded(n, g.NR)*lines)
		g.Pack(&left, pa, a, at, g.MR, 0, m, k0, k1)
		g.Pack(&right, pb, b, at, g.NR, 0, n, k0, k1)
		g.Block(m, n, lines, pa, pb, c, n, k0 > 0, tile)
	}
	return c
}

// TestQuadsInPlace holds products with rows where they are to plain sums, of bytes with a sign that are 128 more there and of bytes without.
func TestQuadsInPlace(t *testing.T) {
	g, ok := InPlaceOfQuads()
	if !ok {
		t.Skip("there is no kernel for this processor")
	}
	rng := rand.New(rand.NewPCG(11, 12))
	for _, s := range [][3]int{{1, 1, 1}, {8, 32, 4}, {19, 70, 90}, {24, 64, 257}} {
		m, n, k := s[0], s[1], s[2]
		for _, isMore := range []bool{false, true} {
			a, b, want := make([]int32, m*k), make([]byte, 4*n*k), make([]int32, m*n)
			for i := range a {
				a[i] = int32(rng.Uint32())
			}
			for i := range b {
				b[i] = byte(rng.Uint32())
			}
			for i := range want {
				for x := range 4 * k {
					p, q := a[i/n*k+x/4]>>(8*(x%4)), int32(int8(b[x*n+i%n]))
					if isMore {
						want[i] += int32(int8(p)) * q
					} else {
						want[i] += int32(uint8(p)) * q
					}
				}
			}
			every := func(n, by int) []int {
				v := make([]int, n)
				for i := range v {
					v[i] = i * by
				}
				return v
			}
			if isMore {
				FlipSigns(a)
			}
			right := NewRightOfPlaced(NewMatrix(every(n, 1), every(4*k, n)), isMore)
			c := make([]int32, m*n)
			for k0 := 0; k0 < k; k0 += g.Step() {
				k1 := min(k, k0+g.Step())
				panels := make([]int32, Padded(n, g.NR)*g.Lines(k1-k0))
				g.Pack(&right, panels, b, 0, g.NR, 0, n, k0, k1)
				g.BlockInPlace(n, a, every(m, k), every(k, 1)[k0:k1], panels, 0, c, n, k0 > 0, make([]int32, g.MR*g.NR), make([]int, g.MR))
			}
			require.Equal(t, want, c, "%v, %v", s, isMore)
		}
	}
}
