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
	// along says that rows which are neighbours along the last axis are neighbours in memory.
	along bool
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
	p.along = g.rowsAlong() && !p.dilated
	return p
}

// rowsAlong reports whether positions that are neighbours along the last axis are neighbours in memory, and features are not.
func (g *convGeometry) rowsAlong() bool {
	last := len(g.window) - 1
	return last >= 0 && !g.batchLast && g.inSpatial[last] == 1 && g.window[last].Stride == 1 && g.window[last].BaseDilation == 1 && (g.inFeature != 1 || g.features == 1)
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
	run    [mostRows]uint8           // how many rows, from one on that begins a run, are the next images or positions and lie one behind the other
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
		begin := 0
		for r := range rows {
			at := w.at[r][:p.spatial]
			w.first[r] = p.start(at, i+r) + p.base[batch]
			w.inside[r] = p.isInside(at)
			if r == 0 || w.first[r] != w.first[r-1]+1 || !(p.g.batchLast && w.at[r] == w.at[r-1] || p.along && w.at[r][p.spatial-1] == w.at[r-1][p.spatial-1]+1) {
				begin = r
			}
			w.run[begin] = uint8(r - begin + 1)
		}
		if p.g.batchLast || p.along {
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
	if p.run > p.features && !p.dilated {
		for k := k0; k < k1; {
			n := min(p.run-k%p.run, k1-k)
			p.runs(dst, src, w, rows, k, n)
			k += n
			dst = dst[n*p.mr:]
		}
		return
	}
	for i := range p.tapsOf(k0, k1) {
		c := p.columns(i, k0, k1)
		for r := range rows {
			ok := true
			if w.inside[r] {
				w.from[r] = w.first[r] + p.tapOff[c.tap]
			} else if w.from[r], ok = p.locate(w.at[r][:p.spatial], w.first[r], c.tap); !ok {
				w.from[r] = -1
			}
		}
		p.position(dst, src, w.from[:rows], c)
	}
}

// tapColumns are the columns of one position of the window, those of n features from f on: the first is that of a line of a panel, the next one every step lines.
type tapColumns struct{ tap, f, n, line, step int }

// tapsOf is how many positions of the window columns [k0, k1) are of.
func (p *patches[T]) tapsOf(k0, k1 int) int {
	if p.g.tapsInner {
		return min(len(p.tapOff), k1-k0)
	}
	return (k1-1)/p.features - k0/p.features + 1
}

// columns are those of [k0, k1) that are of the i-th of their positions.
func (p *patches[T]) columns(i, k0, k1 int) tapColumns {
	if taps := len(p.tapOff); p.g.tapsInner {
		k := k0 + i
		return tapColumns{k % taps, k / taps, (k1-1-k)/taps + 1, i, taps}
	}
	tap := k0/p.features + i
	k := max(k0, tap*p.features)
	return tapColumns{tap, k - tap*p.features, min(k1, (tap+1)*p.features) - k, k - k0, 1}
}

// runs writes n columns, from k on, of a run that lies together in memory: rows side by side where all of it is inside, the others one by one.
func (p *patches[T]) runs(dst, src []T, w *patchRows, rows, k, n int) {
	tap, f := k/p.features, k%p.features
	end := (k + n - 1) / p.features
	outside, somewhere := 0, -1
	for r := range rows {
		w.from[r] = w.first[r] + p.tapOff[tap]
		if !w.inside[r] {
			_, begins := p.locate(w.at[r][:p.spatial], w.first[r], tap)
			_, ends := p.locate(w.at[r][:p.spatial], w.first[r], end)
			if !begins || !ends {
				outside |= 1 << r
				continue
			}
		}
		somewhere = w.from[r]
	}
	if somewhere >= 0 {
		for some := outside; some != 0; some &= some - 1 { // anything first
			w.from[bits.TrailingZeros(uint(some))] = somewhere
		}
		gemm.Interleave(dst, src, w.from[:rows], f, n, p.mr, 0)
	}
	for ; outside != 0; outside &= outside - 1 {
		r := bits.TrailingZeros(uint(outside))
		for x := 0; x < n; {
			tap, f := (k+x)/p.features, (k+x)%p.features
			from, ok := p.locate(w.at[r][:p.spatial], w.first[r], tap)
			for ; f < p.features && x < n; f++ {
				if ok {
					dst[x*p.mr+r] = src[from+f]
				} else {
					dst[x*p.mr+r] = 0
				}
				x++
			}
		}
	}
}

// neighbours is panel for rows that lie together: they are the same position of several images, or neighbouring positions of one.
func (p *patches[T]) neighbours(dst, src []T, w *patchRows, rows, k0, k1 int) {
	for i := range p.tapsOf(k0, k1) {
		c := p.columns(i, k0, k1)
		for r := 0; r < rows; {
			run := int(w.run[r])
			from, lo, hi := p.part(w, r, run, c.tap)
			p.lines(dst[c.line*p.mr+r:], src, from+c.f*p.g.inFeature, run, lo, hi, c)
			r += run
		}
	}
}

// part returns where a position of the window lies in the input for run rows from r on that lie together, and for which of them it is inside.
func (p *patches[T]) part(w *patchRows, r, run, tap int) (from, lo, hi int) {
	at := w.at[r][:p.spatial]
	if p.g.batchLast {
		from, ok := p.locate(at, w.first[r], tap)
		if !ok {
			return 0, 0, 0
		}
		return from, 0, run
	}
	from = w.first[r] + p.tapOff[tap]
	if w.inside[r] && w.inside[r+run-1] {
		return from, 0, run
	}
	last := p.spatial - 1
	taps := p.taps[tap*p.spatial:][:p.spatial]
	for d, x := range taps[:last] {
		if uint(at[d]+x) >= uint(p.g.in[d]) {
			return 0, 0, 0
		}
	}
	x := at[last] + taps[last]
	lo = min(run, max(0, -x))
	return from, lo, max(lo, min(run, p.g.in[last]-x))
}

// Rows that lie together, and of which this many are in a panel, are copied line by line in two moves.
const (
	leastRun = 4
	mostRun  = 2 * leastRun
)

// lines writes run rows of some columns, the first of which is at from, of which those from lo to hi are inside, and zeros for the others.
func (p *patches[T]) lines(dst, src []T, from, run, lo, hi int, c tapColumns) {
	step := c.step * p.mr
	if lo == 0 && hi == run && run >= leastRun && run <= mostRun {
		tail := run - leastRun
		for x := range c.n {
			to, line := dst[x*step:][:run], src[from:][:run]
			*(*[leastRun]T)(to) = *(*[leastRun]T)(line) // in registers, where all of it would be a call
			*(*[leastRun]T)(to[tail:]) = *(*[leastRun]T)(line[tail:])
			from += p.g.inFeature
		}
		return
	}
	for x := range c.n {
		line := dst[x*step:][:run]
		if hi-lo < run {
			clear(line)
		}
		if lo < hi {
			copyLine(line[lo:hi], src[from+lo:])
		}
		from += p.g.inFeature
	}
}

// longCopy is the length from which on a call of copy costs less than it saves.
const longCopy = 128

// copyLine is copy for lines most of which are short.
func copyLine[T any](dst, src []T) {
	src = src[:len(dst)]
	if len(dst) < 4 || len(dst) >= longCopy {
		copy(dst, src)
		return
	}
	tail := len(dst) - 4
	for i := 0; i < tail; i += 4 {
		*(*[4]T)(dst[i:]) = *(*[4]T)(src[i:])
	}
	*(*[4]T)(dst[tail:]) = *(*[4]T)(src[tail:])
}

// position writes the columns of one position of the window; where that is outside, zeros.
func (p *patches[T]) position(dst, src []T, from []int, c tapColumns) {
	dst = dst[c.line*p.mr:]
	off, n := c.f*p.g.inFeature, c.n
	if p.g.inFeature == 1 && c.step == 1 && n >= 4 {
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
		gemm.Interleave(dst, src, from, off, n, p.mr, 0)
		for ; outside != 0; outside &= outside - 1 {
			for at := bits.TrailingZeros(uint(outside)); at < n*p.mr; at += p.mr {
				dst[at] = 0
			}
		}
		return
	}
	for x := range n {
		line := dst[x*c.step*p.mr:][:len(from)]
		for r, at := range from {
			if at < 0 {
				line[r] = 0
			} else {
				line[r] = src[at+off]
			}
		}
		off += p.g.inFeature
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
