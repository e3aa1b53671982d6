package linalg

import (
	"math"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

var nan = math.NaN()

// halves is a Hermitian matrix, cut into four, and the eigenvectors so far, of which the columns are cut in two. Row and column i of the first half are
// rotated with row and column i of the second.
type halves struct {
	tl, tr, bl, br hlo.InstrID // [b, k, k]
	left, right    hlo.InstrID // [b, 2k, k]
}

func (h halves) list() []hlo.InstrID { return []hlo.InstrID{h.tl, h.tr, h.bl, h.br, h.left, h.right} }

func halvesOf(l []hlo.InstrID) halves { return halves{l[0], l[1], l[2], l[3], l[4], l[5]} }

// jacobi is the eigenvectors and eigenvalues of Hermitian matrices whose largest element is about 1.
//
// A matrix of an odd number of rows gets one more, of zeros: nothing is rotated with it, and after whole sweeps it is the last again.
func (m mat) jacobi(a hlo.InstrID, o eighOptions) (vectors, values hlo.InstrID) {
	n := m.rows(a)
	size := n + n%2
	if size > n {
		zero := m.Constant(emit.Zero(m.t))
		a = m.Pad(m.Pad(a, zero, 1, 0, 1), zero, 2, 0, 1)
	}
	k := size / 2
	eye := m.eye(size, size)
	h := halves{m.block(a, 0, k, 0, k), m.block(a, 0, k, k, size), m.block(a, k, size, 0, k), m.block(a, k, size, k, size), m.block(eye, 0, size, 0, k), m.block(eye, 0, size, k, size)}

	tolerance := max(o.tolerance, unit(m.real()))
	state := append([]hlo.InstrID{m.Int(hlo.S32, 0), m.unfinished(h, tolerance)}, h.list()...)
	init := m.Tuple(state...)
	shape := m.Shape(init)
	e := m.C.Editor()
	condition := emit.Computation(e, "eigh_condition", []hlo.Shape{shape}, func(at emit.At, params []hlo.InstrID) hlo.InstrID {
		return at.Binary(hlo.OpAnd, at.Compare(hlo.LT, at.Element(params[0], 0), at.Int(hlo.S32, min(o.sweeps, math.MaxInt32))), at.Element(params[0], 1))
	})
	body := emit.Computation(e, "eigh_sweep", []hlo.Shape{shape}, func(at emit.At, params []hlo.InstrID) hlo.InstrID {
		m := m.in(at)
		parts := emit.Elements(at, params[0])
		after := m.loop("eigh_step", size-1, parts[2:], func(m mat, _ hlo.InstrID, state []hlo.InstrID) []hlo.InstrID {
			return m.exchanged(m.rotated(halvesOf(state))).list()
		})
		sweeps := at.Binary(hlo.OpAdd, parts[0], at.Int(hlo.S32, 1))
		return at.OpOf(hlo.OpTuple, shape, nil, append([]hlo.InstrID{sweeps, m.unfinished(halvesOf(after), tolerance)}, after...)...)
	})
	h = halvesOf(emit.Elements(m.At, m.While(condition, body, init))[2:])
	values = m.Concatenate(1, m.diagonal(h.tl), m.diagonal(h.br))
	vectors = m.Concatenate(2, h.left, h.right)
	return m.block(vectors, 0, n, 0, n), m.SliceAxis(values, 1, 0, n)
}

// unit is the distance from 1 to the next number of a type.
func unit(t hlo.PrimitiveType) float64 {
	if t == hlo.F64 {
		return 0x1p-52
	}
	return 0x1p-23
}

// unfinished reports whether some matrix of the batch has more than tolerance, in norm, beside its diagonal.
func (m mat) unfinished(h halves, tolerance float64) hlo.InstrID {
	square := func(x hlo.InstrID) hlo.InstrID {
		x = m.abs(x)
		return m.fold(m.mul(x, x), hlo.OpAdd, 0)
	}
	all := m.add(m.add(square(h.tl), square(h.tr)), m.add(square(h.bl), square(h.br)))
	beside := m.add(m.add(square(m.only(h.tl, hlo.NE)), square(h.tr)), m.add(square(h.bl), square(m.only(h.br, hlo.NE))))
	open := m.Compare(hlo.GT, beside, m.mul(all, m.like(all, tolerance*tolerance)))
	return m.Reduce(open, m.Int(hlo.PRED, 0), emit.BinaryComputation(m.C.Editor(), hlo.OpOr, hlo.PRED), 0, 1, 2)
}

// diagonal is the real parts of the diagonal, [b, k].
func (m mat) diagonal(a hlo.InstrID) hlo.InstrID {
	t := m.real()
	return m.Reduce(m.only(m.re(a), hlo.EQ), m.Float(t, 0), emit.BinaryComputation(m.C.Editor(), hlo.OpAdd, t), 2)
}

// rotated makes the elements between the pairs zero: for each pair, with p and q on the diagonal and z between them, A becomes Uᴴ·A·U with
//
//	U = |  c  w |    t = sign(d)/(|d| + √(1 + d²)), d = (q - p)/(2|z|), c = 1/√(1 + t²), w = t·c·z/|z|,
//	    | -w̄  c |
//
// which leaves p - t·|z| and q + t·|z| on the diagonal.
func (m mat) rotated(h halves) halves {
	k := m.rows(h.tl)
	between := m.Reduce(m.only(h.tr, hlo.EQ), m.Constant(emit.Zero(m.t)), emit.BinaryComputation(m.C.Editor(), hlo.OpAdd, m.t), 2)
	p, q, z := m.diagonal(h.tl), m.diagonal(h.br), m.abs(between)
	one, zero := m.like(z, 1), m.like(z, 0)
	apart := m.Compare(hlo.EQ, z, zero)
	d := m.div(m.mul(m.sub(q, p), m.like(z, 0.5)), m.Select(apart, one, z))
	size := m.abs(d)
	t := m.div(one, m.add(size, m.Unary(hlo.OpSqrt, m.add(one, m.mul(size, size)))))
	t = m.Select(m.Compare(hlo.LT, d, zero), m.Unary(hlo.OpNegate, t), t)
	t = m.Select(apart, zero, t)
	c := m.div(one, m.Unary(hlo.OpSqrt, m.add(one, m.mul(t, t))))
	w := m.number(m.mul(t, c))
	if m.t.IsComplex() {
		w = m.mul(w, m.div(between, m.number(m.Select(apart, one, z))))
	} else {
		w = m.Select(m.Compare(hlo.LT, between, zero), m.Unary(hlo.OpNegate, w), w)
	}
	step := m.mul(t, z)
	p, q = m.sub(p, step), m.add(q, step)

	c = m.number(c)
	across := func(v, like hlo.InstrID) hlo.InstrID {
		return m.Broadcast(v, []int64{0, 2}, m.Shape(like).Dimensions()...)
	}
	columns := func(x, y hlo.InstrID) (hlo.InstrID, hlo.InstrID) {
		cs, ws := across(c, x), across(w, x)
		return m.sub(m.mul(x, cs), m.mul(y, m.conj(ws))), m.add(m.mul(x, ws), m.mul(y, cs))
	}
	h.tl, h.tr = columns(h.tl, h.tr)
	h.bl, h.br = columns(h.bl, h.br)
	h.left, h.right = columns(h.left, h.right)
	down := func(v hlo.InstrID) hlo.InstrID { return m.Broadcast(v, []int64{0, 1}, m.b, k, k) }
	cs, ws := down(c), down(w)
	rows := func(x, y hlo.InstrID) (hlo.InstrID, hlo.InstrID) {
		return m.sub(m.mul(x, cs), m.mul(y, ws)), m.add(m.mul(x, m.conj(ws)), m.mul(y, cs))
	}
	h.tl, h.bl = rows(h.tl, h.bl)
	h.tr, h.br = rows(h.tr, h.br)

	onDiagonal := m.Compare(hlo.EQ, m.index(h.tl, 1), m.index(h.tl, 2))
	h.tl = m.Select(onDiagonal, down(m.number(p)), h.tl)
	h.br = m.Select(onDiagonal, down(m.number(q)), h.br)
	none := m.like(h.tr, 0)
	h.tr, h.bl = m.Select(onDiagonal, none, h.tr), m.Select(onDiagonal, none, h.bl)
	return h
}

// exchanged gives each row and column another to be rotated with: the first stays where it is, and the others go round, along the second half to the left and along
// the first to the right. After as many steps as there are others, all are back.
func (m mat) exchanged(h halves) halves {
	k := m.rows(h.tl)
	if k == 1 {
		return h
	}
	round := func(first, second hlo.InstrID, axis int) (hlo.InstrID, hlo.InstrID) {
		part := func(x hlo.InstrID, from, to int64) hlo.InstrID { return m.SliceAxis(x, axis, from, to) }
		return m.joined(axis, part(first, 0, 1), part(second, 0, 1), part(first, 1, k-1)), m.joined(axis, part(second, 1, k), part(first, k-1, k))
	}
	h.tl, h.tr = round(h.tl, h.tr, 2)
	h.bl, h.br = round(h.bl, h.br, 2)
	h.tl, h.bl = round(h.tl, h.bl, 1)
	h.tr, h.br = round(h.tr, h.br, 1)
	h.left, h.right = round(h.left, h.right, 2)
	return h
}

// joined puts what has elements one after the other.
func (m mat) joined(axis int, arrays ...hlo.InstrID) hlo.InstrID {
	var parts []hlo.InstrID
	for _, x := range arrays {
		if m.Shape(x).NumElements() > 0 {
			parts = append(parts, x)
		}
	}
	return m.Concatenate(int64(axis), parts...)
}
