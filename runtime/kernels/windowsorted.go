package kernels

import (
	"unsafe"

	"github.com/gohalo/halo/runtime"
)

// windowsTogether is how many windows of a group are one task.
const windowsTogether = 64

// windowLanesOf is what some windows have been folded to so far, and the next element of each.
type windowLanesOf[T foldedNumber] struct{ folded, next [windowsTogether]T }

// findGroups sorts the windows, unless there are too many.
func (r *windowReduction[T]) findGroups() (ok bool) {
	if r.groups, ok = newWindowGroups(r.window, r.in, r.out, r.stride, windowsTogether); !ok {
		return false
	}
	r.lanes.New = func() any { return new(windowLanesOf[T]) }
	if !r.findVector() {
		return true
	}
	var size T
	for i, task := range r.groups.tasks {
		if i > 0 && len(task.elements) > 0 && len(r.offsets[i-1]) == len(task.elements) && &r.groups.tasks[i-1].elements[0] == &task.elements[0] {
			r.offsets = append(r.offsets, r.offsets[i-1])
			continue
		}
		var bytes []int64
		for _, at := range task.elements {
			bytes = append(bytes, int64(at)*int64(unsafe.Sizeof(size)))
		}
		r.offsets = append(r.offsets, bytes)
	}
	return true
}

// grouped folds the windows of tasks [lo, hi).
func (r *windowReduction[T]) grouped(f *runtime.TensorFrame, lo, hi int) {
	x, out := elems[T](r.src.of(f)), elems[T](r.to.of(f))
	init := elems[T](r.init.of(f))[0]
	for i := lo; i < hi; i++ {
		switch task := &r.groups.tasks[i]; {
		case r.run == 1:
			r.sideBySide(task, x, out, init)
		case len(task.elements) == 0 || r.vector == nil:
			r.runsOf(task, x, out, init)
		default:
			r.vectorsOf(task, r.offsets[i], x, out, init)
		}
	}
}

// sideBySide folds windows of single elements, one element of each at a time; a few windows with elements in a row are folded one after the other.
func (r *windowReduction[T]) sideBySide(task *windowTask, x, out []T, init T) {
	l := r.lanes.Get().(*windowLanesOf[T])
	windows, origins := r.groups.windows[task.first:task.end], r.groups.origins[task.first:task.end]
	folded, next := l.folded[:len(windows)], l.next[:len(windows)]
	for i := range folded {
		folded[i] = init
	}
	const few, long = 8, 4
	if row := task.row; len(windows) < few && row >= long {
		for k := 0; k < len(task.elements); k += row {
			for i, from := range origins {
				r.fold.short(folded[i:i+1], x[from+task.elements[k]:][:row], row)
			}
		}
	} else {
		for _, at := range task.elements {
			for i, from := range origins {
				next[i] = x[from+at]
			}
			r.fold.rows(folded, next)
		}
	}
	for i, to := range windows {
		out[to] = folded[i]
	}
	r.lanes.Put(l)
}

// runsOf folds windows of runs, each run of a window at a time.
func (r *windowReduction[T]) runsOf(task *windowTask, x, out []T, init T) {
	for i := task.first; i < task.end; i++ {
		y, from := out[r.groups.windows[i]*r.run:][:r.run], r.groups.origins[i]
		for j := range y {
			y[j] = init
		}
		for _, at := range task.elements {
			r.fold.rows(y, x[from+at:][:r.run])
		}
	}
}

// vectorsOf folds windows of runs. The runs of neighbours, where they are neighbours in memory too, are as one.
func (r *windowReduction[T]) vectorsOf(task *windowTask, offsets []int64, x, out []T, init T) {
	l := r.lists.Get().(*windowList[T])
	l.head.first, l.head.count = init, int64(len(offsets))
	reach := task.elements[len(task.elements)-1]
	windows, origins := r.groups.windows[task.first:task.end], r.groups.origins[task.first:task.end]
	for i := 0; i < len(windows); {
		first := i
		for i++; i < len(windows) && windows[i] == windows[i-1]+1 && origins[i] == origins[i-1]+r.run; i++ {
		}
		n := (i - first) * r.run
		y, runs := out[windows[first]*r.run:][:n], x[origins[first]:][:reach+n]
		r.vector(n, unsafe.Pointer(&y[0]), unsafe.Pointer(&runs[0]), unsafe.Pointer(&offsets[0]), unsafe.Pointer(&l.head))
	}
	r.lists.Put(l)
}
