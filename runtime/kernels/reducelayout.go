package kernels

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
)

// reduceLayout is how a reduction goes through its operand. Axes that are neighbours and are both kept or both reduced are one. Either
// the last axis is reduced: then an element of the result folds runs of memory; or it is kept: then a run of the result folds rows element
// by element.
type reduceLayout struct {
	// kept are the sizes and strides of the kept axes but for a last run, minor to major.
	kept, keptStride []int
	units            int // product of kept
	// strips are the offsets of the strips of a unit; each is run elements, of which a unit keeps all, or folds all if inner is set.
	strips []int
	run    int
	inner  bool
	block  int // columns computed together, when the run is kept
	blocks int
	parts  int // per unit
	split  int // strips per part; or elements per part of the only strip
	// stack is the number of short rows that are one row of run elements while strips are folded, and are folded in the end.
	stack int
	// tail is how many neighbours of a row are one element of the result: they are folded when all rows are.
	tail int
	// staged is set if rows are folded into memory of their own, whatever the number of parts, and to the result in the end.
	staged bool
}

// keepTail lets runs that are folded, many strips of them, be folded as rows: element by element, and only the row of sums by runs. Rows
// are read from the front to the back of memory, where an element of the result after the other would jump from strip to strip. A producer's
// rows are staged, so that its tiles may end anywhere; else a block of columns is whole runs, and long runs stay as they are.
func (r *reduceLayout) keepTail(produced bool) {
	if !r.inner || len(r.strips) == 1 || len(r.kept) == 0 || !produced && r.run > reduceColumns {
		return
	}
	r.inner, r.tail, r.staged = false, r.run, produced
	r.run *= r.kept[0]
	r.units /= r.kept[0]
	r.kept, r.keptStride = r.kept[1:], r.keptStride[1:]
}

// turn lets rows of very few elements, many of which are folded, be computed in columns: each is a run of memory then. It returns the axes of the operand in the
// order in which that is so, or nil if the layout stays as it was.
func (r *reduceLayout) turn(s *site) (axes []int) {
	if r.inner || r.run > analysis.FewColumns(s.m, s.in) || len(r.strips) < analysis.FewestRows || !r.isContiguous() {
		return nil
	}
	reduced := hlo.AttrsOf[hlo.DimensionsAttrs](s.in).Dimensions
	for axis := range s.shape(0).Rank() {
		if !slices.Contains(reduced, int64(axis)) {
			axes = append(axes, axis)
		}
	}
	for axis := range s.shape(0).Rank() {
		if slices.Contains(reduced, int64(axis)) {
			axes = append(axes, axis)
		}
	}
	r.units *= r.run / r.tail
	r.run, r.inner, r.tail, r.staged, r.strips = len(r.strips)*r.tail, true, 1, false, []int{0}
	r.kept, r.keptStride = []int{r.units}, []int{r.run}
	return axes
}

// width is the elements of the result in a unit, before rows that were stacked are folded.
func (r *reduceLayout) width() int {
	if r.inner {
		return 1
	}
	return r.run
}

// layOut merges axes and lists the strips.
func (r *reduceLayout) layOut(dims, axes []int64) {
	type axis struct {
		size    int
		reduced bool
	}
	var merged []axis
	for i, d := range dims {
		red := slices.Contains(axes, int64(i))
		switch last := len(merged) - 1; {
		case d == 1:
		case last >= 0 && merged[last].reduced == red:
			merged[last].size *= int(d)
		default:
			merged = append(merged, axis{int(d), red})
		}
	}
	r.run, r.units, r.tail, r.strips = 1, 1, 1, []int{0}
	stride := 1
	if last := len(merged) - 1; last >= 0 {
		r.run, r.inner = merged[last].size, merged[last].reduced
		stride = r.run
		merged = merged[:last]
	}
	for i := len(merged) - 1; i >= 0; i-- {
		a := merged[i]
		if !a.reduced {
			r.kept = append(r.kept, a.size)
			r.keptStride = append(r.keptStride, stride)
			r.units *= a.size
		} else {
			strips := make([]int, 0, len(r.strips)*a.size)
			for k := range a.size {
				for _, s := range r.strips {
					strips = append(strips, s+k*stride)
				}
			}
			r.strips = strips
		}
		stride *= a.size
	}
}

// stackRows makes one row of several short ones that lie behind each other, so that there is enough to fold at a time.
func (r *reduceLayout) stackRows() {
	r.stack = 1
	const manyUnits = 64 // each has a stack of its own in memory
	if r.inner || r.run > reduceColumns/4 || r.units > manyUnits || !r.isContiguous() {
		return
	}
	for g := min(reduceColumns/r.run, len(r.strips)/4); g > 1; g-- {
		if len(r.strips)%g != 0 {
			continue
		}
		strips := make([]int, 0, len(r.strips)/g)
		for i := 0; i < len(r.strips); i += g {
			strips = append(strips, i*r.run)
		}
		r.strips, r.run, r.stack = strips, r.run*g, g
		return
	}
}

// divide chooses blocks and parts, from the sizes alone.
func (r *reduceLayout) divide() {
	r.stackRows()
	r.block, r.blocks, r.parts = 1, 1, 1
	if !r.inner {
		r.block = min(r.run, reduceColumns)
		if !r.staged {
			r.block -= r.block % r.tail
		}
		r.blocks = (r.run-1)/r.block + 1
	}
	r.split = len(r.strips)
	if !dividesUnits(r.units*r.blocks, len(r.strips)*r.run) {
		return
	}
	if r.inner && len(r.strips) == 1 {
		r.split = pieceOfUnit
		r.parts = (r.run-1)/pieceOfUnit + 1
		return
	}
	r.split = max(1, pieceOfUnit/min(r.run, reduceColumns))
	r.parts = (len(r.strips)-1)/r.split + 1
}

// pieceOfUnit is the elements of a part.
const pieceOfUnit = 1 << 15

// dividesUnits reports whether units of so many elements are divided into parts: their tasks would be few, and long.
func dividesUnits(tasks, elements int) bool {
	const enough = 8
	return tasks < enough && elements >= 2*pieceOfUnit
}

// offset is where unit u begins in the operand.
func (r *reduceLayout) offset(u int) int {
	off := 0
	for i, n := range r.kept {
		off += u % n * r.keptStride[i]
		u /= n
	}
	return off
}

// isShort reports whether units are short runs, one behind the other.
func (r *reduceLayout) isShort() bool {
	return r.inner && len(r.strips) == 1 && len(r.kept) <= 1 && r.parts == 1 && r.run <= 32
}

// isContiguous reports whether each unit is one piece of the operand, strip behind strip, and units follow each other.
func (r *reduceLayout) isContiguous() bool {
	return len(r.kept) <= 1 && (!r.inner || len(r.strips) == 1) && (len(r.kept) == 0 || r.keptStride[0] == len(r.strips)*r.run)
}

// isPartial reports whether tasks do not compute the result but parts of it.
func (r *reduceLayout) isPartial() bool { return r.parts > 1 || r.stack > 1 || r.staged }

// rowLength is where tiles of the operand should end: at the ends of runs.
func (r *reduceLayout) rowLength() int {
	if r.parts > 1 && r.inner {
		return r.split
	}
	return r.run
}
