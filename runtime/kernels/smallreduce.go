package kernels

import (
	"unsafe"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// small is the reduction as calls, if it folds few elements that lie together: those that compute them, if there is a producer, and one that folds.
func (r *reduction[T]) small(e *reduceEnds, elements int) []runtime.SmallCall {
	if r.isPartial() || r.tail > 1 || !r.isContiguous() || r.blocks > 1 || e.inConv != nil || e.outConv != nil || elements > tile.MostInCalls {
		return nil
	}
	var calls []runtime.SmallCall
	from := runtime.Place{Kind: runtime.InInput, Index: r.in.index}
	if r.producer != nil {
		steps, result, size, ok := r.producer.ResultCalls()
		if !ok {
			return nil
		}
		registers := int(e.scratch.take(int64(size)).at)
		calls, from = smallCalls(steps, registers), placeOf(&result, registers)
	}
	first := runtime.Place{Kind: runtime.InConst, Const: e.constant}
	if e.constant == nil {
		first = smallInput(e.init.index)
	}
	return append(calls, runtime.SmallCall{Loop: r.smallLoop(elements), N: elements, D: runtime.Place{Kind: runtime.InOutput}, A: from, B: first})
}

// smallLoop folds all elements, in the order and by the loops of a run of the kernel.
func (r *reduction[T]) smallLoop(elements int) runtime.Loop {
	unit, row, fold := len(r.strips)*r.run, r.run, r.fold
	results := elements / unit * r.width()
	if r.inner {
		results = elements / row
	}
	isShort := r.isShort() && !fold.takesRuns(row)
	if r.producer != nil {
		isShort = row <= shortRun && !fold.takesRuns(row)
	}
	switch {
	case r.inner && isShort:
		return func(_ int, d, a, b, _ unsafe.Pointer) {
			y, x, first := unsafe.Slice((*T)(d), results), unsafe.Slice((*T)(a), elements), *(*T)(b)
			for i := range y {
				y[i] = first
			}
			fold.short(y, x, row)
		}
	case r.inner:
		return func(_ int, d, a, b, _ unsafe.Pointer) {
			fold.each(unsafe.Slice((*T)(d), results), unsafe.Slice((*T)(a), elements), row, (*T)(b))
		}
	}
	return func(_ int, d, a, b, _ unsafe.Pointer) {
		y, x := unsafe.Slice((*T)(d), results), unsafe.Slice((*T)(a), elements)
		for ; len(y) > 0; y, x = y[row:], x[unit:] {
			to := y[:row]
			copy(to, x)
			fold.below(to, x[row:unit])
			fold.begin(to, *(*T)(b))
		}
	}
}
