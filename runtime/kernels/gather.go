package kernels

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/tile"
	"github.com/gohalo/halo/runtime/scalar"
)

// gather copies a window for each index vector.
func gather(s *site) (runtime.Bound, bool) {
	a := hlo.AttrsOf[hlo.GatherAttrs](s.in)
	array, out := s.shape(0), s.in.Shape()
	if array.Type() != out.Type() || a.PicksNothing() || hlo.CheckBatching(s.in) != nil {
		return runtime.Bound{}, false
	}
	w, ok := newWindows(array, s.shape(1), a.IndexVectorDim, a.StartIndexMap, a.OperandBatchingDims, a.StartIndicesBatchingDims, a.SliceSizes)
	if !ok {
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
	to := newOffsetTable(batch, out.Dimensions(), strides)
	if to.count != w.count {
		return runtime.Bound{}, false
	}
	bound := gatherWindows(w, &b, to, width)
	bound.Code = gatherCode(w, &b, to, out)
	return bound, true
}

// gatherWindows is the kernel for the windows that b describes, of elements of so many bytes.
func gatherWindows(w *windows, b *box, to *offsetTable, width int) runtime.Bound {
	grain := 1 + (1<<15)/(16+b.bytes())
	if body := gatherPlaces(w, b, to, width); body != nil {
		return newParallelLoop(body).bound(to.count, grain)
	}
	if body := gatherLines(w, b, to, width); body != nil {
		return newParallelLoop(body).bound(to.count, grain)
	}
	var move func(f *runtime.TensorFrame, lo, hi int)
	line := lineWidth(w, b)
	switch across := len(b.dims) > 0 && b.outer() > 1 && line > 0 && to.together(line/width); {
	case across && b.outer() >= leastGatherRows && w.count <= mostWindowsOfRow:
		return gatherRowsOf(w, b, line)
	case len(b.dims) == 0 && b.run > width:
		move = func(f *runtime.TensorFrame, lo, hi int) {
			src, dst, to := f.In(0).Data, f.Out(0).Data, to.list()
			w.eachBlock(f.In(1).Data, lo, hi, false, func(first int, at []int) {
				for i, o := range at {
					copy(dst[to[first+i]*width:][:b.run], src[o*width:])
				}
			})
		}
	case len(b.dims) > 0 && !across || b.run > width:
		move = func(f *runtime.TensorFrame, lo, hi int) {
			src, dst, to := f.In(0).Data, f.Out(0).Data, to.list()
			w.eachBlock(f.In(1).Data, lo, hi, false, func(first int, at []int) {
				for i, o := range at {
					b.copy(dst[to[first+i]*width:], src[o*width:])
				}
			})
		}
	case width == 1:
		move = gatherPoints[uint8](w, b, to)
	case width == 2:
		move = gatherPoints[uint16](w, b, to)
	case width == 4:
		move = gatherPoints[uint32](w, b, to)
	case width == 8:
		move = gatherPoints[uint64](w, b, to)
	default:
		move = gatherPoints[[2]uint64](w, b, to)
	}
	return newParallelLoop(move).bound(to.count, grain)
}

// gatherCode reads the elements of few windows.
func gatherCode(w *windows, b *box, to *offsetTable, out hlo.Shape) scalar.Code {
	typ, ok := tile.ScalarTypes[w.index]
	if !ok || !typ.IsIndex() || out.NumElements() > scalar.MostLanes || w.base != nil {
		return nil
	}
	from, plus := []int{0}, []int{0}
	for i, n := range b.dims {
		from, plus = expand(from, n, b.src[i]/b.width), expand(plus, n, b.dst[i]/b.width)
	}
	run := b.run / b.width
	return func(x *scalar.Site) bool {
		if !isWritten(x) {
			return false
		}
		array, width := &x.In[0], x.Out[0].Width
		for i := range w.count {
			first := i * w.regular
			if w.first != nil {
				first = w.first.list()[i]
			}
			offset := scalar.None
			for c, a := range w.axes {
				if w.highest[c] > 0 {
					offset = x.AddOffsets(offset, x.Index(typ, x.Element(&x.In[1], first+c*w.between), w.highest[c], int64(w.strides[a]*width)))
				}
			}
			for e := range from {
				for r := range run {
					x.Out[0].Lanes[to.list()[i]+plus[e]+r] = elementAt(x, array, offset, from[e]+r)
				}
			}
		}
		return true
	}
}

// gatherPoints moves element by element: the first ones of many windows, then their second ones, and so on.
func gatherPoints[T any](w *windows, b *box, table *offsetTable) func(f *runtime.TensorFrame, lo, hi int) {
	from, plus := []int{0}, []int{0}
	for i, n := range b.dims {
		from, plus = expand(from, n, b.src[i]/b.width), expand(plus, n, b.dst[i]/b.width)
	}
	together := table.together(1)
	return func(f *runtime.TensorFrame, lo, hi int) {
		var to []int
		if !together {
			to = table.list()
		}
		src, dst := elems[T](f.In(0).Data), elems[T](f.Out(0).Data)
		w.eachBlock(f.In(1).Data, lo, hi, false, func(first int, at []int) {
			for k, p := range from {
				s := src[p:]
				if to != nil {
					for i, o := range at {
						dst[to[first+i]+plus[k]] = s[o]
					}
					continue
				}
				d := dst[first+plus[k]:][:len(at)]
				for i, o := range at {
					d[i] = s[o]
				}
			}
		})
	}
}
