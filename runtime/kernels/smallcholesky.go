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

// mostSmallFactor is the bytes of a matrix up to which factorisations that go along lines work on matrices side by side.
const mostSmallFactor = 1 << 12

// smallCholesky factorises a batch of small matrices side by side: each element of neighbouring matrices is a line. Column after column, products of lines are
// subtracted, and what is left is divided by the root of its diagonal.
type smallCholesky[T float32 | float64] struct {
	m                matrixBatch
	row, col         int  // how many lines apart rows and columns of the factor are: an upper one is the transposed of a lower one
	isLapack         bool // whose form says which have no factor, and keeps the other triangle
	together         int  // matrices
	lines            gemm.Lines[T]
	subtract, divide vec.Loop
	rooms            sync.Pool
}

// smallCholeskyRoom is what pieces need, of so many matrices side by side.
type smallCholeskyRoom struct {
	lines []byte // of the matrices and of a sum
	fails []bool
}

// newSmallCholesky returns nil for matrices that are few or not small.
func newSmallCholesky[T float32 | float64](m matrixBatch, lower, isLapack bool, t hlo.PrimitiveType) *smallCholesky[T] {
	var zero T
	if m.batch < leastTogether || m.len()*sizeOf(zero) > mostSmallFactor {
		return nil
	}
	s := &smallCholesky[T]{m: m, row: m.cols, col: 1, isLapack: isLapack, together: linesTogether(m.batch, m.len()), lines: gemm.LinesFor[T]()}
	if !lower {
		s.row, s.col = s.col, s.row
	}
	s.subtract, s.divide = lineLoops[T](t)
	s.rooms.New = func() any {
		return &smallCholeskyRoom{lines: make([]byte, (m.len()+1)*s.together*sizeOf(zero)), fails: make([]bool, s.together)}
	}
	return s
}

// tasks is how many pieces the batch has, and grain how many of them are worth handing over.
func (s *smallCholesky[T]) tasks() int { return (s.m.batch-1)/s.together + 1 }
func (s *smallCholesky[T]) grain() int {
	return 1 + elementsOfTask/(s.together*s.m.len()*s.m.rows)
}

// pieces factorises pieces of the batch.
func (s *smallCholesky[T]) pieces(f *runtime.TensorFrame, lo, hi int) {
	var zero T
	size := sizeOf(zero)
	matrix := s.m.len() * size
	room := s.rooms.Get().(*smallCholeskyRoom)
	for piece := lo; piece < hi; piece++ {
		first := piece * s.together
		count := min(s.together, s.m.batch-first)
		n := gemm.Padded(count, gemm.LineStep)
		a, sum := room.lines[:matrix*n], room.lines[matrix*n:][:n*size]
		toLines(a, f.In(0).Data[first*matrix:], count, s.m.len(), n, s.m.len(), size)
		fails := room.fails[:count]
		clear(fails)
		s.factor(elems[T](a), elems[T](sum), n, fails)
		s.finish(elems[T](a), n, fails)
		transposeBytes(f.Out(0).Data[first*matrix:], a, s.m.len(), count, s.m.len(), n, size)
		if s.isLapack {
			for b, failed := range fails {
				elems[int32](f.Out(1).Data)[first+b] = 0
				if failed {
					elems[int32](f.Out(1).Data)[first+b] = 1
				}
			}
		}
	}
	s.rooms.Put(room)
}

// factor replaces the triangle by the factor, in lines of n, and says which of so many matrices have none.
func (s *smallCholesky[T]) factor(a, sum []T, n int, fails []bool) {
	for j := range s.m.rows {
		top := a[j*s.row*n:]
		diagonal := top[j*s.col*n:][:n]
		for i := j; i < s.m.rows; i++ {
			row := a[i*s.row*n:]
			x := unsafe.Pointer(&row[j*s.col*n])
			if j > 0 {
				s.lines(j, sum, row, s.col*n, top, s.col*n)
				s.subtract(n, x, x, unsafe.Pointer(&sum[0]), nil)
			}
			if i > j {
				s.divide(n, x, x, unsafe.Pointer(&diagonal[0]), nil)
				continue
			}
			for b := range fails {
				pivot := float64(diagonal[b])
				if !(pivot > 0) || math.IsInf(pivot, 1) {
					fails[b], pivot = true, 1
				}
				diagonal[b] = T(math.Sqrt(pivot))
			}
		}
	}
}

// finish writes what is not of the factor: zeros beside it, or NaN where there is none.
func (s *smallCholesky[T]) finish(a []T, n int, fails []bool) {
	if s.isLapack {
		return
	}
	for i := range s.m.rows {
		for j := i + 1; j < s.m.rows; j++ {
			clear(a[(i*s.row+j*s.col)*n:][:n])
		}
	}
	for b, failed := range fails {
		if failed {
			for k := b; k < len(a); k += n {
				a[k] = T(math.NaN())
			}
		}
	}
}
