package eval

// number is what sums of products are computed in.
type number interface{ float64 | int64 | complex128 }

// gemm adds A·Bᵀ to C, all dense and row-major: A[m,k], B[n,k], C[m,n]. Both factors run along k in memory.
//
//  1. B is walked in panels that stay in the second-level cache while all rows of A pass by.
//  2. Within a panel, blocks of 2 by 4 sums are kept in registers over the whole of k.
//
// The terms of each sum are added in order.
func gemm[T number](c, a, b []T, m, n, k int) {
	const panelElements = 1 << 15 // of B
	panel := max(4, panelElements/max(k, 1)&^3)
	for j0 := 0; j0 < n; j0 += panel {
		j1 := min(n, j0+panel)
		i := 0
		for ; i+2 <= m; i += 2 {
			a0, a1 := a[i*k:(i+1)*k], a[(i+1)*k:(i+2)*k]
			c0, c1 := c[i*n:(i+1)*n], c[(i+1)*n:(i+2)*n]
			j := j0
			for ; j+4 <= j1; j += 4 {
				block2x4(c0[j:j+4], c1[j:j+4], a0, a1, b[j*k:(j+1)*k], b[(j+1)*k:(j+2)*k], b[(j+2)*k:(j+3)*k], b[(j+3)*k:(j+4)*k])
			}
			for ; j < j1; j++ {
				row := b[j*k : (j+1)*k]
				c0[j] += inner(a0, row)
				c1[j] += inner(a1, row)
			}
		}
		if i < m {
			for j := j0; j < j1; j++ {
				c[i*n+j] += inner(a[i*k:(i+1)*k], b[j*k:(j+1)*k])
			}
		}
	}
}

func block2x4[T number](c0, c1, a0, a1, b0, b1, b2, b3 []T) {
	var s00, s01, s02, s03, s10, s11, s12, s13 T
	n := len(a0)
	a1, b0, b1, b2, b3 = a1[:n], b0[:n], b1[:n], b2[:n], b3[:n]
	for p, x := range a0 {
		y := a1[p]
		v := b0[p]
		s00 += x * v
		s10 += y * v
		v = b1[p]
		s01 += x * v
		s11 += y * v
		v = b2[p]
		s02 += x * v
		s12 += y * v
		v = b3[p]
		s03 += x * v
		s13 += y * v
	}
	c0, c1 = c0[:4], c1[:4]
	c0[0] += s00
	c0[1] += s01
	c0[2] += s02
	c0[3] += s03
	c1[0] += s10
	c1[1] += s11
	c1[2] += s12
	c1[3] += s13
}

// inner is the sum of products of two vectors.
func inner[T number](a, b []T) T {
	var s T
	b = b[:len(a)]
	for i, x := range a {
		s += x * b[i]
	}
	return s
}
