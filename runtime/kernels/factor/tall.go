package factor

import "unsafe"

// The columns of a matrix of many rows and few columns are rows of its transpose, each of which meets the reflectors of a panel by itself: packed products of so few columns would be packing
// for the most part.

// tallCols is the largest number of columns of such a matrix, and tallShare how many rows it has for each at least. Each column meets the reflectors of a panel, which stay near if they
// are no larger than tallPanel, in bytes.
const (
	tallCols  = 128
	tallShare = 4
	tallPanel = 1 << 20
)

func isTall[T Number](m, n int) bool {
	var x T
	return n <= tallCols && m >= tallShare*n && m*panelCols*int(unsafe.Sizeof(x)) <= tallPanel
}

// factorTall is Factor.
func (f *QR[T]) factorTall(a Matrix[T], m, n int, taus []T) {
	columns := f.turned(a, m, n)
	for j := 0; j < n; j += panelCols {
		k := min(panelCols, n-j)
		f.panel(columns[j*m+j:], m, m-j, taus[j:j+k])
		for c := j + k; c < n; c++ {
			f.reflect(columns[c*m+j:(c+1)*m], k, true)
		}
	}
	transpose(a.Data[a.At:], columns, n, m, a.Row, m)
}

// expandTall is Expand.
func (f *QR[T]) expandTall(q, a Matrix[T], m, n int, taus []T) {
	f.columns = grown(f.columns, m*n)
	columns := f.columns[:m*n]
	clear(columns)
	for c := range n {
		columns[c*m+c] = 1
	}
	for j := (len(taus) - 1) / panelCols * panelCols; j >= 0 && len(taus) > 0; j -= panelCols {
		k := f.load(a, m, j, taus)
		for c := j; c < n; c++ {
			f.reflect(columns[c*m+j:(c+1)*m], k, false)
		}
	}
	transpose(q.Data[q.At:], columns, n, m, q.Row, m)
}
