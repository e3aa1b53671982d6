package kernels

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// convolution is a product of matrices: one row for each position of the result, one column for each output feature, over the window's
// positions and the input features. Groups are batches. With one input feature per group it is computed directly, and with few output features the rows are
// read from a copy of the input.
func convolution(s *site) (runtime.Bound, bool) {
	t := s.in.Shape().Type()
	if t.IsFloat() && t.Bits() < 32 {
		t = hlo.F32
	}
	switch t {
	case hlo.F32:
		if b, ok := winogradAs(s); ok {
			return b, true
		}
		if b, ok := winogradGradientAs(s); ok {
			return b, true
		}
		return convolutionAs[float32](s, t)
	case hlo.F64:
		return convolutionAs[float64](s, t)
	// Signed and unsigned numbers add and multiply to the same bits.
	case hlo.S8, hlo.U8, hlo.S16, hlo.U16, hlo.S32, hlo.U32:
		return convolutionOfIntegers(s)
	case hlo.S64, hlo.U64:
		return convolutionAs[int64](s, t)
	case hlo.C64:
		return convolutionAs[complex64](s, t)
	case hlo.C128:
		return convolutionAs[complex128](s, t)
	}
	return runtime.Bound{}, false
}

// convGeometry is the sizes and memory strides of a convolution.
type convGeometry struct {
	window                               []hlo.WindowDim
	groups, batchGroups                  int
	batch, features, outputs             int   // of the result: batch per batch group; input features per group; output features per group
	in, out                              []int // spatial sizes
	inBatch, inFeature                   int   // strides
	kernelIn, kernelOut                  int
	kernelBase, outBase                  int // where kernel and result begin
	outBatch, outFeature                 int
	inSpatial, kernelSpatial, outSpatial []int // strides
	// batchLast says that rows of the product are in the order of positions, and of images within them; else it is the other way round.
	batchLast bool
	// tapsInner says that the common dimension is in the order of input features, and of the window's positions within them, as the kernel is in memory; else it is the other
	// way round.
	tapsInner bool
}

func geometryOf(s *site) (*convGeometry, bool) {
	a := hlo.AttrsOf[hlo.ConvolutionAttrs](s.in)
	d := a.DimLabels
	if len(d.InputUnknown)+len(d.KernelUnknown)+len(d.OutputUnknown) > 0 || a.Sparsity != nil {
		return nil, false
	}
	lhs, rhs, out := s.shape(0), s.shape(1), s.in.Shape()
	ls, rs, outs := rowMajor(lhs.Dimensions()), rowMajor(rhs.Dimensions()), rowMajor(out.Dimensions())
	g := &convGeometry{groups: int(a.FeatureGroupCount), batchGroups: int(a.BatchGroupCount),
		inBatch: ls[d.InputBatch], inFeature: ls[d.InputFeature], kernelIn: rs[d.KernelInput], kernelOut: rs[d.KernelOutput],
		outBatch: outs[d.OutputBatch], outFeature: outs[d.OutputFeature]}
	g.features = int(rhs.Dim(int(d.KernelInput)))
	g.batch = int(out.Dim(int(d.OutputBatch)))
	if g.groups < 1 || g.batchGroups < 1 || g.groups > 1 && g.batchGroups > 1 {
		return nil, false
	}
	g.outputs = int(out.Dim(int(d.OutputFeature))) / (g.groups * g.batchGroups)
	if a.Window != nil {
		g.window = a.Window.Dims
	}
	if len(g.window) != len(d.InputSpatial) || len(g.window) > maxSpatial {
		return nil, false
	}
	for i := range g.window {
		g.in = append(g.in, int(lhs.Dim(int(d.InputSpatial[i]))))
		g.out = append(g.out, int(out.Dim(int(d.OutputSpatial[i]))))
		g.inSpatial = append(g.inSpatial, ls[d.InputSpatial[i]])
		g.kernelSpatial = append(g.kernelSpatial, rs[d.KernelSpatial[i]])
		g.outSpatial = append(g.outSpatial, outs[d.OutputSpatial[i]])
	}
	if last := len(g.window) - 1; last >= 0 {
		// Rows that lie together are packed feature by feature at each position of the window, which takes longer for a few features at a time.
		g.tapsInner = g.kernelSpatial[last] == 1 && g.inFeature != 1 && g.features > 1 && (g.features >= g.taps() || !g.rowsAlong())
	}
	return g, true
}

// positions is how many positions one image of the result has, and taps how many the window.
func (g *convGeometry) positions() int {
	n := 1
	for _, d := range g.out {
		n *= d
	}
	return n
}

func (g *convGeometry) taps() int {
	n := 1
	for _, w := range g.window {
		n *= int(w.Size)
	}
	return n
}

// unravel writes the coordinates of the i-th index combination.
func unravel(at []int, i int, size func(d int) int) {
	for d := len(at) - 1; d >= 0; d-- {
		at[d] = i % size(d)
		i /= size(d)
	}
}

// inside reports whether the window never leaves the input, and never meets a hole.
func (g *convGeometry) inside() bool {
	for d, w := range g.window {
		last := (g.out[d]-1)*int(w.Stride) + (int(w.Size)-1)*int(w.WindowDilation) - int(w.PadLow)
		if w.BaseDilation != 1 || w.PadLow > 0 || last >= g.in[d] {
			return false
		}
	}
	return true
}

func convolutionAs[T gemm.Number](s *site, t hlo.PrimitiveType) (runtime.Bound, bool) {
	g, ok := geometryOf(s)
	if !ok {
		return runtime.Bound{}, false
	}
	if g.features == 1 && g.outputs <= 2 {
		if b, ok := depthwiseAs[T](s, t, g); ok {
			return b, true
		}
	}
	if b, ok := paddedAs[T](s, t, g); ok {
		return b, true
	}
	if g.hasHoles() {
		if b, ok := phasesAs[T](s, t, g); ok {
			return b, true
		}
	}
	g.batchLast = g.inBatch == 1 && g.batch >= fewImages // then rows are neighbours in memory
	p := newConvProduct[T](g)
	p.arrange = g.arrangement(s.in.Shape())
	return p.bind(s, t)
}

// fewImages is how many elements that lie together are worth copying as a run.
const fewImages = 4

// newConvShape is the product of a convolution without its left side.
func newConvShape[T gemm.Number](g *convGeometry) *product[T] {
	p := &product[T]{batch: g.groups * g.batchGroups, m: g.batch * g.positions(), n: g.outputs, k: g.taps() * g.features}
	p.rightBatch = multiples(p.batch, g.outputs*g.kernelOut)
	p.right = gemm.NewMatrix(multiples(g.outputs, g.kernelOut), g.kernelOffsets())
	return p
}

// leftBatches are where the groups begin in the input.
func (g *convGeometry) leftBatches() []int {
	if g.batchGroups > 1 {
		return multiples(g.batchGroups, g.batch*g.inBatch)
	}
	return multiples(g.groups, g.features*g.inFeature)
}

// newConvProduct is the product of patches and kernel.
func newConvProduct[T gemm.Number](g *convGeometry) *product[T] {
	p := newConvShape[T](g)
	p.leftBatch = g.leftBatches()
	if g.inside() && !g.batchLast {
		p.left = gemm.NewMatrix(g.rowOffsets(), g.tapOffsets())
		if !g.rowsAlong() || p.left.LinearRows() {
			return p
		}
	}
	p.kernel = gemm.Fit[T](p.m, p.n)
	if together := g.rowsTogether(); together > 1 {
		if k, ok := gemm.OfRows[T](mostRun); ok && together%mostRun == 0 {
			p.kernel = k // whose panels no run ends in
		}
	}
	seen := newPatches[T](g, p.leftBatch, p.kernel.MR)
	p.packLeft = seen.pack
	p.placePatches(g, seen)
	return p
}

// rowsTogether is how many rows of the product, one behind the other, are neighbours in memory.
func (g *convGeometry) rowsTogether() int {
	switch {
	case g.batchLast:
		return g.batch
	case g.rowsAlong():
		return g.out[len(g.out)-1]
	}
	return 1
}

func multiples(n, by int) []int {
	v := make([]int, n)
	for i := range v {
		v[i] = i * by
	}
	return v
}

// kernelOffsets are the offsets in the kernel of the window's positions and input features; a reversed axis is read backwards.
func (g *convGeometry) kernelOffsets() []int {
	at, taps := make([]int, len(g.window)), make([]int, g.taps())
	for tap := range taps {
		unravel(at, tap, func(d int) int { return int(g.window[d].Size) })
		base := g.kernelBase
		for d, w := range g.window {
			k := at[d]
			if w.Reversal {
				k = int(w.Size) - 1 - k
			}
			base += k * g.kernelSpatial[d]
		}
		taps[tap] = base
	}
	return g.common(taps, g.kernelIn)
}

// common are offsets in the order of the common dimension, from those of the window's positions and the stride of input features.
func (g *convGeometry) common(taps []int, feature int) []int {
	offsets := make([]int, 0, len(taps)*g.features)
	if g.tapsInner {
		for f := range g.features {
			for _, at := range taps {
				offsets = append(offsets, at+f*feature)
			}
		}
		return offsets
	}
	for _, at := range taps {
		for f := range g.features {
			offsets = append(offsets, at+f*feature)
		}
	}
	return offsets
}

// tapOffsets are those in the input, from the window's first position.
func (g *convGeometry) tapOffsets() []int {
	at, taps := make([]int, len(g.window)), make([]int, g.taps())
	for tap := range taps {
		unravel(at, tap, func(d int) int { return int(g.window[d].Size) })
		for d, w := range g.window {
			taps[tap] += at[d] * int(w.WindowDilation) * g.inSpatial[d]
		}
	}
	return g.common(taps, g.inFeature)
}

// rowOffsets are the offsets in the input of the window's first position, for each position of the result.
func (g *convGeometry) rowOffsets() []int {
	at, positions := make([]int, len(g.window)), g.positions()
	offsets := make([]int, g.batch*positions)
	for i := range positions {
		unravel(at, i, func(d int) int { return g.out[d] })
		o := 0
		for d, w := range g.window {
			o += (at[d]*int(w.Stride) - int(w.PadLow)) * g.inSpatial[d]
		}
		for b := range g.batch {
			if g.batchLast {
				offsets[i*g.batch+b] = o + b*g.inBatch
			} else {
				offsets[b*positions+i] = o + b*g.inBatch
			}
		}
	}
	return offsets
}

// arrangement says how the product [group][batch, positions][outputs], or [group][positions, batch][outputs], becomes the result, unless it is in the right order already.
func (g *convGeometry) arrangement(out hlo.Shape) *arrangement {
	groups := g.groups * g.batchGroups
	// The axes of the product, with the stride that each has in the result.
	dims := []int64{int64(groups), int64(g.batch)}
	strides := []int{g.outputs * g.outFeature, g.outBatch}
	for d := range g.out {
		dims = append(dims, int64(g.out[d]))
		strides = append(strides, g.outSpatial[d])
	}
	if g.batchLast {
		dims = append(append(dims[:1], dims[2:]...), int64(g.batch))
		strides = append(append(strides[:1], strides[2:]...), g.outBatch)
	}
	dims = append(dims, int64(g.outputs))
	strides = append(strides, g.outFeature)
	return newArrangement(dims, strides)
}

// arrangement is a permutation of the axes of an array.
type arrangement struct {
	space tile.Space // of the result
	view  tile.View  // of the array
}

// newArrangement permutes axes of sizes dims so that they get the given strides; nil if they have them already.
func newArrangement(dims []int64, strides []int) *arrangement {
	from := rowMajor(dims)
	var axes []int
	moved := false
	for i, d := range dims {
		if d != 1 {
			axes = append(axes, i)
			moved = moved || from[i] != strides[i]
		}
	}
	if !moved {
		return nil
	}
	a := &arrangement{}
	for len(axes) > 0 {
		widest := 0
		for i, x := range axes {
			if strides[x] > strides[axes[widest]] {
				widest = i
			}
		}
		x := axes[widest]
		axes = append(axes[:widest], axes[widest+1:]...)
		a.space.Dims = append(a.space.Dims, dims[x])
		a.view.Strides = append(a.view.Strides, int64(from[x]))
	}
	return a
}

// move permutes the axes of an array from one place to another.
func (a *arrangement) move(from, to place, t hlo.PrimitiveType) (rewriting, bool) {
	src := make([]int, len(a.view.Strides))
	for i, s := range a.view.Strides {
		src[i] = int(s)
	}
	if r, ok := newSquares(a.space.Dims, src, t, from, to); ok {
		return r, true
	}
	c, ok := newMove(from, to, t, a.space, a.view)
	if !ok {
		return rewriting{}, false
	}
	return rewriting{c.loop, c.program.Len(), c.program.Grain()}, true
}
