package linalg

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// NewEigh makes the expander of the calls that find eigenvalues and eigenvectors of Hermitian matrices.
func NewEigh(o pass.Options) (*pass.Pass, error) {
	if err := o.Known(lapackToo.Name); err != nil {
		return nil, err
	}
	lapack, err := o.BoolOr(lapackToo.Name, false)
	if err != nil {
		return nil, err
	}
	x := expander{
		wants: func(in hlo.Instruction) (bool, string) {
			_, named, why := eighCall(in, lapack)
			return named, why
		},
		write: func(at emit.At, in hlo.Instruction) hlo.InstrID {
			call, _, _ := eighCall(in, lapack)
			m, a := load(at, in.Operand(0))
			v, w := a, m.full(m.real(), 0, m.b, m.cols(a))
			if in.OperandInstr(0).Shape().NumElements() > 0 {
				v, w = m.eigh(a, call)
			}
			return m.results(in, v, w)
		},
	}
	return x.pass("eigh-expander", `write Eigh as sweeps of rotations

Custom calls to Eigh(A), with a configuration "lower,sort,sweeps,tolerance", are pairs of eigenvectors, as columns, and eigenvalues, ascending if sort is 1. By the method of Jacobi every pair of rows and
columns is rotated once in a sweep so that the elements between them become zero; half as many pairs as there are rows are rotated at a time (after Brent and Luk). Sweeps end when the norm of what
is beside the diagonal is at most the tolerance times that of A. The eigenvalues are then off by at most that norm, and γ(c·n·sweeps) times that of A, with a small number c, and so is |A·V - V·w|.`, o, lapackToo), nil
}

// eighOptions is how a call asks for eigenvalues.
type eighOptions struct {
	lower, sort bool
	sweeps      int64
	tolerance   float64
}

// eighCall reports whether an instruction calls for eigenvalues, how, and why it cannot be done.
func eighCall(in hlo.Instruction, lapack bool) (o eighOptions, named bool, refused string) {
	if in.Opcode() != hlo.OpCustomCall {
		return o, false, ""
	}
	target, config := hlo.AttrsOf[hlo.CustomCallAttrs](in).Target, ""
	if c := in.Common(); c != nil {
		config = c.BackendConfig
	}
	switch {
	case target == "Eigh":
		var ok bool
		if o, ok = readEigh(config); !ok {
			return o, true, fmt.Sprintf("a configuration %q; want lower,sort,sweeps,tolerance", config)
		}
	case lapack && (isLapack(target, "syevd") || isLapack(target, "heevd")):
		o = eighOptions{lower: true, sort: true, sweeps: 100}
		if uplo, says := hlo.LapackChoice(in, "uplo"); says {
			o.lower = uplo == 'L'
		}
		if mode, says := hlo.LapackChoice(in, "mode"); says && mode != 'V' {
			return o, true, "eigenvalues without vectors"
		}
	default:
		return o, false, ""
	}
	return o, true, refusal(in, 1, decomposed)
}

// readEigh reads "1,1,100,1e-6".
func readEigh(config string) (o eighOptions, ok bool) {
	parts := strings.Split(strings.Trim(config, `"{}`), ",")
	if len(parts) != 4 {
		return o, false
	}
	lower, err0 := strconv.Atoi(strings.TrimSpace(parts[0]))
	sort, err1 := strconv.Atoi(strings.TrimSpace(parts[1]))
	sweeps, err2 := strconv.Atoi(strings.TrimSpace(parts[2]))
	tolerance, err3 := strconv.ParseFloat(strings.TrimSpace(parts[3]), 64)
	if err0 != nil || err1 != nil || err2 != nil || err3 != nil || sweeps < 0 || !(tolerance >= 0) {
		return o, false
	}
	return eighOptions{lower: lower != 0, sort: sort != 0, sweeps: int64(sweeps), tolerance: tolerance}, true
}

// decomposed is the results of Eigh; nil if the matrices are not square.
func decomposed(in hlo.Instruction) []hlo.Shape {
	s := in.OperandInstr(0).Shape()
	d, t := s.Dimensions(), s.Type()
	if d[len(d)-1] != d[len(d)-2] {
		return nil
	}
	if t.IsComplex() {
		t = t.ComponentType()
	}
	return []hlo.Shape{s, hlo.MakeShape(t, d[:len(d)-1]...)}
}

// eigh is the eigenvectors of matrices, and the eigenvalues as a batch of vectors.
func (m mat) eigh(a hlo.InstrID, o eighOptions) (vectors, values hlo.InstrID) {
	n := m.rows(a)
	a = m.hermitian(a, o.lower)
	scale := m.fold(m.abs(a), hlo.OpMaximum, 0)
	finite := m.Op(hlo.OpIsFinite, nil, scale)
	usable := m.Binary(hlo.OpAnd, m.Compare(hlo.GT, scale, m.like(scale, 0)), finite)
	scale = m.Select(usable, scale, m.like(scale, 1))
	a = m.div(a, m.over(m.number(scale), a))
	vectors = m.eye(n, n)
	if n == 1 {
		values = m.Reshape(m.re(a), m.b, 1)
	} else {
		vectors, values = m.jacobi(a, o)
	}
	values = m.mul(values, m.spread(m.Reshape(scale, m.b, 1), m.b, n))
	if o.sort && n > 1 {
		vectors, values = m.sorted(vectors, values)
	}
	finite = m.Reshape(finite, m.b, 1)
	values = m.Select(m.spread(finite, m.b, n), values, m.like(values, nan))
	vectors = m.Select(m.spread(m.Reshape(finite, m.b, 1, 1), m.b, n, n), vectors, m.like(vectors, nan))
	return vectors, values
}

// hermitian is the matrices of which one triangle is given. The diagonal is real.
func (m mat) hermitian(a hlo.InstrID, lower bool) hlo.InstrID {
	strict := hlo.LT
	if lower {
		strict = hlo.GT
	}
	given := m.only(a, strict)
	return m.add(m.add(given, m.adjoint(given)), m.only(m.number(m.re(a)), hlo.EQ))
}

// sorted is eigenvectors and eigenvalues with the least eigenvalue first.
func (m mat) sorted(vectors, values hlo.InstrID) (hlo.InstrID, hlo.InstrID) {
	n := m.rows(vectors)
	keys := m.Broadcast(values, []int64{0, 2}, m.b, n, n)
	key, v := hlo.MakeShape(m.real()), hlo.MakeShape(m.t)
	less := emit.Computation(m.C.Editor(), "eigh_less", []hlo.Shape{key, key, v, v}, func(at emit.At, params []hlo.InstrID) hlo.InstrID {
		return at.Compare(hlo.LT, params[0], params[1])
	})
	sorted := m.Spec(hlo.InstrSpec{Opcode: hlo.OpSort, Shape: hlo.MakeTuple(m.Shape(keys), m.Shape(vectors)), Operands: []hlo.InstrID{keys, vectors},
		Callees: []hlo.CompID{less}, Attrs: &hlo.SortAttrs{Dimensions: []int64{2}, IsStable: true}})
	values = m.Reshape(m.SliceAxis(m.Element(sorted, 0), 1, 0, 1), m.b, n)
	return m.Element(sorted, 1), values
}
