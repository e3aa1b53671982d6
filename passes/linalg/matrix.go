package linalg

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

// mat makes instructions on batches of matrices: arrays [b, rows, cols] of one type of numbers.
type mat struct {
	emit.At
	t hlo.PrimitiveType // of the elements
	b int64             // matrices in a batch
}

// load is x, of any number of leading dimensions, as a batch of matrices in a type to compute with.
func load(at emit.At, x hlo.InstrID) (mat, hlo.InstrID) {
	s := at.Shape(x)
	d := s.Dimensions()
	m := mat{At: at, t: s.Type(), b: product(d[:len(d)-2])}
	if m.t.IsFloat() && m.t.Bits() < 32 {
		m.t = hlo.F32
	}
	return m, m.Reshape(m.Convert(x, m.t), m.b, d[len(d)-2], d[len(d)-1])
}

// store gives x the shape that the result has.
func (m mat) store(x hlo.InstrID, s hlo.Shape) hlo.InstrID {
	return m.Reshape(m.Convert(x, s.Type()), s.Dimensions()...)
}

func product(dims []int64) int64 {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	return n
}

// in is the same at another place.
func (m mat) in(at emit.At) mat { m.At = at; return m }

// real is the type of absolute values.
func (m mat) real() hlo.PrimitiveType {
	if m.t.IsComplex() {
		return m.t.ComponentType()
	}
	return m.t
}

func (m mat) rows(x hlo.InstrID) int64 { return m.Shape(x).Dim(1) }
func (m mat) cols(x hlo.InstrID) int64 { return m.Shape(x).Dim(2) }

// full is a batch of one number.
func (m mat) full(t hlo.PrimitiveType, v float64, dims ...int64) hlo.InstrID {
	return m.Fill(m.Float(t, v), dims...)
}

// like is one number everywhere, in the shape and type of x.
func (m mat) like(x hlo.InstrID, v float64) hlo.InstrID {
	s := m.Shape(x)
	return m.full(s.Type(), v, s.Dimensions()...)
}

func (m mat) add(x, y hlo.InstrID) hlo.InstrID { return m.Binary(hlo.OpAdd, x, y) }
func (m mat) sub(x, y hlo.InstrID) hlo.InstrID { return m.Binary(hlo.OpSubtract, x, y) }
func (m mat) mul(x, y hlo.InstrID) hlo.InstrID { return m.Binary(hlo.OpMultiply, x, y) }
func (m mat) div(x, y hlo.InstrID) hlo.InstrID { return m.Binary(hlo.OpDivide, x, y) }

// dot contracts axis i of the matrices x with axis j of the matrices y, in the highest precision.
func (m mat) dot(x hlo.InstrID, i int64, y hlo.InstrID, j int64) hlo.InstrID {
	return m.Op(hlo.OpDot, &hlo.DotAttrs{LHSBatch: []int64{0}, RHSBatch: []int64{0}, LHSContracting: []int64{i}, RHSContracting: []int64{j},
		Precision: hlo.PrecisionConfig{hlo.PrecisionHighest, hlo.PrecisionHighest}}, x, y)
}

// conj is the conjugate; of real numbers x itself.
func (m mat) conj(x hlo.InstrID) hlo.InstrID {
	if !m.Shape(x).Type().IsComplex() {
		return x
	}
	s := m.Shape(x)
	part := s.WithType(s.Type().ComponentType())
	return m.OpOf(hlo.OpComplex, s, nil, m.OpOf(hlo.OpReal, part, nil, x), m.Unary(hlo.OpNegate, m.OpOf(hlo.OpImag, part, nil, x)))
}

// re is the real part, im the imaginary one.
func (m mat) re(x hlo.InstrID) hlo.InstrID {
	if s := m.Shape(x); s.Type().IsComplex() {
		return m.OpOf(hlo.OpReal, s.WithType(s.Type().ComponentType()), nil, x)
	}
	return x
}

func (m mat) im(x hlo.InstrID) hlo.InstrID {
	s := m.Shape(x)
	return m.OpOf(hlo.OpImag, s.WithType(s.Type().ComponentType()), nil, x)
}

// number is real numbers as numbers of the type that is computed with.
func (m mat) number(x hlo.InstrID) hlo.InstrID {
	if !m.t.IsComplex() {
		return x
	}
	return m.OpOf(hlo.OpComplex, m.Shape(x).WithType(m.t), nil, x, m.like(x, 0))
}

// abs is absolute values, which are real.
func (m mat) abs(x hlo.InstrID) hlo.InstrID {
	s := m.Shape(x)
	if s.Type().IsComplex() {
		s = s.WithType(s.Type().ComponentType())
	}
	return m.OpOf(hlo.OpAbs, s, nil, x)
}

// turned is the transposed matrices.
func (m mat) turned(x hlo.InstrID) hlo.InstrID { return m.Transpose(x, 0, 2, 1) }

// adjoint is the transposed conjugates.
func (m mat) adjoint(x hlo.InstrID) hlo.InstrID { return m.turned(m.conj(x)) }

// spread repeats x, whose dimensions are those of the result or 1.
func (m mat) spread(x hlo.InstrID, dims ...int64) hlo.InstrID {
	s := m.Shape(x)
	var axes, kept []int64
	for i, d := range s.Dimensions() {
		if d == dims[i] {
			axes, kept = append(axes, int64(i)), append(kept, d)
		}
	}
	if len(kept) == len(dims) {
		return x
	}
	return m.Broadcast(m.Reshape(x, kept...), axes, dims...)
}

// over repeats x over the matrices of like.
func (m mat) over(x, like hlo.InstrID) hlo.InstrID { return m.spread(x, m.Shape(like).Dimensions()...) }

// at is the places from which a slice of one row, or column, i begins.
func (m mat) at(axis int, i hlo.InstrID) []hlo.InstrID {
	zero := m.Int(m.Shape(i).Type(), 0)
	places := []hlo.InstrID{zero, zero, zero}
	places[axis] = i
	return places
}

// row is row i, [b, 1, cols]; col is column i, [b, rows, 1].
func (m mat) row(x, i hlo.InstrID) hlo.InstrID {
	return m.DynamicSlice(x, m.at(1, i), m.b, 1, m.cols(x))
}
func (m mat) col(x, i hlo.InstrID) hlo.InstrID {
	return m.DynamicSlice(x, m.at(2, i), m.b, m.rows(x), 1)
}

// set puts v, which begins at row or column i, into x.
func (m mat) set(x, v hlo.InstrID, axis int, i hlo.InstrID) hlo.InstrID {
	return m.DynamicUpdateSlice(x, v, m.at(axis, i)...)
}

// block is rows r0 to r1 of columns c0 to c1.
func (m mat) block(x hlo.InstrID, r0, r1, c0, c1 int64) hlo.InstrID {
	return m.SliceAxis(m.SliceAxis(x, 1, r0, r1), 2, c0, c1)
}

// put replaces the block that begins at row r and column c.
func (m mat) put(x, v hlo.InstrID, r, c int64) hlo.InstrID {
	if m.Shape(x).EqualIgnoringLayout(m.Shape(v)) {
		return v
	}
	return m.DynamicUpdateSlice(x, v, m.Int(hlo.S32, 0), m.Int(hlo.S32, r), m.Int(hlo.S32, c))
}

// index counts along an axis of arrays shaped like x.
func (m mat) index(x hlo.InstrID, axis int64) hlo.InstrID {
	return m.Iota(hlo.S32, axis, m.Shape(x).Dimensions()...)
}

// where compares the row (axis 1) or column (axis 2) of each element with i.
func (m mat) where(x hlo.InstrID, axis int64, d hlo.Direction, i hlo.InstrID) hlo.InstrID {
	return m.Compare(d, m.index(x, axis), m.Fill(i, m.Shape(x).Dimensions()...))
}

// only is the elements of x whose row is related by d to their column, and zero.
func (m mat) only(x hlo.InstrID, d hlo.Direction) hlo.InstrID {
	return m.Select(m.Compare(d, m.index(x, 1), m.index(x, 2)), x, m.like(x, 0))
}

// eye is the matrices with ones where row and column are equal.
func (m mat) eye(rows, cols int64) hlo.InstrID {
	dims := []int64{m.b, rows, cols}
	same := m.Compare(hlo.EQ, m.Iota(hlo.S32, 1, dims...), m.Iota(hlo.S32, 2, dims...))
	return m.Select(same, m.full(m.t, 1, dims...), m.full(m.t, 0, dims...))
}

// loop is [emit.At.For]; one round is written out.
func (m mat) loop(name string, n int64, state []hlo.InstrID, body func(m mat, i hlo.InstrID, state []hlo.InstrID) []hlo.InstrID) []hlo.InstrID {
	if n == 1 {
		return body(m, m.Int(hlo.S32, 0), state)
	}
	return m.For(name, n, state, func(at emit.At, i hlo.InstrID, state []hlo.InstrID) []hlo.InstrID { return body(m.in(at), i, state) })
}

// fold is the rows of x, and its columns, folded into one real number a matrix, [b, 1, 1].
func (m mat) fold(x hlo.InstrID, op hlo.Opcode, init float64) hlo.InstrID {
	t := m.Shape(x).Type()
	return m.Reshape(m.Reduce(x, m.Float(t, init), emit.BinaryComputation(m.C.Editor(), op, t), 1, 2), m.b, 1, 1)
}
