package kernels

import (
	"bytes"
	"math"
	"sync"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// pointWords makes the offsets of points from index vectors of s32 that lie one behind the other, in vector code: all components of a block at once, for which limits and
// strides are repeated.
type pointWords struct {
	zeros, highest, strides []int32
	clamp, scale            vec.Loop
	// pick copies elements of 32 bits, by vectors of them; nil if there is no loop for that. picked is what it has to know of the axes.
	pick   vec.Loop
	picked [2 * pickStep]int32
}

// pickStep is the number of elements that are picked together.
const pickStep = 16

// mostWordAxes is the number of components up to which vector code makes offsets.
const mostWordAxes = 4 // there is a copy for each number

// newPointWords returns nil for index vectors of another kind, or if offsets need more than 32 bits.
func newPointWords(p *points, elements int64) *pointWords {
	k := len(p.axes)
	if k == 0 || k > mostWordAxes || p.between != 1 && k > 1 || p.regular != k && p.regular != 0 || elements > math.MaxInt32 {
		return nil
	}
	w := &pointWords{zeros: make([]int32, k*block),
		clamp: vec.Find(vec.Of(hlo.OpClamp, hlo.S32), func(n int, d, a, b, c unsafe.Pointer) {
			low, x, high, to := words32(a, n), words32(b, n), words32(c, n), words32(d, n)
			for i := range to {
				to[i] = max(low[i], min(x[i], high[i]))
			}
		}),
		scale: vec.Find(vec.Of(hlo.OpMultiply, hlo.U32), func(n int, d, a, b, _ unsafe.Pointer) {
			x, y, to := words32(a, n), words32(b, n), words32(d, n)
			for i := range to {
				to[i] = x[i] * y[i]
			}
		})}
	if mode, ok := pickModes[k]; ok && p.batches.each == 0 && p.regular == k {
		w.pick = vec.Find(vec.Of(hlo.OpGather, hlo.U32).In(mode), nil)
		for i := range pickStep {
			x := p.axes[i%k]
			w.picked[i], w.picked[pickStep+i] = int32(x.highest), int32(x.stride)
		}
	}
	for range block {
		for _, x := range p.axes {
			w.highest, w.strides = append(w.highest, int32(x.highest)), append(w.strides, int32(x.stride))
		}
	}
	return w
}

var pickModes = map[int]vec.Mode{1: vec.Picking, 2: vec.PickingByPairs}

// pickRun is pointRun for the first elements, as many as are picked together, and returns how many these are.
func pickRun(p *points, dst, src []uint32, indices []int32) int {
	w, k := p.words, len(p.axes)
	n := len(dst) / pickStep * pickStep
	if n == 0 {
		return 0
	}
	last := 0
	for _, x := range p.axes {
		last += int(x.highest) * x.stride
	}
	_, _ = src[last], indices[n*k-1]
	w.pick(n, unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0]), unsafe.Pointer(&indices[0]), unsafe.Pointer(&w.picked[0]))
	return n
}

func pairsOf(at []int32) [][2]int32 {
	return unsafe.Slice((*[2]int32)(unsafe.Pointer(unsafe.SliceData(at))), len(at)/2)
}

func triplesOf(at []int32) [][3]int32 {
	return unsafe.Slice((*[3]int32)(unsafe.Pointer(unsafe.SliceData(at))), len(at)/3)
}

func quadsOf(at []int32) [][4]int32 {
	return unsafe.Slice((*[4]int32)(unsafe.Pointer(unsafe.SliceData(at))), len(at)/4)
}

func words32(p unsafe.Pointer, n int) []int32 { return unsafe.Slice((*int32)(p), n) }

// wordRun is pointRun for such index vectors.
func wordRun[T any](p *points, dst, src []T, indices []int32) {
	buffer := wordBuffers.Get().(*[mostWordAxes * block]int32)
	w, k := p.words, len(p.axes)
	for first := 0; first < len(dst); first += block {
		d := dst[first:min(first+block, len(dst))]
		n := len(d) * k
		at, v := buffer[:n], indices[first*k:][:n]
		w.clamp(n, unsafe.Pointer(&at[0]), unsafe.Pointer(&w.zeros[0]), unsafe.Pointer(&v[0]), unsafe.Pointer(&w.highest[0]))
		w.scale(n, unsafe.Pointer(&at[0]), unsafe.Pointer(&at[0]), unsafe.Pointer(&w.strides[0]), nil)
		from := src[first*p.batches.each:]
		switch k {
		case 1:
			copyWords(d, from, at, p.batches.each)
		case 2:
			copyPairs(d, from, at, p.batches.each)
		case 3:
			copyTriples(d, from, at, p.batches.each)
		default:
			copyQuads(d, from, at, p.batches.each)
		}
	}
	wordBuffers.Put(buffer)
}

// offsets sets at to the offsets of the windows, up to a block of them, that the index vectors say: moved inside of the array, or, if checked is set, it reports false where
// one is not.
func (w *pointWords) offsets(at []int, indices []int32, checked bool) (inside bool) {
	n := len(w.zeros) / block * len(at)
	buffer := wordBuffers.Get().(*[mostWordAxes * block]int32)
	parts, v := buffer[:n], indices[:n]
	w.clamp(n, unsafe.Pointer(&parts[0]), unsafe.Pointer(&w.zeros[0]), unsafe.Pointer(&v[0]), unsafe.Pointer(&w.highest[0]))
	if inside = !checked || bytes.Equal(bytesOf(parts), bytesOf(v)); inside {
		w.scale(n, unsafe.Pointer(&parts[0]), unsafe.Pointer(&parts[0]), unsafe.Pointer(&w.strides[0]), nil)
		sumWords(at, parts)
	}
	wordBuffers.Put(buffer)
	return inside
}

// sumWords adds up as many parts for each offset.
func sumWords(at []int, parts []int32) {
	switch len(parts) / len(at) {
	case 1:
		for i, o := range parts[:len(at)] {
			at[i] = int(o)
		}
	case 2:
		for i, o := range pairsOf(parts)[:len(at)] {
			at[i] = int(o[0]) + int(o[1])
		}
	case 3:
		for i, o := range triplesOf(parts)[:len(at)] {
			at[i] = int(o[0]) + int(o[1]) + int(o[2])
		}
	default:
		for i, o := range quadsOf(parts)[:len(at)] {
			at[i] = int(o[0]) + int(o[1]) + int(o[2]) + int(o[3])
		}
	}
}

var wordBuffers = sync.Pool{New: func() any { return new([mostWordAxes * block]int32) }}

// copyWords copies the elements at offsets, each of them so much further than the one before.
//
//go:noinline
func copyWords[T any](dst, src []T, at []int32, each int) {
	from := 0
	for i, o := range at[:len(dst)] {
		dst[i] = src[from+int(o)]
		from += each
	}
}

// copyPairs is copyWords for offsets that are sums of two.
//
//go:noinline
func copyPairs[T any](dst, src []T, at []int32, each int) {
	from := 0
	for i, o := range pairsOf(at)[:len(dst)] {
		dst[i] = src[from+int(o[0])+int(o[1])]
		from += each
	}
}

// copyTriples is copyWords for offsets that are sums of three, copyQuads for sums of four.
//
//go:noinline
func copyTriples[T any](dst, src []T, at []int32, each int) {
	from := 0
	for i, o := range triplesOf(at)[:len(dst)] {
		dst[i] = src[from+int(o[0])+int(o[1])+int(o[2])]
		from += each
	}
}

//go:noinline
func copyQuads[T any](dst, src []T, at []int32, each int) {
	from := 0
	for i, o := range quadsOf(at)[:len(dst)] {
		dst[i] = src[from+int(o[0])+int(o[1])+int(o[2])+int(o[3])]
		from += each
	}
}
