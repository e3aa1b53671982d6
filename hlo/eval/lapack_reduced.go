package eval

import (
	"fmt"
	"strconv"

	"github.com/gohalo/halo/hlo"
)

// lapackGehrd reduces to Hessenberg form: A → (H above reflectors, tau, info).
func lapackGehrd(c *Call) (*hlo.Literal, error) {
	m, err := squares(c, 0)
	if err != nil {
		return nil, err
	}
	low, high := 0, m.rows
	if n, err := strconv.Atoi(hlo.LapackEntry(c.In, "low")); err == nil {
		low = n - 1
	}
	if n, err := strconv.Atoi(hlo.LapackEntry(c.In, "high")); err == nil {
		high = n
	}
	if low < 0 || high > m.rows || low > high {
		return nil, fmt.Errorf("rows %d to %d of %v", low+1, high, m.s)
	}
	var taus []complex128
	for k := range m.batch {
		taus = append(taus, reduceHessenberg(m.at(k), m.rows, low, high)...)
	}
	return (&output{c: c}).numbers(m.v).numbers(taus).ints(make([]int64, m.batch)).value()
}

// lapackSytrd reduces Hermitian matrices to tridiagonal form: A → (A, d, e, tau, info).
func lapackSytrd(c *Call) (*hlo.Literal, error) {
	m, err := squares(c, 0)
	if err != nil {
		return nil, err
	}
	lower := c.option("uplo", 'L') == 'L'
	var diagonals, besides, taus []complex128
	for k := range m.batch {
		d, e, t := reduceTridiagonal(m.at(k), m.rows, lower)
		diagonals, besides, taus = append(diagonals, d...), append(besides, e...), append(taus, t...)
	}
	return (&output{c: c}).numbers(m.v).numbers(diagonals).numbers(besides).numbers(taus).ints(make([]int64, m.batch)).value()
}

// lapackOrmqr multiplies by the Q of a factorisation: (A, tau, C) → (Q·C, info), from the left or the right, Q or its adjoint.
func lapackOrmqr(c *Call) (*hlo.Literal, error) {
	if len(c.Args) != 3 {
		return nil, fmt.Errorf("ormqr takes reflectors, tau and a matrix")
	}
	a, err := matricesOf(c.Args[0])
	if err != nil {
		return nil, err
	}
	m, err := matricesOf(c.Args[2])
	if err != nil {
		return nil, err
	}
	taus := complexOf(c.Args[1])
	left, says := hlo.LapackFlag(c.In, "left")
	adjoint, saysAdjoint := hlo.LapackFlag(c.In, "transpose")
	if !says || !saysAdjoint {
		return nil, c.withoutConfig("left and transpose")
	}
	n := len(taus) / max(1, a.batch)
	side := m.cols
	if left {
		side = m.rows
	}
	if a.batch != m.batch || a.rows != side || n > a.cols || n > a.rows || n*a.batch != len(taus) {
		return nil, fmt.Errorf("reflectors %v and %v for %v", a.s, c.Args[1].Shape(), m.s)
	}
	for k := range m.batch {
		applyQ(m.at(k), m.rows, m.cols, a.at(k), a.rows, a.cols, taus[k*n:(k+1)*n], left, adjoint)
	}
	o := (&output{c: c}).numbers(m.v)
	if o.wants(1) {
		o.ints(make([]int64, m.batch))
	}
	return o.value()
}

// lapackGees is the Schur decomposition A = Z·T·Zᴴ: A → (T, Z, eigenvalues, number selected, info). That of a real matrix is real, with
// blocks of two for pairs of complex eigenvalues, of which it gives the real and the imaginary parts.
func lapackGees(c *Call) (*hlo.Literal, error) {
	m, err := squares(c, 0)
	if err != nil {
		return nil, err
	}
	if c.option("sort", 'N') != 'N' {
		return nil, fmt.Errorf("a Schur form with selected eigenvalues first is not supported")
	}
	n := m.rows
	var vectors, values []complex128
	info := make([]int64, m.batch)
	isComplex := m.s.Type().IsComplex()
	for k := range m.batch {
		t, ok := m.at(k), false
		var z, w []complex128
		if isComplex {
			z, ok = schurComplex(t, n)
			for i := range n {
				w = append(w, t[i*n+i])
			}
		} else {
			z, w, ok = schurReal(t, n)
		}
		if !ok {
			info[k] = 1
		}
		vectors, values = append(vectors, z...), append(values, w...)
	}
	o := (&output{c: c}).numbers(m.v).numbers(vectors).numbers(values)
	if !isComplex {
		imaginary := make([]complex128, len(values))
		for i, w := range values {
			imaginary[i] = complex(imag(w), 0)
		}
		o.numbers(imaginary)
	}
	return o.ints(make([]int64, m.batch)).ints(info).value()
}

// squares is operand i as square matrices.
func squares(c *Call, i int) (*matrices, error) {
	if len(c.Args) <= i {
		return nil, fmt.Errorf("operand %d is missing", i)
	}
	m, err := matricesOf(c.Args[i])
	if err == nil && m.rows != m.cols {
		err = fmt.Errorf("%v is not square", m.s)
	}
	return m, err
}
