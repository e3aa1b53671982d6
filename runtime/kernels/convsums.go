package kernels

import (
	"sync"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// convSums is how rows of a convolution with one input feature are computed along a spatial axis on which the elements of the input are neighbours: piece by piece,
// each a sum of runs of the input times elements of the kernel. What runs these are depends on how near the row and the piece are to the edges, and is listed when
// the kernel is bound.
type convSums struct {
	loop   vec.Loop
	inner  int // the axis, of the window
	axes   []convSumAxis
	pieces []convPiece
	lists  []convSumList // for each class of rows, one for each piece
	frames sync.Pool     // of *convFactors
}

// convSumAxis is another axis of the window: rows at a position see taps of it by the class of the position, the first of them where origin says.
type convSumAxis struct {
	classes []tapRange
	class   []int // of each position
	origin  []int
}

// tapRange are elements of a window along an axis.
type tapRange struct{ first, count int }

// convPiece is a part of a row of which all positions see the same taps along it.
type convPiece struct {
	from, end int
	taps      tapRange
	origin    int // of the first position's first tap, in elements of the input
}

// convSumList is a list of runs and factors.
type convSumList struct {
	offsets []int64 // in bytes, from the first run
	factors []int   // where they are in the kernel of the first output feature
	reach   int     // elements from the first run to the last
}

// convFactors has the factors of lists as the loop reads them, and for each class of rows says of which feature: -1 is none.
type convFactors struct {
	feature []int
	heads   [][]int64 // the number of factors, and these
}

// maxConvSums bounds the elements of the lists.
const maxConvSums = 1 << 14

// tapsAt are the taps that windows at position p see along an axis, and where the first one lies.
func tapsAt(w *hlo.WindowDim, p, in int) (taps tapRange, at int) {
	s := spanOf(w, p, in)
	if s.count == 0 {
		return tapRange{}, 0
	}
	return tapRange{(s.first - p*int(w.Stride) + int(w.PadLow)) / int(w.WindowDilation), s.count}, s.first
}

// findSums prepares for rows along a spatial axis.
func (c *depthwise[T]) findSums(t hlo.PrimitiveType) bool {
	g, inner := c.g, &c.axes[len(c.axes)-1]
	name := vec.Of(hlo.OpConvolution, vec.Unsigned(t)).In(vec.Windowed)
	if inner.kind != spatialAxis || g.window[inner.d].Stride != 1 || g.inSpatial[inner.d] != 1 || !vec.Has(name) {
		return false
	}
	s := &convSums{loop: vec.Find(name, nil), inner: inner.d}
	for p := range inner.size {
		taps, at := tapsAt(&g.window[inner.d], p, g.in[inner.d])
		if n := len(s.pieces); n > 0 && s.pieces[n-1].taps == taps {
			s.pieces[n-1].end++
			continue
		}
		s.pieces = append(s.pieces, convPiece{p, p + 1, taps, at})
	}
	classes := 1
	for d := range g.window {
		var a convSumAxis
		if d != inner.d {
			a = newConvSumAxis(&g.window[d], g.out[d], g.in[d], g.inSpatial[d])
			classes *= len(a.classes)
		}
		s.axes = append(s.axes, a)
	}
	if classes*len(s.pieces) > maxConvSums {
		return false
	}
	var size T
	total := 0
	for class := range classes {
		for i := range s.pieces {
			list := c.sumList(s, class, &s.pieces[i], int(unsafe.Sizeof(size)))
			if total += len(list.offsets); total > maxConvSums {
				return false
			}
			s.lists = append(s.lists, list)
		}
	}
	s.frames.New = func() any {
		f := &convFactors{feature: make([]int, classes)}
		for i := range s.lists {
			f.heads = append(f.heads, make([]int64, 1+(len(s.lists[i].factors)*int(unsafe.Sizeof(size))+7)/8))
		}
		return f
	}
	c.sums = s
	return true
}

func newConvSumAxis(w *hlo.WindowDim, positions, in, stride int) (a convSumAxis) {
	known := make(map[tapRange]int)
	for p := range positions {
		taps, at := tapsAt(w, p, in)
		class, ok := known[taps]
		if !ok {
			class = len(a.classes)
			known[taps] = class
			a.classes = append(a.classes, taps)
		}
		a.class, a.origin = append(a.class, class), append(a.origin, at*stride)
	}
	return a
}

// sumList lists what a piece of rows of a class adds up, tap by tap.
func (c *depthwise[T]) sumList(s *convSums, class int, piece *convPiece, size int) (l convSumList) {
	g, rank := c.g, len(c.g.window)
	ranges := make([]tapRange, rank)
	for d := rank - 1; d >= 0; d-- {
		if d == s.inner {
			ranges[d] = piece.taps
			continue
		}
		n := len(s.axes[d].classes)
		ranges[d] = s.axes[d].classes[class%n]
		class /= n
	}
	for tap := range c.tapCount {
		from, factor, seen := 0, g.kernelBase, true
		for d, k := range c.taps[tap*rank:][:rank] {
			w := &g.window[d]
			seen = seen && k >= ranges[d].first && k < ranges[d].first+ranges[d].count
			from += (k - ranges[d].first) * int(w.WindowDilation) * g.inSpatial[d]
			if w.Reversal {
				k = int(w.Size) - 1 - k
			}
			factor += k * g.kernelSpatial[d]
		}
		if seen {
			l.offsets, l.factors = append(l.offsets, int64(from*size)), append(l.factors, factor)
			l.reach = from
		}
	}
	return l
}

// summed computes rows [lo, hi) of the result.
func (c *depthwise[T]) summed(f *runtime.TensorFrame, lo, hi int) {
	x, w, out := elems[T](c.lhs.of(f)), elems[T](c.rhs.of(f)), elems[T](c.out.of(f))
	n, g, s := c.axes[len(c.axes)-1].size, c.g, c.sums
	l := s.frames.Get().(*convFactors)
	for i := range l.feature {
		l.feature[i] = -1
	}
	for row := lo; row < hi; row++ {
		at, batch, feature := c.place(row)
		from, class := batch*g.inBatch+feature/g.outputs*g.inFeature, 0
		for d := range s.axes {
			if a := &s.axes[d]; d != s.inner {
				class = class*len(a.classes) + a.class[at[d]]
				from += a.origin[at[d]]
			}
		}
		lists, heads := s.lists[class*len(s.pieces):][:len(s.pieces)], l.heads[class*len(s.pieces):][:len(s.pieces)]
		if l.feature[class] != feature {
			l.feature[class] = feature
			for i := range lists {
				setFactors(heads[i], w[feature*g.kernelOut:], lists[i].factors)
			}
		}
		y := out[row*n:][:n]
		for i := range s.pieces {
			p, list := &s.pieces[i], &lists[i]
			part := y[p.from:p.end]
			if len(list.offsets) == 0 {
				clear(part)
				continue
			}
			runs := x[from+p.origin:][:list.reach+len(part)]
			s.loop(len(part), unsafe.Pointer(&part[0]), unsafe.Pointer(&runs[0]), unsafe.Pointer(&list.offsets[0]), unsafe.Pointer(&heads[i][0]))
		}
	}
	s.frames.Put(l)
}

// setFactors writes factors of a kernel behind their number.
func setFactors[T any](head []int64, kernel []T, at []int) {
	head[0] = int64(len(at))
	if len(at) == 0 {
		return
	}
	to := unsafe.Slice((*T)(unsafe.Pointer(&head[1])), len(at))
	for i, k := range at {
		to[i] = kernel[k]
	}
}
