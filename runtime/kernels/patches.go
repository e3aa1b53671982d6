package kernels

import (
	"math/bits"

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
	last     []int // the farthest of the taps along each axis
	spatial  int
	dilated  bool
	features int
	// run is how many elements, of neighbouring positions along the last axis of the window, lie together in memory.
	run int
}

func newPatches[T gemm.Number](g *convGeometry, base []int, mr int) *patches[T] {
	p := &patches[T]{g: g, base: base, mr: mr, spatial: len(g.window), features: g.features}
	at := make([]int, p.spatial)
	for _, w := range g.window {
		p.last = append(p.last, int((w.Size-1)*w.WindowDilation))
	}
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
	p.run = p.features
	if last := p.spatial - 1; last >= 0 && g.inFeature == 1 && g.inSpatial[last] == p.features && g.window[last].WindowDilation == 1 {
		p.run *= int(g.window[last].Size)
	}
	return p
}

// maxSpatial bounds the axes of a window for which packing needs no memory.
const maxSpatial = 8

// mostRows bounds the panels that are packed without memory of their own.
const mostRows = 16

// patchRows are the rows of one panel.
type patchRows struct {
	at     [mostRows][maxSpatial]int // coordinates of the window
	first  [mostRows]int             // offset of that place, which may be outside of the input
	inside [mostRows]bool            // the whole window is in the input
	from   [mostRows]int             // offset of one position of the window
	same   [mostRows]bool            // the row is that of the next image, and lies behind the row before
	all    bool                      // all windows are in the input
}

// pack is [product.packLeft].
func (p *patches[T]) pack(_ *runtime.TensorFrame, dst, src []T, batch, i0, i1, k0, k1 int) {
	kc := k1 - k0
	var w patchRows
	for i := i0; i < i1; i += p.mr {
		panel := dst[:kc*p.mr]
		dst = dst[kc*p.mr:]
		rows := min(p.mr, i1-i)
		if rows < p.mr {
			clear(panel)
		}
		w.all, w.same[0] = true, false
		for r := range rows {
			at := w.at[r][:p.spatial]
			w.first[r] = p.start(at, i+r) + p.base[batch]
			w.inside[r] = p.isInside(at)
			w.all = w.all && w.inside[r]
			w.same[r] = p.g.batchLast && r > 0 && w.first[r] == w.first[r-1]+1 && w.at[r] == w.at[r-1]
		}
		if p.g.batchLast {
			p.neighbours(panel, src, &w, rows, k0, k1)
		} else {
			p.panel(panel, src, &w, rows, k0, k1)
		}
	}
}

// isInside reports whether a window lies within the input, and not between its elements.
func (p *patches[T]) isInside(at []int) bool {
	for d, x := range at {
		if p.dilated || x < 0 || x+p.last[d] >= p.g.in[d] {
			return false
		}
	}
	return true
}

// panel writes columns [k0, k1) of some rows, position by position of the window.
func (p *patches[T]) panel(dst, src []T, w *patchRows, rows, k0, k1 int) {
	for k := k0; k < k1; {
		tap, f := k/p.features, k%p.features
		if w.all && p.run > p.features {
			n := min(p.run-k%p.run, k1-k)
			for r := range rows {
				w.from[r] = w.first[r] + p.tapOff[tap]
			}
			gemm.Interleave(dst, src, w.from[:rows], f, n, p.mr)
			k += n
			dst = dst[n*p.mr:]
			continue
		}
		n := min(p.features-f, k1-k)
		k += n
		for r := range rows {
			ok := true
			if w.inside[r] {
				w.from[r] = w.first[r] + p.tapOff[tap]
			} else if w.from[r], ok = p.locate(w.at[r][:p.spatial], w.first[r], tap); !ok {
				w.from[r] = -1
			}
		}
		p.position(dst, src, w.from[:rows], f, n)
		dst = dst[n*p.mr:]
	}
}

// neighbours is panel for rows that are the same position of several images, which lie together.
func (p *patches[T]) neighbours(dst, src []T, w *patchRows, rows, k0, k1 int) {
	for k := k0; k < k1; {
		tap, f := k/p.features, k%p.features
		n := min(p.features-f, k1-k)
		k += n
		for r := 0; r < rows; {
			images := 1
			for r+images < rows && w.same[r+images] {
				images++
			}
			from, ok := p.locate(w.at[r][:p.spatial], w.first[r], tap)
			for x := range n {
				line := dst[x*p.mr+r:][:images]
				if !ok {
					clear(line)
					continue
				}
				copyLine(line, src[from+(f+x)*p.g.inFeature:])
			}
			r += images
		}
		dst = dst[n*p.mr:]
	}
}

// copyLine is copy for short lines.
func copyLine[T any](dst, src []T) {
	src = src[:len(dst)]
	if len(dst) < 4 {
		copy(dst, src)
		return
	}
	tail := len(dst) - 4
	for i := 0; i < tail; i += 4 {
		*(*[4]T)(dst[i:]) = *(*[4]T)(src[i:])
	}
	*(*[4]T)(dst[tail:]) = *(*[4]T)(src[tail:])
}

// position writes n features, from f on, of one position of the window; where that is outside, zeros.
func (p *patches[T]) position(dst, src []T, from []int, f, n int) {
	off, step := f*p.g.inFeature, p.g.inFeature
	if step == 1 && n >= 4 {
		outside, somewhere := 0, -1
		for r, at := range from {
			if at < 0 {
				outside |= 1 << r
			} else {
				somewhere = at
			}
		}
		if somewhere < 0 {
			clear(dst[:n*p.mr])
			return
		}
		for r := range from { // what is outside is anything first
			if outside>>r&1 != 0 {
				from[r] = somewhere
			}
		}
		gemm.Interleave(dst, src, from, off, n, p.mr)
		for ; outside != 0; outside &= outside - 1 {
			for at := bits.TrailingZeros(uint(outside)); at < n*p.mr; at += p.mr {
				dst[at] = 0
			}
		}
		return
	}
	for x := range n {
		line := dst[x*p.mr:][:len(from)]
		for r, at := range from {
			if at < 0 {
				line[r] = 0
			} else {
				line[r] = src[at+off]
			}
		}
		off += step
	}
}

// start finds where the window begins for row i, and the offset of that place, which may be outside of the input.
func (p *patches[T]) start(at []int, i int) int {
	g := p.g
	off := 0
	if g.batchLast {
		off = i % g.batch
		i /= g.batch
	}
	for d := p.spatial - 1; d >= 0; d-- {
		w := &g.window[d]
		at[d] = i%g.out[d]*int(w.Stride) - int(w.PadLow)
		i /= g.out[d]
		off += at[d] * g.inSpatial[d]
	}
	return off + i*g.inBatch
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
