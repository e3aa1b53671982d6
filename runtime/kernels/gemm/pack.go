package gemm

// Matrix locates the elements of a matrix in memory: element (i, k) is at Rows[i] + Ks[k]. For a right matrix, Rows are its columns.
type Matrix struct {
	Rows, Ks             []int
	linearRows, linearKs bool
}

// NewMatrix notices where neighbours in memory are neighbours in the matrix.
func NewMatrix(rows, ks []int) Matrix { return Matrix{rows, ks, isLinear(rows), isLinear(ks)} }

func isLinear(v []int) bool {
	for i, x := range v {
		if x != v[0]+i {
			return false
		}
	}
	return true
}

// Pack writes rows [i0, i1) over [k0, k1) as panels of r rows, filled up with zeros. dst has Padded(i1-i0, r)*(k1-k0) elements.
func Pack[T Number](m *Matrix, dst, src []T, r, i0, i1, k0, k1 int) {
	kc := k1 - k0
	ks := m.Ks[k0:k1]
	for i := i0; i < i1; i += r {
		panel := dst[:kc*r]
		dst = dst[kc*r:]
		rows := m.Rows[i:min(i+r, i1)]
		switch {
		case m.linearRows && len(rows) == r:
			for k, at := range ks {
				copyRun(panel[k*r:][:r], src[rows[0]+at:][:r])
			}
		case m.linearKs:
			if len(rows) < r {
				clear(panel)
			}
			for x, at := range rows {
				spread(panel[x:], src[at+ks[0]:][:kc], r)
			}
		default:
			if len(rows) < r {
				clear(panel)
			}
			for k, at := range ks {
				p := panel[k*r:][:len(rows)]
				for x, row := range rows {
					p[x] = src[row+at]
				}
			}
		}
	}
}

func copyRun[T Number](dst, src []T) {
	if len(dst) > 8 {
		copy(dst, src)
		return
	}
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = src[i]
	}
}

// spread writes src to every r-th element of dst.
func spread[T Number](dst, src []T, r int) {
	at := 0
	for _, v := range src {
		dst[at] = v
		at += r
	}
}

// LinearRows reports whether neighbouring rows are neighbours in memory.
func (m *Matrix) LinearRows() bool { return m.linearRows }

// LinearKs reports whether the elements of a row are neighbours in memory.
func (m *Matrix) LinearKs() bool { return m.linearKs }
