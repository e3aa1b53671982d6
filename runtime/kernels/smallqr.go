package kernels

import (
	"math"
	"sync"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/factor"
	"github.com/gohalo/halo/runtime/kernels/gemm"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// smallQR is a step of a QR factorisation of a batch of small matrices side by side: each element of neighbouring matrices is a line. The reflectors of a matrix act
// together as I - V·T·Vᵀ, so that everything is sums of products of lines: a column is brought up to date by all reflectors before it, and Q is one product.
type smallQR[T float32 | float64] struct {
	m                  matrixBatch
	k                  int // reflectors
	together           int // matrices
	lines              gemm.Lines[T]
	add, subtract, mul vec.Loop
	rooms              sync.Pool
}

// smallQRRoom is what pieces need, of so many matrices side by side.
type smallQRRoom[T float32 | float64] struct {
	a, q   []byte
	tau    []byte
	t      []T // row c is column c of T
	y, z   []T // as many lines as there are reflectors
	w      []T // row j is column j of T·Vᵀ
	sum    []T
	zeros  []T
	ones   []T
	scale  []T
	square []float64
	column []T
}

// newSmallQR returns nil for matrices that are few or not small.
func newSmallQR[T float32 | float64](m matrixBatch, k int, t hlo.PrimitiveType) *smallQR[T] {
	var zero T
	if m.batch < leastTogether || m.len()*sizeOf(zero) > mostSmallFactor || k == 0 {
		return nil
	}
	s := &smallQR[T]{m: m, k: k, together: linesTogether(m.batch, 2*m.len()), lines: gemm.LinesFor[T]()}
	s.subtract, _ = lineLoops[T](t)
	s.add = vec.Find(vec.Of(hlo.OpAdd, t), eachOf(func(x, y T) T { return x + y }))
	s.mul = vec.Find(vec.Of(hlo.OpMultiply, t), eachOf(func(x, y T) T { return x * y }))
	s.rooms.New = func() any { return s.newRoom() }
	return s
}

func (s *smallQR[T]) newRoom() *smallQRRoom[T] {
	var zero T
	r, size := new(smallQRRoom[T]), sizeOf(zero)
	of := func(lines int) []byte { return make([]byte, lines*s.together*size) }
	r.a, r.q, r.tau = of(s.m.len()), of(s.m.len()), of(s.k)
	r.t, r.y, r.z, r.w = elems[T](of(s.k*s.k)), elems[T](of(s.k)), elems[T](of(s.k)), elems[T](of(s.m.cols*s.k))
	r.sum, r.zeros, r.ones, r.scale = elems[T](of(1)), elems[T](of(1)), elems[T](of(1)), elems[T](of(1))
	for i := range r.ones {
		r.ones[i] = 1
	}
	r.square, r.column = make([]float64, s.together), make([]T, s.m.rows)
	return r
}

// tasks is how many pieces the batch has, and grain how many of them are worth handing over.
func (s *smallQR[T]) tasks() int { return (s.m.batch-1)/s.together + 1 }
func (s *smallQR[T]) grain() int {
	return 1 + elementsOfTask/(s.together*s.m.len()*s.k)
}

// factor makes reflectors and R of pieces of the batch.
func (s *smallQR[T]) factor(f *runtime.TensorFrame, lo, hi int) {
	var zero T
	size := sizeOf(zero)
	matrix := s.m.len() * size
	room := s.rooms.Get().(*smallQRRoom[T])
	for piece := lo; piece < hi; piece++ {
		first := piece * s.together
		count := min(s.together, s.m.batch-first)
		n := gemm.Padded(count, gemm.LineStep)
		a, taus := room.a[:matrix*n], room.tau[:s.k*n*size]
		toLines(a, f.In(0).Data[first*matrix:], count, s.m.len(), n, s.m.len(), size)
		for c := range s.m.cols {
			s.reflect(room, elems[T](a), c, n)
			if c < s.k {
				s.makeReflector(room, elems[T](a), elems[T](taus)[c*n:][:n], c, n, count)
				s.extend(room, elems[T](a), elems[T](taus)[c*n:][:n], c, n)
			}
		}
		transposeBytes(f.Out(0).Data[first*matrix:], a, s.m.len(), count, s.m.len(), n, size)
		transposeBytes(f.Out(1).Data[first*s.k*size:], taus, s.k, count, s.k, n, size)
	}
	s.rooms.Put(room)
}

// expand makes Q of the reflectors of pieces of the batch.
func (s *smallQR[T]) expand(f *runtime.TensorFrame, lo, hi int) {
	var zero T
	size := sizeOf(zero)
	matrix := s.m.len() * size
	room := s.rooms.Get().(*smallQRRoom[T])
	for piece := lo; piece < hi; piece++ {
		first := piece * s.together
		count := min(s.together, s.m.batch-first)
		n := gemm.Padded(count, gemm.LineStep)
		a, taus, q := room.a[:matrix*n], room.tau[:s.k*n*size], room.q[:matrix*n]
		toLines(a, f.In(0).Data[first*matrix:], count, s.m.len(), n, s.m.len(), size)
		toLines(taus, f.In(1).Data[first*s.k*size:], count, s.k, n, s.k, size)
		for c := range s.k {
			s.extend(room, elems[T](a), elems[T](taus)[c*n:][:n], c, n)
		}
		s.product(room, elems[T](a), elems[T](q), n)
		transposeBytes(f.Out(0).Data[first*matrix:], q, s.m.len(), count, s.m.len(), n, size)
	}
	s.rooms.Put(room)
}

func line[T any](v []T, i, n int) unsafe.Pointer { return unsafe.Pointer(&v[i*n]) }

// reflect brings column c up to date: the reflectors before it are applied, a -= V·Tᵀ·Vᵀ·a.
func (s *smallQR[T]) reflect(room *smallQRRoom[T], a []T, c, n int) {
	cols, before := s.m.cols, min(c, s.k)
	if before == 0 {
		return
	}
	sum := room.sum[:n]
	for k := range before {
		s.inner(room.y[k*n:][:n], a, k, k, c, n)
	}
	for k := range before {
		s.lines(k+1, room.z[k*n:][:n], room.t[k*s.k*n:], n, room.y, n)
	}
	for i := range s.m.rows {
		x := line(a, i*cols+c, n)
		if k := min(i, before); k > 0 {
			s.lines(k, sum, a[i*cols*n:], n, room.z, n)
			s.subtract(n, x, x, line(sum, 0, n), nil)
		}
		if i < before {
			s.subtract(n, x, x, line(room.z, i, n), nil)
		}
	}
}

// inner sets y to the product of columns k, a reflector, and c, of which the first is 1 in row `from` of the second, or multiplies its element there, and goes on below.
func (s *smallQR[T]) inner(y, a []T, from, k, c, n int) {
	cols := s.m.cols
	if below := s.m.rows - from - 1; below > 0 {
		s.lines(below, y, a[((from+1)*cols+k)*n:], cols*n, a[((from+1)*cols+c)*n:], cols*n)
	} else {
		clear(y)
	}
	other := from*cols + c
	if k < from { // then the second is 1
		other = from*cols + k
	}
	s.add(n, line(y, 0, n), line(y, 0, n), line(a, other, n), nil)
}

// extend extends T by reflector c.
func (s *smallQR[T]) extend(room *smallQRRoom[T], a, tau []T, c, n int) {
	t := room.t[c*s.k*n:]
	for k := range c {
		s.inner(room.y[k*n:][:n], a, c, k, c, n)
	}
	for k := range c { // -tau·T·y
		x := t[k*n:][:n]
		s.lines(c-k, x, room.t[(k*s.k+k)*n:], s.k*n, room.y[k*n:], n)
		s.mul(n, line(x, 0, n), line(x, 0, n), line(tau, 0, n), nil)
		s.subtract(n, line(x, 0, n), line(room.zeros, 0, n), line(x, 0, n), nil)
	}
	copy(t[c*n:][:n], tau)
}

// product writes the first columns of I - V·T·Vᵀ.
func (s *smallQR[T]) product(room *smallQRRoom[T], a, q []T, n int) {
	cols := s.m.cols
	for j := range cols {
		for k := range min(j+1, s.k) {
			x := room.w[(j*s.k+k)*n:][:n]
			if terms := min(j, s.k) - k; terms > 0 {
				s.lines(terms, x, room.t[(k*s.k+k)*n:], s.k*n, a[(j*cols+k)*n:], n)
			} else {
				clear(x)
			}
			if j < s.k {
				s.add(n, line(x, 0, n), line(x, 0, n), line(room.t, j*s.k+k, n), nil)
			}
		}
	}
	for i := range s.m.rows {
		for j := range cols {
			x := q[(i*cols+j)*n:][:n]
			begin := room.zeros
			if i == j {
				begin = room.ones
			}
			if terms := min(i, s.k, j+1); terms > 0 {
				s.lines(terms, x, a[i*cols*n:], n, room.w[j*s.k*n:], n)
				s.subtract(n, line(x, 0, n), line(begin, 0, n), line(x, 0, n), nil)
			} else {
				copy(x, begin)
			}
			if i < s.k && i <= j {
				s.subtract(n, line(x, 0, n), line(x, 0, n), line(room.w, j*s.k+i, n), nil)
			}
		}
	}
}

// makeReflector replaces column c from row c on by a multiple of the first unit vector and the reflector that brings it there, of so many matrices. Lengths are computed in float64;
// where their squares say too little, package factor makes the reflector.
func (s *smallQR[T]) makeReflector(room *smallQRRoom[T], a, tau []T, c, n, count int) {
	cols := s.m.cols
	square, scale := room.square[:count], room.scale[:n]
	clear(square)
	for i := c + 1; i < s.m.rows; i++ {
		for b, x := range a[(i*cols+c)*n:][:count] {
			square[b] += float64(x) * float64(x)
		}
	}
	clear(tau[count:])
	clear(scale[count:])
	least, most := plainSquares[T]()
	for b, x := range a[(c*cols+c)*n:][:count] {
		re := float64(x)
		sum := square[b] + re*re
		if square[b] == 0 || !(sum > least && sum < most) {
			p := room.column[:s.m.rows-c]
			for i := range p {
				p[i] = a[((c+i)*cols+c)*n+b]
			}
			tau[b], scale[b] = factor.Reflector(p), 1
			for i, x := range p {
				a[((c+i)*cols+c)*n+b] = x
			}
			continue
		}
		beta := -math.Copysign(math.Sqrt(sum), re)
		a[(c*cols+c)*n+b], tau[b], scale[b] = T(beta), T((beta-re)/beta), T(1/(re-beta))
	}
	for i := c + 1; i < s.m.rows; i++ {
		x := line(a, i*cols+c, n)
		s.mul(n, x, x, line(scale, 0, n), nil)
	}
}

// plainSquares are the sums of squares between which nothing that counts has vanished or overflowed, and both the length and its inverse are normal numbers of T.
func plainSquares[T float32 | float64]() (least, most float64) {
	if sizeOf(*new(T)) == 4 {
		return 0x1p-200, 0x1p240
	}
	return 0x1p-900, 0x1p1000
}
