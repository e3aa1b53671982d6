package eval

import (
	"fmt"
	"math"

	"github.com/gohalo/halo/hlo"
)

// Linear algebra, normalisation and transforms.
func init() {
	register(map[hlo.Opcode]Kernel{
		hlo.OpCholesky:           cholesky,
		hlo.OpTriangularSolve:    triangularSolve,
		hlo.OpFft:                fft,
		hlo.OpBatchNormTraining:  batchNormTraining,
		hlo.OpBatchNormInference: batchNormInference,
		hlo.OpBatchNormGrad:      batchNormGrad,
	})
}

// scalar is what matrices hold: real or complex numbers.
type scalar interface{ float64 | complex128 }

// field is the arithmetic that differs between the two.
type field[T scalar] struct {
	conj   func(T) T
	divide func(a, b T) T
	real   func(T) float64
	of     func(float64) T
}

var reals = field[float64]{
	conj:   func(x float64) float64 { return x },
	divide: func(a, b float64) float64 { return a / b },
	real:   func(x float64) float64 { return x },
	of:     func(x float64) float64 { return x },
}

var complexNumbers = field[complex128]{
	conj:   func(z complex128) complex128 { return complex(real(z), -imag(z)) },
	divide: complexDivide,
	real:   func(z complex128) float64 { return real(z) },
	of:     func(x float64) complex128 { return complex(x, 0) },
}

// squareMatrices checks that l is a batch of square matrices and returns batch and size.
func squareMatrices(l *hlo.Literal) (batch, n int, err error) {
	d := dimsOf(l.Shape())
	if len(d) < 2 || d[len(d)-1] != d[len(d)-2] || classOf(l.Shape().Type()) == integers {
		return 0, 0, fmt.Errorf("%v is not a batch of square matrices", l.Shape())
	}
	n = d[len(d)-1]
	return product(d[:len(d)-2]), n, nil
}

func cholesky(c *Call) (*hlo.Literal, error) {
	batch, n, err := squareMatrices(c.Args[0])
	if err != nil {
		return nil, err
	}
	lower := hlo.AttrsOf[hlo.CholeskyAttrs](c.In).Lower
	s := c.Args[0].Shape()
	if s.Type().IsComplex() {
		v := complexOf(c.Args[0])
		for i := range batch {
			choleskyOrNaN(v[i*n*n:(i+1)*n*n], n, lower, complexNumbers)
		}
		return packComplex(s, v)
	}
	v := floatsOf(c.Args[0])
	for i := range batch {
		choleskyOrNaN(v[i*n*n:(i+1)*n*n], n, lower, reals)
	}
	return packFloats(s, v)
}

// choleskyOrNaN factors a in place; the other triangle becomes zero. Where a is not positive definite, everything becomes NaN.
func choleskyOrNaN[T scalar](a []T, n int, lower bool, f field[T]) {
	if factorCholesky(a, n, lower, f) >= 0 {
		nan := f.of(math.NaN())
		for i := range a {
			a[i] = nan
		}
	}
}

// factorCholesky returns the first column whose pivot is not positive, or -1. Only the named triangle is read.
func factorCholesky[T scalar](a []T, n int, lower bool, f field[T]) int {
	l := make([]T, n*n)
	for i := range n {
		for j := range i + 1 {
			if lower {
				l[i*n+j] = a[i*n+j]
			} else {
				l[i*n+j] = f.conj(a[j*n+i])
			}
		}
	}
	failed := -1
	for j := 0; j < n && failed < 0; j++ {
		row := l[j*n : j*n+j+1]
		pivot := f.real(row[j])
		for _, x := range row[:j] {
			pivot -= f.real(x * f.conj(x))
		}
		if !(pivot > 0) {
			failed = j
			break
		}
		d := f.of(math.Sqrt(pivot))
		row[j] = d
		for i := j + 1; i < n; i++ {
			sum := l[i*n+j]
			for k, x := range row[:j] {
				sum -= l[i*n+k] * f.conj(x)
			}
			l[i*n+j] = f.divide(sum, d)
		}
	}
	for i := range n {
		for j := range n {
			switch {
			case lower:
				a[i*n+j] = l[i*n+j]
			default:
				a[i*n+j] = f.conj(l[j*n+i])
			}
		}
	}
	return failed
}

func triangularSolve(c *Call) (*hlo.Literal, error) {
	a := hlo.AttrsOf[hlo.TriangularSolveAttrs](c.In)
	return solveTriangular(c.Args[0], c.Args[1], triangularSystem{
		left: a.LeftSide, lower: a.Lower, unit: a.UnitDiagonal,
		transposed: a.TransposeA == hlo.TransposeA || a.TransposeA == hlo.AdjointA, conjugated: a.TransposeA == hlo.AdjointA,
	})
}

// triangularSystem is op(A)·X = B, or X·op(A) = B, for the named triangle of A.
type triangularSystem struct{ left, lower, unit, transposed, conjugated bool }

// solveTriangular solves a batch of systems.
func solveTriangular(a, b *hlo.Literal, sys triangularSystem) (*hlo.Literal, error) {
	batch, n, err := squareMatrices(a)
	if err != nil {
		return nil, err
	}
	d := dimsOf(b.Shape())
	if len(d) < 2 || product(d[:len(d)-2]) != batch || a.Shape().Type() != b.Shape().Type() {
		return nil, fmt.Errorf("%v with %v", a.Shape(), b.Shape())
	}
	rows, cols := d[len(d)-2], d[len(d)-1]
	if sys.left && rows != n || !sys.left && cols != n {
		return nil, fmt.Errorf("%v with %v", a.Shape(), b.Shape())
	}
	if a.Shape().Type().IsComplex() {
		x := complexOf(b)
		solveBatch(complexOf(a), x, batch, n, rows, cols, sys, complexNumbers)
		return packComplex(b.Shape(), x)
	}
	x := floatsOf(b)
	solveBatch(floatsOf(a), x, batch, n, rows, cols, sys, reals)
	return packFloats(b.Shape(), x)
}

// solveBatch replaces each right side by the solution.
func solveBatch[T scalar](a, x []T, batch, n, rows, cols int, sys triangularSystem, f field[T]) {
	// Element (i, j) of the matrix that multiplies X from the left, X taken transposed when it stands on the left itself.
	transposed := sys.transposed != !sys.left
	lower := sys.lower != transposed
	vectors, step, stride := cols, 1, cols // of X: number of unknown vectors, distance of vectors, distance of their elements
	if !sys.left {
		vectors, step, stride = rows, cols, 1
	}
	for k := range batch {
		m, v := a[k*n*n:(k+1)*n*n], x[k*rows*cols:(k+1)*rows*cols]
		at := func(i, j int) T {
			if transposed {
				i, j = j, i
			}
			if sys.conjugated {
				return f.conj(m[i*n+j])
			}
			return m[i*n+j]
		}
		for c := range vectors {
			for p := range n {
				i, from, to := p, 0, p
				if !lower {
					i = n - 1 - p
					from, to = i+1, n
				}
				sum := v[c*step+i*stride]
				for j := from; j < to; j++ {
					sum -= at(i, j) * v[c*step+j*stride]
				}
				if !sys.unit {
					sum = f.divide(sum, at(i, i))
				}
				v[c*step+i*stride] = sum
			}
		}
	}
}
