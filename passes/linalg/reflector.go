package linalg

import "github.com/gohalo/halo/hlo"

// reflect makes the reflector of column j of a panel and applies it to the columns behind it. The state is the panel and the taus.
//
// With alpha on the diagonal and x below it, beta = -sign(re alpha)·‖(alpha, x)‖ takes the place of alpha: tau = (beta - conj alpha)/beta, v = x/(alpha - beta).
// All of it is of numbers divided by the largest, which neither overflow nor vanish. Where x is zero and alpha real, nothing is reflected, and tau is 0.
func reflect(m mat, j hlo.InstrID, state []hlo.InstrID) []hlo.InstrID {
	a, taus := state[0], state[1]
	col := m.col(a, j)
	below := m.where(col, 1, hlo.GT, j)
	alpha := m.row(col, j)
	x := m.Select(below, col, m.like(col, 0))

	largest := m.fold(m.abs(x), hlo.OpMaximum, 0)
	scale := m.Binary(hlo.OpMaximum, largest, m.abs(alpha))
	usable := m.Binary(hlo.OpAnd, m.Compare(hlo.GT, scale, m.like(scale, 0)), m.Op(hlo.OpIsFinite, nil, scale))
	scale = m.number(m.Select(usable, scale, m.like(scale, 1)))
	alpha, x = m.div(alpha, scale), m.div(x, m.over(scale, x))
	squared := func(v hlo.InstrID) hlo.InstrID {
		v = m.abs(v)
		return m.mul(v, v)
	}
	real := m.re(alpha)
	norm := m.Unary(hlo.OpSqrt, m.add(m.fold(squared(x), hlo.OpAdd, 0), squared(alpha)))
	beta := m.Select(m.negative(real), norm, m.Unary(hlo.OpNegate, norm))
	none := m.Compare(hlo.EQ, largest, m.like(largest, 0))
	tau := m.div(m.sub(beta, real), beta)
	if m.t.IsComplex() {
		imag := m.im(alpha)
		none = m.Binary(hlo.OpAnd, none, m.Compare(hlo.EQ, imag, m.like(imag, 0)))
		tau = m.OpOf(hlo.OpComplex, m.Shape(alpha), nil, tau, m.div(m.Unary(hlo.OpNegate, imag), beta))
	}
	tau = m.Select(none, m.like(tau, 0), tau)
	pivot := m.Select(none, m.row(col, j), m.mul(m.number(beta), scale))
	v := m.div(x, m.over(m.Select(none, m.like(alpha, 1), m.sub(alpha, m.number(beta))), x))

	kept := m.Select(below, v, m.Select(m.where(col, 1, hlo.EQ, j), m.over(pivot, col), col))
	if m.cols(a) == 1 {
		return []hlo.InstrID{kept, m.set(taus, tau, 1, j)}
	}
	v = m.Select(m.where(col, 1, hlo.EQ, j), m.like(v, 1), v)
	product := m.dot(m.conj(v), 1, a, 1) // of v with each column, [b, 1, cols]
	product = m.mul(m.over(m.conj(tau), product), product)
	product = m.Select(m.where(product, 2, hlo.GT, j), product, m.like(product, 0))
	a = m.sub(a, m.dot(v, 2, product, 1))
	return []hlo.InstrID{m.set(a, kept, 2, j), m.set(taus, tau, 1, j)}
}

// negative reports which numbers have a sign: -0 has one, too.
func (m mat) negative(x hlo.InstrID) hlo.InstrID {
	t := hlo.S32
	if m.Shape(x).Type() == hlo.F64 {
		t = hlo.S64
	}
	bits := m.OpOf(hlo.OpBitcastConvert, m.Shape(x).WithType(t), nil, x)
	return m.Compare(hlo.LT, bits, m.Fill(m.Int(t, 0), m.Shape(x).Dimensions()...))
}
