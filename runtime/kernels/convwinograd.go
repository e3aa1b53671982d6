package kernels

import (
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
	"github.com/gohalo/halo/runtime/kernels/winograd"
)

// winogradConv is a convolution of f32 with a window of 3 by 3 by package winograd, which multiplies 4/9 as often, where numbers allow that; where they do not, it is the
// direct one, for all of a run. A run
//
//  1. converts the input, or brings its features together, if need be,
//  2. finds the largest magnitude of each position of the input, and makes the combinations of the filters,
//  3. looks whether numbers allow the rest, and
//  4. computes the result block by block of patches: combinations, sixteen products, and sums of these.
type winogradConv struct {
	winogradBase
	in, out           winogradImages
	kernelPlace       place
	together, arrange rewriting // of the input's features and of the result's, or none
	filters           convFilters
	magnitudes        section // of the positions that patches see
	block             int     // patches of a block
	columns           int     // of the result that are multiplied before they are added up
	rows              gemm.Rows
	first             *parallelLoop
	blocks            *parallelLoop
	workspaces        sync.Pool // of *winogradSpace
}

// winogradBase is what such a convolution needs of its place in a program: the kernel of its products, its operands as f32, and the direct convolution, which takes
// its place where numbers do not allow it.
type winogradBase struct {
	kernel gemm.Kernel[float32]
	ends   *convertedIO
	direct runtime.Bound
}

// newWinogradBase reports false where this processor has no loops for it.
func newWinogradBase(s *site) (w winogradBase, ok bool) {
	if w.kernel, ok = gemm.InPlace[float32](); !ok || !winograd.Has() {
		return w, false
	}
	if w.direct, ok = convolutionAs[float32](s, hlo.F32); !ok {
		return w, false
	}
	w.ends = &convertedIO{t: hlo.F32}
	return w, w.ends.plan(s)
}

// winogradSpace is what one goroutine needs.
type winogradSpace struct {
	combined, products []float32 // of a block: combination by combination
	patch, result      []float32 // where the edges of an image are
	tile               []float32
	last               []int
}

// apartLines keeps combinations from lying whole pages apart, where they would share one set of the nearest cache.
const apartLines = 3 * cacheLine / 4

// A block's combinations stay in the second cache with the filters of some columns, or most of it if all filters do not.
const (
	leastBlock      = 512 << 10
	mostBlock       = 1 << 20
	winogradColumns = 128
)

// winogradStep is how many features are added up at a time, so that rounding errors are no larger than those of a direct convolution.
const winogradStep = 32

// winogradAs is the convolution, or false if it is not one of those or would not take less time.
func winogradAs(s *site) (runtime.Bound, bool) {
	g, ok := geometryOf(s)
	if !ok || !g.isWinograd() || !g.gainsByWinograd() {
		return runtime.Bound{}, false
	}
	w, ok := newWinogradBase(s)
	if !ok {
		return runtime.Bound{}, false
	}
	c := &winogradConv{winogradBase: w}
	scratch := &c.ends.scratch
	patches := [2]int{(g.out[0] + 1) / 2, (g.out[1] + 1) / 2}
	c.in = winogradImages{place: c.ends.in[0], count: g.batch, features: g.features, size: [2]int(g.in), patches: patches, side: 4, combine: winograd.Patches}
	c.in.before = [2]int{int(g.window[0].PadLow), int(g.window[1].PadLow)}
	c.out = winogradImages{place: c.ends.out, count: g.batch, features: g.outputs, size: [2]int(g.out), patches: patches, side: 2}
	c.kernelPlace = c.ends.in[1]
	if c.together, ok = c.in.bringTogether(imageAxes{g.inBatch, g.inSpatial[0], g.inSpatial[1], g.inFeature}, scratch); !ok {
		return runtime.Bound{}, false
	}
	if c.arrange, ok = c.out.spread(imageAxes{g.outBatch, g.outSpatial[0], g.outSpatial[1], g.outFeature}, scratch); !ok {
		return runtime.Bound{}, false
	}
	c.columns = min(gemm.Padded(g.outputs, w.kernel.NR), gemm.Padded(winogradColumns, w.kernel.NR))
	filters := winograd.Combinations * 4 * g.features * g.outputs
	c.block = max(2*w.kernel.MR, min(max(leastBlock, filters/4), mostBlock)/(winograd.Combinations*4*(g.features+c.columns))/w.kernel.MR*w.kernel.MR)
	c.rows = gemm.NewRows(multiples(c.block, g.features), multiples(g.features, 1))
	c.magnitudes = scratch.take(4 * int64(c.seenRows()*c.in.seenColumns()))
	c.filters.plan(g, &w.kernel, scratch)
	c.workspaces.New = func() any { return c.newSpace() }
	c.first = newParallelLoop(c.prepare)
	c.blocks = newParallelLoop(c.compute)
	return runtime.Bound{Run: c.run, Scratch: max(scratch.size, c.direct.Scratch)}, true
}

// isWinograd reports whether a window of 3 by 3 goes step by step over the input, in whole vectors of features.
func (g *convGeometry) isWinograd() bool {
	if len(g.window) != 2 || g.groups > 1 || g.batchGroups > 1 || g.features%winograd.Step != 0 || g.outputs%winograd.Step != 0 {
		return false
	}
	for _, w := range g.window {
		if w.Size != 3 || w.Stride != 1 || w.BaseDilation != 1 || w.WindowDilation != 1 {
			return false
		}
	}
	return true
}

// In multiplications: what a patch costs, and for each feature of it and of its result; what a filter costs for each of its pairs of features, which is a time of waiting for
// memory; and what a convolution has to have for more than one loop to pay.
const (
	patchCost    = 2000
	lineCost     = 80
	filterCost   = 800
	leastDirect  = 1 << 22
	winogradCost = 1.25 // of products of combinations, for one of a direct convolution
)

// gainsByWinograd reports whether products of combinations take less time.
func (g *convGeometry) gainsByWinograd() bool {
	patches := g.batch * ((g.out[0] + 1) / 2) * ((g.out[1] + 1) / 2)
	direct := g.batch * g.positions() * g.taps() * g.features * g.outputs
	cost := winogradCost*float64(winograd.Combinations*patches*g.features*g.outputs) +
		float64(patches*(patchCost+lineCost*(g.features+g.outputs))+filterCost*g.features*g.outputs)
	return direct >= leastDirect && cost < float64(direct)
}

// seenRows is how many rows patches see, in all images.
func (c *winogradConv) seenRows() int { return c.in.count * c.in.seenRows() }

func (c *winogradConv) newSpace() *winogradSpace {
	return &winogradSpace{
		combined: make([]float32, winograd.Combinations*c.combinedStep()), products: make([]float32, winograd.Combinations*c.productStep()),
		patch: make([]float32, 16*c.in.features), result: make([]float32, 4*c.columns),
		tile: make([]float32, c.kernel.MR*c.kernel.NR), last: make([]int, c.kernel.MR),
	}
}

// combinedStep is how far apart combinations of a block are, and productStep their products.
func (c *winogradConv) combinedStep() int { return c.block*c.in.features + apartLines }
func (c *winogradConv) productStep() int  { return c.block*c.columns + apartLines }

func (c *winogradConv) run(f *runtime.TensorFrame) error {
	c.ends.before(f)
	c.together.run(f)
	c.first.byClaim(f, c.seenRows()+c.filters.parts(), 1+leastMagnitudes/(c.in.seenColumns()*c.in.features))
	if !c.allowed(f) {
		return c.direct.Run(f)
	}
	c.blocks.byClaim(f, (c.in.allPatches()-1)/c.block+1, 1)
	c.arrange.run(f)
	c.ends.after(f)
	return nil
}

// leastMagnitudes is how many elements are worth handing to a worker.
const leastMagnitudes = 1 << 14

// prepare finds magnitudes of rows, and makes combinations of filters.
func (c *winogradConv) prepare(f *runtime.TensorFrame, lo, hi int) {
	rows, n := c.seenRows(), c.in.seenColumns()
	magnitudes := elems[uint32](c.magnitudes.of(f))
	for row := lo; row < min(hi, rows); row++ {
		c.in.magnitudesOfRow(f, magnitudes[row*n:][:n], row)
	}
	if hi > rows {
		c.filters.combine(f, c.kernelPlace, max(lo, rows)-rows, hi-rows)
	}
}

// allowed reports whether the numbers of this run allow the combinations.
func (c *winogradConv) allowed(f *runtime.TensorFrame) bool {
	if !c.filters.allowed(f) {
		return false
	}
	all, n := elems[uint32](c.magnitudes.of(f)), c.in.seenColumns()
	for image := range c.in.count {
		for y := range c.in.patches[0] {
			var rows [4][]uint32
			for i := range rows {
				rows[i] = all[(image*c.in.seenRows()+2*y+i)*n:][:n]
			}
			if !winograd.Allows(rows, min(2, c.out.size[0]-2*y), c.out.size[1]) {
				return false
			}
		}
	}
	return true
}

// compute computes blocks of patches.
func (c *winogradConv) compute(f *runtime.TensorFrame, lo, hi int) {
	w := c.workspaces.Get().(*winogradSpace)
	step := c.combinedStep()
	for block := lo; block < hi; block++ {
		from := block * c.block
		n := min(c.block, c.in.allPatches()-from)
		c.in.combineAll(f, w.combined, winograd.Lines{Row: 4 * step, Column: step, Next: c.in.features}, w.patch, from, n, 0, c.in.features)
		for j := 0; j < c.out.features; j += c.columns {
			c.multiply(f, w, n, j)
			c.addUp(f, w, from, n, j)
		}
	}
	c.workspaces.Put(w)
}

// multiply makes the products of n patches and the filters from column j on.
func (c *winogradConv) multiply(f *runtime.TensorFrame, w *winogradSpace, n, j int) {
	filters := c.filters.of(f)
	for i := range winograd.Combinations {
		left, to := w.combined[i*c.combinedStep():], w.products[i*c.productStep():][:n*c.columns]
		right := filters[c.filters.at(j/c.kernel.NR, i):]
		c.kernel.BlockInPlaceBySteps(winogradStep, min(c.columns, c.out.features-j), left, c.rows.Top(n), right, 0, to, c.columns, false, w.tile, w.last)
	}
}

// addUp writes the columns of the result from j on that belong to n patches.
func (c *winogradConv) addUp(f *runtime.TensorFrame, w *winogradSpace, from, n, j int) {
	columns, step := min(c.columns, c.out.features-j), c.productStep()
	m, out := &c.out, elems[float32](c.out.place.of(f))
	sums := winograd.Lines{Row: 4 * step, Column: step, Next: c.columns}
	for i := 0; i < n; {
		p, count, whole := m.run(from+i, n-i)
		src := w.products[i*c.columns:]
		if whole {
			winograd.Sums(count, columns, out[m.at(p)+j:], winograd.Lines{Row: m.stride[1], Column: m.stride[2], Next: 2 * m.stride[2]}, src, sums)
		} else {
			winograd.Sums(1, columns, w.result, winograd.Lines{Row: 2 * columns, Column: columns}, src, sums)
			for k := range 4 {
				if at := (patchPlace{p.image, p.y + k/2, p.x + k%2}); m.hasElement(at) {
					copy(out[m.at(at)+j:][:columns], w.result[k*columns:])
				}
			}
		}
		i += count
	}
}
