package kernels

import (
	"sync"
	"unsafe"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
	"github.com/gohalo/halo/runtime/kernels/winograd"
)

// winogradGradient is the gradient of the weights of such a convolution: one whose window is as large as the gradient of the result, and whose result has three by three
// positions. Its images are what input features are elsewhere, and the features of the input are its images. The products of combinations are added up over all patches, in
// blocks of them, and combined to weights once. Tasks share the features, so that each adds up in the same order whatever their number.
type winogradGradient struct {
	winogradBase
	in, gradient, out winogradImages
	rewrites          []rewriting // before and after, or none
	arrange           rewriting
	magnitudes        section // of the positions that patches see, then of the gradient's
	errors            section // of each image
	rows, ks          []int   // of a block of combinations, whose features are the rows of a product
	first, second     *parallelLoop
	tasks             *parallelLoop
	workspaces        sync.Pool // of *gradientSpace
}

// gradientSpace is what one goroutine needs.
type gradientSpace struct {
	combined, gradients, sums []float32
	patch                     []float32 // where the edges of an image are
	tile                      []float32
	last                      []int
}

// What a task adds up at a time stays in the second cache: so many patches, for so many features on each side.
const (
	gradientBlock    = 64
	gradientFeatures = 64
	leastOfTask      = 16 // features, where there are fewer tasks than workers
)

// How far apart combinations are.
const (
	gradientStep = gradientBlock*gradientFeatures + apartLines
	sumStep      = gradientFeatures*gradientFeatures + apartLines
)

// winogradGradientAs is the gradient, or false if the convolution is not one of those or would not take less time.
func winogradGradientAs(s *site) (runtime.Bound, bool) {
	g, ok := geometryOf(s)
	if !ok || !g.isWinogradGradient() || !g.gainsByWinogradGradient() {
		return runtime.Bound{}, false
	}
	w, ok := newWinogradBase(s)
	if !ok {
		return runtime.Bound{}, false
	}
	c := &winogradGradient{winogradBase: w}
	size := [2]int{int(g.window[0].Size), int(g.window[1].Size)}
	patches := [2]int{(size[0] + 1) / 2, (size[1] + 1) / 2}
	c.in = winogradImages{place: c.ends.in[0], count: g.features, features: g.batch, size: [2]int(g.in), patches: patches, side: 4, combine: winograd.Patches}
	c.in.before = [2]int{int(g.window[0].PadLow), int(g.window[1].PadLow)}
	c.gradient = winogradImages{place: c.ends.in[1], count: g.features, features: g.outputs, size: size, patches: patches, side: 2, combine: winograd.Gradients}
	c.out = winogradImages{place: c.ends.out, count: g.batch, features: g.outputs, size: [2]int{3, 3}}
	scratch := &c.ends.scratch
	c.rewrites = make([]rewriting, 2)
	if c.rewrites[0], ok = c.in.bringTogether(imageAxes{g.inFeature, g.inSpatial[0], g.inSpatial[1], g.inBatch}, scratch); !ok {
		return runtime.Bound{}, false
	}
	if c.rewrites[1], ok = c.gradient.bringTogether(imageAxes{g.kernelIn, g.kernelSpatial[0], g.kernelSpatial[1], g.kernelOut}, scratch); !ok {
		return runtime.Bound{}, false
	}
	if c.arrange, ok = c.out.spread(imageAxes{g.outBatch, g.outSpatial[0], g.outSpatial[1], g.outFeature}, scratch); !ok {
		return runtime.Bound{}, false
	}
	c.rows, c.ks = multiples(gradientFeatures, 1), multiples(gradientBlock, gradientFeatures)
	c.magnitudes = scratch.take(4 * int64(c.seenBy(&c.in)+c.seenBy(&c.gradient)))
	c.errors = scratch.take(int64(c.in.count) * int64(unsafe.Sizeof(winograd.Errors{})))
	c.workspaces.New = func() any { return c.newSpace() }
	c.first, c.second, c.tasks = newParallelLoop(c.findMagnitudes), newParallelLoop(c.findErrors), newParallelLoop(c.compute)
	return runtime.Bound{Run: c.run, Scratch: max(scratch.size, c.direct.Scratch)}, true
}

// isWinogradGradient reports whether a result of 3 by 3 positions is a sum over whole images, of whole vectors of features.
func (g *convGeometry) isWinogradGradient() bool {
	if len(g.window) != 2 || g.groups > 1 || g.batchGroups > 1 || g.batch%winograd.Step != 0 || g.outputs%winograd.Step != 0 || g.out[0] != 3 || g.out[1] != 3 {
		return false
	}
	for _, w := range g.window {
		if w.Stride != 1 || w.BaseDilation != 1 || w.WindowDilation != 1 || w.Reversal {
			return false
		}
	}
	return true
}

// gainsByWinogradGradient reports whether products of combinations take less time.
func (g *convGeometry) gainsByWinogradGradient() bool {
	patches := g.features * int((g.window[0].Size+1)/2) * int((g.window[1].Size+1)/2)
	pairs := g.batch * g.outputs
	ofIn, ofOut := (g.batch-1)/gradientFeatures+1, (g.outputs-1)/gradientFeatures+1
	direct := g.features * g.taps() * g.positions() * pairs
	cost := winogradCost*float64(winograd.Combinations*(patches+gradientBlock)*pairs) +
		float64(patches*(patchCost*ofIn*ofOut+lineCost*(g.batch*ofOut+g.outputs*ofIn)))
	return direct >= leastDirect && cost < float64(direct)
}

// seenBy is how many positions patches see, in all images.
func (c *winogradGradient) seenBy(m *winogradImages) int {
	return m.count * m.seenRows() * m.seenColumns()
}

func (c *winogradGradient) newSpace() *gradientSpace {
	return &gradientSpace{
		combined: make([]float32, winograd.Combinations*gradientStep), gradients: make([]float32, winograd.Combinations*gradientStep),
		sums: make([]float32, winograd.Combinations*sumStep), patch: make([]float32, 16*gradientFeatures),
		tile: make([]float32, c.kernel.MR*c.kernel.NR), last: make([]int, c.kernel.MR),
	}
}

func (c *winogradGradient) run(f *runtime.TensorFrame) error {
	c.ends.before(f)
	for _, r := range c.rewrites {
		r.run(f)
	}
	rows := c.in.count * (c.in.seenRows() + c.gradient.seenRows())
	c.first.byClaim(f, rows, 1+leastMagnitudes/(c.in.seenColumns()*max(c.in.features, c.gradient.features)))
	c.second.run(f, c.in.count, 1)
	var errors winograd.Errors
	all := elems[winograd.Errors](c.errors.of(f))
	for i := range all {
		errors.Join(&all[i])
	}
	if !errors.Allow() {
		return c.direct.Run(f)
	}
	t := c.shares(f)
	c.tasks.byClaim(f, t.ofIn*t.ofOut, 1)
	c.arrange.run(f)
	c.ends.after(f)
	return nil
}

// findMagnitudes finds those of rows of the input, and then of the gradient.
func (c *winogradGradient) findMagnitudes(f *runtime.TensorFrame, lo, hi int) {
	to := elems[uint32](c.magnitudes.of(f))
	ofIn := c.in.count * c.in.seenRows()
	for row := lo; row < hi; row++ {
		if row < ofIn {
			n := c.in.seenColumns()
			c.in.magnitudesOfRow(f, to[row*n:][:n], row)
			continue
		}
		n := c.gradient.seenColumns()
		c.gradient.magnitudesOfRow(f, to[c.seenBy(&c.in)+(row-ofIn)*n:][:n], row-ofIn)
	}
}

// findErrors finds those of some images.
func (c *winogradGradient) findErrors(f *runtime.TensorFrame, lo, hi int) {
	all, errors := elems[uint32](c.magnitudes.of(f)), elems[winograd.Errors](c.errors.of(f))
	x, h := c.seenBy(&c.in)/c.in.count, c.seenBy(&c.gradient)/c.in.count
	for i := lo; i < hi; i++ {
		errors[i] = winograd.Errors{}
		errors[i].Add(all[i*x:], all[c.seenBy(&c.in)+i*h:], c.in.patches[0], c.in.patches[1])
	}
}

// gradientShares is how many features of the input and of the result a task has at most, and how many shares that makes.
type gradientShares struct{ in, out, ofIn, ofOut int }

// shares are those for the workers of a run.
func (c *winogradGradient) shares(f *runtime.TensorFrame) (t gradientShares) {
	t.in, t.out = gradientFeatures, gradientFeatures
	for {
		t.ofIn, t.ofOut = (c.in.features-1)/t.in+1, (c.out.features-1)/t.out+1
		if t.ofIn*t.ofOut >= f.Workers() || t.in <= leastOfTask {
			return t
		}
		t.in /= 2
	}
}

// compute computes the weights of tasks.
func (c *winogradGradient) compute(f *runtime.TensorFrame, lo, hi int) {
	w, t := c.workspaces.Get().(*gradientSpace), c.shares(f)
	for task := lo; task < hi; task++ {
		i, j := task/t.ofOut*t.in, task%t.ofOut*t.out
		in, out := min(t.in, c.in.features-i), min(t.out, c.out.features-j)
		for from := 0; from < c.in.allPatches(); from += gradientBlock {
			n := min(gradientBlock, c.in.allPatches()-from)
			c.in.combineAll(f, w.combined, winograd.Lines{Row: 4 * gradientStep, Column: gradientStep, Next: gradientFeatures}, w.patch, from, n, i, in)
			c.combineGradients(f, w, from, n, j, out)
			rows := gemm.NewRows(c.rows[:in], c.ks[:n])
			for k := range winograd.Combinations {
				c.kernel.BlockInPlaceBySteps(winogradStep, out, w.combined[k*gradientStep:], rows, w.gradients[k*gradientStep:], 0,
					w.sums[k*sumStep:], gradientFeatures, from > 0, w.tile, w.last)
			}
		}
		to := elems[float32](c.out.place.of(f))[c.out.at(patchPlace{image: i})+j:]
		winograd.Weights(in, out, to, winograd.Lines{Row: c.out.stride[1], Column: c.out.stride[2], Next: c.out.stride[0]},
			w.sums, winograd.Lines{Row: 4 * sumStep, Column: sumStep, Next: gradientFeatures})
	}
	c.workspaces.Put(w)
}

// combineGradients writes the combinations of features [j, j+features) of n gradients as panels.
func (c *winogradGradient) combineGradients(f *runtime.TensorFrame, w *gradientSpace, from, n, j, features int) {
	nr := c.kernel.NR
	for x := 0; x < features; x += nr {
		c.gradient.combineAll(f, w.gradients[x*n:], winograd.Lines{Row: 4 * gradientStep, Column: gradientStep, Next: nr}, w.patch, from, n, j+x, min(nr, features-x))
	}
}
