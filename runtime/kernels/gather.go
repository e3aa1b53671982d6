package kernels

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
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
	// The index vectors in the order of their axes: first[i] is the element of the first component of the i-th, base[i] what batching axes
	// add to its window's offset.
	first, base []int
}

// newWindows understands the index array of gather and scatter.
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
	w.first = offsetsOver(axes, dims, strides)
	byBatch := make([]int, len(dims))
	for i, a := range indexBatch {
		byBatch[a] = w.strides[arrayBatch[i]]
	}
	w.base = offsetsOver(axes, dims, byBatch)
	return w, true
}

// clamped is the offset of window i, moved inside of the array.
func (w *windows) clamped(indices []byte, i int) int {
	at := w.base[i]
	width := w.index.ByteSize()
	for c, a := range w.axes {
		v := readIndex(indices[(w.first[i]+c*w.between)*width:], w.index)
		at += int(max(0, min(v, w.highest[c]))) * w.strides[a]
	}
	return at
}

// checked is the offset of window i, and whether the window lies inside.
func (w *windows) checked(indices []byte, i int) (int, bool) {
	at := w.base[i]
	width := w.index.ByteSize()
	for c, a := range w.axes {
		v := readIndex(indices[(w.first[i]+c*w.between)*width:], w.index)
		if v < 0 || v > w.highest[c] {
			return 0, false
		}
		at += int(v) * w.strides[a]
	}
	return at, true
}

// gather copies a window for each index vector.
func gather(s *site) (runtime.Bound, bool) {
	a := hlo.AttrsOf[hlo.GatherAttrs](s.in)
	array, out := s.shape(0), s.in.Shape()
	w, ok := newWindows(array, s.shape(1), a.IndexVectorDim, a.StartIndexMap, a.OperandBatchingDims, a.StartIndicesBatchingDims, a.SliceSizes)
	if !ok || array.Type() != out.Type() || array.NumElements() == 0 {
		return runtime.Bound{}, false
	}
	width := out.Type().ByteSize()
	strides := rowMajor(out.Dimensions())
	// The window's axes that the result has, in order, are its offset axes.
	var dims []int64
	var src, dst []int
	next := 0
	for d, n := range a.SliceSizes {
		if slices.Contains(a.CollapsedSliceDims, int64(d)) || slices.Contains(a.OperandBatchingDims, int64(d)) {
			continue
		}
		dims = append(dims, n)
		src = append(src, w.strides[d])
		dst = append(dst, strides[a.OffsetDims[next]])
		next++
	}
	b, ok := newBox(dims, src, dst, width)
	if !ok {
		return runtime.Bound{}, false
	}
	var batch []int64
	for d := range int64(out.Rank()) {
		if !slices.Contains(a.OffsetDims, d) {
			batch = append(batch, d)
		}
	}
	to := offsetsOver(batch, out.Dimensions(), strides)
	if len(to) != len(w.first) {
		return runtime.Bound{}, false
	}
	grain := 1 + (1<<15)/(16+b.bytes())
	if body := gatherLines(w, &b, to, width); body != nil {
		return newParallelLoop(body).bound(len(to), grain), true
	}
	loop := newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
		src, indices, dst := f.In(0).Data, f.In(1).Data, f.Out(0).Data
		for i := lo; i < hi; i++ {
			b.copy(dst[to[i]*width:], src[w.clamped(indices, i)*width:])
		}
	})
	return loop.bound(len(to), grain), true
}
