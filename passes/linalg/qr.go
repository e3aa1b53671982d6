package linalg

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// NewQR makes the expander of the calls that factor matrices into orthogonal ones and triangular ones.
func NewQR(o pass.Options) (*pass.Pass, error) {
	block, err := blockOf(o, lapackToo.Name)
	if err != nil {
		return nil, err
	}
	lapack, err := o.BoolOr(lapackToo.Name, false)
	if err != nil {
		return nil, err
	}
	x := expander{
		wants: func(in hlo.Instruction) (bool, string) {
			switch qrCall(in, lapack) {
			case notQR:
				return false, ""
			case factorsQR:
				return true, refusal(in, 1, factored)
			default:
				return true, refusal(in, 2, multiplied)
			}
		},
		write: func(at emit.At, in hlo.Instruction) hlo.InstrID {
			m, a := load(at, in.Operand(0))
			k := min(m.rows(a), m.cols(a))
			if qrCall(in, lapack) == factorsQR {
				taus := m.full(m.t, 0, m.b, k, 1)
				if product(m.Shape(a).Dimensions()) > 0 {
					a, taus = m.factorQR(a, block)
				}
				return m.results(in, a, taus)
			}
			_, taus := load(at, at.Reshape(in.Operand(1), append(in.OperandInstr(1).Shape().Dimensions(), 1)...))
			q := a
			if product(m.Shape(a).Dimensions()) > 0 {
				q = m.reflectorProduct(a, taus, block)
			}
			return m.results(in, q)
		},
	}
	return x.pass("qr-expander", `write Qr and ProductOfElementaryHouseholderReflectors as loops over reflectors

Custom calls to Qr(A) are pairs: R on and above the diagonal, below it the vectors v of the reflectors I - tau·v·vᴴ, whose first element is 1; and the taus. Reflectors are made one by one in
a block of columns and applied to the others together, as I - V·T·Vᴴ. For the product Q of the reflectors, every column of |A - Q·R| is in norm at most γ(c·m·n) times that of A, with a small
number c, and so is that of |Qᴴ·Q - I|.`, o, blockSize, lapackToo), nil
}

type qrKind int

const (
	notQR qrKind = iota
	factorsQR
	multipliesQR
)

func qrCall(in hlo.Instruction, lapack bool) qrKind {
	if in.Opcode() != hlo.OpCustomCall {
		return notQR
	}
	switch target := hlo.AttrsOf[hlo.CustomCallAttrs](in).Target; {
	case target == "Qr" || lapack && isLapack(target, "geqrf"):
		return factorsQR
	case target == "ProductOfElementaryHouseholderReflectors" || lapack && (isLapack(target, "orgqr") || isLapack(target, "ungqr")):
		return multipliesQR
	}
	return notQR
}

// isLapack reports whether a target is a routine for one of the four types.
func isLapack(target, routine string) bool {
	_, name, ok := hlo.Lapack(target)
	return ok && name == routine
}

// refusal says why a call of n operands is not of the form that shapes describes, "" if it is. A last result of integers says how it went.
func refusal(in hlo.Instruction, n int, shapes func(in hlo.Instruction) []hlo.Shape) string {
	if in.NumOperands() != n {
		return "the number of operands"
	}
	if why := matrices(in); why != "" {
		return why
	}
	got := []hlo.Shape{in.Shape()}
	if in.Shape().IsTuple() {
		got = in.Shape().Elems()
	}
	want := shapes(in)
	for i, s := range got {
		if i < len(want) && !s.EqualIgnoringLayout(want[i]) || i > len(want) || i == len(want) && !(s.IsArray() && s.IsStatic() && s.Type() == hlo.S32) {
			return "the shape of result " + string(rune('0'+i%10))
		}
	}
	if len(got) < len(want) || want == nil {
		return "the shapes of operands and results"
	}
	return ""
}

// factored is the results of Qr.
func factored(in hlo.Instruction) []hlo.Shape {
	s := in.OperandInstr(0).Shape()
	d := s.Dimensions()
	batch := len(d) - 2
	return []hlo.Shape{s, hlo.MakeShape(s.Type(), append(d[:batch:batch], min(d[batch], d[batch+1]))...)}
}

// multiplied is the result of ProductOfElementaryHouseholderReflectors; nil if there are more reflectors than columns.
func multiplied(in hlo.Instruction) []hlo.Shape {
	s, taus := in.OperandInstr(0).Shape(), in.OperandInstr(1).Shape()
	d, td := s.Dimensions(), taus.Dimensions()
	if len(td) != len(d)-1 || product(td[:len(td)-1]) != product(d[:len(d)-2]) || td[len(td)-1] > min(d[len(d)-2], d[len(d)-1]) {
		return nil
	}
	return []hlo.Shape{s}
}

// results is what an instruction returns, with a last result that says that all went well if it has one more.
func (m mat) results(in hlo.Instruction, parts ...hlo.InstrID) hlo.InstrID {
	if !in.Shape().IsTuple() {
		return m.store(parts[0], in.Shape())
	}
	for i, s := range in.Shape().Elems() {
		if i == len(parts) {
			parts = append(parts, m.Fill(m.Int(s.Type(), 0), s.Dimensions()...))
		} else {
			parts[i] = m.store(parts[i], s)
		}
	}
	return m.Tuple(parts...)
}

// factorQR is R and the reflectors, and their taus as a column.
func (m mat) factorQR(a hlo.InstrID, block int64) (factors, taus hlo.InstrID) {
	rows, cols := m.rows(a), m.cols(a)
	k := min(rows, cols)
	var parts []hlo.InstrID
	for s := int64(0); s < k; s += block {
		e := min(s+block, k)
		panel := m.block(a, s, rows, s, e)
		after := m.loop("qr", e-s, []hlo.InstrID{panel, m.full(m.t, 0, m.b, e-s, 1)}, reflect)
		a = m.put(a, after[0], s, s)
		parts = append(parts, after[1])
		if e == cols {
			continue
		}
		v := m.vectors(after[0])
		t := m.triangleOf(v, after[1])
		rest := m.block(a, s, rows, e, cols)
		// Qᴴ = I - V·Tᴴ·Vᴴ.
		rest = m.sub(rest, m.dot(v, 2, m.dot(m.conj(t), 1, m.dot(m.conj(v), 1, rest, 1), 1), 1))
		a = m.put(a, rest, s, e)
	}
	return a, m.Concatenate(1, parts...)
}

// vectors is the vectors of reflectors, of which the elements below the diagonal are kept in a matrix.
func (m mat) vectors(a hlo.InstrID) hlo.InstrID {
	return m.add(m.only(a, hlo.GT), m.eye(m.rows(a), m.cols(a)))
}

// triangleOf is the upper triangular T for which the product of the reflectors is I - V·T·Vᴴ.
func (m mat) triangleOf(v, taus hlo.InstrID) hlo.InstrID {
	w := m.cols(v)
	if w == 1 {
		return taus
	}
	state := []hlo.InstrID{m.full(m.t, 0, m.b, w, w), m.dot(m.conj(v), 1, v, 1), taus}
	return m.loop("qr_product", w, state, func(m mat, j hlo.InstrID, state []hlo.InstrID) []hlo.InstrID {
		t, inner, tau := state[0], state[1], m.row(state[2], j)
		before := m.col(inner, j)
		before = m.Select(m.where(before, 1, hlo.LT, j), before, m.like(before, 0))
		col := m.mul(m.Unary(hlo.OpNegate, m.over(tau, before)), m.dot(t, 2, before, 1))
		col = m.Select(m.where(col, 1, hlo.EQ, j), m.over(tau, col), col)
		return []hlo.InstrID{m.set(t, col, 2, j), inner, state[2]}
	})[0]
}

// reflectorProduct is the first columns of the product of reflectors.
func (m mat) reflectorProduct(a, taus hlo.InstrID, block int64) hlo.InstrID {
	rows, cols := m.rows(a), m.cols(a)
	q, k := m.eye(rows, cols), m.rows(taus)
	for s := (k - 1) / block * block; s >= 0 && k > 0; s -= block {
		e := min(s+block, k)
		v := m.vectors(m.block(a, s, rows, s, e))
		t := m.triangleOf(v, m.SliceAxis(taus, 1, s, e))
		below := m.block(q, s, rows, 0, cols)
		q = m.put(q, m.sub(below, m.dot(v, 2, m.dot(t, 2, m.dot(m.conj(v), 1, below, 1), 1), 1)), s, 0)
	}
	return q
}
