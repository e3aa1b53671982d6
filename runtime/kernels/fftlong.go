package kernels

import (
	"math"
	"sync"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/fourier"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// A line is transformed as a matrix if it is too long for its buffers to stay in a cache, or if there are not enough lines to fill vectors. Line element j =
// j1·cols + j2 lies in row j1 and column j2. Columns are transformed, as many side by side as a vector has numbers; element (k1, j2) is multiplied by the
// root exp(-2πi·k1·j2/n); then rows are transformed, and element k2 of row k1 is result k1 + k2·rows.

// Lengths from which a line is a matrix: for its own sake, and where vectors would be all but empty.
const (
	longLine   = 1 << 13
	lonelyLine = 1 << 8
	maxLine    = 1 << 24
)

// longTransform is the two steps for all lines of a stage.
type longTransform[T fourier.Float] struct {
	st             *fftStage[T]
	rows, cols     int
	columns, lines *fourier.Plan[T] // of rows elements, and of cols
	middle         section          // the matrices between the steps
	roots          func() []T       // group of columns by group, as they lie in buffers
	multiply       vec.Loop
	first, second  *parallelLoop
	buffers        sync.Pool
}

// isLong reports whether a stage should take lines as matrices.
func (st *fftStage[T]) isLong(lanes int) bool {
	return st.inner == 1 && st.n <= maxLine && (st.n > longLine || st.n >= lonelyLine && 4*st.lines <= lanes)
}

// planLong reports false if the length has no two factors that have plans.
func (st *fftStage[T]) planLong(scratch *scratchPlan) bool {
	rows := 0
	for d := int(math.Sqrt(float64(st.n))); d >= 4 && rows == 0; d-- {
		if st.n%d == 0 {
			rows = d
		}
	}
	if rows == 0 || st.n/rows > maxTransform {
		return false
	}
	l := &longTransform[T]{st: st, rows: rows, cols: st.n / rows}
	var ok, ok2 bool
	if l.columns, ok = fourier.NewPlan[T](l.rows); !ok {
		return false
	}
	if l.lines, ok2 = fourier.NewPlan[T](l.cols); !ok2 {
		return false
	}
	st.lanes = l.columns.Lanes()
	var x T
	t, size := hlo.C64, int64(unsafe.Sizeof(x))
	if size == 8 {
		t = hlo.C128
	}
	l.multiply = vec.Find(vec.Of(hlo.OpMultiply, t), multiplyNumbers[T])
	l.middle = scratch.take(int64(st.lines) * int64(st.n) * 2 * size)
	l.roots = sync.OnceValue(l.makeRoots)
	n := max(l.columns.Len(), l.lines.Len())
	l.buffers.New = func() any {
		return &fftBuffers[T]{elems[T](runtime.AlignedBytes(int64(n) * size)), elems[T](runtime.AlignedBytes(int64(n) * size))}
	}
	l.first, l.second = newParallelLoop(l.transformColumns), newParallelLoop(l.transformRows)
	st.long = l
	return true
}

func (l *longTransform[T]) run(f *runtime.TensorFrame) {
	lanes := l.st.lanes
	l.first.run(f, l.st.lines*groupsOf(l.cols, lanes), 1+(1<<13)/(l.rows*lanes))
	l.second.run(f, l.st.lines*groupsOf(l.rows, lanes), 1+(1<<13)/(l.cols*lanes))
}

func groupsOf(n, lanes int) int { return (n-1)/lanes + 1 }

func (l *longTransform[T]) transformColumns(f *runtime.TensorFrame, lo, hi int) {
	w := l.buffers.Get().(*fftBuffers[T])
	st, groups, size := l.st, groupsOf(l.cols, l.st.lanes), l.columns.Len()
	src, middle, roots := elems[T](st.from.of(f)), elems[T](l.middle.of(f)), l.roots()
	matrix := 2 * st.lanes * l.rows
	for g := lo; g < hi; g++ {
		line, c := g/groups, g%groups*st.lanes
		n := min(st.lanes, l.cols-c)
		from := src[line*st.unit(st.load):]
		for r := range l.rows {
			st.loadRun(w.a[2*r*st.lanes:][:2*n], from, r*l.cols+c)
		}
		y := l.columns.Transform(w.a[:size], w.b[:size])
		p := unsafe.Pointer(unsafe.SliceData(y))
		l.multiply(matrix, p, p, unsafe.Pointer(&roots[g%groups*matrix]), nil)
		to := middle[2*(line*st.n+c):]
		for r := range l.rows {
			copyNumbers(to[2*r*l.cols:][:2*n], y[2*r*st.lanes:])
		}
	}
	l.buffers.Put(w)
}

func (l *longTransform[T]) transformRows(f *runtime.TensorFrame, lo, hi int) {
	w := l.buffers.Get().(*fftBuffers[T])
	st, groups, size := l.st, groupsOf(l.rows, l.st.lanes), l.lines.Len()
	dst, middle := elems[T](st.to.of(f)), elems[T](l.middle.of(f))
	for g := lo; g < hi; g++ {
		line, r := g/groups, g%groups*st.lanes
		n := min(st.lanes, l.rows-r)
		sideBySide(w.a, middle[2*(line*st.n+r*l.cols):], n, l.cols, st.lanes, l.cols)
		y := l.lines.Transform(w.a[:size], w.b[:size])
		to := dst[line*st.unit(st.store):]
		for k := range l.cols {
			st.storeRun(to, y[2*k*st.lanes:][:2*n], k*l.rows+r)
		}
	}
	l.buffers.Put(w)
}

// unit is how many parts a line has in memory.
func (st *fftStage[T]) unit(form fftForm) int {
	if form == fftReal {
		return st.n
	}
	return 2 * form.numbers(st.n)
}

// loadRun reads elements of a line from element j on. For the inverse transform real and imaginary parts change places, here and in storeRun.
func (st *fftStage[T]) loadRun(a, line []T, j int) {
	switch {
	case st.load == fftWhole && !st.inverse:
		copyNumbers(a, line[2*j:])
	case st.load == fftWhole:
		line = line[2*j:][:len(a)]
		for i := 0; i+1 < len(a); i += 2 {
			a[i], a[i+1] = line[i+1], line[i]
		}
	case st.load == fftReal:
		for i, x := range line[j:][:len(a)/2] {
			a[2*i], a[2*i+1] = x, 0
		}
	default: // half of a line with conjugate symmetry, which is only transformed back
		for i := 0; i < len(a); i += 2 {
			k, sign := j+i/2, T(1)
			if 2*k > st.n {
				k, sign = st.n-k, -1
			}
			a[i], a[i+1] = line[2*k+1]*sign, line[2*k]
			if k == 0 || 2*k == st.n {
				a[i] = 0 // what must be real is made so
			}
		}
	}
}

// storeRun writes results of a line from element k on.
func (st *fftStage[T]) storeRun(line, y []T, k int) {
	scale := 1 / T(st.n)
	switch {
	case st.store == fftReal:
		for i := range line[k:][:len(y)/2] {
			line[k+i] = y[2*i+1] * scale
		}
	case st.inverse:
		line = line[2*k:][:len(y)]
		for i := 0; i+1 < len(y); i += 2 {
			line[i], line[i+1] = y[i+1]*scale, y[i]*scale
		}
	case st.store == fftWhole:
		copyNumbers(line[2*k:][:len(y)], y)
	default:
		if n := st.store.numbers(st.n); k < n {
			copy(line[2*k:2*n], y)
		}
	}
}

// copyNumbers is copy for runs that are mostly a vector long.
func copyNumbers[T fourier.Float](dst, src []T) {
	switch len(dst) {
	case 16:
		*(*[16]T)(dst) = *(*[16]T)(src)
	case 8:
		*(*[8]T)(dst) = *(*[8]T)(src)
	default:
		copy(dst, src)
	}
}

// makeRoots computes the roots by which columns are multiplied, as products of one of about √n roots and one of as many.
func (l *longTransform[T]) makeRoots() []T {
	n, lanes := l.st.n, l.st.lanes
	fine := int(math.Sqrt(float64(n))) + 1
	low, high := make([]complex128, fine), make([]complex128, n/fine+1)
	root := func(k int) complex128 {
		s, c := math.Sincos(-2 * math.Pi * float64(k) / float64(n))
		return complex(c, s)
	}
	for i := range low {
		low[i] = root(i)
	}
	for i := range high {
		high[i] = root(i * fine)
	}
	roots := make([]T, groupsOf(l.cols, lanes)*2*lanes*l.rows)
	at := 0
	for c := 0; c < l.cols; c += lanes {
		for r := range l.rows {
			for j := range lanes {
				k := r * (c + j) % n
				z := high[k/fine] * low[k%fine]
				roots[at], roots[at+1] = T(real(z)), T(imag(z))
				at += 2
			}
		}
	}
	return roots
}

// multiplyNumbers multiplies complex numbers; n counts their parts.
func multiplyNumbers[T fourier.Float](n int, d, a, b, _ unsafe.Pointer) {
	z, x, y := unsafe.Slice((*T)(d), n), unsafe.Slice((*T)(a), n), unsafe.Slice((*T)(b), n)
	for i := 0; i+1 < n; i += 2 {
		re, im := x[i]*y[i]-x[i+1]*y[i+1], x[i]*y[i+1]+x[i+1]*y[i]
		z[i], z[i+1] = re, im
	}
}
