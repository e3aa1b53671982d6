package kernels

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// windowPlanes is a window over the trailing axes of many planes, such as the images of a network with channels first. Lines of a plane are too short for vectors, or
// have to be picked apart, so planes are turned first: each element of neighbouring ones is a line, and a window is a list of lines. Planes too large for the cache are
// taken in strips. Elements are folded in the order in which the other forms fold them.
type windowPlanes[T foldedNumber] struct {
	fold      *fold[T]
	planes    int // in all
	together  int // planes that are turned together
	in, out   int // elements of a plane, and windows
	row, line int // elements and windows at a position along the first axis
	strips    []windowStrip

	rows, positions int // of the greatest strip
	src, init, to   place
	rooms           sync.Pool
}

// windowStrip is the windows at some neighbouring positions along the first axis of a plane.
type windowStrip struct {
	first, positions int
	from, rows       int   // of elements, which they reach
	padding          int64 // before the first of these
	groups           *windowGroups
	offsets          [][]int64 // of the lines of each task, in bytes
}

// windowPlanesRoom is what a task needs.
type windowPlanesRoom[T foldedNumber] struct {
	in, out []byte
	head    foldHead[T]
}

const (
	leastPlanes  = 16
	leastWide    = 64      // bytes of a line
	mostWide     = 256     // if planes are small and there are many
	fewPieces    = 8       // for workers to share
	roomOfPlanes = 1 << 17 // bytes of lines, which stay in the second cache
	mostStrips   = 64
	runOfWindows = 256 // windows in a row that are better folded as one line
)

// newWindowPlanes returns nil for windows for which there is nothing to gain.
func (r *windowReduction[T]) newWindowPlanes() *windowPlanes[T] {
	var zero T
	size := sizeOf(zero)
	p := &windowPlanes[T]{fold: r.fold, planes: 1, row: 1, line: 1, src: r.src, init: r.init, to: r.to}
	axes := 0
	for axes < len(r.window) && isIdle(&r.window[axes]) {
		p.planes *= r.in[axes]
		axes++
	}
	window, in, out, stride := r.window[axes:], r.in[axes:], r.out[axes:], r.stride[axes:]
	last := len(window) - 1
	if r.run > 1 || r.fold.list == nil || p.planes < leastPlanes || last < 0 || r.hasLines(runOfWindows) {
		return nil
	}
	for d := range window[1:] {
		p.row, p.line = p.row*in[1+d], p.line*out[1+d]
	}
	p.in, p.out = p.row*in[0], p.line*out[0]
	if p.out == 0 {
		return nil
	}
	wide := leastWide
	for wide < mostWide && (p.in+p.out)*2*wide <= roomOfPlanes && p.planes*size/(2*wide) >= fewPieces {
		wide *= 2
	}
	p.together = wide / size
	rows := out[0]
	for rows > 1 && p.lines(&window[0], in[0], rows)*wide > roomOfPlanes {
		rows = (rows + 1) / 2
	}
	if (out[0]-1)/rows >= mostStrips || p.lines(&window[0], in[0], rows)*wide > 2*roomOfPlanes {
		return nil
	}
	for first := 0; first < out[0]; first += rows {
		s := stripAt(&window[0], in[0], first, min(rows, out[0]-first))
		if last := len(p.strips) - 1; last >= 0 && s.isLike(&p.strips[last]) {
			s.groups, s.offsets = p.strips[last].groups, p.strips[last].offsets
		} else if !s.sort(window, in, out, stride, p.together, size) {
			return nil
		}
		p.strips = append(p.strips, s)
		p.rows, p.positions = max(p.rows, s.rows), max(p.positions, s.positions)
	}
	p.rooms.New = func() any {
		return &windowPlanesRoom[T]{in: make([]byte, p.rows*p.row*wide), out: make([]byte, p.positions*p.line*wide)}
	}
	return p
}

// lines is how many lines so many positions along the first axis need, of elements and of windows.
func (p *windowPlanes[T]) lines(w *hlo.WindowDim, in, positions int) int {
	return stripAt(w, in, 0, positions).rows*p.row + positions*p.line
}

// stripAt is n positions from the first on, along an axis of size in.
func stripAt(w *hlo.WindowDim, in, first, n int) windowStrip {
	s := windowStrip{first: first, positions: n, rows: in}
	if w.BaseDilation > 1 {
		s.padding = w.PadLow - int64(first)*w.Stride
		return s // it reads all rows
	}
	start := first*int(w.Stride) - int(w.PadLow) // of the first window, which may begin in the padding
	end := start + (n-1)*int(w.Stride) + int(w.Size-1)*int(w.WindowDilation) + 1
	s.from = min(max(0, start), in)
	s.rows = min(max(s.from, end), in) - s.from
	s.padding = int64(s.from - start)
	return s
}

// isLike reports whether two strips have the same windows, elsewhere.
func (s *windowStrip) isLike(o *windowStrip) bool {
	return s.rows == o.rows && s.positions == o.positions && s.padding == o.padding
}

// sort brings together the windows that have as many elements, and lists these.
func (s *windowStrip) sort(window []hlo.WindowDim, in, out, stride []int, together, size int) (ok bool) {
	windows, in, out := slices.Clone(window), slices.Clone(in), slices.Clone(out)
	windows[0].PadLow, in[0], out[0] = s.padding, s.rows, s.positions
	if s.groups, ok = newWindowGroups(windows, in, out, stride, maxGroupedWindows); !ok {
		return false
	}
	for i := range s.groups.origins {
		s.groups.origins[i] *= together
	}
	for _, task := range s.groups.tasks {
		bytes := make([]int64, len(task.elements))
		for i, at := range task.elements {
			bytes[i] = int64(at * together * size)
		}
		s.offsets = append(s.offsets, bytes)
	}
	return true
}

// tasks is how many pieces the planes have, each a strip of some of them.
func (p *windowPlanes[T]) tasks() int { return ((p.planes-1)/p.together + 1) * len(p.strips) }

// run folds the windows of tasks [lo, hi).
func (p *windowPlanes[T]) run(f *runtime.TensorFrame, lo, hi int) {
	var zero T
	size := sizeOf(zero)
	src, to := p.src.of(f), p.to.of(f)
	room := p.rooms.Get().(*windowPlanesRoom[T])
	room.head.first = elems[T](p.init.of(f))[0]
	n := p.together
	for task := lo; task < hi; task++ {
		first, s := task/len(p.strips)*n, &p.strips[task%len(p.strips)]
		count := min(n, p.planes-first)
		toLines(room.in, src[(first*p.in+s.from*p.row)*size:], count, s.rows*p.row, n, p.in, size)
		p.folded(s, elems[T](room.in), elems[T](room.out), &room.head)
		transposeBytes(to[(first*p.out+s.first*p.line)*size:], room.out, s.positions*p.line, count, p.out, n, size)
	}
	p.rooms.Put(room)
}

// folded folds the windows of a strip.
func (p *windowPlanes[T]) folded(s *windowStrip, in, out []T, head *foldHead[T]) {
	n := p.together
	for i, task := range s.groups.tasks {
		offsets := s.offsets[i]
		head.count = int64(len(offsets))
		for x, window := range s.groups.windows[task.first:task.end] {
			y := out[window*n:][:n]
			if len(offsets) == 0 {
				for j := range y {
					y[j] = head.first
				}
				continue
			}
			from := in[s.groups.origins[task.first+x]:]
			p.fold.list(n, unsafe.Pointer(&y[0]), unsafe.Pointer(&from[0]), unsafe.Pointer(&offsets[0]), unsafe.Pointer(head))
		}
	}
}
