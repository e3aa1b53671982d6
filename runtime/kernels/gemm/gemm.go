package gemm

// Number is an element type of matrices.
type Number interface {
	float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | complex64 | complex128
}

// Kernel is the innermost loop: it multiplies a panel of MR rows with one of NR columns.
type Kernel[T Number] struct {
	MR, NR int
	// Run sets the MR by NR elements at c, rows ldc apart, to the product of the panels over k, or adds it to them.
	Run func(k int, a, b []T, c []T, ldc int, add bool)
}

// KC is how much of the common dimension is multiplied at a time: a panel of the right matrix then fits into the nearest cache.
const KC = 384

// Block computes c[m×n] = a·b or c += a·b from packed panels over k; c's rows are ldc apart. tile has room for MR*NR elements.
//
// The panels of b are in the outer loop: one stays in the nearest cache while those of a come from the next.
func (g *Kernel[T]) Block(m, n, k int, a, b, c []T, ldc int, add bool, tile []T) {
	for j := 0; j < n; j += g.NR {
		panel := b[j*k:][:k*g.NR]
		for i := 0; i < m; i += g.MR {
			if m-i >= g.MR && n-j >= g.NR {
				g.Run(k, a[i*k:][:k*g.MR], panel, c[i*ldc+j:], ldc, add)
				continue
			}
			g.Run(k, a[i*k:][:k*g.MR], panel, tile, g.NR, false)
			cols := min(g.NR, n-j)
			for r := range min(g.MR, m-i) {
				to, from := c[(i+r)*ldc+j:][:cols], tile[r*g.NR:][:cols]
				if !add {
					copy(to, from)
					continue
				}
				for x, v := range from {
					to[x] += v
				}
			}
		}
	}
}

// Padded is n rounded up to a multiple of r.
func Padded(n, r int) int { return (n + r - 1) / r * r }
