package kernels

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
	"github.com/gohalo/halo/runtime/kernels/native"
)

// codedProduct is a product of small matrices that becomes machine code once it has run for a while: blocks fit its sizes, and nothing is packed. Sums are added up in the order of
// the kernel that it replaces, so they are the same bits.
type codedProduct[T gemm.Number] struct {
	p           *product[T]
	as          native.Product
	left, right int     // where the matrices begin in a batch, in elements
	turned      section // of scratch, for a right side whose columns lie together, if isTurned
	isTurned    bool
	columnStep  int // of such a right side
	runs        atomic.Int32
	once        sync.Once
	code        atomic.Pointer[native.ProductCode]
}

const (
	mostCoded   = 1 << 16 // products of numbers, up to which blocks that fit save much
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
	if p.packLeft != nil || p.placed != nil || p.decode != nil || min(p.m, p.n, p.k) < 1 || p.k > gemm.KC || p.m*p.n*p.k > mostCoded {
		return nil
	}
	leftRow, isEven := step(p.left.Rows)
	leftK, isEvenToo := step(p.left.Ks)
	if !isEven || !isEvenToo {
		return nil
	}
	c := &codedProduct[T]{p: p, left: p.left.Rows[0] + p.left.Ks[0], right: p.right.Rows[0] + p.right.Ks[0]}
	c.as = native.Product{M: p.m, N: p.n, K: p.k, Double: size == 8, LeftRow: leftRow * size, LeftK: leftK * size}
	if stride, ok := p.right.RowStride(); ok && stride >= p.n {
		c.as.RightRow = stride * size
		return c
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
			if made, ok := c.as.Compile(); ok {
				c.code.Store(made)
			}
		})
		if code = c.code.Load(); code == nil {
			return false
		}
	}
	p := c.p
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
