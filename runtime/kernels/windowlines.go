package kernels

import (
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// Windows along the last axis that lie beside each other are folded as a line: each position within the window contributes one element, or run, to many windows at once. A line is
// cut into pieces that stay in the nearest cache until all have contributed. Where windows are neighbours and whole, a list fold keeps what they are folded to in registers.

// pieceBytes is the size of a piece of the result.
const pieceBytes = 8192

// planLines prepares for lines, given the work for one position; it returns how many pieces there are and the work for one.
func (r *windowReduction[T]) planLines(t hlo.PrimitiveType, work int) (int, int) {
	last := len(r.window) - 1
	r.loop = newParallelLoop(r.lines)
	r.every = vec.FindEvery(t.ByteSize(), int(r.window[last].Stride))
	n := r.out[last]
	r.piece = min(n, max(1, pieceBytes/(r.run*t.ByteSize())))
	r.pieces = (n-1)/r.piece + 1
	if r.window[last].Stride == 1 && !r.isDilated(last) && r.canList() {
		r.vector = r.fold.list
	}
	return r.rows / n * r.pieces, work * r.piece
}

// lines folds the windows of pieces [lo, hi) of lines.
func (r *windowReduction[T]) lines(f *runtime.TensorFrame, lo, hi int) {
	x, out := elems[T](r.src.of(f)), elems[T](r.to.of(f))
	init := elems[T](r.init.of(f))[0]
	last := len(r.window) - 1
	n := r.out[last]
	from, end := wholeWindows(&r.window[last], r.in[last])
	for task := lo; task < hi; task++ {
		line, p := task/r.pieces, task%r.pieces*r.piece
		to := min(p+r.piece, n)
		y := out[(line*n+p)*r.run : (line*n+to)*r.run]
		whole, rest := to, to
		if r.vector != nil {
			whole, rest = min(max(p, from), to), max(p, min(end, to))
		}
		if whole >= rest {
			r.line(y, x, line, p, to, init)
			continue
		}
		r.line(y[:(whole-p)*r.run], x, line, p, whole, init)
		r.listedLine(y[(whole-p)*r.run:(rest-p)*r.run], x, line, whole, init)
		r.line(y[(rest-p)*r.run:], x, line, rest, to, init)
	}
}

// outer is the axes before the last.
func (r *windowReduction[T]) outer() windowRuns {
	last := len(r.window) - 1
	return windowRuns{window: r.window[:last], out: r.out[:last], in: r.in[:last], stride: r.stride[:last], spans: r.spans[:last]}
}

// listedLine folds the windows of a line from position p on into y: all are whole.
func (r *windowReduction[T]) listedLine(y, x []T, line, p int, init T) {
	last := len(r.window) - 1
	w := &r.window[last]
	l := r.lists.Get().(*windowList[T])
	l.counts, l.head = [maxSpatial]int{}, foldHead[T]{first: init}
	outer, first, end, n := r.outer(), len(x), 0, 0
	outer.each(line, func(off int) {
		for k := range int(w.Size) {
			at := off + (p+k*int(w.WindowDilation)-int(w.PadLow))*r.run
			first, end = min(first, at), max(end, at+len(y))
			l.offsets[n] = int64(at)
			n++
		}
	})
	if n == 0 {
		r.line(y, x, line, p, p, init)
		r.lists.Put(l)
		return
	}
	for i, at := range l.offsets[:n] {
		l.offsets[i] = (at - int64(first)) * int64(sizeOf(init))
	}
	l.head.count = int64(n)
	rows := x[first:end]
	r.vector(len(y), unsafe.Pointer(&y[0]), unsafe.Pointer(&rows[0]), unsafe.Pointer(&l.offsets[0]), unsafe.Pointer(&l.head))
	r.lists.Put(l)
}

// line folds the windows of positions [lo, hi) of a line into y, position by position of the windows, in row-major order.
func (r *windowReduction[T]) line(y, x []T, line, lo, hi int, init T) {
	for i := range y {
		y[i] = init
	}
	if len(y) == 0 || lo == hi {
		return
	}
	last := len(r.window) - 1
	w := &r.window[last]
	n, stride := r.out[last], int(w.Stride)
	buffer := r.picked.Get().(*[windowPick]T)
	defer r.picked.Put(buffer)
	picked := buffer[:]
	outer := r.outer()
	outer.each(line, func(off int) {
		for k := range int(w.Size) {
			if r.isDilated(last) { // each run of the array is a part of one window
				q, p := firstDilated(w, k)
				for ; q < r.in[last] && p < hi; q, p = q+1, p+int(w.BaseDilation) {
					if p >= lo {
						r.fold.rows(y[(p-lo)*r.run:][:r.run], x[off+q*r.run:][:r.run])
					}
				}
				continue
			}
			first, end, shift := positionsOf(w, k, n, r.in[last])
			first, end = max(first, lo), min(end, hi)
			if stride == 1 {
				if first < end {
					r.fold.rows(y[(first-lo)*r.run:(end-lo)*r.run], x[off+(first+shift)*r.run:][:(end-first)*r.run])
				}
				continue
			}
			for p := first; p < end; p += len(picked) {
				m := min(len(picked), end-p)
				at := off + p*stride + shift
				done := 0
				if r.every != nil && m > 1 { // which reads what follows an element too
					done = m - 1
					r.every(done, unsafe.Pointer(&picked[0]), unsafe.Pointer(&x[at:][:done*stride][0]), nil, nil)
					at += done * stride
				}
				for i := done; i < m; i++ {
					picked[i] = x[at]
					at += stride
				}
				r.fold.rows(y[p-lo:][:m], picked[:m])
			}
		}
	})
}
