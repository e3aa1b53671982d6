package kernels

import (
	"slices"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
)

// A convolution with few output features multiplies each element that a window sees so seldom that writing what all windows see takes most of the time.
// Its input is copied once instead, with the zeros at its edges and in its holes, and rows of the product are read where they are in that copy.

// mostInHoles is the number of products up to which multiplying by the zeros of holes costs less than a convolution for each phase.
const mostInHoles = 1 << 20

// paddedAs is the convolution that reads its input in place, or false if it has too many output features or no kernel does.
func paddedAs[T gemm.Number](s *site, t hlo.PrimitiveType, g *convGeometry) (runtime.Bound, bool) {
	p := newConvShape[T](g)
	p.kernel = gemm.Fit[T](p.m, p.n)
	if len(g.window) == 0 || min(p.m, p.n, p.k) == 0 || g.inside() && min(p.m, p.n) == 1 { // a matrix times a vector
		return runtime.Bound{}, false
	}
	padded, copied := g.padded()
	if copied.size() > p.batch*p.m*p.k || g.hasHoles() && p.m*p.n*p.k*p.batch > mostInHoles || !p.placeable(p.k, mostColumnsInPlace) {
		return runtime.Bound{}, false
	}
	e := &convertedIO{t: t}
	if !e.plan(s) {
		return runtime.Bound{}, false
	}
	p.lhs, p.rhs = e.in[0], e.in[1]
	if copied.isWhole() {
		padded = g
	} else {
		p.copyLeft(e, copied, t, nil)
	}
	p.placePadded(s, padded)
	return p.complete(s, e, t)
}

// copyLeft makes p read a copy of the input, of elements of type t, each row of which may be changed when it has been written.
func (p *product[T]) copyLeft(e *convertedIO, copied *paddedCopy, t hlo.PrimitiveType, change func(row []T)) {
	from := p.lhs
	p.lhs = place{kind: inScratch, section: e.scratch.take(int64(copied.size()) * int64(t.ByteSize()))}
	to, n := p.lhs, copied.inner.out
	loop := newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
		dst := elems[T](to.of(f))
		copyPadded(copied, dst, elems[T](from.of(f)), lo, hi)
		if change != nil {
			change(dst[lo*n : hi*n])
		}
	})
	p.rewrites = []rewriting{{loop, copied.size() / n, 1 + (1<<14)/n}}
}

// placePadded makes p read rows where they are in its input, or in the copy of it.
func (p *product[T]) placePadded(s *site, padded *convGeometry) {
	p.leftBatch = padded.leftBatches()
	p.placed = sync.OnceValue(func() *placedRows { return &placedRows{rows: padded.rowOffsets(), ks: padded.tapOffsets()} })
	p.arrange = padded.arrangement(s.in.Shape())
}

// paddedAxis is an axis of an array, and of its copy: element i is at low + i·step there.
type paddedAxis struct {
	in, stride int
	out        int
	low, step  int
}

// paddedCopy is a copy of an array with zeros between and around its elements, of the same order in memory: inner is the last axis, or the last ones together.
type paddedCopy struct {
	outer []paddedAxis
	inner paddedAxis
}

func (c *paddedCopy) size() int {
	n := c.inner.out
	for _, a := range c.outer {
		n *= a.out
	}
	return n
}

// isWhole reports whether the copy is the array.
func (c *paddedCopy) isWhole() bool {
	for _, a := range c.outer {
		if !a.isWhole() {
			return false
		}
	}
	return c.inner.isWhole()
}

func (a *paddedAxis) isWhole() bool { return a.in == a.out && a.low == 0 && a.step == 1 }

// padded is the same convolution of a copy of its input that has as much as the windows see.
func (g *convGeometry) padded() (*convGeometry, *paddedCopy) {
	c := *g
	c.window, c.in, c.inSpatial = slices.Clone(g.window), slices.Clone(g.in), slices.Clone(g.inSpatial)
	type axis struct {
		paddedAxis
		set *int // its stride in the copy
	}
	whole := func(n, stride int, set *int) axis { return axis{paddedAxis{n, stride, n, 0, 1}, set} }
	axes := []axis{whole(g.batch*g.batchGroups, g.inBatch, &c.inBatch), whole(g.features*g.groups, g.inFeature, &c.inFeature)}
	for d := range c.window {
		w := &c.window[d]
		c.in[d] = (g.out[d]-1)*int(w.Stride) + (int(w.Size)-1)*int(w.WindowDilation) + 1
		if w.PadLow == 0 && w.BaseDilation == 1 && c.in[d] <= g.in[d] {
			c.in[d] = g.in[d] // nothing is added
		}
		axes = append(axes, axis{paddedAxis{g.in[d], g.inSpatial[d], c.in[d], int(w.PadLow), int(w.BaseDilation)}, &c.inSpatial[d]})
		w.PadLow, w.BaseDilation = 0, 1
	}
	slices.SortStableFunc(axes, func(a, b axis) int { return b.stride - a.stride })
	step := 1
	for i := len(axes) - 1; i >= 0; i-- {
		*axes[i].set = step
		step *= axes[i].out
	}
	copied := &paddedCopy{inner: axes[len(axes)-1].paddedAxis}
	for i := len(axes) - 2; i >= 0; i-- {
		a := axes[i].paddedAxis
		if n := copied.inner.in; len(copied.outer) == 0 && copied.inner.isWhole() && a.step == 1 && a.stride == n*copied.inner.stride {
			copied.inner = paddedAxis{a.in * n, copied.inner.stride, a.out * n, a.low * n, 1}
			continue
		}
		copied.outer = append(copied.outer, a)
	}
	slices.Reverse(copied.outer)
	// Rows are in the order of the result, where that is one of the two.
	c.batchLast = g.batch > 1 && g.outBatch < slices.Min(g.outSpatial)
	return &c, copied
}

// copyPadded writes rows [lo, hi) of a copy.
func copyPadded[T any](c *paddedCopy, dst, src []T, lo, hi int) {
	outer, last := c.outer, paddedAxis{in: 1, out: 1, step: 1}
	if n := len(outer); n > 0 {
		outer, last = outer[:n-1], outer[n-1]
	}
	for row := lo; row < hi; {
		from, inside := offsetOf(outer, row/last.out)
		for at := row % last.out; at < last.out && row < hi; at++ {
			to := dst[row*c.inner.out:][:c.inner.out]
			row++
			if off, ok := last.offset(at); inside && ok {
				copyRow(&c.inner, to, src, from+off)
			} else {
				clear(to)
			}
		}
	}
}

// offset is where element i of the copy is in the array, unless it is a zero.
func (a *paddedAxis) offset(i int) (int, bool) {
	i -= a.low
	if a.step == 1 {
		return i * a.stride, i >= 0 && i < a.in
	}
	return i / a.step * a.stride, i >= 0 && i < a.in*a.step && i%a.step == 0
}

// offsetOf is offset for the i-th combination of elements of several axes.
func offsetOf(axes []paddedAxis, i int) (from int, inside bool) {
	for d := len(axes) - 1; d >= 0; d-- {
		off, ok := axes[d].offset(i % axes[d].out)
		if !ok {
			return 0, false
		}
		from += off
		i /= axes[d].out
	}
	return from, true
}

// copyRow writes a row along the inner axis, which begins at an offset of the array. Neither edges nor rows of windows are often long enough for a call to pay.
func copyRow[T any](inner *paddedAxis, to, src []T, from int) {
	var zero T
	if inner.step == 1 && inner.stride == 1 {
		first := min(max(0, inner.low), len(to))
		last := max(first, min(len(to), inner.low+inner.in))
		for i := 0; i < first; i++ {
			to[i] = zero
		}
		if first < last {
			copyLine(to[first:last], src[from+first-inner.low:])
		}
		for i := last; i < len(to); i++ {
			to[i] = zero
		}
		return
	}
	clear(to)
	for i := range inner.in {
		if at := inner.low + i*inner.step; at >= 0 && at < len(to) {
			to[at] = src[from+i*inner.stride]
		}
	}
}
