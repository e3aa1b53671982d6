package kernels

import (
	"slices"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// runMoves copies runs of elements that lie together to another order of the axes around them, as heads of attention are split and merged. Of each row of the result,
// runs are copied by their size: a tile program walks to each run on its own.
type runMoves struct {
	box
	base int // of the first run in the operand, in bytes
	rows int
}

// leastMoved is the size, in bytes, of runs from which on they are copied one by one; shorter ones are permuted in vectors.
const leastMoved = 12

// newRunMoves serves programs that only move runs from the operand to the result.
func newRunMoves(p *tile.Program) (rewriting, bool) {
	dims, v, width, ok := p.Moved()
	if !ok || slices.Contains(v.Strides, 0) {
		return rewriting{}, false
	}
	src := make([]int, len(dims))
	for i, s := range v.Strides {
		src[i] = int(s)
	}
	b, ok := newBox(dims, src, rowMajor(dims), width)
	if !ok || b.run < max(leastMoved, width+1) || len(b.dims) < 2 || b.bytes() < fewElements*width {
		return rewriting{}, false
	}
	last := len(b.dims) - 1
	m := &runMoves{box: b, base: int(v.Base) * width, rows: 1}
	for _, d := range b.dims[:last] {
		m.rows *= d
	}
	loop := newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) { m.move(f.Out(0).Data, f.In(0).Data, lo, hi) })
	return rewriting{loop, m.rows, 1 + (1<<16)/(b.run*b.dims[last])}, true
}

// move copies rows [lo, hi) of the result.
func (m *runMoves) move(dst, src []byte, lo, hi int) {
	last := len(m.dims) - 1
	var at [maxBoxRank]int
	from, rest := m.base, lo
	for i := last - 1; i >= 0; i-- {
		at[i] = rest % m.dims[i]
		rest /= m.dims[i]
		from += at[i] * m.src[i]
	}
	size := m.run * m.dims[last]
	for to := lo * size; to < hi*size; to += size {
		m.row(dst, src, to, from, m.dims[last])
		for i := last - 1; i >= 0; i-- {
			at[i]++
			from += m.src[i]
			if at[i] < m.dims[i] {
				break
			}
			from -= at[i] * m.src[i]
			at[i] = 0
		}
	}
}
