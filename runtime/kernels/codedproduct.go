package kernels

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
	"github.com/gohalo/halo/runtime/kernels/native"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// codedProduct is a product of small matrices, or of many rows with a small one, that becomes machine code once it has run for a while: blocks fit its sizes, and nothing is
// packed. Sums are added up in the order of the kernel that it replaces, so they are the same bits.
type codedProduct[T gemm.Number] struct {
	p           *product[T]
	as          native.Product
	strip       int           // rows that are multiplied together, all or a part
	strips      *parallelLoop // of them, if they are a part
	left, right int           // where the matrices begin in a batch, in elements
	turned      section       // of scratch, for a right side whose columns lie together, if isTurned
	isTurned    bool
	columnStep  int // of such a right side
	runs        atomic.Int32
	once        sync.Once
	code, last  atomic.Pointer[native.ProductCode] // last is for the last strip, if that is shorter
}

const (
	mostCoded   = 1 << 16 // products of numbers, up to which blocks that fit save much; for each of a few columns and steps they do whatever the rows
	stripCoded  = 1 << 18 // products of numbers that are worth a strip of their own
	payingCalls = 16      // from which on making code pays
)

// coded returns the form for small matrices, or nil for others and for kernels in which sums of more than one part are added up.
func (p *product[T]) coded() *codedProduct[T] {
	var zero T
	switch any(zero).(type) {
	case float32, float64:
	default:
		return nil
	}
	size := sizeOf(zero)
	isSmall := p.m*p.n*p.k <= mostCoded
	if p.packLeft != nil || p.placed != nil || p.decode != nil || min(p.m, p.n, p.k) < 1 || p.k > gemm.KC || !isSmall && !p.hasManyRows() {
		return nil
	}
	leftRow, isEven := step(p.left.Rows)
	leftK, isEvenToo := step(p.left.Ks)
	if !isEven || !isEvenToo {
		return nil
	}
	c := &codedProduct[T]{p: p, left: p.left.Rows[0] + p.left.Ks[0], right: p.right.Rows[0] + p.right.Ks[0]}
	c.strip = p.m
	if !isSmall {
		c.strip = min(p.m, gemm.Padded(stripCoded/(p.n*p.k)+1, rowsOfStrip))
		c.strips = newParallelLoop(c.runStrips)
	}
	c.as = native.Product{M: c.strip, N: p.n, K: p.k, Double: size == 8, LeftRow: leftRow * size, LeftK: leftK * size}
	if stride, ok := p.right.RowStride(); ok && stride >= p.n {
		c.as.RightRow = stride * size
		return c
	}
	if !isSmall {
		return nil
	}
	if c.columnStep, isEven = step(p.right.Rows); !isEven || !p.right.LinearKs() {
		return nil
	}
	c.isTurned, c.as.RightRow = true, p.n*size
	c.turned = p.ends.scratch.take(int64(p.k * p.n * size))
	return c
}

// step is the distance of neighbouring offsets if that is always the same and not negative.
func step(offsets []int) (int, bool) {
	if len(offsets) == 1 {
		return 0, true
	}
	s := evenStep(offsets)
	return s, s > 0
}

// run computes the product, unless there is no code yet, or none at all.
func (c *codedProduct[T]) run(f *runtime.TensorFrame) bool {
	code := c.code.Load()
	if code == nil {
		if c.runs.Load() > payingCalls || c.runs.Add(1) < payingCalls {
			return false
		}
		c.once.Do(func() {
			c.runs.Store(payingCalls + 1)
			c.compile()
		})
		if code = c.code.Load(); code == nil {
			return false
		}
	}
	p := c.p
	if c.strips != nil {
		c.strips.run(f, p.batch*((p.m-1)/c.strip+1), 1)
		return true
	}
	left, right, out := elems[T](p.lhs.of(f)), elems[T](p.rhs.of(f)), elems[T](p.out.of(f))
	for b := range p.batch {
		r := right[p.rightBatch[b]+c.right:]
		if c.isTurned {
			to := c.turned.of(f)
			transposeBytes(to, bytesOf(r), p.n, p.k, p.n, c.columnStep, sizeOf(r[0]))
			r = elems[T](to)
		}
		code.Run(unsafe.Pointer(&out[b*p.m*p.n]), unsafe.Pointer(&left[p.leftBatch[b]+c.left]), unsafe.Pointer(&r[0]))
	}
	return true
}

// compile makes the code, that of the last strip first.
func (c *codedProduct[T]) compile() {
	if rest := c.p.m % c.strip; rest > 0 {
		short := c.as
		short.M = rest
		made, ok := short.Compile()
		if !ok {
			return
		}
		c.last.Store(made)
	}
	if made, ok := c.as.Compile(); ok {
		c.code.Store(made)
	}
}

// runStrips computes strips of the batches, one after the other.
func (c *codedProduct[T]) runStrips(f *runtime.TensorFrame, lo, hi int) {
	p := c.p
	left, right, out := elems[T](p.lhs.of(f)), elems[T](p.rhs.of(f)), elems[T](p.out.of(f))
	strips := (p.m-1)/c.strip + 1
	for s := lo; s < hi; s++ {
		b, i := s/strips, s%strips*c.strip
		code := c.code.Load()
		if i+c.strip > p.m {
			code = c.last.Load()
		}
		code.Run(unsafe.Pointer(&out[(b*p.m+i)*p.n]), unsafe.Pointer(&left[p.leftBatch[b]+c.left+p.left.Rows[i]-p.left.Rows[0]]), unsafe.Pointer(&right[p.rightBatch[b]+c.right]))
	}
}

// rowsOfStrip is a multiple of the rows of blocks of two, three and four vectors of columns.
const rowsOfStrip = 14 * 9

// hasManyRows reports whether p multiplies so many rows with so small a matrix that packing, and blocks that do not fit, take a good part of the time. Vectors of 256 bits are
// so narrow that each row would be read several times, which costs more than is saved.
func (p *product[T]) hasManyRows() bool {
	return vec.InUse() == vec.AVX512 && p.n*p.k*sizeOf(*new(T)) <= nearMatrix && p.n <= closeColumns && p.m >= p.n
}

// nearMatrix is the size of a right side that stays in the nearest cache beside rows of the left one.
const nearMatrix = 16 << 10
