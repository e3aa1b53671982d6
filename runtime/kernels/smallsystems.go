package kernels

import (
	"sync"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// smallSystems is a batch of small triangular systems, solved side by side as [smallProducts] are multiplied: each element of neighbouring matrices is a line, and a row of
// solutions is what is left of the right sides after products of lines, divided by the diagonal.
type smallSystems[T float32 | float64] struct {
	a, b             matrixBatch
	n, cols          int
	unit             bool
	lefts, rights    []int // of the elements of the lower triangle on the left, and of what it is multiplied with: where they are in a matrix
	together         int   // systems
	lines            gemm.Lines[T]
	subtract, divide vec.Loop
	rooms            sync.Pool
}

// mostSmallSystem is the bytes of a system, with its right sides twice, up to which systems are solved side by side: a matrix of [mostSmallFactor] with one or two.
const mostSmallSystem = mostSmallFactor + 1<<9

// newSmallSystems returns nil for systems that are few or not small.
func newSmallSystems[T float32 | float64](x *systemSolver[T], t hlo.PrimitiveType) *smallSystems[T] {
	n, elements := x.a.rows, x.a.len()+2*x.b.len()
	var zero T
	if x.a.batch < leastTogether || elements*sizeOf(zero) > mostSmallSystem {
		return nil
	}
	s := &smallSystems[T]{a: x.a, b: x.b, n: n, cols: x.cols, unit: x.sys.unit, together: linesTogether(x.a.batch, elements), lines: gemm.LinesFor[T]()}
	s.subtract, s.divide = lineLoops[T](t)
	turned, lower := x.sys.transposed != !x.sys.left, x.sys.lower // as in views
	if turned {
		lower = !lower
	}
	at := func(i int) int { // row i of a lower triangle
		if lower {
			return i
		}
		return n - 1 - i
	}
	for i := range n {
		for k := range n {
			if turned {
				s.lefts = append(s.lefts, at(k)*n+at(i))
			} else {
				s.lefts = append(s.lefts, at(i)*n+at(k))
			}
		}
		for j := range x.cols {
			if x.sys.left {
				s.rights = append(s.rights, at(i)*x.cols+j)
			} else {
				s.rights = append(s.rights, j*n+at(i))
			}
		}
	}
	s.rooms.New = func() any { b := make([]byte, (x.a.len()+x.b.len()+1)*s.together*sizeOf(zero)); return &b }
	return s
}

// linesTogether is how many of a batch of matrices, of so many elements each, are side by side.
func linesTogether(batch, elements int) int {
	steps := max(1, min(mostLineSteps, roomOfSmall/(elements*gemm.LineStep)))
	return min(gemm.Padded(batch, gemm.LineStep), gemm.LineStep*((steps-1)|1))
}

// lineLoops subtract and divide lines.
func lineLoops[T float32 | float64](t hlo.PrimitiveType) (subtract, divide vec.Loop) {
	return vec.Find(vec.Of(hlo.OpSubtract, t), eachOf(func(x, y T) T { return x - y })), vec.Find(vec.Of(hlo.OpDivide, t), eachOf(func(x, y T) T { return x / y }))
}

// eachOf is a loop in Go.
func eachOf[T float32 | float64](op func(x, y T) T) vec.Loop {
	return func(n int, d, a, b, _ unsafe.Pointer) {
		z, x, y := unsafe.Slice((*T)(d), n), unsafe.Slice((*T)(a), n), unsafe.Slice((*T)(b), n)
		for i := range z {
			z[i] = op(x[i], y[i])
		}
	}
}

// tasks is how many pieces the batch has, and grain how many of them are worth handing over.
func (s *smallSystems[T]) tasks() int { return (s.a.batch-1)/s.together + 1 }
func (s *smallSystems[T]) grain() int {
	return 1 + elementsOfTask/(s.together*(s.a.len()+2*s.b.len()))
}

// pieces solves pieces of the batch.
func (s *smallSystems[T]) pieces(f *runtime.TensorFrame, lo, hi int) {
	var zero T
	size := sizeOf(zero)
	matrix, rights := s.a.len()*size, s.b.len()*size
	room := s.rooms.Get().(*[]byte)
	for piece := lo; piece < hi; piece++ {
		first := piece * s.together
		count := min(s.together, s.a.batch-first)
		n := gemm.Padded(count, gemm.LineStep)
		a, rest := (*room)[:matrix*n], (*room)[matrix*n:]
		b, sum := rest[:rights*n], rest[rights*n:][:n*size]
		toLines(a, f.In(0).Data[first*matrix:], count, s.a.len(), n, s.a.len(), size)
		toLines(b, f.In(1).Data[first*rights:], count, s.b.len(), n, s.b.len(), size)
		s.solve(elems[T](a), elems[T](b), elems[T](sum), n)
		transposeBytes(f.Out(0).Data[first*rights:], b, s.b.len(), count, s.b.len(), n, size)
	}
	s.rooms.Put(room)
}

// solve solves systems in lines of n.
func (s *smallSystems[T]) solve(a, b, sum []T, n int) {
	stepA, stepB := 0, 0
	if s.n > 1 {
		stepA, stepB = s.lefts[1]-s.lefts[0], s.rights[s.cols]-s.rights[0]
	}
	for i := range s.n {
		for j := range s.cols {
			x := b[s.rights[i*s.cols+j]*n:][:n]
			if i > 0 {
				s.products(i, sum, a, s.lefts[i*s.n], stepA, b, s.rights[j], stepB, n)
				s.subtract(n, unsafe.Pointer(&x[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&sum[0]), nil)
			}
			if !s.unit {
				s.divide(n, unsafe.Pointer(&x[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&a[s.lefts[i*s.n+i]*n]), nil)
			}
		}
	}
}

// products sets sum to that of k products of lines, which are steps apart; where they go backwards, so do both.
func (s *smallSystems[T]) products(k int, sum, a []T, atA, stepA int, b []T, atB, stepB, n int) {
	if stepA < 0 {
		atA, atB, stepA, stepB = atA+(k-1)*stepA, atB+(k-1)*stepB, -stepA, -stepB
	}
	s.lines(k, sum, a[atA*n:], stepA*n, b[atB*n:], stepB*n)
}
