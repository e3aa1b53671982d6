package kernels

import (
	"math"
	"sync"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// smallLU factorises a batch of small matrices side by side, with partial pivoting: each element of neighbouring matrices is a line. Column after column, what those before
// take from it is subtracted; each matrix finds its own pivot, and exchanges its rows; and the lines below are divided.
type smallLU[T float32 | float64] struct {
	m                matrixBatch
	steps            int // pivots
	together         int // matrices
	lines            gemm.Lines[T]
	subtract, divide vec.Loop
	rooms            sync.Pool
}

// smallLURoom is what pieces need, of so many matrices side by side.
type smallLURoom[T float32 | float64] struct {
	lines []byte // of the matrices and of a sum
	most  []T    // magnitudes of pivots
	pivot []int32
}

// newSmallLU returns nil for matrices that are few or not small.
func newSmallLU[T float32 | float64](m matrixBatch, t hlo.PrimitiveType) *smallLU[T] {
	var zero T
	if m.batch < leastTogether || m.len()*sizeOf(zero) > mostSmallFactor {
		return nil
	}
	s := &smallLU[T]{m: m, steps: min(m.rows, m.cols), together: linesTogether(m.batch, m.len()), lines: gemm.LinesFor[T]()}
	s.subtract, s.divide = lineLoops[T](t)
	s.rooms.New = func() any {
		return &smallLURoom[T]{lines: make([]byte, (m.len()+1)*s.together*sizeOf(zero)), most: make([]T, s.together), pivot: make([]int32, s.together)}
	}
	return s
}

func (s *smallLU[T]) bound() runtime.Bound {
	return newParallelLoop(s.pieces).bound((s.m.batch-1)/s.together+1, 1+elementsOfTask/(s.together*s.m.len()*s.steps))
}

// pieces factorises pieces of the batch.
func (s *smallLU[T]) pieces(f *runtime.TensorFrame, lo, hi int) {
	var zero T
	size := sizeOf(zero)
	matrix := s.m.len() * size
	room := s.rooms.Get().(*smallLURoom[T])
	for piece := lo; piece < hi; piece++ {
		first := piece * s.together
		count := min(s.together, s.m.batch-first)
		n := gemm.Padded(count, gemm.LineStep)
		a, sum := room.lines[:matrix*n], room.lines[matrix*n:][:n*size]
		toLines(a, f.In(0).Data[first*matrix:], count, s.m.len(), n, s.m.len(), size)
		info := elems[int32](f.Out(2).Data)[first:][:count]
		clear(info)
		s.factor(room, elems[T](a), elems[T](sum), n, elems[int32](f.Out(1).Data)[first*s.steps:][:count*s.steps], info)
		transposeBytes(f.Out(0).Data[first*matrix:], a, s.m.len(), count, s.m.len(), n, size)
	}
	s.rooms.Put(room)
}

// factor factorises matrices in lines of n, of which as many count as info has elements.
func (s *smallLU[T]) factor(room *smallLURoom[T], a, sum []T, n int, pivots, info []int32) {
	cols := s.m.cols
	line := func(i, j int) []T { return a[(i*cols+j)*n:][:n] }
	for j := range cols {
		for i := 1; i < s.m.rows; i++ {
			if k := min(i, j); k > 0 {
				x := line(i, j)
				s.lines(k, sum, a[i*cols*n:], n, a[j*n:], cols*n)
				s.subtract(n, unsafe.Pointer(&x[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&sum[0]), nil)
			}
		}
		if j >= s.steps {
			continue
		}
		s.findPivots(room, line, j, len(info))
		for b := range info {
			p := int(room.pivot[b])
			pivots[b*s.steps+j] = int32(p + 1)
			if p == j {
				continue
			}
			for k := range cols {
				x, y := &a[(j*cols+k)*n+b], &a[(p*cols+k)*n+b]
				*x, *y = *y, *x
			}
		}
		by := sum
		for b, x := range line(j, j) {
			if x == 0 { // all below is zero, and stays so
				if x = 1; b < len(info) && info[b] == 0 {
					info[b] = int32(j + 1)
				}
			}
			by[b] = x
		}
		for i := j + 1; i < s.m.rows; i++ {
			x := line(i, j)
			s.divide(n, unsafe.Pointer(&x[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&by[0]), nil)
		}
	}
}

// findPivots finds the row of the largest element of column j on and below the diagonal, the first of several, for so many matrices.
func (s *smallLU[T]) findPivots(room *smallLURoom[T], line func(i, j int) []T, j, count int) {
	most, pivot := room.most[:count], room.pivot[:count]
	for b, x := range line(j, j)[:count] {
		most[b], pivot[b] = T(math.Abs(float64(x))), int32(j) // which it stays if this is NaN, as LAPACK has it
	}
	for i := j + 1; i < s.m.rows; i++ {
		for b, x := range line(i, j)[:count] {
			if v := T(math.Abs(float64(x))); v > most[b] {
				most[b], pivot[b] = v, int32(i)
			}
		}
	}
}
