package kernels

import (
	"cmp"
	"slices"
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
	g            *convGeometry
	direct       runtime.Bound
	ends         *convertedIO
	in, rhs, out place
	together     rewriting // of the input's features, or none
	arrange      rewriting // of the result, or none
	inStride     [3]int    // of images, rows and columns of the input
	outStride    [3]int    // of the result
	patches      [2]int    // of an image, from top to bottom and from left to right
	kernel       gemm.Kernel[float32]
	filters      convFilters
	magnitudes   section   // of the input's positions, with a margin of zeros where windows see nothing
	block        int       // patches of a block
	columns      int       // of the result that are multiplied before they are added up
	rows         gemm.Rows // of a block
	first        *parallelLoop
	blocks       *parallelLoop
	workspaces   sync.Pool // of *winogradSpace
}

// winogradSpace is what one goroutine needs.
type winogradSpace struct {
	combined, products []float32 // of a block: combination by combination
	patch, result      []float32 // where the edges of an array are
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
	kernel, ok := gemm.InPlace[float32]()
	if !ok || !winograd.Has() {
		return runtime.Bound{}, false
	}
	c := &winogradConv{g: g, kernel: kernel, ends: &convertedIO{t: hlo.F32}}
	if c.direct, ok = convolutionAs[float32](s, hlo.F32); !ok || !c.ends.plan(s) {
		return runtime.Bound{}, false
	}
	c.in, c.rhs, c.out = c.ends.in[0], c.ends.in[1], c.ends.out
	if !c.bringTogether() {
		return runtime.Bound{}, false
	}
	c.patches = [2]int{(g.out[0] + 1) / 2, (g.out[1] + 1) / 2}
	c.columns = min(gemm.Padded(g.outputs, kernel.NR), gemm.Padded(winogradColumns, kernel.NR))
	filters := winograd.Combinations * 4 * g.features * g.outputs
	c.block = max(2*kernel.MR, min(max(leastBlock, filters/4), mostBlock)/(winograd.Combinations*4*(g.features+c.columns))/kernel.MR*kernel.MR)
	c.rows = gemm.NewRows(multiples(c.block, g.features), multiples(g.features, 1))
	c.magnitudes = c.ends.scratch.take(int64(4 * g.batch * (2*c.patches[0] + 2) * c.marginedColumns()))
	c.filters.plan(g, &kernel, &c.ends.scratch)
	c.workspaces.New = func() any { return c.newSpace() }
	c.first = newParallelLoop(c.prepare)
	c.blocks = newParallelLoop(c.compute)
	return runtime.Bound{Run: c.run, Scratch: max(c.ends.scratch.size, c.direct.Scratch)}, true
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

// bringTogether makes features neighbours in memory, in the input and in the result.
func (c *winogradConv) bringTogether() bool {
	g := c.g
	c.inStride = [3]int{g.inBatch, g.inSpatial[0], g.inSpatial[1]}
	c.outStride = [3]int{g.outBatch, g.outSpatial[0], g.outSpatial[1]}
	order := func(n [2]int, features int) [3]int { return [3]int{n[0] * n[1] * features, n[1] * features, features} }
	if g.inFeature != 1 {
		c.inStride = order([2]int(g.in), g.features)
		type axis struct{ size, from, to int }
		axes := []axis{{g.batch, g.inBatch, c.inStride[0]}, {g.in[0], g.inSpatial[0], c.inStride[1]}, {g.in[1], g.inSpatial[1], c.inStride[2]}, {g.features, g.inFeature, 1}}
		slices.SortStableFunc(axes, func(a, b axis) int { return cmp.Compare(b.from, a.from) })
		var dims []int64
		var strides []int
		for _, a := range axes {
			dims, strides = append(dims, int64(a.size)), append(strides, a.to)
		}
		to := c.scratch(g.batch * c.inStride[0])
		var ok bool
		if c.together, ok = newArrangement(dims, strides).move(c.in, to, hlo.F32); !ok {
			return false
		}
		c.in = to
	}
	if g.outFeature != 1 {
		c.outStride = order([2]int(g.out), g.outputs)
		from := c.scratch(g.batch * c.outStride[0])
		dims := []int64{int64(g.batch), int64(g.out[0]), int64(g.out[1]), int64(g.outputs)}
		var ok bool
		if c.arrange, ok = newArrangement(dims, []int{g.outBatch, g.outSpatial[0], g.outSpatial[1], g.outFeature}).move(from, c.out, hlo.F32); !ok {
			return false
		}
		c.out = from
	}
	return true
}

func (c *winogradConv) scratch(n int) place {
	return place{kind: inScratch, section: c.ends.scratch.take(int64(n) * 4)}
}

// marginedColumns is how many columns all patches together see.
func (c *winogradConv) marginedColumns() int { return 2*c.patches[1] + 2 }

// marginedRows is how many rows they see, in all images.
func (c *winogradConv) marginedRows() int { return c.g.batch * (2*c.patches[0] + 2) }

func (c *winogradConv) newSpace() *winogradSpace {
	features := c.g.features
	return &winogradSpace{
		combined: make([]float32, winograd.Combinations*c.combinedStep()), products: make([]float32, winograd.Combinations*c.productStep()),
		patch: make([]float32, 16*features), result: make([]float32, 4*c.columns),
		tile: make([]float32, c.kernel.MR*c.kernel.NR), last: make([]int, c.kernel.MR),
	}
}

// combinedStep is how far apart combinations of a block are, and productStep their products.
func (c *winogradConv) combinedStep() int { return c.block*c.g.features + apartLines }
func (c *winogradConv) productStep() int  { return c.block*c.columns + apartLines }

func (c *winogradConv) run(f *runtime.TensorFrame) error {
	c.ends.before(f)
	c.together.run(f)
	c.first.byClaim(f, c.marginedRows()+c.filters.parts(), 1+(1<<14)/(c.marginedColumns()*c.g.features))
	if !c.allowed(f) {
		return c.direct.Run(f)
	}
	c.blocks.byClaim(f, (c.allPatches()-1)/c.block+1, 1)
	c.arrange.run(f)
	c.ends.after(f)
	return nil
}

func (c *winogradConv) allPatches() int { return c.g.batch * c.patches[0] * c.patches[1] }

// prepare finds magnitudes of rows, and makes combinations of filters.
func (c *winogradConv) prepare(f *runtime.TensorFrame, lo, hi int) {
	rows := c.marginedRows()
	for row := lo; row < min(hi, rows); row++ {
		c.magnitudesOf(f, row)
	}
	if hi > rows {
		c.filters.combine(f, c.rhs, max(lo, rows)-rows, hi-rows)
	}
}

func (c *winogradConv) magnitudesOf(f *runtime.TensorFrame, row int) {
	g, n := c.g, c.marginedColumns()
	to := elems[uint32](c.magnitudes.of(f))[row*n:][:n]
	rows := 2*c.patches[0] + 2
	y := row%rows - int(g.window[0].PadLow)
	first := min(n, max(0, int(g.window[1].PadLow)))
	x := first - int(g.window[1].PadLow)
	count := min(n-first, g.in[1]-x)
	if uint(y) >= uint(g.in[0]) || count <= 0 {
		clear(to)
		return
	}
	clear(to[:first])
	clear(to[first+count:])
	from := elems[float32](c.in.of(f))[row/rows*c.inStride[0]+y*c.inStride[1]:]
	if c.inStride[2] == g.features {
		winograd.Largest(g.features, to[first:][:count], from[x*g.features:][:count*g.features])
		return
	}
	for i := range count {
		winograd.Largest(g.features, to[first+i:][:1], from[(x+i)*c.inStride[2]:][:g.features])
	}
}

// allowed reports whether the numbers of this run allow the combinations.
func (c *winogradConv) allowed(f *runtime.TensorFrame) bool {
	all, n := elems[uint32](c.magnitudes.of(f)), c.marginedColumns()
	if !c.filters.allowed(f) {
		return false
	}
	for image := range c.g.batch {
		for y := range c.patches[0] {
			var rows [4][]uint32
			for i := range rows {
				rows[i] = all[(image*(2*c.patches[0]+2)+2*y+i)*n:][:n]
			}
			if !winograd.Allows(rows, min(2, c.g.out[0]-2*y), c.g.out[1]) {
				return false
			}
		}
	}
	return true
}

// compute computes blocks of patches.
func (c *winogradConv) compute(f *runtime.TensorFrame, lo, hi int) {
	w := c.workspaces.Get().(*winogradSpace)
	for block := lo; block < hi; block++ {
		from := block * c.block
		n := min(c.block, c.allPatches()-from)
		c.combine(f, w, from, n)
		for j := 0; j < c.g.outputs; j += c.columns {
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
		c.kernel.BlockInPlaceBySteps(winogradStep, min(c.columns, c.g.outputs-j), left, c.rows.Top(n), right, 0, to, c.columns, false, w.tile, w.last)
	}
}
