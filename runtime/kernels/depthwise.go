package kernels

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
)

// depthwise is a convolution whose every output feature sees one input feature. A row of the result along its last axis is summed up
// tap by tap: each adds a run of the input times a number, or times a run of the kernel where the last axis is the features.
type depthwise[T gemm.Number] struct {
	g        *convGeometry
	axes     []convAxis // of the result, major to minor
	rows     int
	taps     []int // window coordinates, rank by rank
	tapCount int
	lhs      place
	rhs      place
	out      place
	loop     *parallelLoop
	sums     *convSums // of rows that a loop of package vec computes, or nil
}

// convAxis is an axis of the result.
type convAxis struct {
	kind axisKind
	d    int // which spatial axis
	size int
}

type axisKind uint8

const (
	batchAxis axisKind = iota
	featureAxis
	spatialAxis
)

func depthwiseAs[T gemm.Number](s *site, t hlo.PrimitiveType, g *convGeometry) (runtime.Bound, bool) {
	if g.batchGroups > 1 {
		return runtime.Bound{}, false
	}
	for _, w := range g.window {
		if w.BaseDilation != 1 {
			return runtime.Bound{}, false
		}
	}
	c := &depthwise[T]{g: g, rows: 1, tapCount: g.taps()}
	labels := hlo.AttrsOf[hlo.ConvolutionAttrs](s.in).DimLabels
	out := s.in.Shape()
	for i := range out.Rank() {
		a := convAxis{size: int(out.Dim(i))}
		if a.size == 1 && out.NumElements() > 1 {
			continue // so that the last one is a run in memory of more than one element
		}
		switch int64(i) {
		case labels.OutputBatch:
			a.kind = batchAxis
		case labels.OutputFeature:
			a.kind = featureAxis
		default:
			a.kind = spatialAxis
			for d, x := range labels.OutputSpatial {
				if x == int64(i) {
					a.d = d
				}
			}
		}
		c.axes = append(c.axes, a)
	}
	for _, a := range c.axes[:len(c.axes)-1] {
		c.rows *= a.size
	}
	at := make([]int, len(g.window))
	for tap := range g.taps() {
		unravel(at, tap, func(d int) int { return int(g.window[d].Size) })
		c.taps = append(c.taps, at...)
	}
	e := &convertedIO{t: t}
	if !e.plan(s) {
		return runtime.Bound{}, false
	}
	c.lhs, c.rhs, c.out = e.in[0], e.in[1], e.out
	c.loop = newParallelLoop(c.body)
	if c.findSums(t) {
		c.loop = newParallelLoop(c.summed)
	}
	last := c.axes[len(c.axes)-1].size
	grain := 1 + (1<<14)/(1+last*g.taps())
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		e.before(f)
		c.loop.run(f, c.rows, grain)
		e.after(f)
		return nil
	}, Scratch: e.scratch.size}, true
}

func (c *depthwise[T]) body(f *runtime.TensorFrame, lo, hi int) {
	x, w, out := elems[T](c.lhs.of(f)), elems[T](c.rhs.of(f)), elems[T](c.out.of(f))
	n := c.axes[len(c.axes)-1].size
	for row := lo; row < hi; row++ {
		y := out[row*n:][:n]
		clear(y)
		c.row(y, x, w, row)
	}
}

// place is where a run of the result is along the other axes.
func (c *depthwise[T]) place(row int) (at [maxSpatial]int, batch, feature int) {
	for i := len(c.axes) - 2; i >= 0; i-- {
		a := &c.axes[i]
		p := row % a.size
		row /= a.size
		switch a.kind {
		case batchAxis:
			batch = p
		case featureAxis:
			feature = p
		default:
			at[a.d] = p
		}
	}
	return at, batch, feature
}

// row computes one run of the result.
func (c *depthwise[T]) row(y, x, w []T, row int) {
	g := c.g
	at, batch, feature := c.place(row)
	last := len(c.axes) - 1
	inner := &c.axes[last]
	rank := len(g.window)
	for tap := range c.tapCount {
		taps := c.taps[tap*rank:][:rank]
		xo, wo := batch*g.inBatch, 0
		ok := true
		for d, k := range taps {
			win := &g.window[d]
			wk := k
			if win.Reversal {
				wk = int(win.Size) - 1 - k
			}
			wo += wk * g.kernelSpatial[d]
			if inner.kind == spatialAxis && inner.d == d {
				continue
			}
			pos := at[d]*int(win.Stride) + k*int(win.WindowDilation) - int(win.PadLow)
			ok = ok && uint(pos) < uint(g.in[d])
			xo += pos * g.inSpatial[d]
		}
		if !ok {
			continue
		}
		switch inner.kind {
		case spatialAxis:
			d := inner.d
			win := &g.window[d]
			shift := taps[d]*int(win.WindowDilation) - int(win.PadLow)
			first, end := validRange(len(y), int(win.Stride), shift, g.in[d])
			if first < end {
				xo += feature/g.outputs*g.inFeature + (first*int(win.Stride)+shift)*g.inSpatial[d]
				addScaled(y[first:end], x[xo:], int(win.Stride)*g.inSpatial[d], w[wo+feature*g.kernelOut])
			}
		case featureAxis:
			if g.outputs == 1 {
				addProducts(y, x[xo:], g.inFeature, w[wo:], g.kernelOut)
				continue
			}
			for o := range y {
				y[o] += x[xo+o/g.outputs*g.inFeature] * w[wo+o*g.kernelOut]
			}
		default:
			addScaled(y, x[xo+feature/g.outputs*g.inFeature:], g.inBatch, w[wo+feature*g.kernelOut])
		}
	}
}

// validRange is the range of p in [0, n) with p*stride+shift in [0, size).
func validRange(n, stride, shift, size int) (first, end int) {
	if shift < 0 {
		first = (-shift + stride - 1) / stride
	}
	if size > shift {
		end = min(n, (size-shift-1)/stride+1)
	}
	return first, end
}

func addScaled[T gemm.Number](y, x []T, step int, by T) {
	if step == 1 {
		x = x[:len(y)]
		for i := range y {
			y[i] += x[i] * by
		}
		return
	}
	at := 0
	for i := range y {
		y[i] += x[at] * by
		at += step
	}
}

func addProducts[T gemm.Number](y, x []T, xStep int, w []T, wStep int) {
	if xStep == 1 && wStep == 1 {
		x, w = x[:len(y)], w[:len(y)]
		for i := range y {
			y[i] += x[i] * w[i]
		}
		return
	}
	for i := range y {
		y[i] += x[i*xStep] * w[i*wStep]
	}
}
