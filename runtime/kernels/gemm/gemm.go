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
	// RunOnRows is Run for NR columns of a matrix whose rows are ldb apart, instead of a panel. It may be nil.
	RunOnRows func(k int, a, b []T, ldb int, c []T, ldc int, add bool)
}

// KC is how much of the common dimension is multiplied at a time: a panel of the right matrix then fits into the nearest cache.
const KC = 384

// Block computes c[m×n] = a·b or c += a·b from packed panels over k; c's rows are ldc apart. tile has room for MR*NR elements.
//
// The panels of b are in the outer loop: one stays in the nearest cache while those of a come from the next.
func (g *Kernel[T]) Block(m, n, k int, a, b, c []T, ldc int, add bool, tile []T) {
	for j := 0; j < n; j += g.NR {
		panel := b[j*k:][:k*g.NR]
		g.columns(m, min(g.NR, n-j), k, a, c[j:], ldc, add, tile, func(a, c []T, ldc int, add bool) { g.Run(k, a, panel, c, ldc, add) })
	}
}

// BlockOnRows is Block for a matrix b that is not packed, whose rows are ldb apart, by RunOnRows. edge has room for k*NR elements.
func (g *Kernel[T]) BlockOnRows(m, n, k int, a, b []T, ldb int, c []T, ldc int, add bool, tile, edge []T) {
	for j := 0; j < n; j += g.NR {
		from, ld := b[j:], ldb
		if n-j < g.NR {
			for x := range k {
				clear(edge[x*g.NR+copy(edge[x*g.NR:], from[x*ldb:][:n-j]):][:g.NR-n+j])
			}
			from, ld = edge, g.NR
		}
		g.columns(m, min(g.NR, n-j), k, a, c[j:], ldc, add, tile, func(a, c []T, ldc int, add bool) { g.RunOnRows(k, a, from, ld, c, ldc, add) })
	}
}

// columns computes up to NR columns of a block, panel by panel of a.
func (g *Kernel[T]) columns(m, n, k int, a, c []T, ldc int, add bool, tile []T, run func(a, c []T, ldc int, add bool)) {
	for i := 0; i < m; i += g.MR {
		panel := a[i*k:][:k*g.MR]
		if m-i >= g.MR && n == g.NR {
			run(panel, c[i*ldc:], ldc, add)
			continue
		}
		run(panel, tile, g.NR, false)
		for r := range min(g.MR, m-i) {
			to, from := c[(i+r)*ldc:][:n], tile[r*g.NR:][:n]
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

// Padded is n rounded up to a multiple of r.
func Padded(n, r int) int { return (n + r - 1) / r * r }
