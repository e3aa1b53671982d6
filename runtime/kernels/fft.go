package kernels

import (
	"sync"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/fourier"
	"github.com/gohalo/halo/runtime/kernels/square"
)

// maxTransform is the longest line that is not taken apart: its buffers still fit into a cache.
const maxTransform = 1 << 15

// fft serves lengths of small prime factors, in the type of the operand.
func fft(s *site) (runtime.Bound, bool) {
	switch t := s.in.Shape().Type(); t {
	case hlo.F32, hlo.C64:
		return fftAs[float32](s)
	case hlo.F64, hlo.C128:
		return fftAs[float64](s)
	}
	return runtime.Bound{}, false
}

// fftFits reports whether operand and result have the sizes that the lengths ask for.
func fftFits(a hlo.FFTAttrs, in, out hlo.Shape) bool {
	if in.Rank() != out.Rank() {
		return false
	}
	last, outer := in.Rank()-1, in.Rank()-len(a.Length)
	for i := range in.Rank() {
		from, to := in.Dim(i), out.Dim(i)
		if i >= outer {
			n := a.Length[i-outer]
			half := n/2 + 1
			wantFrom, wantTo := n, n
			if i == last && a.Type == hlo.RFFT {
				wantTo = half
			} else if i == last && a.Type == hlo.IRFFT {
				wantFrom = half
			}
			if n < 1 || from != wantFrom || to != wantTo {
				return false
			}
		} else if from != to {
			return false
		}
	}
	return true
}

// fftAs transforms one axis after the other, each from the memory that the one before has left its result in.
func fftAs[T fourier.Float](s *site) (runtime.Bound, bool) {
	a := hlo.AttrsOf[hlo.FFTAttrs](s.in)
	in, out := s.shape(0), s.in.Shape()
	if in.NumElements() == 0 || out.NumElements() == 0 || len(a.Length) == 0 || len(a.Length) > in.Rank() || !fftTypes(a.Type, in.Type(), out.Type()) || !fftFits(a, in, out) {
		return runtime.Bound{}, false
	}
	last, outer := in.Rank()-1, in.Rank()-len(a.Length)
	for i, n := range a.Length { // profile xla lets other lengths through; the evaluator says what is wrong
		if real := outer+i == last && a.Type == hlo.IRFFT; !real && in.Dim(outer+i) != n || real && out.Dim(last) != n {
			return runtime.Bound{}, false
		}
	}
	dims := append([]int64(nil), out.Dimensions()...) // of the complex array in between
	if a.Type == hlo.IRFFT {
		dims = append(dims[:0], in.Dimensions()...)
	}
	inverse := a.Type == hlo.IFFT || a.Type == hlo.IRFFT
	var scratch scratchPlan
	var stages []*fftStage[T]
	from, to := place{kind: inInput}, place{kind: inOutput}
	ok := true
	add := func(axis int, load, store fftForm) {
		st := &fftStage[T]{from: from, to: to, load: load, store: store, inverse: inverse, n: int(a.Length[axis-outer]), inner: 1}
		for _, d := range dims[axis+1:] {
			st.inner *= int(d)
		}
		st.lines = 1
		for d, k := range dims {
			if d != axis {
				st.lines *= int(k)
			}
		}
		ok = ok && st.plan(&scratch)
		stages = append(stages, st)
		from = to
	}
	if a.Type == hlo.IRFFT {
		if len(a.Length) > 1 {
			to = place{kind: inScratch, section: scratch.take(in.ByteSize())}
		}
		for axis := last - 1; axis >= outer; axis-- {
			add(axis, fftWhole, fftWhole)
		}
		to = place{kind: inOutput}
		add(last, fftHalf, fftReal)
	} else {
		load, store := fftWhole, fftWhole
		if a.Type == hlo.RFFT {
			load, store = fftReal, fftHalf
		}
		for axis := last; axis >= outer; axis-- {
			add(axis, load, store)
			load, store = fftWhole, fftWhole
		}
	}
	if !ok {
		return runtime.Bound{}, false
	}
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		for _, st := range stages {
			if st.long != nil {
				st.long.run(f)
			} else {
				st.loop.run(f, st.groups, 1+(1<<13)/(st.n*st.lanes*max(1, st.strip.vectors)))
			}
		}
		return nil
	}, Scratch: scratch.size}, true
}

// fftTypes reports whether the operand and the result have the types that the transform says.
func fftTypes(t hlo.FFTType, in, out hlo.PrimitiveType) bool {
	switch t {
	case hlo.FFT, hlo.IFFT:
		return in == out && in.IsComplex()
	case hlo.RFFT:
		return out.IsComplex() && out.ComponentType() == in
	case hlo.IRFFT:
		return in.IsComplex() && in.ComponentType() == out
	}
	return false
}

// fftForm is how a line lies in memory.
type fftForm uint8

const (
	fftWhole fftForm = iota // n complex numbers
	fftHalf                 // the first n/2+1 of a line with conjugate symmetry
	fftReal                 // n real numbers
)

// numbers is how many numbers a line of n elements has in memory.
func (f fftForm) numbers(n int) int {
	if f == fftHalf {
		return n/2 + 1
	}
	return n
}

// fftStage transforms all lines along one axis, a group of as many as the plan has lanes at a time.
type fftStage[T fourier.Float] struct {
	from, to    place
	load, store fftForm
	inverse     bool
	n, inner    int // elements of a line, and between them
	lines       int

	transform      lineTransform[T]
	backwards      *fourier.Plan[T] // what brings an inverse transform into order, if the transform itself does not
	halved         bool             // neighbours of a real line are one complex number
	lanes          int
	strip          columnStrip[T]
	groups, within int // groups, and of those for each index before the axis
	loop           *parallelLoop
	buffers        sync.Pool
	long           *longTransform[T] // if lines are matrices
}

// lineTransform is a [fourier.Plan], a [fourier.Real] or a [fourier.InverseReal].
type lineTransform[T fourier.Float] interface {
	Lanes() int
	Len() int
	Transform(a, b []T) []T
}

type fftBuffers[T fourier.Float] struct{ a, b []T }

// other is the buffer that y is not.
func (w *fftBuffers[T]) other(y []T) []T {
	if &y[0] == &w.a[0] {
		return w.b
	}
	return w.a
}

// plan takes scratch memory if it needs some.
func (st *fftStage[T]) plan(scratch *scratchPlan) bool {
	if st.n < 1 {
		return false
	}
	if st.isLong(fourier.Lanes[T]()) && st.planLong(scratch) {
		return true
	}
	if st.n > maxTransform {
		return false
	}
	if r, ok := fourier.NewReal[T](st.n); ok && st.load == fftReal {
		st.transform, st.halved = r, true
	} else if r, ok := fourier.NewInverseReal[T](st.n); ok && st.store == fftReal {
		st.transform, st.halved = r, true
	} else if p, ok := fourier.NewPlan[T](st.n); ok {
		st.transform, st.backwards = p, p
	} else {
		return false
	}
	st.lanes = st.transform.Lanes()
	if st.inner == 1 {
		st.within = (st.lines-1)/st.lanes + 1
		st.groups = st.within
	} else {
		st.strip.plan(st)
		st.within = (st.inner-1)/(st.lanes*st.strip.vectors) + 1
		st.groups = st.lines / st.inner * st.within
	}
	n := st.transform.Len() * max(1, st.strip.vectors)
	st.buffers.New = func() any {
		return &fftBuffers[T]{elems[T](runtime.AlignedBytes(int64(n * 8)))[:n], elems[T](runtime.AlignedBytes(int64(n * 8)))[:n]}
	}
	st.loop = newParallelLoop(st.run)
	return true
}

func (st *fftStage[T]) run(f *runtime.TensorFrame, lo, hi int) {
	w := st.buffers.Get().(*fftBuffers[T])
	src, dst := elems[T](st.from.of(f)), elems[T](st.to.of(f))
	for g := lo; g < hi; g++ {
		if st.inner > 1 {
			st.strip.run(st, w, dst, src, g)
			continue
		}
		first := g * st.lanes
		n := min(st.lanes, st.lines-first)
		st.loadLines(w.a, src, first, n)
		y := st.transform.Transform(w.a, w.b)
		if st.inverse && st.backwards != nil {
			st.backwards.Backwards(y, 1)
		}
		st.storeLines(dst, y, first, n)
	}
	st.buffers.Put(w)
}

// loadLines puts n lines that are whole in memory side by side.
func (st *fftStage[T]) loadLines(a, src []T, first, n int) {
	length, step := st.load.numbers(st.n), 2*st.lanes
	switch st.load {
	case fftWhole:
		sideBySide(a, src[2*first*length:], n, length, st.lanes, length)
	case fftReal:
		if st.halved {
			sideBySide(a, src[first*length:], n, length/2, st.lanes, length/2)
			return
		}
		for j := range n {
			to := 2 * j
			for _, x := range src[(first+j)*length:][:length] {
				a[to], a[to+1] = x, 0
				to += step
			}
		}
	case fftHalf:
		sideBySide(a, src[2*first*length:], n, length, st.lanes, length)
		for j := range n { // what must be real is made so
			a[2*j+1] = 0
			if st.n%2 == 0 {
				a[step*(st.n/2)+2*j+1] = 0
			}
		}
		for i := length; i < st.n && !st.halved; i++ {
			to, from := a[step*i:][:2*n], a[step*(st.n-i):][:2*n]
			for j := 0; j < len(to); j += 2 {
				to[j], to[j+1] = from[j], -from[j+1]
			}
		}
	}
}

// storeLines is the way back.
func (st *fftStage[T]) storeLines(dst, y []T, first, n int) {
	length, step := st.store.numbers(st.n), 2*st.lanes
	switch {
	case st.store == fftReal && st.halved:
		sideBySide(dst[first*length:], y, length/2, n, length/2, st.lanes)
		return
	case st.store != fftReal:
		sideBySide(dst[2*first*length:], y, length, n, length, st.lanes)
		return
	}
	for j := range n {
		from := 2 * j
		to := dst[(first+j)*length:][:length]
		for i := range to {
			to[i] = y[from]
			from += step
		}
	}
}

// sideBySide transposes complex numbers; strides are between rows.
func sideBySide[T fourier.Float](dst, src []T, rows, cols, dstStride, srcStride int) {
	if s, ok := any(src).([]float32); ok {
		d := any(dst).([]float32)
		square.Transpose(asPairs(d), asPairs(s), rows, cols, dstStride, srcStride)
		return
	}
	for r := range rows {
		for c := range cols {
			copy(dst[2*(c*dstStride+r):][:2], src[2*(r*srcStride+c):][:2])
		}
	}
}

// asPairs is complex numbers as one element each.
func asPairs(v []float32) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(v))), len(v)/2)
}
