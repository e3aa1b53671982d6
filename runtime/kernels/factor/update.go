package factor

import "github.com/gohalo/halo/runtime/kernels/gemm"

// updater subtracts products of matrices. It keeps memory from one call to the next.
type updater[T Number] struct {
	kernel            gemm.Kernel[T]
	left, right, tile []T
	lefts, rights     []int // offsets
}

// newUpdater is an updater with the best kernel for this processor.
func newUpdater[T Number]() *updater[T] {
	u := &updater[T]{kernel: gemm.For[T]()}
	u.tile = make([]T, u.kernel.MR*u.kernel.NR)
	return u
}

// blocks of the result.
const (
	blockRows = 112
	blockCols = 256
)

// Subtract computes c[m,n] -= a[m,k]·b[k,n], for a c whose rows lie together. If lower is set, blocks above the diagonal of c may be left
// out.
func (u *updater[T]) Subtract(c, a, b Matrix[T], m, n, k int, lower bool) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	if c.Col != 1 {
		panic("factor: the rows of the result are scattered")
	}
	b = b.Transposed() // package gemm takes the columns of the right side as rows
	var left, right gemm.Matrix
	left, u.lefts = a.offsets(m, k, u.lefts)
	right, u.rights = b.offsets(n, k, u.rights)
	mr, nr := u.kernel.MR, u.kernel.NR
	kc := min(k, gemm.KC)
	u.left = grown(u.left, gemm.Padded(min(m, blockRows), mr)*kc)
	u.right = grown(u.right, gemm.Padded(min(n, blockCols), nr)*kc)
	for j := 0; j < n; j += blockCols {
		cols := min(blockCols, n-j)
		for k0 := 0; k0 < k; k0 += kc {
			k1 := min(k0+kc, k)
			packed(u.right, &b, &right, nr, j, j+cols, k0, k1, false)
			for i := 0; i < m; i += blockRows {
				rows := min(blockRows, m-i)
				if lower && i+rows <= j {
					continue
				}
				packed(u.left, &a, &left, mr, i, i+rows, k0, k1, true)
				u.kernel.Block(rows, cols, k1-k0, u.left, u.right, c.Data[c.At+i*c.Row+j:], c.Row, true, u.tile)
			}
		}
	}
}

// grown is v with at least n elements, whose values do not matter.
func grown[T any](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n)
	}
	return v[:cap(v)]
}
