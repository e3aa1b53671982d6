package linalg

import (
	"math"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// NewCholesky makes the expander of cholesky.
func NewCholesky(o pass.Options) (*pass.Pass, error) {
	block, err := blockOf(o)
	if err != nil {
		return nil, err
	}
	x := expander{
		wants: func(in hlo.Instruction) (bool, string) {
			if in.Opcode() != hlo.OpCholesky {
				return false, ""
			}
			return true, matrices(in)
		},
		write: func(at emit.At, in hlo.Instruction) hlo.InstrID {
			if in.Shape().NumElements() == 0 {
				return in.Operand(0)
			}
			m, a := load(at, in.Operand(0))
			lower := hlo.AttrsOf[hlo.CholeskyAttrs](in).Lower
			if !lower {
				a = m.adjoint(a)
			}
			l := cholesky(m, m.only(a, hlo.GE), block)
			if !lower {
				l = m.adjoint(l)
			}
			return m.store(l, in.Shape())
		},
	}
	return x.pass("cholesky-expander", `write cholesky as a loop over columns

Columns come one after the other, from the left: each is the matrix's, less the product of the columns before it with their part of its row, divided by the root of its
diagonal element. For the result L, every element of |A - L·Lᴴ| is at most γ(n+1) times that of |L|·|Lᴴ|, γ(k) = k·u/(1 - k·u) with the rounding error u.
Where an element of the diagonal is not positive, the whole matrix is NaN, as that of the op.`, o, blockSize), nil
}

// cholesky factors matrices of which the upper triangle is zero.
func cholesky(m mat, a hlo.InstrID, block int64) hlo.InstrID {
	n := m.rows(a)
	l, good := m.like(a, 0), m.Fill(m.Int(hlo.PRED, 1), m.b, 1, 1)
	for s := int64(0); s < n; s += block {
		e := min(s+block, n)
		panel := m.block(a, s, n, s, e)
		if s > 0 {
			left := m.block(l, s, n, 0, s)
			panel = m.sub(panel, m.dot(left, 2, m.conj(m.block(left, 0, e-s, 0, s)), 2))
		}
		after := m.loop("cholesky", e-s, []hlo.InstrID{m.like(panel, 0), good, panel}, choleskyColumn)
		l, good = m.put(l, after[0], s, s), after[1]
	}
	return m.Select(m.over(good, l), l, m.like(l, math.NaN()))
}

// choleskyColumn makes column j of a panel. The state is the panel of the result, whether all pivots were positive, and the panel of the matrix.
func choleskyColumn(m mat, j hlo.InstrID, state []hlo.InstrID) []hlo.InstrID {
	l, good, a := state[0], state[1], state[2]
	col := m.sub(m.col(a, j), m.dot(l, 2, m.conj(m.row(l, j)), 2))
	pivot := m.re(m.row(col, j))
	good = m.Binary(hlo.OpAnd, good, m.Compare(hlo.GT, pivot, m.like(pivot, 0)))
	d := m.over(m.number(m.Unary(hlo.OpSqrt, pivot)), col)
	col = m.Select(m.where(col, 1, hlo.GT, j), m.div(col, d), m.Select(m.where(col, 1, hlo.EQ, j), d, m.like(col, 0)))
	return []hlo.InstrID{m.set(l, col, 2, j), good, a}
}
