package factor

// MostSubstituted unknowns and MostSubstitutedSides right sides are the largest systems for which [Substitute] takes less time than a [Triangle], which has to be packed: a quarter for one right side.
const MostSubstituted, MostSubstitutedSides = 256, 3

// Substitute replaces a right side x[n,1] by the solution of L·x = b, for the lower triangle L of a[n,n]; with unit, the diagonal is taken to be 1 and
// not read. Four rows are multiplied with what is solved already at once, so that their sums do not wait for each other. a.Conjugate does not matter.
func Substitute[T float32 | float64](a Matrix[T], n int, unit bool, x Matrix[T]) {
	at := func(i, j int) T { return a.Data[a.At+i*a.Row+j*a.Col] }
	for i := 0; i < n; i += 4 {
		rows := min(4, n-i)
		var s [4]T
		if rows == 4 {
			s = a.rowsTimes(i, &x)
		} else {
			for r := range rows {
				for k := range i {
					s[r] += at(i+r, k) * x.Data[x.At+k*x.Row]
				}
			}
		}
		for r := range rows {
			to := &x.Data[x.At+(i+r)*x.Row]
			v := *to - s[r]
			for k := range r {
				v -= at(i+r, i+k) * x.Data[x.At+(i+k)*x.Row]
			}
			if !unit {
				v /= at(i+r, i+r)
			}
			*to = v
		}
	}
}

// rowsTimes multiplies the first i elements of rows i to i+3 with those of x.
func (m *Matrix[T]) rowsTimes(i int, x *Matrix[T]) [4]T {
	var s0, s1, s2, s3, t0, t1, t2, t3 T
	d, v := m.Data, x.Data
	p, q := m.At+i*m.Row, x.At
	k := 0
	for ; k+2 <= i; k += 2 {
		u, w := v[q], v[q+x.Row]
		s0 += d[p] * u
		s1 += d[p+m.Row] * u
		s2 += d[p+2*m.Row] * u
		s3 += d[p+3*m.Row] * u
		p += m.Col
		t0 += d[p] * w
		t1 += d[p+m.Row] * w
		t2 += d[p+2*m.Row] * w
		t3 += d[p+3*m.Row] * w
		p += m.Col
		q += 2 * x.Row
	}
	if k < i {
		u := v[q]
		s0 += d[p] * u
		s1 += d[p+m.Row] * u
		s2 += d[p+2*m.Row] * u
		s3 += d[p+3*m.Row] * u
	}
	return [4]T{s0 + t0, s1 + t1, s2 + t2, s3 + t3}
}
