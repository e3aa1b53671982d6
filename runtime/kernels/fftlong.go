package kernels

import (
	"math"
	"sync"
	"unsafe"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/fourier"
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
	across, down   int              // vectors of columns, and of rows, that lie side by side in buffers
	middle         section          // the matrices between the steps
	stride         int              // of their rows, in numbers
	roots          func() []T       // group of columns by group, as they lie in buffers
	first, second  *parallelLoop
	buffers        sync.Pool
}

// isLong reports whether a stage should take lines as matrices.
func (st *fftStage[T]) isLong(lanes int) bool {
	return st.inner == 1 && st.n <= maxLine && (st.n > longLine || st.n >= lonelyLine && 4*st.lines <= lanes)
}

// planLong reports false if the length has no two factors that have plans.
func (st *fftStage[T]) planLong(scratch *scratchPlan) bool {
	rows, least := 0, 4
	if 2*st.lines <= fourier.Lanes[T]() { // two or three rows fill vectors better than the lines do
		least = 2
	}
	for d := int(math.Sqrt(float64(st.n))); d >= least && rows == 0; d-- {
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
	size := int64(unsafe.Sizeof(x))
	l.across, l.down = st.vectorsAcross(l.columns, l.cols), st.vectorsAcross(l.lines, l.rows)
	l.stride = l.cols + lineBytes/int(2*size) // not a power of two: rows would share their places in the cache
	l.middle = scratch.take(int64(st.lines) * int64(l.rows) * int64(l.stride) * 2 * size)
	l.roots = sync.OnceValue(l.makeRoots)
	n := max(l.across*l.columns.Len(), l.down*l.lines.Len())
	l.buffers.New = func() any {
		return &fftBuffers[T]{elems[T](runtime.AlignedBytes(int64(n) * size)), elems[T](runtime.AlignedBytes(int64(n) * size))}
	}
	l.first, l.second = newParallelLoop(l.transformColumns), newParallelLoop(l.transformRows)
	st.long = l
	return true
}

func (l *longTransform[T]) run(f *runtime.TensorFrame) {
	first, second := l.st.lanes*l.across, l.st.lanes*l.down
	l.first.run(f, l.st.lines*groupsOf(l.cols, first), 1+(1<<13)/(l.rows*first))
	l.second.run(f, l.st.lines*groupsOf(l.rows, second), 1+(1<<13)/(l.cols*second))
}

func groupsOf(n, lanes int) int { return (n-1)/lanes + 1 }

func (l *longTransform[T]) transformColumns(f *runtime.TensorFrame, lo, hi int) {
	w := l.buffers.Get().(*fftBuffers[T])
	st, group := l.st, l.st.lanes*l.across
	groups := groupsOf(l.cols, group)
	src, middle, roots := elems[T](st.from.of(f)), elems[T](l.middle.of(f)), l.roots()
	for g := lo; g < hi; g++ {
		line, c := g/groups, g%groups*group
		n := min(group, l.cols-c)
		vectors := groupsOf(n, st.lanes) // the last group may be narrower
		row := 2 * vectors * st.lanes
		from := src[line*st.unit(st.load):]
		var y []T
		if st.load == fftWhole && 2*n == row {
			y = l.columns.TransformFrom(from[2*c:], 2*l.cols, w.a, w.b, vectors)
		} else {
			for r := range l.rows {
				st.loadRun(w.a[r*row:][:2*n], from, r*l.cols+c)
			}
			y = l.columns.TransformFrom(w.a, row, w.a, w.b, vectors)
		}
		to, by := middle[2*(line*l.rows*l.stride+c):], roots[2*c*l.rows:]
		if 2*n == row {
			l.columns.PutMultiplied(to, 2*l.stride, y, vectors, st.inverse, by)
			continue
		}
		z := w.other(y)
		l.columns.PutMultiplied(z, row, y, vectors, st.inverse, by)
		for r := range l.rows {
			copy(to[2*r*l.stride:][:2*n], z[r*row:])
		}
	}
	l.buffers.Put(w)
}

func (l *longTransform[T]) transformRows(f *runtime.TensorFrame, lo, hi int) {
	w := l.buffers.Get().(*fftBuffers[T])
	st, group := l.st, l.st.lanes*l.down
	groups := groupsOf(l.rows, group)
	dst, middle := elems[T](st.to.of(f)), elems[T](l.middle.of(f))
	for g := lo; g < hi; g++ {
		line, r := g/groups, g%groups*group
		n := min(group, l.rows-r)
		vectors := groupsOf(n, st.lanes)
		row := 2 * vectors * st.lanes
		sideBySide(w.a, middle[2*(line*l.rows+r)*l.stride:], n, l.cols, row/2, l.stride)
		y := l.lines.TransformStrip(w.a, w.b, vectors)
		to := dst[line*st.unit(st.store):]
		if st.store == fftWhole && 2*n == row {
			l.lines.Put(to[2*r:], 2*l.rows, y, vectors, st.inverse)
			continue
		}
		z := w.other(y)
		l.lines.Put(z, row, y, vectors, st.inverse)
		for k := range l.cols {
			st.storeRun(to, z[k*row:][:2*n], k*l.rows+r)
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

// loadRun reads elements of a line from element j on.
func (st *fftStage[T]) loadRun(a, line []T, j int) {
	switch st.load {
	case fftWhole:
		copy(a, line[2*j:])
	case fftReal:
		for i, x := range line[j:][:len(a)/2] {
			a[2*i], a[2*i+1] = x, 0
		}
	case fftHalf: // of a line with conjugate symmetry
		for i := 0; i < len(a); i += 2 {
			k, sign := j+i/2, T(1)
			if 2*k > st.n {
				k, sign = st.n-k, -1
			}
			a[i], a[i+1] = line[2*k], line[2*k+1]*sign
			if k == 0 || 2*k == st.n {
				a[i+1] = 0 // what must be real is made so
			}
		}
	}
}

// storeRun writes results of a line from element k on.
func (st *fftStage[T]) storeRun(line, y []T, k int) {
	switch st.store {
	case fftWhole:
		copy(line[2*k:][:len(y)], y)
	case fftReal:
		for i := range line[k:][:len(y)/2] {
			line[k+i] = y[2*i]
		}
	case fftHalf:
		if n := st.store.numbers(st.n); k < n {
			copy(line[2*k:2*n], y)
		}
	}
}

// makeRoots computes the roots by which columns are multiplied, as products of one of about √n roots and one of as many. Those of the inverse transform are divided by
// how many elements a column has.
func (l *longTransform[T]) makeRoots() []T {
	n, group := l.st.n, l.st.lanes*l.across
	sign, scale := -1.0, 1.0
	if l.st.inverse {
		sign, scale = 1, 1/float64(l.rows)
	}
	fine := int(math.Sqrt(float64(n))) + 1
	low, high := make([]complex128, fine), make([]complex128, n/fine+1)
	root := func(k int) complex128 {
		s, c := math.Sincos(sign * 2 * math.Pi * float64(k) / float64(n))
		return complex(c, s)
	}
	for i := range low {
		low[i] = root(i) * complex(scale, 0)
	}
	for i := range high {
		high[i] = root(i * fine)
	}
	lines := groupsOf(l.cols, l.st.lanes) * l.st.lanes
	roots := make([]T, 0, 2*lines*l.rows)
	for c := 0; c < lines; c += group {
		for r := range l.rows {
			for j := c; j < min(c+group, lines); j++ {
				k := r * j % n
				z := high[k/fine] * low[k%fine]
				roots = append(roots, T(real(z)), T(imag(z)))
			}
		}
	}
	return roots
}
