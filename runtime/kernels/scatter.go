package kernels

import (
	"math"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// scatter serves one array with a combiner that is one recognised op, or takes the update. Updates are applied in order, by one thread.
func scatter(s *site) (runtime.Bound, bool) {
	comp, ok := s.m.Computation(s.in.Callee(0))
	if !ok || s.in.NumOperands() != 3 || !s.in.Shape().IsArray() {
		return runtime.Bound{}, false
	}
	out, updates := s.in.Shape(), s.shape(2)
	t := out.Type()
	if s.shape(0).Type() != t || updates.Type() != t {
		return runtime.Bound{}, false
	}
	if n, ok := comp.Root().ParameterNumber(); ok {
		if n != 1 {
			return runtime.Bound{}, false
		}
		switch t.ByteSize() {
		case 1:
			return scatterAs(s, func(x, u *uint8) { *x = *u }, replaceRows, false)
		case 2:
			return scatterAs(s, func(x, u *uint16) { *x = *u }, replaceRows, false)
		case 4:
			return scatterAs(s, func(x, u *uint32) { *x = *u }, replaceRows, false)
		case 8:
			return scatterAs(s, func(x, u *uint64) { *x = *u }, replaceRows, false)
		case 16:
			return scatterAs(s, func(x, u *[2]uint64) { *x = *u }, replaceRows, false)
		}
		return runtime.Bound{}, false
	}
	op, ok := binaryOf(comp)
	if !ok || comp.Root().Shape().Type() != t {
		return runtime.Bound{}, false
	}
	switch t {
	case hlo.F32:
		return scatterFold(s, foldOf[float32](op), op)
	case hlo.F64:
		return scatterFold(s, foldOf[float64](op), op)
	case hlo.BF16:
		return scatterFold(s, bfloat16Fold(op), op)
	case hlo.PRED:
		return scatterFold(s, predFoldOf(op), op)
	case hlo.S8:
		return scatterFold(s, integerFoldOf[int8](op), op)
	case hlo.U8:
		return scatterFold(s, integerFoldOf[uint8](op), op)
	case hlo.S32:
		return scatterFold(s, integerFoldOf[int32](op), op)
	case hlo.U32:
		return scatterFold(s, integerFoldOf[uint32](op), op)
	case hlo.S64:
		return scatterFold(s, integerFoldOf[int64](op), op)
	case hlo.U64:
		return scatterFold(s, integerFoldOf[uint64](op), op)
	}
	return runtime.Bound{}, false
}

func scatterFold[T any](s *site, f *fold[T], op hlo.Opcode) (runtime.Bound, bool) {
	if f == nil {
		return runtime.Bound{}, false
	}
	return scatterAs(s, func(x, u *T) { *x = f.pair(*x, *u) }, f.rows, op == hlo.OpAdd)
}

// bfloat16Fold is a fold of codes that rounds each result. A NaN stays one, whatever its bits.
func bfloat16Fold(op hlo.Opcode) *fold[uint16] {
	f := foldOf[float32](op)
	if f == nil {
		return nil
	}
	wide := func(x uint16) float32 { return math.Float32frombits(uint32(x) << 16) }
	narrow := func(x float32) uint16 {
		b := math.Float32bits(x)
		if x != x {
			return uint16(b>>16) | 0x40
		}
		return uint16((b + 0x7fff + b>>16&1) >> 16)
	}
	r := foldBy(func(x, y uint16) uint16 { return narrow(f.pair(wide(x), wide(y))) })
	if op == hlo.OpAdd {
		r.rows = func(x, y []uint16) {
			y = y[:len(x)]
			for i := range x {
				x[i] = narrow(wide(x[i]) + wide(y[i]))
			}
		}
	}
	return r
}

func replaceRows[T any](x, u []T) { copy(x, u) }

// scatterAs applies updates one by one, or a line of them at once.
func scatterAs[T any](s *site, combine func(x, u *T), rows func(x, u []T), adds bool) (runtime.Bound, bool) {
	a := hlo.AttrsOf[hlo.ScatterAttrs](s.in)
	out, updates := s.in.Shape(), s.shape(2)
	// The size of a window: 1 for axes that the updates lack, else the updates'.
	sizes := make([]int64, out.Rank())
	strides, upd := rowMajor(out.Dimensions()), rowMajor(updates.Dimensions())
	var to, from []int // a window's elements in the array and in the updates
	to, from = []int{0}, []int{0}
	next := 0
	for d := range sizes {
		sizes[d] = 1
		if slices.Contains(a.InsertedWindowDims, int64(d)) || slices.Contains(a.InputBatchingDims, int64(d)) {
			continue
		}
		u := a.UpdateWindowDims[next]
		next++
		sizes[d] = updates.Dim(int(u))
		to = expand(to, int(sizes[d]), strides[d])
		from = expand(from, int(sizes[d]), upd[u])
	}
	w, ok := newWindows(out, s.shape(1), a.IndexVectorDim, a.ScatterDimsToOperandDims, a.InputBatchingDims, a.ScatterIndicesBatchingDims, sizes)
	if !ok {
		return runtime.Bound{}, false
	}
	var batch []int64
	for d := range int64(updates.Rank()) {
		if !slices.Contains(a.UpdateWindowDims, d) {
			batch = append(batch, d)
		}
	}
	source := offsetsOver(batch, updates.Dimensions(), upd)
	if len(source) != len(w.first) {
		return runtime.Bound{}, false
	}
	for d, n := range sizes {
		if n > out.Dim(d) {
			source = nil // no window fits
		}
	}
	base := newBaseCopy(0)
	if apply := scatterLines(w, to, from, source, rows, adds); apply != nil && len(source) > 0 {
		w.first, w.base = nil, nil
		return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
			base.run(f)
			apply(elems[T](f.Out(0).Data), f.In(1).Data, elems[T](f.In(2).Data))
			return nil
		}}, true
	}
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		base.run(f)
		x, indices, u := elems[T](f.Out(0).Data), f.In(1).Data, elems[T](f.In(2).Data)
		for i, at := range source {
			o, ok := w.checked(indices, i)
			if !ok {
				continue
			}
			for k, e := range to {
				combine(&x[o+e], &u[at+from[k]])
			}
		}
		return nil
	}}, true
}

// expand appends an inner axis to a list of offsets.
func expand(offsets []int, n, stride int) []int {
	r := make([]int, 0, len(offsets)*n)
	for _, o := range offsets {
		for i := range n {
			r = append(r, o+i*stride)
		}
	}
	return r
}
