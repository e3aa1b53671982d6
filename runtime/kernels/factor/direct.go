package factor

// Small matrices are reduced by one reflector after another, each applied as soon as it is known: panels and packed products would cost more than they save.

// directRows is how many rows and columns matrices have at most whose reflectors are applied one by one.
const directRows = 16

// isDirect reports whether a matrix of m rows and n columns is one of these.
func isDirect(m, n int) bool { return m <= directRows && n <= directRows }

// reflectRows multiplies a[len(v),len(w)], whose rows lie together, from the left by I - tau·v·vᴴ. w is room.
func reflectRows[T Number](a Matrix[T], v []T, tau T, w []T) {
	if len(w) == 0 {
		return
	}
	clear(w)
	for i, x := range v {
		row := a.Data[a.At+i*a.Row:][:len(w)]
		x = conjugate(x)
		for j, y := range row {
			w[j] += x * y
		}
	}
	for i, x := range v {
		row := a.Data[a.At+i*a.Row:][:len(w)]
		x *= tau
		for j, y := range w {
			row[j] -= x * y
		}
	}
}

// reflectColumns multiplies a[m,len(v)], whose rows lie together, from the right by I - tau·v·vᴴ.
func reflectColumns[T Number](a Matrix[T], m int, v []T, tau T) {
	for i := range m {
		row := a.Data[a.At+i*a.Row:][:len(v)]
		var sum T
		for j, x := range v {
			sum += row[j] * x
		}
		sum *= tau
		for j, x := range v {
			row[j] -= sum * conjugate(x)
		}
	}
}

// factorDirect is Factor.
func (f *QR[T]) factorDirect(a Matrix[T], m, n int, taus []T) {
	for c := range taus {
		at, p := a.At+c*a.Row+c, f.small[:m-c]
		for i := range p {
			p[i] = a.Data[at+i*a.Row]
		}
		taus[c] = Reflector(p)
		for i, x := range p {
			a.Data[at+i*a.Row] = x
		}
		p[0] = 1
		reflectRows(a.From(c, c+1), p, conjugate(taus[c]), f.small[directRows:][:n-c-1])
	}
}

// expandDirect multiplies q[m,n], which is the identity, by the reflectors below the diagonal of a.
func (f *QR[T]) expandDirect(q, a Matrix[T], m, n int, taus []T) {
	for c := len(taus) - 1; c >= 0; c-- {
		reflectRows(q.From(c, c), f.below(a, m, c), taus[c], f.small[directRows:][:n-c])
	}
}

// applyDirect is Apply.
func (f *QR[T]) applyDirect(c, a Matrix[T], m, n int, taus []T, adjoint bool) {
	for i := range taus {
		k := len(taus) - 1 - i
		if adjoint {
			k = i
		}
		tau := taus[k]
		if adjoint {
			tau = conjugate(tau)
		}
		reflectRows(c.From(k, 0), f.below(a, m, k), tau, f.small[directRows:][:n])
	}
}

// below is reflector c of those below the diagonal of a, which has m rows.
func (f *QR[T]) below(a Matrix[T], m, c int) []T {
	v := f.small[:m-c]
	v[0] = 1
	for i := 1; i < len(v); i++ {
		v[i] = a.Data[a.At+(c+i)*a.Row+c]
	}
	return v
}

// multiplyDirect is Multiply.
func (f *QR[T]) multiplyDirect(c Matrix[T], m, n int, v []T, stride int, taus []T) {
	for i := len(taus) - 1; i >= 0; i-- {
		reflectRows(c.From(i, 0), v[i*stride+i:][:m-i], taus[i], f.small[directRows:][:n])
	}
}

// reduceDirect is reduce.
func (t *tridiagonal[T]) reduceDirect(d, e []float64) {
	n := t.n
	for c := range n {
		row := t.row(c)
		d[c] = realPart(row[c])
		if c+1 == n {
			t.taus[c] = 0
			return
		}
		v, p := t.v[c*t.stride+c+1:][:n-c-1], t.p[:n-c-1]
		copy(v, row[c+1:])
		Conjugate(v)
		tau := Reflector(v)
		t.taus[c], e[c] = tau, realPart(v[0])
		v[0] = 1
		if tau == 0 {
			continue
		}
		// p = tau·A·v, then w = p - tau'/2·(pᴴ·v)·v, and A -= v·wᴴ + w·vᴴ.
		var dot T
		for i, x := range v {
			var sum T
			for j, y := range t.row(c + 1 + i)[c+1:] {
				sum += y * v[j]
			}
			p[i] = tau * sum
			dot += conjugate(x) * p[i]
		}
		half := conjugate(tau) * dot / 2
		for i, x := range v {
			p[i] -= half * x
		}
		for i, x := range v {
			y := p[i]
			row := t.row(c + 1 + i)[c+1:]
			for j := range row {
				row[j] -= x*conjugate(p[j]) + y*conjugate(v[j])
			}
		}
	}
}

// reduceDirect is reduce.
func (b *bidiagonal[T]) reduceDirect(d, e []float64) {
	a := Dense(b.a, b.wide)
	for c := range b.n {
		x := b.v[c*b.tall+c:][:b.m-c]
		for i := range x {
			x[i] = b.a[(c+i)*b.wide+c]
		}
		b.tauV[c] = Reflector(x)
		d[c] = realPart(x[0])
		x[0] = 1
		if c+1 == b.n {
			return
		}
		reflectRows(a.From(c, c+1), x, conjugate(b.tauV[c]), b.row[:b.n-c-1])
		z := b.u[c*b.wide+c+1:][:b.n-c-1]
		copy(z, b.a[c*b.wide+c+1:])
		Conjugate(z)
		b.tauU[c] = Reflector(z)
		e[c] = realPart(z[0])
		z[0] = 1
		if b.tauU[c] != 0 {
			reflectColumns(a.From(c+1, c+1), b.m-c-1, z, b.tauU[c])
		}
	}
}
