package gemm

import "unsafe"

// Number is an element type of matrices.
type Number interface {
	float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | complex64 | complex128
}

// Kernel is the innermost loop: it multiplies a panel of MR rows with one of NR columns.
type Kernel[T Number] struct {
	MR, NR int
	// Run sets the MR by NR elements at c, rows ldc apart, to the product over k of a panel and of NR columns of a matrix, whose rows are ldb apart; or it adds
	// the product to them.
	Run func(k int, a, b []T, ldb int, c []T, ldc int, add bool, next Ahead[T])
	// OnRows says that ldb may be another than NR, which it is for panels.
	OnRows bool
}

// Ahead is what a kernel may ask memory for while it multiplies: Step bytes for each of k, from the first element of From on.
type Ahead[T Number] struct {
	From []T
	Step int
}

// KC is how much of the common dimension is multiplied at a time: a panel of the right matrix is then 32 KiB with vectors of 512 bits, and stays in the nearest cache.
// It decides the order of additions, so it is the same on every machine.
const KC = 256

// Block computes c[m×n] = a·b or c += a·b from packed panels over k; c's rows are ldc apart. tile has room for MR*NR elements.
//
// The panels of b are in the outer loop: one stays in the nearest cache while those of a come from the next, and the next one is asked for bit by bit.
func (g *Kernel[T]) Block(m, n, k int, a, b, c []T, ldc int, add bool, tile []T) {
	var zero T
	panels := (m-1)/g.MR + 1
	for j := 0; j < n; j += g.NR {
		panel, next := b[j*k:][:k*g.NR], Ahead[T]{From: b[j*k:]}
		if j+g.NR < n {
			next = Ahead[T]{b[(j+g.NR)*k:], (g.NR*int(unsafe.Sizeof(zero))-1)/panels + 1}
		}
		g.columns(m, min(g.NR, n-j), k, a, panel, g.NR, c[j:], ldc, add, tile, next)
	}
}

// BlockOnRows is Block for a matrix b that is not packed, whose rows are ldb apart, by a kernel that can use it.
func (g *Kernel[T]) BlockOnRows(m, n, k int, a, b []T, ldb int, c []T, ldc int, add bool, tile, edge []T) {
	for j := 0; j < n; j += g.NR {
		from, ld := b[j:], ldb
		if n-j < g.NR {
			for x := range k {
				clear(edge[x*g.NR+copy(edge[x*g.NR:], from[x*ldb:][:n-j]):][:g.NR-n+j])
			}
			from, ld = edge, g.NR
		}
		g.columns(m, min(g.NR, n-j), k, a, from, ld, c[j:], ldc, add, tile, Ahead[T]{From: from})
	}
}

// columns computes up to NR columns of a block, panel by panel of a.
func (g *Kernel[T]) columns(m, n, k int, a, b []T, ldb int, c []T, ldc int, add bool, tile []T, next Ahead[T]) {
	var zero T
	part := k * next.Step / int(unsafe.Sizeof(zero))
	for i := 0; i < m; i += g.MR {
		panel := a[i*k:][:k*g.MR]
		if m-i >= g.MR && n == g.NR {
			g.Run(k, panel, b, ldb, c[i*ldc:], ldc, add, next)
			next.From = next.From[min(part, len(next.From)-1):]
			continue
		}
		g.Run(k, panel, b, ldb, tile, g.NR, false, next)
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
