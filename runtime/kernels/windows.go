package kernels

import (
	"math"
	"sync"

	"github.com/gohalo/halo/hlo"
)

// windows is what gather and scatter have in common: for each index vector, a window of an array at a place that the vector says.
type windows struct {
	array   hlo.Shape
	sizes   []int64 // of a window, for every axis of the array
	index   hlo.PrimitiveType
	vector  int   // components of an index vector
	between int   // elements from one component to the next
	axes    []int // of the array, that the components are about
	highest []int64
	strides []int // of the array
	count   int
	// Index vector i begins at element i*regular or, if that is 0, at the i-th of first.
	regular int
	first   *offsetTable
	base    *offsetTable // what batching axes add to the offset of window i, if there are some
	batches batchRuns    // the same as runs, if it is of that kind
	words   *pointWords  // how vector code makes offsets of many windows, or nil
}

// newWindows understands the index array of gather and scatter, whose batching axes have no other role.
func newWindows(array, indices hlo.Shape, vectorDim int64, startMap, arrayBatch, indexBatch, sizes []int64) (*windows, bool) {
	t := indices.Type()
	if !t.IsInteger() || t.Bits() < 8 {
		return nil, false
	}
	w := &windows{array: array, sizes: sizes, index: t, strides: rowMajor(array.Dimensions()), vector: len(startMap), between: 1}
	for _, a := range startMap {
		w.axes = append(w.axes, int(a))
		w.highest = append(w.highest, array.Dim(int(a))-sizes[a])
	}
	dims, strides := indices.Dimensions(), rowMajor(indices.Dimensions())
	var axes []int64
	for a := range int64(len(dims)) {
		if a == vectorDim {
			w.between = strides[a]
			continue
		}
		axes = append(axes, a)
	}
	const most = 1 << 24 // tables of this size are still smaller than the arrays
	if productOver(axes, dims) > most {
		return nil, false
	}
	w.count = productOver(axes, dims)
	if w.first = newOffsetTable(axes, dims, strides); w.first.step != 0 {
		w.regular, w.first = w.first.step, nil
	}
	if len(indexBatch) == 0 {
		w.batches = batchRuns{run: w.count, count: 1}
		if t == hlo.S32 && w.first == nil && w.count >= block {
			p := &points{regular: w.regular, between: w.between}
			for c := range w.axes {
				p.axes = append(p.axes, w.component(c))
			}
			w.words = newPointWords(p, array.NumElements())
		}
		return w, true
	}
	byBatch := make([]int, len(dims))
	for i, a := range indexBatch {
		if array.Dim(int(arrayBatch[i])) < dims[a] { // profile xla lets them differ; the evaluator keeps such windows inside
			return nil, false
		}
		byBatch[a] = w.strides[arrayBatch[i]]
	}
	w.base = newOffsetTable(axes, dims, byBatch)
	w.batches, _ = batchRunsOf(axes, dims, byBatch)
	return w, true
}

// outside is what index vectors out of range make of an offset, whatever else is added.
const outside = -1 << 62

// block is how many windows are looked up together.
const block = 256

// offsets sets at to the offsets of as many windows from lo on: moved inside of the array, or, if checked is set, negative for those
// that are not.
func (w *windows) offsets(at []int, indices []byte, lo int, checked bool) {
	switch w.index {
	case hlo.S8:
		windowOffsets(w, at, elems[int8](indices), lo, checked)
	case hlo.S16:
		windowOffsets(w, at, elems[int16](indices), lo, checked)
	case hlo.S32:
		x := elems[int32](indices)
		if w.words == nil {
			windowOffsets(w, at, x, lo, checked)
			return
		}
		for len(at) > 0 {
			some := at[:min(block, len(at))]
			if !w.words.offsets(some, x[lo*len(w.axes):], checked) {
				windowOffsets(w, some, x, lo, checked)
			}
			at, lo = at[len(some):], lo+len(some)
		}
	case hlo.S64:
		windowOffsets(w, at, elems[int64](indices), lo, checked)
	case hlo.U8:
		windowOffsets(w, at, elems[uint8](indices), lo, checked)
	case hlo.U16:
		windowOffsets(w, at, elems[uint16](indices), lo, checked)
	case hlo.U32:
		windowOffsets(w, at, elems[uint32](indices), lo, checked)
	case hlo.U64:
		windowOffsets(w, at, elems[uint64](indices), lo, checked)
	}
}

func windowOffsets[I integerNumber](w *windows, at []int, indices []I, lo int, checked bool) {
	if w.base == nil {
		clear(at)
	} else {
		copy(at, w.base.list()[lo:])
	}
	for c := range w.axes {
		x := w.component(c)
		switch {
		case w.first != nil:
			for i, from := range w.first.list()[lo:][:len(at)] {
				if v := asIndex(indices[from+c*w.between]); checked {
					at[i] = x.checked(at[i], v)
				} else {
					at[i] += x.place(v)
				}
			}
		case checked:
			checkedOffsets(at, indices[c*w.between+lo*w.regular:], w.regular, x)
		default:
			addPlaces(at, indices[c*w.between+lo*w.regular:], w.regular, x)
		}
	}
}

// checkedOffsets is addPlaces for indices of which some may be out of range.
//
//go:noinline
func checkedOffsets[I integerNumber](at []int, indices []I, apart int, x pointAxis) {
	from := 0
	for i, o := range at {
		at[i] = x.checked(o, asIndex(indices[from]))
		from += apart
	}
}

// component is what component c of index vectors is about.
func (w *windows) component(c int) pointAxis { return pointAxis{w.highest[c], w.strides[w.axes[c]]} }

// asIndex is an index, or the greatest where that is greater.
func asIndex[I integerNumber](v I) int64 {
	if v > 0 && int64(v) < 0 {
		return math.MaxInt64
	}
	return int64(v)
}

// checked is an offset with what an index adds to it, or outside. Nothing branches: no processor foresees which indices are out of range.
func (x pointAxis) checked(offset int, v int64) int {
	out := int((v | (x.highest - v)) >> 63) // all bits or none
	return (offset+int(v)*x.stride)&^out | outside&out
}

// eachBlock calls body for the windows from lo to hi with the offsets of some of them at a time.
func (w *windows) eachBlock(indices []byte, lo, hi int, checked bool, body func(first int, at []int)) {
	buffer := offsetBuffers.Get().(*[block]int)
	for lo < hi {
		at := buffer[:min(block, hi-lo)]
		w.offsets(at, indices, lo, checked)
		body(lo, at)
		lo += len(at)
	}
	offsetBuffers.Put(buffer)
}

var offsetBuffers = sync.Pool{New: func() any { return new([block]int) }}
