package kernels

import (
	"math"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/factor"
)

// Systems and factorisations of matrices are computed by blocks, in the element type. Where that gives no numbers the
// evaluator decides which of them are infinite: it divides where the blocks subtract multiples.

// byType calls the function for the type of the operands.
func byType(s *site, f32, f64, c64, c128 chooser) (runtime.Bound, bool) {
	switch s.shape(0).Type() {
	case hlo.F32:
		return f32(s)
	case hlo.F64:
		return f64(s)
	case hlo.C64:
		return c64(s)
	case hlo.C128:
		return c128(s)
	}
	return runtime.Bound{}, false
}

// noChoice is for types that the evaluator serves.
func noChoice(*site) (runtime.Bound, bool) { return runtime.Bound{}, false }

// matrixBatch is the sizes of a batch of matrices.
type matrixBatch struct{ batch, rows, cols int }

func batchOf(s hlo.Shape) (b matrixBatch, ok bool) {
	if s.Rank() < 2 || s.NumElements() == 0 {
		return b, false
	}
	b.rows, b.cols = int(s.Dim(s.Rank()-2)), int(s.Dim(s.Rank()-1))
	b.batch = int(s.NumElements()) / (b.rows * b.cols)
	return b, true
}

func (b matrixBatch) len() int { return b.rows * b.cols }

// isSquare reports whether the matrices are square and worth the trouble.
func (b matrixBatch) isSquare() bool { return b.rows == b.cols && b.rows > 0 }

// triangularSystem is op(A)·X = B, or X·op(A) = B, for the named triangle of A.
type triangularSystem struct{ left, lower, unit, transposed, conjugated bool }

func triangularSolve(s *site) (runtime.Bound, bool) {
	a := hlo.AttrsOf[hlo.TriangularSolveAttrs](s.in)
	return solveSystem(s, triangularSystem{left: a.LeftSide, lower: a.Lower, unit: a.UnitDiagonal,
		transposed: a.TransposeA == hlo.TransposeA || a.TransposeA == hlo.AdjointA, conjugated: a.TransposeA == hlo.AdjointA})
}

func solveSystem(s *site, sys triangularSystem) (runtime.Bound, bool) {
	return byType(s, systemAs[float32](sys), systemAs[float64](sys), systemAs[complex64](sys), systemAs[complex128](sys))
}

// systemAs solves systems of T: first a matrix is packed, then its right sides are solved in parallel.
func systemAs[T factor.Number](sys triangularSystem) chooser {
	return func(s *site) (runtime.Bound, bool) {
		a, ok := batchOf(s.shape(0))
		b, ok2 := batchOf(s.shape(1))
		if !ok || !ok2 || !a.isSquare() || s.shape(1).Type() != s.shape(0).Type() || a.batch != b.batch {
			return runtime.Bound{}, false
		}
		n, unknowns, cols := a.rows, b.rows, b.cols
		if !sys.left {
			unknowns, cols = b.cols, b.rows
		}
		if unknowns != n || !s.in.Shape().EqualIgnoringLayout(s.shape(1)) { // of a call to LAPACK nothing else has checked this
			return runtime.Bound{}, false
		}
		x := &systemSolver[T]{sys: sys, a: a, b: b, cols: cols, slow: evaluated(s)}
		x.triangles.New = func() any { return new(factor.Triangle[T]) }
		x.rooms.New = func() any { return new([]T) }
		x.matrices = newParallelLoop(x.solveMatrices)
		tasks, grain := a.batch, 1+(1<<15)/(1+n*n*cols)
		switch v := any(x).(type) {
		case *systemSolver[float32]:
			v.substitute = factor.Substitute[float32]
			if s := newSmallSystems(v, hlo.F32); s != nil {
				x.matrices, tasks, grain = newParallelLoop(s.pieces), s.tasks(), s.grain()
			}
		case *systemSolver[float64]:
			v.substitute = factor.Substitute[float64]
			if s := newSmallSystems(v, hlo.F64); s != nil {
				x.matrices, tasks, grain = newParallelLoop(s.pieces), s.tasks(), s.grain()
			}
		}
		return runtime.Bound{Code: systemCode(s.shape(0).Type(), sys, a, b), CodeDiffers: true, Run: func(f *runtime.TensorFrame) error {
			x.matrices.run(f, tasks, grain)
			if allFinite(elems[T](f.Out(0).Data)) {
				return nil
			}
			return x.slow.Run(f)
		}}, true
	}
}

// systemSolver solves a batch of systems.
type systemSolver[T factor.Number] struct {
	sys              triangularSystem
	a, b             matrixBatch
	cols             int                                                            // right sides of each matrix
	substitute       func(a factor.Matrix[T], n int, unit bool, b factor.Matrix[T]) // of one right side; nil for complex numbers
	slow             runtime.Bound
	triangles, rooms sync.Pool
	matrices         *parallelLoop
}

func (x *systemSolver[T]) solveMatrices(f *runtime.TensorFrame, lo, hi int) {
	in, out := elems[T](f.In(0).Data), elems[T](f.Out(0).Data)
	copy(out[lo*x.b.len():hi*x.b.len()], elems[T](f.In(1).Data)[lo*x.b.len():])
	t := x.triangles.Get().(*factor.Triangle[T])
	for k := lo; k < hi; k++ {
		a, b := x.views(in[k*x.a.len():], out[k*x.b.len():])
		if x.substitute != nil && x.a.rows <= factor.MostSubstituted && x.cols <= factor.MostSubstitutedSides {
			for j := range x.cols {
				x.substitute(a, x.a.rows, x.sys.unit, b.From(0, j))
			}
			continue
		}
		t.Pack(a, x.a.rows, x.sys.unit)
		panels := (x.cols-1)/t.Width() + 1
		grain := max(1, (1<<15)/(1+x.a.rows*x.a.rows*t.Width()/2))
		if x.a.batch > 1 || panels <= grain {
			x.solve(t, b, 0, panels)
			continue
		}
		f.ParallelFor(panels, grain, func(lo, hi int) { x.solve(t, b, lo, hi) })
	}
	x.triangles.Put(t)
}

// views is the system seen as one of a lower triangle on the left.
func (x *systemSolver[T]) views(a, b []T) (factor.Matrix[T], factor.Matrix[T]) {
	n := x.a.rows
	m, r := factor.Dense(a, n), factor.Dense(b, x.b.cols)
	m.Conjugate = x.sys.conjugated
	lower := x.sys.lower
	if x.sys.transposed {
		m, lower = m.Transposed(), !lower
	}
	if !x.sys.left {
		m, lower, r = m.Transposed(), !lower, r.Transposed()
	}
	if !lower {
		m, r = m.Reversed(n), r.RowsReversed(n)
	}
	return m, r
}

// solve solves groups of right sides.
func (x *systemSolver[T]) solve(t *factor.Triangle[T], b factor.Matrix[T], lo, hi int) {
	room := x.rooms.Get().(*[]T)
	for p := lo; p < hi; p++ {
		j := p * t.Width()
		*room = t.Solve(b.From(0, j), min(t.Width(), x.cols-j), *room)
	}
	x.rooms.Put(room)
}

// allFinite reports whether no element is infinite or NaN.
func allFinite[T factor.Number](v []T) bool {
	for ; len(v) >= 4; v = v[4:] { // of what is finite, all differences are 0
		if ((v[0]-v[0])+(v[1]-v[1]))+((v[2]-v[2])+(v[3]-v[3])) != 0 {
			return false
		}
	}
	for _, x := range v {
		if x-x != 0 {
			return false
		}
	}
	return true
}

func cholesky(s *site) (runtime.Bound, bool) {
	lower := hlo.AttrsOf[hlo.CholeskyAttrs](s.in).Lower
	return byType(s, choleskyAs[float32](lower, false), choleskyAs[float64](lower, false), choleskyAs[complex64](lower, false), choleskyAs[complex128](lower, false))
}

// choleskyAs factorises matrices of T. LAPACK's form says which have no factor, and keeps the other triangle.
func choleskyAs[T factor.Number](lower, isLapack bool) chooser {
	return func(s *site) (runtime.Bound, bool) {
		m, ok := batchOf(s.shape(0))
		if !ok || !m.isSquare() || isLapack && !lapackResults(s, 2) {
			return runtime.Bound{}, false
		}
		slow := evaluated(s)
		workers := sync.Pool{New: func() any { return new(choleskyWorker[T]) }}
		loop := newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
			w := workers.Get().(*choleskyWorker[T])
			for k := lo; k < hi; k++ {
				w.factor(f, k, m, lower, isLapack)
			}
			workers.Put(w)
		})
		tasks, grain := m.batch, 1+(1<<15)/(1+m.len()*m.rows)
		var zero T
		switch any(zero).(type) {
		case float32:
			if s := newSmallCholesky[float32](m, lower, isLapack, hlo.F32); s != nil {
				loop, tasks, grain = newParallelLoop(s.pieces), s.tasks(), s.grain()
			}
		case float64:
			if s := newSmallCholesky[float64](m, lower, isLapack, hlo.F64); s != nil {
				loop, tasks, grain = newParallelLoop(s.pieces), s.tasks(), s.grain()
			}
		}
		return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
			loop.run(f, tasks, grain)
			if !isLapack {
				return nil
			}
			for _, bad := range elems[int32](f.Out(1).Data) {
				if bad != 0 {
					return slow.Run(f) // which says where
				}
			}
			return nil
		}}, true
	}
}

// choleskyWorker is what one goroutine needs.
type choleskyWorker[T factor.Number] struct {
	c factor.Cholesky[T]
	a []T
}

func (w *choleskyWorker[T]) factor(f *runtime.TensorFrame, k int, m matrixBatch, lower, isLapack bool) {
	n := m.rows
	in, out := elems[T](f.In(0).Data)[k*m.len():][:m.len()], elems[T](f.Out(0).Data)[k*m.len():][:m.len()]
	a, inPlace := out, lower && &in[0] != &out[0]
	if !inPlace {
		if len(w.a) < m.len() {
			w.a = make([]T, m.len())
		}
		a = w.a
	}
	// An upper factor is the adjoint of the lower one of the matrix that the upper triangle says.
	src, dst := factor.Dense(in, n), factor.Dense(out, n)
	if !lower {
		src, dst = src.Transposed(), dst.Transposed()
	}
	for i := range n {
		src.CopyRow(a[i*n:][:i+1], i, 0)
		if !lower {
			factor.Conjugate(a[i*n:][:i+1])
		}
	}
	ok := w.c.Factor(factor.Dense(a, n), n)
	for i := range n {
		row := a[i*n:][:n]
		if !lower {
			factor.Conjugate(row[:i+1])
		}
		if !ok && !isLapack {
			for j := range row {
				row[j] = factor.Real[T](math.NaN())
			}
		} else if isLapack {
			src.CopyRow(row[i+1:], i, i+1)
		} else {
			clear(row[i+1:])
		}
		if !inPlace {
			dst.SetRow(i, row)
		}
	}
	if isLapack {
		info := int32(0)
		if !ok {
			info = 1
		}
		elems[int32](f.Out(1).Data)[k] = info
	}
}

// luAs is LAPACK's getrf: the factors, the rows exchanged (from 1), and the first zero pivot.
func luAs[T factor.Number](s *site) (runtime.Bound, bool) {
	m, ok := batchOf(s.shape(0))
	if !ok || min(m.rows, m.cols) == 0 || !lapackResults(s, 3) {
		return runtime.Bound{}, false
	}
	var zero T
	switch any(zero).(type) {
	case float32:
		if small := newSmallLU[float32](m, hlo.F32); small != nil {
			return small.bound(), true
		}
	case float64:
		if small := newSmallLU[float64](m, hlo.F64); small != nil {
			return small.bound(), true
		}
	}
	workers := sync.Pool{New: func() any { return new(factor.LU[T]) }}
	loop := newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
		lu, k := workers.Get().(*factor.LU[T]), min(m.rows, m.cols)
		out, pivots, info := elems[T](f.Out(0).Data), elems[int32](f.Out(1).Data), elems[int32](f.Out(2).Data)
		copy(out[lo*m.len():hi*m.len()], elems[T](f.In(0).Data)[lo*m.len():])
		for b := lo; b < hi; b++ {
			p := pivots[b*k:][:k]
			info[b] = int32(lu.Factor(factor.Dense(out[b*m.len():][:m.len()], m.cols), m.rows, m.cols, p) + 1)
			for i := range p {
				p[i]++
			}
		}
		workers.Put(lu)
	})
	return loop.bound(m.batch, 1+(1<<15)/(1+m.len()*min(m.rows, m.cols))), true
}

// lapackResults reports whether a call has n results, the first like the operand and the others of s32.
func lapackResults(s *site, n int) bool {
	r := s.in.Shape()
	if !r.IsTuple() || r.NumElems() != n || !r.Elem(0).EqualIgnoringLayout(s.shape(0)) {
		return false
	}
	for i := 1; i < n; i++ {
		if r.Elem(i).Type() != hlo.S32 {
			return false
		}
	}
	return true
}

// lapackCall serves the calls to LAPACK that blocks make fast.
func lapackCall(s *site) (runtime.Bound, bool) {
	element, routine, ok := hlo.Lapack(hlo.AttrsOf[hlo.CustomCallAttrs](s.in).Target)
	if !ok {
		return runtime.Bound{}, false
	}
	letters := map[byte]hlo.PrimitiveType{'s': hlo.F32, 'd': hlo.F64, 'c': hlo.C64, 'z': hlo.C128}
	if s.in.NumOperands() == 0 || s.shape(0).Type() != letters[element] {
		return runtime.Bound{}, false
	}
	switch routine {
	case "trsm":
		if s.in.NumOperands() < 2 || !s.in.Shape().IsArray() {
			return runtime.Bound{}, false
		}
		trans, says := hlo.LapackChoice(s.in, "trans_x")
		if !says {
			return runtime.Bound{}, false // the evaluator says what is missing
		}
		return solveSystem(s, triangularSystem{left: lapackOption(s.in, "side", 'L') == 'L', lower: lapackOption(s.in, "uplo", 'L') == 'L',
			unit: lapackOption(s.in, "diag", 'N') == 'U', transposed: trans != 'N', conjugated: trans == 'C'})
	case "potrf":
		lower := lapackOption(s.in, "uplo", 'L') == 'L'
		return byType(s, choleskyAs[float32](lower, true), choleskyAs[float64](lower, true), choleskyAs[complex64](lower, true), choleskyAs[complex128](lower, true))
	case "getrf":
		return byType(s, luAs[float32], luAs[float64], luAs[complex64], luAs[complex128])
	case "geqrf":
		return byType(s, geqrfAs[float32], geqrfAs[float64], geqrfAs[complex64], geqrfAs[complex128])
	case "gtsv":
		return byType(s, gtsvAs[float32], gtsvAs[float64], noChoice, noChoice)
	case "geev":
		return byType(s, geevAs[float32, complex64], geevAs[float64, complex128], noChoice, noChoice)
	case "syevd", "heevd":
		return byType(s, syevdAs[float32, float32], syevdAs[float64, float64], syevdAs[complex64, float32], syevdAs[complex128, float64])
	case "gesdd", "gesvd":
		return byType(s, gesddAs[float32, float32], gesddAs[float64, float64], gesddAs[complex64, float32], gesddAs[complex128, float64])
	case "ormqr", "unmqr":
		return byType(s, ormqrAs[float32], ormqrAs[float64], ormqrAs[complex64], ormqrAs[complex128])
	case "orgqr", "ungqr":
		return byType(s, orgqrAs[float32], orgqrAs[float64], orgqrAs[complex64], orgqrAs[complex128])
	}
	return runtime.Bound{}, false
}

// lapackOption is a choice of the call, see [hlo.LapackChoice], or the one that JAX makes for Hermitian matrices if the call does not say.
func lapackOption(in hlo.Instruction, key string, otherwise byte) byte {
	if letter, ok := hlo.LapackChoice(in, key); ok {
		return letter
	}
	return otherwise
}
