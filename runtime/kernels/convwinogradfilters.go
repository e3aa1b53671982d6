package kernels

import (
	"sync"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
	"github.com/gohalo/halo/runtime/kernels/winograd"
)

// convFilters are the combinations of filters: combination by combination, panel by panel of columns, as the right sides of products.
type convFilters struct {
	panels, nr int
	features   int
	columns    int
	matrix     gemm.Matrix // of one position of the window
	taps       [9]int      // where positions of the window begin in the kernel
	combined   section
	magnitudes section // the largest of each part
	spaces     sync.Pool
}

// featuresOfPart is how many input features are combined at a time, for a panel of output features: as much as stays in the nearest cache.
const featuresOfPart = 16

func (c *convFilters) plan(g *convGeometry, kernel *gemm.Kernel[float32], scratch *scratchPlan) {
	c.nr, c.features, c.columns = kernel.NR, g.features, g.outputs
	c.panels = (g.outputs-1)/kernel.NR + 1
	c.matrix = gemm.NewMatrix(multiples(g.outputs, g.kernelOut), multiples(g.features, g.kernelIn))
	for tap := range c.taps {
		c.taps[tap] = g.kernelBase
		for d, k := range [2]int{tap / 3, tap % 3} {
			if g.window[d].Reversal {
				k = 2 - k
			}
			c.taps[tap] += k * g.kernelSpatial[d]
		}
	}
	c.combined = scratch.take(int64(4 * winograd.Combinations * c.step()))
	c.magnitudes = scratch.take(int64(4 * c.parts()))
	c.spaces.New = func() any {
		s := make([]float32, len(c.taps)*featuresOfPart*c.nr)
		return &s
	}
}

// step is how far apart combinations are.
func (c *convFilters) step() int { return c.panels*c.features*c.nr + apartLines }

// at is where a panel of a combination begins.
func (c *convFilters) at(panel, combination int) int {
	return combination*c.step() + panel*c.features*c.nr
}

func (c *convFilters) of(f *runtime.TensorFrame) []float32 { return elems[float32](c.combined.of(f)) }

func (c *convFilters) partsOfPanel() int { return (c.features-1)/featuresOfPart + 1 }
func (c *convFilters) parts() int        { return c.panels * c.partsOfPanel() }

// combine makes the combinations of some parts.
func (c *convFilters) combine(f *runtime.TensorFrame, kernel place, lo, hi int) {
	space := c.spaces.Get().(*[]float32)
	weights, largest := elems[float32](kernel.of(f)), elems[uint32](c.magnitudes.of(f))
	for part := lo; part < hi; part++ {
		panel, k := part/c.partsOfPanel(), part%c.partsOfPanel()*featuresOfPart
		end := min(k+featuresOfPart, c.features)
		n := (end - k) * c.nr
		lines := (*space)[:len(c.taps)*n]
		for tap, from := range c.taps {
			gemm.Pack(&c.matrix, lines[tap*n:][:n], weights[from:], c.nr, panel*c.nr, min((panel+1)*c.nr, c.columns), k, end)
		}
		winograd.Largest(len(lines), largest[part:][:1], lines)
		winograd.Filters(1, n, c.of(f)[c.at(panel, 0)+k*c.nr:], winograd.Lines{Row: 4 * c.step(), Column: c.step()}, lines, winograd.Lines{Row: 3 * n, Column: n})
	}
	c.spaces.Put(space)
}

// allowed reports whether all weights are numbers that allow their combination.
func (c *convFilters) allowed(f *runtime.TensorFrame) bool {
	for _, m := range elems[uint32](c.magnitudes.of(f)) {
		if !winograd.AllowsFilter(m) {
			return false
		}
	}
	return true
}
