package kernels

import (
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
)

// patches packs what a convolution's window sees as rows of a matrix, with zeros where the window leaves the input.
type patches[T gemm.Number] struct {
	g        *convGeometry
	base     []int // offsets of the product's batches
	mr       int
	taps     []int // coordinates of the window's positions within the dilated input, rank by rank
	tapOff   []int // their offset in an input without base dilation
	spatial  int
	dilated  bool
	features int
}

func newPatches[T gemm.Number](g *convGeometry, base []int, mr int) *patches[T] {
	p := &patches[T]{g: g, base: base, mr: mr, spatial: len(g.window), features: g.features}
	at := make([]int, p.spatial)
	for tap := range g.taps() {
		unravel(at, tap, func(d int) int { return int(g.window[d].Size) })
		off := 0
		for d, w := range g.window {
			x := at[d] * int(w.WindowDilation)
			p.taps = append(p.taps, x)
			off += x * g.inSpatial[d]
			p.dilated = p.dilated || w.BaseDilation != 1
		}
		p.tapOff = append(p.tapOff, off)
	}
	return p
}

// maxSpatial bounds the axes of a window for which packing needs no memory.
const maxSpatial = 8

// pack is [product.packLeft].
func (p *patches[T]) pack(_ *runtime.TensorFrame, dst, src []T, batch, i0, i1, k0, k1 int) {
	kc := k1 - k0
	var at [maxSpatial]int
	for i := i0; i < i1; i += p.mr {
		panel := dst[:kc*p.mr]
		dst = dst[kc*p.mr:]
		rows := min(p.mr, i1-i)
		if rows < p.mr {
			clear(panel)
		}
		for r := range rows {
			first := p.start(at[:p.spatial], i+r) + p.base[batch]
			p.row(panel[r:], src, at[:p.spatial], first, k0, k1)
		}
	}
}

// start finds where the window begins for row i, and the offset of that place, which may be outside of the input.
func (p *patches[T]) start(at []int, i int) int {
	g := p.g
	off := 0
	for d := p.spatial - 1; d >= 0; d-- {
		w := &g.window[d]
		at[d] = i%g.out[d]*int(w.Stride) - int(w.PadLow)
		i /= g.out[d]
		off += at[d] * g.inSpatial[d]
	}
	return off + i*g.inBatch
}

// row writes columns [k0, k1) of a row to every mr-th element of dst.
func (p *patches[T]) row(dst, src []T, at []int, first, k0, k1 int) {
	g := p.g
	step := g.inFeature
	to := 0
	for k := k0; k < k1; {
		tap, f := k/p.features, k%p.features
		n := min(p.features-f, k1-k)
		k += n
		off, ok := p.locate(at, first, tap)
		if !ok {
			for range n {
				dst[to] = 0
				to += p.mr
			}
			continue
		}
		off += f * step
		if step == 1 {
			for _, v := range src[off:][:n] {
				dst[to] = v
				to += p.mr
			}
			continue
		}
		for range n {
			dst[to] = src[off]
			off += step
			to += p.mr
		}
	}
}

// locate returns the offset of a window position in the input.
func (p *patches[T]) locate(at []int, first, tap int) (int, bool) {
	g := p.g
	taps := p.taps[tap*p.spatial:][:p.spatial]
	if !p.dilated {
		for d, x := range taps {
			if uint(at[d]+x) >= uint(g.in[d]) {
				return 0, false
			}
		}
		return first + p.tapOff[tap], true
	}
	off := first
	for d, x := range taps {
		b := int(g.window[d].BaseDilation)
		pos := at[d] + x
		if pos < 0 || pos%b != 0 || pos/b >= g.in[d] {
			return 0, false
		}
		off += (pos/b - at[d]) * g.inSpatial[d]
	}
	return off, true
}
