package kernels

import (
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/winograd"
)

// Patches that lie whole in the input are read where they are, one behind the other; the others are copied with the zeros around the input first. So are results.

// patchPlace is where a patch is: its image, and its row and column among those of the image.
type patchPlace struct{ image, y, x int }

func (c *winogradConv) placeOf(patch int) patchPlace {
	perImage := c.patches[0] * c.patches[1]
	at := patch % perImage
	return patchPlace{patch / perImage, at / c.patches[1], at % c.patches[1]}
}

// together is how many of n patches from one on are in its row and, if inside says so of it, inside of an array; else it is 1.
func (c *winogradConv) runOf(p patchPlace, n int, inside func(p patchPlace) bool) (count int, isInside bool) {
	if !inside(p) {
		return 1, false
	}
	for count = 1; count < n && p.x+count < c.patches[1] && inside(patchPlace{p.image, p.y, p.x + count}); count++ {
	}
	return count, true
}

// origin is where a patch begins in the input.
func (c *winogradConv) origin(p patchPlace) (y, x int) {
	return 2*p.y - int(c.g.window[0].PadLow), 2*p.x - int(c.g.window[1].PadLow)
}

// sees reports whether all of a patch is in the input.
func (c *winogradConv) sees(p patchPlace) bool {
	y, x := c.origin(p)
	return y >= 0 && x >= 0 && y+4 <= c.g.in[0] && x+4 <= c.g.in[1]
}

// fills reports whether all of a patch's result is in the result.
func (c *winogradConv) fills(p patchPlace) bool {
	return 2*p.y+2 <= c.g.out[0] && 2*p.x+2 <= c.g.out[1]
}

// combine makes the combinations of n patches.
func (c *winogradConv) combine(f *runtime.TensorFrame, w *winogradSpace, from, n int) {
	features, step := c.g.features, c.combinedStep()
	in := elems[float32](c.in.of(f))
	to := winograd.Lines{Row: 4 * step, Column: step, Next: features}
	for i := 0; i < n; {
		p := c.placeOf(from + i)
		count, inside := c.runOf(p, n-i, c.sees)
		dst := w.combined[i*features:]
		if inside {
			y, x := c.origin(p)
			winograd.Patches(count, features, dst, to, in[p.image*c.inStride[0]+y*c.inStride[1]+x*c.inStride[2]:],
				winograd.Lines{Row: c.inStride[1], Column: c.inStride[2], Next: 2 * c.inStride[2]})
		} else {
			c.copyPatch(w.patch, in, p)
			winograd.Patches(1, features, dst, to, w.patch, winograd.Lines{Row: 4 * features, Column: features})
		}
		i += count
	}
}

// copyPatch copies what of a patch is in the input, with zeros around it.
func (c *winogradConv) copyPatch(to, in []float32, p patchPlace) {
	features := c.g.features
	y, x := c.origin(p)
	for i := range 16 {
		line := to[i*features:][:features]
		if y, x := y+i/4, x+i%4; uint(y) < uint(c.g.in[0]) && uint(x) < uint(c.g.in[1]) {
			copy(line, in[p.image*c.inStride[0]+y*c.inStride[1]+x*c.inStride[2]:])
		} else {
			clear(line)
		}
	}
}

// addUp writes the columns of the result from j on that belong to n patches.
func (c *winogradConv) addUp(f *runtime.TensorFrame, w *winogradSpace, from, n, j int) {
	columns, step := min(c.columns, c.g.outputs-j), c.productStep()
	out := elems[float32](c.out.of(f))
	sums := winograd.Lines{Row: 4 * step, Column: step, Next: c.columns}
	for i := 0; i < n; {
		p := c.placeOf(from + i)
		count, inside := c.runOf(p, n-i, c.fills)
		at := p.image*c.outStride[0] + 2*p.y*c.outStride[1] + 2*p.x*c.outStride[2] + j
		src := w.products[i*c.columns:]
		if inside {
			winograd.Sums(count, columns, out[at:], winograd.Lines{Row: c.outStride[1], Column: c.outStride[2], Next: 2 * c.outStride[2]}, src, sums)
		} else {
			winograd.Sums(1, columns, w.result, winograd.Lines{Row: 2 * columns, Column: columns}, src, sums)
			for i := range 4 {
				if 2*p.y+i/2 < c.g.out[0] && 2*p.x+i%2 < c.g.out[1] {
					copy(out[at+i/2*c.outStride[1]+i%2*c.outStride[2]:][:columns], w.result[i*columns:])
				}
			}
		}
		i += count
	}
}
