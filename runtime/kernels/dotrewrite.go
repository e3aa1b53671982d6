package kernels

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
)

// Products for which there is no kernel are made products for which there is one, by writing an operand in another form first.

// minParts is the number of products from which on rewriting an operand pays.
const minParts = 1 << 9

// dotOfParts multiplies complex numbers as their parts. A row of the left side is read as real numbers re, im, re, im, ...; of the right side, each
// element re + i·im becomes a square, re im in one row and -im re in the next. That is twice as many columns over a sum twice as long.
func dotOfParts[T float32 | float64, Z complex64 | complex128](s *site, t hlo.PrimitiveType) (runtime.Bound, bool) {
	z := newDot[Z](s)
	e := &convertedIO{t: t}
	if !e.plan(s) {
		return runtime.Bound{}, false
	}
	if z.m*z.n*z.k < minParts || z.m == 1 || z.n == 1 || z.few() != nil {
		return dotAs[Z](s, t)
	}
	p := &product[T]{batch: z.batch, m: z.m, n: 2 * z.n, k: 2 * z.k}
	rows, ks := make([]int, z.m), make([]int, 0, 2*z.k)
	for i, at := range z.left.Rows {
		rows[i] = 2 * at
	}
	for _, at := range z.left.Ks {
		ks = append(ks, 2*at, 2*at+1)
	}
	p.left = gemm.NewMatrix(rows, ks)
	for _, at := range z.leftBatch {
		p.leftBatch = append(p.leftBatch, 2*at)
	}
	size := p.k * p.n
	p.right = gemm.NewMatrix(steps(p.n, 1), steps(p.k, p.n))
	p.rightBatch = steps(p.batch, size)
	var part T
	p.lhs, p.rhs = e.in[0], place{kind: inScratch, section: e.scratch.take(int64(p.batch*size) * int64(sizeOf(part)))}
	from, to := e.in[1], p.rhs
	loop := newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
		src, dst := elems[T](from.of(f)), elems[T](to.of(f))
		for r := lo; r < hi; r++ {
			b, k := r/z.k, r%z.k
			first := z.rightBatch[b] + z.right.Ks[k]
			even, odd := dst[b*size+2*k*p.n:][:p.n], dst[b*size+(2*k+1)*p.n:][:p.n]
			for j, at := range z.right.Rows {
				x := src[2*(first+at):][:2]
				even[2*j], even[2*j+1] = x[0], x[1]
				odd[2*j], odd[2*j+1] = -x[1], x[0]
			}
		}
	})
	p.rewrites = []rewriting{{loop, p.batch * z.k, 1 + (1<<14)/z.n}}
	return p.complete(s, e, t)
}

// isNarrow reports whether numbers of a type are those of 16 signed bits.
func isNarrow(t hlo.PrimitiveType) bool { return t == hlo.S8 || t == hlo.U8 || t == hlo.S16 }

// dotOfIntegers has sums of 32 bits, of which narrower results are the low bits.
func dotOfIntegers(s *site) (runtime.Bound, bool) {
	t := s.in.Shape().Type()
	if t.Bits() < 32 {
		t = hlo.S32
	}
	switch p := newDot[int32](s); {
	case p.k == 0 || p.areSmall():
	case isByte(s.shape(0).Type()) && isByte(s.shape(1).Type()):
		if b, ok := dotOfBytes(s, p, t); ok {
			return b, true
		}
	case isNarrow(s.shape(0).Type()) && isNarrow(s.shape(1).Type()) && min(p.m, p.n) > 1: // the matrix of a vector is read only once
		return dotOfPairs(s, p, t)
	}
	return dotAs[int32](s, t)
}

// dotOfPairs multiplies integers of at most 16 bits with sums of 32: neighbours along the contracted axes become one element.
func dotOfPairs(s *site, p *product[int32], t hlo.PrimitiveType) (runtime.Bound, bool) {
	e := &convertedIO{t: t}
	if !e.planResult(s) {
		return runtime.Bound{}, false
	}
	k := (p.k + 1) / 2
	p.lhs = pairUp(p, e, s.shape(0).Type(), 0, &p.left, &p.leftBatch)
	p.rhs = pairUp(p, e, s.shape(1).Type(), 1, &p.right, &p.rightBatch)
	p.k = k
	p.kernel = gemm.Pairs()
	return p.complete(s, e, t)
}

// pairUp plans the rewriting of an operand, which then lies in scratch memory.
func pairUp(p *product[int32], e *convertedIO, t hlo.PrimitiveType, operand int, m *gemm.Matrix, batch *[]int) place {
	pairs := (len(m.Ks) + 1) / 2
	size := len(m.Rows) * pairs
	to := place{kind: inScratch, section: e.scratch.take(int64(len(*batch)*size) * 4)}
	from := place{kind: inInput, index: operand}
	var loop *parallelLoop
	switch t {
	case hlo.S8:
		loop = pairLoop[int8](from, to, m, *batch)
	case hlo.U8:
		loop = pairLoop[uint8](from, to, m, *batch)
	default:
		loop = pairLoop[int16](from, to, m, *batch)
	}
	if m.LinearKs() {
		p.rewrites = append(p.rewrites, rewriting{loop, len(*batch) * len(m.Rows), 1 + (1<<14)/pairs})
		*m = gemm.NewMatrix(steps(len(m.Rows), pairs), steps(pairs, 1))
	} else {
		p.rewrites = append(p.rewrites, rewriting{loop, len(*batch) * pairs, 1 + (1<<14)/len(m.Rows)})
		*m = gemm.NewMatrix(steps(len(m.Rows), 1), steps(pairs, len(m.Rows)))
	}
	*batch = steps(len(*batch), size)
	return to
}

// pairLoop writes the pairs of row after row where the contracted axes lie together, else for each pair all rows.
func pairLoop[T int8 | uint8 | int16](from, to place, m *gemm.Matrix, batches []int) *parallelLoop {
	rows, ks, linear := m.Rows, m.Ks, m.LinearRows()
	pairs := (len(ks) + 1) / 2
	if m.LinearKs() {
		return newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
			src, dst := elems[T](from.of(f)), elems[int32](to.of(f))
			for i := lo; i < hi; i++ {
				pairNeighbours(dst[i*pairs:][:pairs], src[batches[i/len(rows)]+rows[i%len(rows)]+ks[0]:][:len(ks)])
			}
		})
	}
	return newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
		src, dst := elems[T](from.of(f)), elems[int32](to.of(f))
		for i := lo; i < hi; i++ {
			b, k := i/pairs, i%pairs
			x := src[batches[b]+ks[2*k]:]
			out := dst[i*len(rows):][:len(rows)]
			switch odd := 2*k+1 == len(ks); {
			case odd:
				for j, at := range rows {
					out[j] = gemm.Pair(int16(x[at]), 0)
				}
			case linear:
				pairLines(out, x[rows[0]:], src[batches[b]+ks[2*k+1]+rows[0]:])
			default:
				y := src[batches[b]+ks[2*k+1]:]
				for j, at := range rows {
					out[j] = gemm.Pair(int16(x[at]), int16(y[at]))
				}
			}
		}
	})
}

// pairNeighbours makes pairs of neighbours; the last one may be alone.
func pairNeighbours[T int8 | uint8 | int16](out []int32, x []T) {
	for j := range len(x) / 2 {
		two := x[2*j:][:2]
		out[j] = int32(uint16(int16(two[0]))) | int32(two[1])<<16
	}
	if n := len(x); n%2 == 1 {
		out[n/2] = int32(uint16(int16(x[n-1])))
	}
}

// pairLines makes pairs of the elements of two lines.
func pairLines[T int8 | uint8 | int16](out []int32, x, y []T) {
	x, y = x[:len(out)], y[:len(out)]
	for j := range out {
		out[j] = int32(uint16(int16(x[j]))) | int32(y[j])<<16
	}
}

// steps is 0, by, 2·by and so on.
func steps(n, by int) []int {
	v := make([]int, n)
	for i := range v {
		v[i] = i * by
	}
	return v
}
