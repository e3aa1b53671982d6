package kernels

import (
	"sync"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
)

// smallProducts is a batch of products of small matrices, none of which alone would fill vectors. Each element of neighbouring matrices becomes a line; products of
// lines are products of as many matrices at once; and the lines of results become matrices again.
type smallProducts[T gemm.Number] struct {
	p           *product[T]
	left, right linedMatrices
	together    int // products
	lines       gemm.Lines[T]
	loop        *parallelLoop
	rooms       sync.Pool
}

// linedMatrices says where the elements of a batch of matrices are, in memory and in lines.
type linedMatrices struct {
	elements gemm.Matrix // each row is a matrix of the batch
	stride   int         // from one matrix to the next, if that is always the same and the elements of a matrix lie together, else 0
	row, k   int         // how many lines apart rows are, and neighbours in a row
}

const (
	leastTogether  = 16      // products, so that most of a line is used
	mostSmall      = 1200    // bytes of a product
	mostOfVector   = 700     // if one side is a vector, whose form reads the matrix where it is
	roomOfSmall    = 1 << 14 // elements, which stay in a near cache
	mostLineSteps  = 7       // of a line; an odd number keeps lines from sharing a place in the cache
	stripOfLines   = 8
	elementsOfTask = 1 << 16
)

// elementsOfEach is how many elements belong to each product.
func (p *product[T]) elementsOfEach() int { return p.m*p.k + p.k*p.n + p.m*p.n }

// areSmall reports whether p is many products of small matrices.
func (p *product[T]) areSmall() bool {
	most := mostSmall
	if min(p.m, p.n) == 1 {
		most = mostOfVector
	}
	var zero T
	return p.batch >= leastTogether && p.k > 0 && p.elementsOfEach()*sizeOf(zero) <= most
}

// small returns the form for batches of small matrices, or nil for others.
func (p *product[T]) small() *smallProducts[T] {
	if p.packLeft != nil || !p.areSmall() {
		return nil
	}
	n := p.elementsOfEach()
	var zero T
	s := &smallProducts[T]{p: p, left: newLinedMatrices(&p.left, p.leftBatch), right: newLinedMatrices(&p.right, p.rightBatch), lines: linesFor[T]()}
	s.together = linesTogether(p.batch, n)
	s.rooms.New = func() any { b := make([]byte, n*s.together*sizeOf(zero)); return &b }
	s.loop = newParallelLoop(s.pieces)
	return s
}

func newLinedMatrices(m *gemm.Matrix, batch []int) linedMatrices {
	rows, ks := m.Rows, m.Ks
	l := linedMatrices{row: len(ks), k: 1}
	turned := m.LinearRows() && !m.LinearKs()
	if turned {
		rows, ks = ks, rows
		l.row, l.k = 1, len(ks)
	}
	var at []int
	for _, r := range rows {
		at = append(at, add(ks, r)...)
	}
	l.elements = gemm.NewMatrix(add(batch, at[0]), add(at, -at[0]))
	if l.elements.LinearKs() {
		l.stride = evenStep(batch)
	}
	return l
}

func (s *smallProducts[T]) run(f *runtime.TensorFrame) {
	s.loop.run(f, (s.p.batch-1)/s.together+1, 1+elementsOfTask/(s.together*s.p.elementsOfEach()))
}

// pieces computes pieces of the batch.
func (s *smallProducts[T]) pieces(f *runtime.TensorFrame, lo, hi int) {
	p := s.p
	left, right, out := p.lhs.of(f), p.rhs.of(f), p.out.of(f)
	room := s.rooms.Get().(*[]byte)
	var zero T
	size := sizeOf(zero)
	for piece := lo; piece < hi; piece++ {
		first := piece * s.together
		count := min(s.together, p.batch-first)
		n := gemm.Padded(count, gemm.LineStep)
		a, rest := (*room)[:p.m*p.k*n*size], (*room)[p.m*p.k*n*size:]
		b, c := rest[:p.k*p.n*n*size], rest[p.k*p.n*n*size:]
		linesOf[T](&s.left, a, left, first, count, n)
		linesOf[T](&s.right, b, right, first, count, n)
		s.multiply(elems[T](a), elems[T](b), elems[T](c), n)
		transposeBytes(out[first*p.m*p.n*size:], c, p.m*p.n, count, p.m*p.n, n, size)
	}
	s.rooms.Put(room)
}

// multiply sets lines c to products of lines a and b, all of n elements.
func (s *smallProducts[T]) multiply(a, b, c []T, n int) {
	for i := range s.p.m {
		for j := range s.p.n {
			s.lines(s.p.k, c[(i*s.p.n+j)*n:][:n], a[i*s.left.row*n:], s.left.k*n, b[j*s.right.row*n:], s.right.k*n)
		}
	}
}

// linesOf writes the elements of count matrices, from the first on, to lines of n.
func linesOf[T gemm.Number](l *linedMatrices, dst, src []byte, first, count, n int) {
	var zero T
	elements := len(l.elements.Ks)
	if size := sizeOf(zero); l.stride > 0 {
		toLines(dst, src[l.elements.Rows[first]*size:], count, elements, n, l.stride, size)
		return
	}
	gemm.Pack(&l.elements, elems[T](dst), elems[T](src), n, first, first+count, 0, elements)
}

// toLines writes the elements of count matrices, a stride apart, to lines of n.
func toLines(dst, src []byte, count, elements, n, stride, size int) {
	for at := 0; at < elements; at += stripOfLines { // so few lines are written without a tile between
		at = max(0, min(at, elements-stripOfLines))
		transposeBytes(dst[at*n*size:], src[at*size:], count, min(stripOfLines, elements), n, stride, size)
	}
}
