package kernels

import (
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// scatter serves one array with a combiner that is one recognised op, or takes the update. Updates are applied in order: workers share the elements
// of windows that lie together, and each sees all updates. Windows that are lines have loops of their own, see scatteredLines.
func scatter(s *site) (runtime.Bound, bool) {
	comp, ok := s.m.Computation(s.in.Callee(0))
	if !ok || s.in.NumOperands() != 3 || !s.in.Shape().IsArray() {
		return runtime.Bound{}, false
	}
	out, updates := s.in.Shape(), s.shape(2)
	t := out.Type()
	if s.shape(0).Type() != t || updates.Type() != t || hlo.CheckBatching(s.in) != nil {
		return runtime.Bound{}, false
	}
	if n, ok := comp.Root().ParameterNumber(); ok {
		if n != 1 {
			return runtime.Bound{}, false
		}
		switch t.ByteSize() {
		case 1:
			return scatterAs(s, replacing[uint8]())
		case 2:
			return scatterAs(s, replacing[uint16]())
		case 4:
			return scatterAs(s, replacing[uint32]())
		case 8:
			return scatterAs(s, replacing[uint64]())
		case 16:
			return scatterAs(s, replacing[[2]uint64]())
		}
		return runtime.Bound{}, false
	}
	op, ok := binaryOf(comp)
	if !ok || comp.Root().Shape().Type() != t {
		return runtime.Bound{}, false
	}
	switch t {
	case hlo.F32:
		return scatterAs(s, foldingNumbers[float32](op))
	case hlo.F64:
		return scatterAs(s, foldingNumbers[float64](op))
	case hlo.BF16:
		return scatterAs(s, folding(bfloat16Fold(op)))
	case hlo.F16:
		return scatterAs(s, folding(halfFold(op)))
	case hlo.PRED:
		return scatterAs(s, folding(predFoldOf(op)))
	case hlo.S8:
		return scatterAs(s, foldingIntegers[int8](op))
	case hlo.U8:
		return scatterAs(s, foldingIntegers[uint8](op))
	case hlo.S32:
		return scatterAs(s, foldingIntegers[int32](op))
	case hlo.U32:
		return scatterAs(s, foldingIntegers[uint32](op))
	case hlo.S64:
		return scatterAs(s, foldingIntegers[int64](op))
	case hlo.U64:
		return scatterAs(s, foldingIntegers[uint64](op))
	case hlo.C64:
		return scatterAs(s, foldingComplex[complex64](op))
	case hlo.C128:
		return scatterAs(s, foldingComplex[complex128](op))
	}
	return runtime.Bound{}, false
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
		r.rows = rowsLoop(vec.Of(op, hlo.BF16, hlo.BF16, hlo.BF16), func(x, y []uint16) {
			y = y[:len(x)]
			for i := range x {
				x[i] = narrow(wide(x[i]) + wide(y[i]))
			}
		})
	}
	return r
}

// halfFold is a fold of codes of f16 that rounds each result.
func halfFold(op hlo.Opcode) *fold[uint16] {
	f := foldOf[float32](op)
	if f == nil {
		return nil
	}
	pair := func(x, y uint16) uint16 {
		return minifloat.F16.FromFloat64(float64(f.pair(minifloat.F16.Float32(x), minifloat.F16.Float32(y))))
	}
	r := foldBy(pair)
	to, from := vec.Of(hlo.OpConvert, hlo.F16, hlo.F32), vec.Of(hlo.OpConvert, hlo.F32, hlo.F16)
	if !vec.Has(to) || !vec.Has(from) {
		return r
	}
	widen := vec.Find(to, func(n int, d, a, _, _ unsafe.Pointer) {
		for i, x := range unsafe.Slice((*uint16)(a), n) {
			unsafe.Slice((*float32)(d), n)[i] = minifloat.F16.Float32(x)
		}
	})
	narrow := vec.Find(from, func(n int, d, a, _, _ unsafe.Pointer) {
		for i, x := range unsafe.Slice((*float32)(a), n) {
			unsafe.Slice((*uint16)(d), n)[i] = minifloat.F16.FromFloat64(float64(x))
		}
	})
	type space struct{ x, y [256]float32 }
	spaces := sync.Pool{New: func() any { return new(space) }}
	r.rows = func(x, y []uint16) {
		s := spaces.Get().(*space)
		for len(x) > 0 {
			n := min(len(x), len(s.x))
			widen(n, unsafe.Pointer(&s.x), unsafe.Pointer(&x[0]), nil, nil)
			widen(n, unsafe.Pointer(&s.y), unsafe.Pointer(&y[:n][0]), nil, nil)
			f.rows(s.x[:n], s.y[:n])
			narrow(n, unsafe.Pointer(&x[0]), unsafe.Pointer(&s.x), nil, nil)
			x, y = x[n:], y[n:]
		}
		spaces.Put(s)
	}
	return r
}

// scatterAs applies updates in order, a run of elements at once.
func scatterAs[T any](s *site, c *combiner[T]) (runtime.Bound, bool) {
	if c == nil {
		return runtime.Bound{}, false
	}
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
	if len(source) != w.count {
		return runtime.Bound{}, false
	}
	for d, n := range sizes {
		if n > out.Dim(d) {
			source = nil // no window fits
		}
	}
	n := len(to)
	run := 1 // elements of a window that lie together
	for run < n && to[run] == to[0]+run && from[run] == from[0]+run {
		run++
	}
	if n%run != 0 {
		run = 1
	}
	var zero T
	most := max(1, run*sizeOf(zero)/leastOfRun) // parts of a run
	if most == 1 && n > 0 && together(to, 1) && together(from, 1) && together(source, n) {
		return newScatteredLines(w, c, n, len(source), int(out.NumElements())).bound(), true
	}
	if run == 1 {
		if r := newScatteredRows(w, c, to, from, source); r != nil {
			return r.bound(), true
		}
	}
	if most > 1 && run == n && together(source, n) {
		if l := newScatteredLong(w, c, n, int(out.NumElements())); l != nil {
			return l.bound(), true
		}
	}
	base := newBaseCopy(0)
	// apply does updates to elements [lo, hi) of every run.
	apply := func(f *runtime.TensorFrame, lo, hi int) {
		x, u := elems[T](f.Out(0).Data), elems[T](f.In(2).Data)
		w.eachBlock(f.In(1).Data, 0, len(source), true, func(first int, at []int) {
			for i, o := range at {
				for k := 0; k < n && o >= 0; k += run {
					c.rows(x[o+to[k]+lo:][:hi-lo], u[source[first+i]+from[k]+lo:])
				}
			}
		})
	}
	shared := newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
		parts := min(most, f.Workers())
		apply(f, lo*run/parts, hi*run/parts)
	})
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		base.run(f)
		shared.run(f, min(most, f.Workers()), 1+leastShared/(1+len(source)*n/most))
		return nil
	}}, true
}

// Runs are shared by workers if each gets this many bytes of one, and this many elements of all.
const (
	leastOfRun  = 1 << 10
	leastShared = 1 << 14
)

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
