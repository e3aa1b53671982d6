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
		windowOffsets(w, at, elems[int32](indices), lo, checked)
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
		if len(w.axes) == 1 && w.first == nil && w.regular == 1 {
			x := component{uint64(w.highest[0]), w.strides[w.axes[0]], checked}
			for i, v := range indices[lo:][:len(at)] {
				at[i] = x.added(0, asIndex(v))
			}
			return
		}
		clear(at)
	} else {
		copy(at, w.base.list()[lo:])
	}
	for c, a := range w.axes {
		x := component{uint64(w.highest[c]), w.strides[a], checked}
		if w.first == nil {
			v := indices[c*w.between+lo*w.regular:]
			for i := range at {
				at[i] = x.added(at[i], asIndex(v[i*w.regular]))
			}
			continue
		}
		for i, from := range w.first.list()[lo:][:len(at)] {
			at[i] = x.added(at[i], asIndex(indices[from+c*w.between]))
		}
	}
}

// component is an axis that index vectors are about.
type component struct {
	highest uint64
	stride  int
	checked bool
}

// asIndex is an index, or the greatest where that is greater.
func asIndex[I integerNumber](v I) int64 {
	if v > 0 && int64(v) < 0 {
		return math.MaxInt64
	}
	return int64(v)
}

// added is an offset with what an index adds to it.
func (x component) added(offset int, v int64) int {
	switch {
	case uint64(v) <= x.highest: // negative numbers are large ones
		return offset + int(v)*x.stride
	case x.checked:
		return outside
	case v > 0:
		return offset + int(x.highest)*x.stride
	}
	return offset
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
