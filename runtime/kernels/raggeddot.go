package kernels

import (
	"slices"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
)

// raggedDot serves products whose only free or only contracted axis on the left is cut into groups, by one list of sizes. Each group is a
// product of its own: of its rows with its matrix on the right, or, along a contracted axis, of its part of both.
func raggedDot(s *site) (runtime.Bound, bool) {
	t := s.in.Shape().Type()
	if t.IsFloat() && t.Bits() < 32 {
		t = hlo.F32
	}
	switch t {
	case hlo.F32:
		return raggedDotAs[float32](s, t)
	case hlo.F64:
		return raggedDotAs[float64](s, t)
	case hlo.S32, hlo.U32:
		return raggedDotAs[int32](s, t)
	}
	return runtime.Bound{}, false
}

// raggedProduct is out[b,m,n] = Σk left[b,m,k]·right[group of m,b,k,n] or out[group,b,m,n] = Σ(k in group) left[b,m,k]·right[b,k,n].
type raggedProduct[T gemm.Number] struct {
	product[T]
	contracting bool
	groups      int
	matrix      int // elements from one group's matrix on the right to the next
	loop        *parallelLoop
	spaces      sync.Pool
}

// raggedSpace is the packed panels of a group, and where groups begin.
type raggedSpace[T gemm.Number] struct {
	left, right, tile []T
	ends              []int
}

func raggedDotAs[T gemm.Number](s *site, t hlo.PrimitiveType) (runtime.Bound, bool) {
	a := hlo.AttrsOf[hlo.RaggedDotAttrs](s.in)
	sizes := s.shape(2)
	if len(a.LHSRagged) != 1 || sizes.Rank() != 1 || !sizes.Type().IsInteger() || sizes.Type().Bits() < 8 || s.in.Shape().NumElements() == 0 {
		return runtime.Bound{}, false
	}
	p := &raggedProduct[T]{groups: int(sizes.Dim(0))}
	var leftFree, rightFree []int64
	p.left, p.leftBatch, leftFree = matrixOf(s.shape(0), a.LHSBatch, a.LHSContracting)
	p.right, p.rightBatch, rightFree = matrixOf(s.shape(1), slices.Concat(a.RHSBatch, a.RHSGroup), a.RHSContracting)
	p.batch, p.m, p.k = len(p.leftBatch), len(p.left.Rows), len(p.left.Ks)
	p.n = productOver(rightFree, s.shape(1).Dimensions())
	switch {
	case slices.Equal(a.LHSContracting, a.LHSRagged) && len(a.RHSGroup) == 0:
		p.contracting = true
	case slices.Equal(leftFree, a.LHSRagged) && len(a.RHSGroup) == 1:
		p.matrix = rowMajor(s.shape(1).Dimensions())[a.RHSGroup[0]]
		p.rightBatch = offsetsOver(a.RHSBatch, s.shape(1).Dimensions(), rowMajor(s.shape(1).Dimensions()))
	default:
		return runtime.Bound{}, false
	}
	e := &convertedIO{t: t}
	if p.k == 0 || len(p.rightBatch) != p.batch || !e.planFirst(s, 2) {
		return runtime.Bound{}, false
	}
	p.ends, p.lhs, p.rhs, p.out = e, e.in[0], e.in[1], e.out
	p.kernel = gemm.For[T]()
	p.mostRows = gemm.Padded(min(p.m, 8*p.kernel.MR), p.kernel.MR)
	p.spaces.New = func() any {
		kc := min(p.k, gemm.KC)
		return &raggedSpace[T]{make([]T, p.mostRows*kc), make([]T, gemm.Padded(p.n, p.kernel.NR)*kc), make([]T, p.kernel.MR*p.kernel.NR), make([]int, p.groups)}
	}
	p.loop = newParallelLoop(p.multiply)
	return runtime.Bound{Scratch: e.scratch.size, Run: func(f *runtime.TensorFrame) error {
		e.before(f)
		clear(p.out.of(f))
		p.loop.run(f, p.batch*p.groups, 1)
		e.after(f)
		return nil
	}}, true
}

// multiply computes groups, counted through the batches.
func (p *raggedProduct[T]) multiply(f *runtime.TensorFrame, lo, hi int) {
	w := p.spaces.Get().(*raggedSpace[T])
	length := p.m
	if p.contracting {
		length = p.k
	}
	groupEnds(w.ends, f.In(2).Data, hlo.PrimitiveType(f.In(2).Type), length)
	left, right, out := elems[T](p.lhs.of(f)), elems[T](p.rhs.of(f)), elems[T](p.out.of(f))
	for task := lo; task < hi; task++ {
		b, g := task/p.groups, task%p.groups
		from, to := 0, w.ends[g]
		if g > 0 {
			from = w.ends[g-1]
		}
		if p.contracting {
			p.part(w, left[p.leftBatch[b]:], right[p.rightBatch[b]:], out[(g*p.batch+b)*p.m*p.n:], 0, p.m, from, to)
		} else {
			p.part(w, left[p.leftBatch[b]:], right[p.rightBatch[b]+g*p.matrix:], out[b*p.m*p.n:], from, to, 0, p.k)
		}
	}
	p.spaces.Put(w)
}

// groupEnds is where groups of an axis end: a place belongs to the first group that the sum of sizes up to it is beyond.
func groupEnds(ends []int, sizes []byte, t hlo.PrimitiveType, length int) {
	sum, last := int64(0), int64(0)
	for g := range ends {
		sum += readIndex(sizes[g*t.ByteSize():], t)
		last = max(last, min(sum, int64(length)))
		ends[g] = int(last)
	}
}

// part computes rows [i0, i1) of a product over [k0, k1).
func (p *raggedProduct[T]) part(w *raggedSpace[T], left, right, out []T, i0, i1, k0, k1 int) {
	for k := k0; k < k1 && i0 < i1; k += gemm.KC {
		end := min(k+gemm.KC, k1)
		gemm.Pack(&p.right, w.right, right, p.kernel.NR, 0, p.n, k, end)
		for i := i0; i < i1; i += p.mostRows {
			rows := min(p.mostRows, i1-i)
			gemm.Pack(&p.left, w.left, left, p.kernel.MR, i, i+rows, k, end)
			p.kernel.Block(rows, p.n, end-k, w.left, w.right, out[i*p.n:], p.n, k > k0, w.tile)
		}
	}
}
