package kernels

import (
	"unsafe"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// reduceVisit folds the tiles of one range of a producer's elements: whole units, or one part of a unit, or some columns of a strip.
type reduceVisit[T foldedNumber] struct {
	r    *reduction[T]
	out  []T
	init T

	// Of runs that are folded:
	length int // of a run: of an element of the result
	shift  int // element 0 of the result is at element shift of the operand
	first  int // the element of out for run 0
	acc    T

	// Of rows that are folded element by element:
	row   []T // where they are folded to
	sum   []T // where the rows of a block are, after the first one
	begin int // the first element of the operand that belongs to it

	unit int // the elements of a unit, if whole units are seen one after the other
	head foldHead[T]

	f *runtime.TensorFrame // of a task that folds whole rows
}

// visitTasks is tasks with a producer.
func (r *reduction[T]) visitTasks(f *runtime.TensorFrame, lo, hi int) {
	v := r.visits.Get().(*reduceVisit[T])
	v.init = elems[T](r.init.of(f))[0]
	v.out = elems[T](r.out.of(f))
	if r.isPartial() {
		v.out = elems[T](r.partial.of(f))
	}
	b := (*frameBuffers)(f)
	switch {
	case r.inner && r.parts == 1:
		v.length, v.shift, v.first = r.run, 0, 0
		r.producer.Visit(lo*r.run, hi*r.run, b, v)
	case r.inner:
		for up := lo; up < hi; up++ {
			from := up / r.parts * r.run
			begin := from + up%r.parts*r.split
			v.length, v.shift, v.first = min(r.split, from+r.run-begin), begin, up
			r.producer.Visit(begin, begin+v.length, b, v)
		}
	case r.smallUnits():
		v.unit = len(r.strips) * r.run
		r.producer.Visit(lo*v.unit, hi*v.unit, b, v)
	default:
		for task := lo; task < hi; task++ {
			r.visitColumns(b, v, task)
		}
	}
	v.out, v.row, v.sum, v.unit = nil, nil, nil, 0
	r.visits.Put(v)
}

// smallUnits reports whether a tile may hold several units, so that it pays to see them together.
func (r *reduction[T]) smallUnits() bool {
	return !r.inner && r.blocks == 1 && r.parts == 1 && len(r.strips) <= rowBlock && len(r.strips)*r.run <= tile.Size/2
}

// visitColumns folds a block of columns of a part of a unit.
func (r *reduction[T]) visitColumns(b *frameBuffers, v *reduceVisit[T], task int) {
	up, block := task/r.blocks, task%r.blocks*r.block
	unit := up / r.parts * len(r.strips) * r.run
	s0 := up % r.parts * r.split
	s1 := min(s0+r.split, len(r.strips))
	cols := min(r.block, r.run-block)
	v.row, v.begin = v.out[up*r.run+block:][:cols], unit+s0*r.run+block
	buffer := r.rows.Get().(*[]T)
	v.sum = (*buffer)[:cols]
	if r.blocks == 1 {
		r.producer.Visit(v.begin, unit+s1*r.run, b, v)
	} else {
		for s := s0; s < s1; s++ {
			at := unit + s*r.run + block
			r.producer.Visit(at, at+cols, b, v)
		}
	}
	if rows := s1 - s0; rows > rowBlock && rows%rowBlock != 0 {
		r.fold.rows(v.row, v.sum)
	}
	r.rows.Put(buffer)
	if !r.isPartial() {
		r.fold.beginRow(v.row, &v.head, v.init)
	}
}

// Tile implements tile.Visitor.
func (v *reduceVisit[T]) Tile(at, n int, elements unsafe.Pointer) {
	x := unsafe.Slice((*T)(elements), n)
	switch {
	case v.r.inner:
		v.runs(at, x)
	case v.unit > 0:
		v.units(at, x)
	default:
		v.foldRows(at, x)
	}
}

// units folds the rows of one unit after the other. A tile may begin and end anywhere.
func (v *reduceVisit[T]) units(at int, x []T) {
	run, fold := v.r.run, v.r.fold
	for len(x) > 0 {
		unit, done := at/v.unit, at%v.unit
		k := min(len(x), v.unit-done)
		y, rows, column := v.out[unit*run:][:run], x[:k], done%run
		if k == v.unit && v.r.source.list != nil {
			v.r.source.fold(y, bytesOf(rows), 0, len(v.r.strips), &v.head, fold.identity)
			if !v.r.isPartial() {
				fold.beginRow(y, &v.head, v.init)
			}
			at += k
			x = x[k:]
			continue
		}
		if done < run { // the first row
			n := copy(y[column:], rows)
			rows, column = rows[n:], 0
		}
		if column > 0 {
			n := min(len(rows), run-column)
			fold.rows(y[column:][:n], rows[:n])
			rows = rows[n:]
		}
		whole := len(rows) / run * run
		fold.below(y, rows[:whole])
		fold.rows(y[:len(rows)-whole], rows[whole:])
		if done+k == v.unit && !v.r.isPartial() {
			fold.beginRow(y, &v.head, v.init)
		}
		at += k
		x = x[k:]
	}
}

// runs folds runs, which tiles may begin and end within.
func (v *reduceVisit[T]) runs(at int, x []T) {
	f := v.r.fold
	if v.length <= shortRun && !f.takesRuns(v.length) && at%v.length == v.shift && len(x)%v.length == 0 && v.r.parts == 1 {
		y := v.out[at/v.length:][:len(x)/v.length]
		for i := range y {
			y[i] = v.init
		}
		f.short(y, x, v.length)
		return
	}
	if at%v.length == v.shift && len(x)%v.length == 0 && v.r.parts == 1 {
		y := v.out[at/v.length:][:len(x)/v.length]
		f.each(y, x, v.length, &v.init)
		return
	}
	for len(x) > 0 {
		run, done := (at-v.shift)/v.length, (at-v.shift)%v.length
		k := min(len(x), v.length-done)
		s := f.run(x[:k])
		if done > 0 {
			s = f.pair(v.acc, s)
		}
		v.acc = s
		if done+k == v.length {
			if v.r.parts == 1 {
				s = f.pair(v.init, s)
			}
			v.out[v.first+run] = s
		}
		at += k
		x = x[k:]
	}
}

// shortRun is the length of runs that are folded one element at a time.
const shortRun = 16

// foldRows folds rows: whole ones, pieces of them, or those of a block. As without a producer, rowBlock rows are folded before their
// result is.
func (v *reduceVisit[T]) foldRows(at int, x []T) {
	fold := v.r.fold.rows
	for len(x) > 0 {
		strip, col := (at-v.begin)/v.r.run, (at-v.begin)%v.r.run
		k := min(len(x), len(v.row)-col)
		to := v.row[col:][:k]
		if strip >= rowBlock {
			to = v.sum[col:][:k]
		}
		if strip%rowBlock == 0 {
			copy(to, x)
		} else {
			fold(to, x[:k])
		}
		if strip >= rowBlock && strip%rowBlock == rowBlock-1 {
			fold(v.row[col:][:k], to)
		}
		at += k
		x = x[k:]
	}
}
