package kernels

import (
	"unsafe"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/tile"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// runMoves copies runs of elements that lie together to another order of the axes around them, as heads of attention are split and merged. Of each row of the result,
// runs are copied by their size: a tile program walks to each run on its own, unless it permutes them in vectors. Elements that are repeated along the last axis are rows, too.
type runMoves struct {
	box
	base int // of the first run in the operand, in bytes
	rows int
	// repeat, if set, writes a row of the result, which is one element over and over.
	repeat vec.Loop
	// short is how many runs a row has if these are few, else 0: rows are then all indices of two axes, and the last but one is walked first.
	short int
}

// fewRuns is the number of runs below which a row is copied together with others.
const fewRuns = 8

// longRun is the size, in bytes, of runs that may be a row each, and from which on few of them are one.
const longRun = 512

// leastMoved is the size, in bytes, of runs from which on they are copied one by one; shorter ones are permuted in vectors.
const leastMoved = 12

// longestPermuted is the size, in bytes, of runs and of rows of one element up to which vectors are permuted if elements lie together.
const longestPermuted = 64

// Limits of rows that are one element: the size, in bytes, from which on they are filled by a loop, and the largest that is one piece of work.
const (
	leastRepeated = 16
	mostRepeated  = 1 << 15
)

// repeatOf is the loop for the rows of a box if each is one element over and over, or nil.
func repeatOf(b *box) vec.Loop {
	last := len(b.dims) - 1
	if last < 1 || b.run != b.width || b.src[last] != 0 || b.dst[last] != b.width {
		return nil
	}
	if size := b.width * b.dims[last]; size < leastRepeated || size > mostRepeated {
		return nil
	}
	return tile.Repeat(b.width)
}

// newRunMoves serves programs that only move runs from the operand to the result, or repeat elements along the last axis.
func newRunMoves(p *tile.Program) (rewriting, bool) {
	dims, v, width, ok := p.Moved()
	if !ok {
		return rewriting{}, false
	}
	src := make([]int, len(dims))
	for i, s := range v.Strides {
		src[i] = int(s)
	}
	b, ok := newBox(dims, src, rowMajor(dims), width)
	if !ok || b.bytes() < fewElements*width {
		return rewriting{}, false
	}
	repeat := repeatOf(&b)
	piece := b.run
	if repeat != nil {
		piece *= b.dims[len(b.dims)-1]
	}
	if piece <= longestPermuted && p.Permutes() {
		return rewriting{}, false
	}
	if repeat == nil && b.run < max(leastMoved, width+1) {
		return rewriting{}, false
	}
	if len(b.dims) == 1 && b.run >= longRun { // rows of one run
		b.dims, b.src, b.dst = append(b.dims, 1), append(b.src, 0), append(b.dst, 0)
	}
	if len(b.dims) < 2 {
		return rewriting{}, false
	}
	m := &runMoves{box: b, base: int(v.Base) * width, rows: 1, repeat: repeat}
	if last := len(b.dims) - 1; repeat == nil && last > 1 && b.dims[last] < min(fewRuns, b.dims[last-1]) && b.run*b.dims[last] <= longRun {
		m.short = b.dims[last]
	}
	for _, d := range b.dims[:m.inner()] {
		m.rows *= d
	}
	loop := newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) { m.move(f.Out(0).Data, f.In(0).Data, lo, hi) })
	return rewriting{loop, m.rows, 1 + (1<<16)/m.size()}, true
}

// inner is the first axis of a row.
func (m *runMoves) inner() int {
	if m.short > 0 {
		return len(m.dims) - 2
	}
	return len(m.dims) - 1
}

// size is that of a row, in bytes.
func (m *runMoves) size() int {
	n := m.run
	for _, d := range m.dims[m.inner():] {
		n *= d
	}
	return n
}

// move copies rows [lo, hi) of the result.
func (m *runMoves) move(dst, src []byte, lo, hi int) {
	inner, last := m.inner(), len(m.dims)-1
	var at [maxBoxRank]int
	from, rest := m.base, lo
	for i := inner - 1; i >= 0; i-- {
		at[i] = rest % m.dims[i]
		rest /= m.dims[i]
		from += at[i] * m.src[i]
	}
	size := m.size()
	for to, n := lo*size, 1; to < hi*size; to += n * size {
		switch {
		case m.repeat != nil:
			n = min(hi-to/size, m.dims[inner-1]-at[inner-1])
			m.repeatRows(dst[to:to+n*size], src, from, n)
		case m.short == 0:
			m.row(dst, src, to, from, m.dims[last])
		}
		for i := range m.short {
			m.runs(dst, src, to+i*m.dst[last], from+i*m.src[last], m.dst[inner], m.src[inner], m.dims[inner])
		}
		by := n
		for i := inner - 1; i >= 0; i-- {
			at[i] += by
			from += by * m.src[i]
			if at[i] < m.dims[i] {
				break
			}
			from -= at[i] * m.src[i]
			at[i], by = 0, 1
		}
	}
}

// repeatRows writes n rows, whose elements lie along the axis before the last from one on.
func (m *runMoves) repeatRows(dst, src []byte, from, n int) {
	last := len(m.dims) - 1
	elements, size, step := m.dims[last], m.dst[last-1], m.src[last-1]
	end := from + (n-1)*step
	_, _, _ = dst[n*size-1], src[min(from, end)], src[max(from, end)+m.width-1]
	d, x := unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[from])
	for range n - 1 {
		m.repeat(elements, d, x, nil, nil)
		d, x = unsafe.Add(d, size), unsafe.Add(x, step)
	}
	m.repeat(elements, d, x, nil, nil)
}
