package kernels

import (
	"sync"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
)

// rowsProduct is a product of a few rows with a matrix that fits no cache. It reads the matrix once from memory, a few of its rows at a time and each for a
// long run, and adds their multiples to all rows of the result while they are near. Panels of columns would jump from page to page.
type rowsProduct[T gemm.Number] struct {
	p      *product[T]
	stride int
	dense  bool // the elements of a row on the left are neighbours
	loops  gemm.Vector[T]
	loop   *parallelLoop
	lefts  sync.Pool
	// together is how many rows of the matrix are read at a time, and run how many elements of each.
	together, run int
}

const (
	mostRowsOfMemory = 8
	leastOfMemory    = 4 << 20 // bytes that do not fit a cache near one processor
	rowsTogether     = 8       // of the matrix
	runOfRows        = 1024    // elements of each
)

// The same of complex numbers: their loops pay from more rows on, and any matrix is better read where it is than written as its parts.
const (
	complexRowsTogether = 32
	runOfComplexRows    = 256
	leastComplexColumns = 32
)

// few returns the form for few rows, or nil where it does not pay.
func (p *product[T]) few() *rowsProduct[T] {
	var zero T
	stride, ok := p.right.RowStride()
	if p.packLeft != nil || p.decode != nil || p.m < 2 || p.m > mostRowsOfMemory || p.k < rowsTogether || !ok || stride < p.n {
		return nil
	}
	r := &rowsProduct[T]{p: p, stride: stride, dense: evenStep(p.left.Ks) == 1, loops: gemm.VectorFor[T](), together: rowsTogether, run: runOfRows}
	switch any(zero).(type) {
	case complex64, complex128:
		r.together, r.run = complexRowsTogether, runOfComplexRows
		if p.n < leastComplexColumns {
			return nil
		}
	default:
		if p.n < runOfRows || p.k*p.n*sizeOf(zero) < leastOfMemory {
			return nil
		}
	}
	r.lefts.New = func() any { b := make([]T, p.m*p.k); return &b }
	r.loop = newParallelLoop(r.runs)
	return r
}

func (r *rowsProduct[T]) compute(f *runtime.TensorFrame) {
	r.loop.run(f, r.p.batch*((r.p.n-1)/r.run+1), 1+(1<<15)/(r.p.m*r.p.k*min(r.run, r.p.n)))
}

// runs computes runs of all rows of the result.
func (r *rowsProduct[T]) runs(f *runtime.TensorFrame, lo, hi int) {
	p := r.p
	left, right, out := elems[T](p.lhs.of(f)), elems[T](p.rhs.of(f)), elems[T](p.out.of(f))
	room := r.lefts.Get().(*[]T)
	blocks := (p.n-1)/r.run + 1
	last := -1
	for task := lo; task < hi; task++ {
		b, j := task/blocks, task%blocks*r.run
		n := min(r.run, p.n-j)
		if b != last {
			r.gather(*room, left[p.leftBatch[b]:])
			last = b
		}
		for i := range p.m {
			clear(out[(b*p.m+i)*p.n+j:][:n])
		}
		from := right[p.rightBatch[b]+p.right.Rows[j]+p.right.Ks[0]:]
		for k := 0; k < p.k; k += r.together {
			m := min(r.together, p.k-k)
			for i := range p.m {
				r.loops.Combine((*room)[i*p.k+k:][:m], from[k*r.stride:], r.stride, out[(b*p.m+i)*p.n+j:][:n])
			}
		}
	}
	r.lefts.Put(room)
}

// gather copies the rows on the left one behind the other.
func (r *rowsProduct[T]) gather(to, left []T) {
	p := r.p
	for i, row := range p.left.Rows {
		if r.dense {
			copy(to[i*p.k:][:p.k], left[row+p.left.Ks[0]:])
			continue
		}
		for k, at := range p.left.Ks {
			to[i*p.k+k] = left[row+at]
		}
	}
}
