package linalg

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// NewTriangularSolve makes the expander of triangular-solve.
func NewTriangularSolve(o pass.Options) (*pass.Pass, error) {
	block, err := blockOf(o)
	if err != nil {
		return nil, err
	}
	x := expander{
		wants: func(in hlo.Instruction) (bool, string) {
			if in.Opcode() != hlo.OpTriangularSolve {
				return false, ""
			}
			return true, matrices(in)
		},
		write: func(at emit.At, in hlo.Instruction) hlo.InstrID {
			if in.Shape().NumElements() == 0 {
				return in.Operand(1)
			}
			m, a := load(at, in.Operand(0))
			_, b := load(at, in.Operand(1))
			return m.store(solve(m, a, b, hlo.AttrsOf[hlo.TriangularSolveAttrs](in), block), in.Shape())
		},
	}
	return x.pass("triangular-solve-expander", `write triangular-solve as a loop over rows

Each row of the solution is that of the right side, less the product of its row of the matrix with the rows that are known, divided by its element of the diagonal. No block is inverted, so
every element of |T·X - B| is at most γ(n) times that of |T|·|X|, γ(k) = k·u/(1 - k·u) with the rounding error u.`, o, blockSize), nil
}

// solve is X of op(A)·X = B, or of X·op(A) = B.
func solve(m mat, a, b hlo.InstrID, o hlo.TriangularSolveAttrs, block int64) hlo.InstrID {
	if o.TransposeA == hlo.AdjointA {
		a = m.conj(a)
	}
	// X·T = B is Tᵀ·Xᵀ = Bᵀ.
	lower := o.Lower
	if transposed := o.TransposeA == hlo.TransposeA || o.TransposeA == hlo.AdjointA; transposed == o.LeftSide {
		a, lower = m.turned(a), !lower
	}
	if !o.LeftSide {
		b = m.turned(b)
	}
	t := triangle{below: hlo.GT, diagonal: !o.UnitDiagonal}
	if !lower {
		t.below = hlo.LT
	}
	n := m.rows(a)
	var parts []hlo.InstrID // of the solution, from its first row on
	for done := int64(0); done < n; done += block {
		w := min(block, n-done)
		s := done
		if !lower {
			s = n - done - w
		}
		right := m.block(b, s, s+w, 0, m.cols(b))
		if done > 0 {
			known := m.Concatenate(1, parts...)
			from := int64(0)
			if !lower {
				from = s + w
			}
			right = m.sub(right, m.dot(m.block(a, s, s+w, from, from+done), 2, known, 1))
		}
		part := t.solve(m, m.block(a, s, s+w, s, s+w), right)
		if lower {
			parts = append(parts, part)
		} else {
			parts = append([]hlo.InstrID{part}, parts...)
		}
	}
	x := m.Concatenate(1, parts...)
	if !o.LeftSide {
		x = m.turned(x)
	}
	return x
}

// triangle is a form of matrices: which elements beside the diagonal count, by the relation of row to column, and whether those of the diagonal do, or are 1.
type triangle struct {
	below    hlo.Direction
	diagonal bool
}

// solve is X of T·X = B, row by row.
func (t triangle) solve(m mat, a, b hlo.InstrID) hlo.InstrID {
	n := m.rows(a)
	state := []hlo.InstrID{m.like(b, 0), b, m.only(a, t.below)}
	if t.diagonal {
		state = append(state, a)
	}
	return m.loop("triangular_solve", n, state, func(m mat, i hlo.InstrID, state []hlo.InstrID) []hlo.InstrID {
		x, b, a := state[0], state[1], state[2]
		if t.below == hlo.LT {
			i = m.Binary(hlo.OpSubtract, m.Int(m.Shape(i).Type(), n-1), i)
		}
		row := m.row(b, i)
		if n > 1 {
			row = m.sub(row, m.dot(m.row(a, i), 2, x, 1))
		}
		if t.diagonal {
			row = m.div(row, m.over(m.col(m.row(state[3], i), i), row))
		}
		return append([]hlo.InstrID{m.set(x, row, 1, i)}, state[1:]...)
	})[0]
}
