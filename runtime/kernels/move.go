package kernels

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// slabGrain is how many slabs of a box make a piece of work of some 64 KB.
func slabGrain(b *box) int { return 1 + (1<<16)*b.outer()/(1+b.bytes()) }

// pad fills the result with the padding value and copies what stays of the operand.
func pad(s *site) (runtime.Bound, bool) {
	in, out := s.shape(0), s.in.Shape()
	if in.Type() != out.Type() || s.shape(1).Type() != out.Type() {
		return runtime.Bound{}, false
	}
	width := out.Type().ByteSize()
	src, dst := rowMajor(in.Dimensions()), rowMajor(out.Dimensions())
	dims := slices.Clone(in.Dimensions())
	from, to := 0, 0
	for i, p := range hlo.AttrsOf[hlo.PadAttrs](s.in).Padding {
		// Element k goes to Low + k*step; those outside are dropped.
		step := p.Interior + 1
		first := int64(0)
		if p.Low < 0 {
			first = (-p.Low + step - 1) / step
		}
		end := min(dims[i], max(0, (out.Dim(i)-1-p.Low)/step+1))
		if out.Dim(i)-1-p.Low < 0 {
			end = 0
		}
		dims[i] = max(0, end-first)
		from += int(first) * src[i]
		to += int(p.Low+first*step) * dst[i]
		dst[i] *= int(step)
	}
	b, ok := newBox(dims, src, dst, width)
	if !ok {
		return runtime.Bound{}, false
	}
	fill := newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
		fillBytes(f.Out(0).Data[lo*width:hi*width], f.In(1).Data[:width])
	})
	move := newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
		b.copySlabs(f.Out(0).Data[to*width:], f.In(0).Data[from*width:], lo, hi)
	})
	n := int(out.NumElements())
	small := smallFill(n*width, width, 1)
	if small != nil && b.bytes() > 0 {
		if moves := smallBox(&b, to*width, 0, from*width); moves != nil {
			small = append(small, moves...)
		} else {
			small = nil
		}
	}
	if padsSlabs(&b, n*width) {
		p := &paddedSlabs{b, to * width, from * width, width}
		bound := newParallelLoop(p.write).bound(b.outer(), slabGrain(&b))
		bound.Small = small
		return bound, true
	}
	return runtime.Bound{Small: small, Run: func(f *runtime.TensorFrame) error {
		fill.run(f, n, 1<<16)
		if b.bytes() > 0 {
			move.run(f, b.outer(), slabGrain(&b))
		}
		return nil
	}}, true
}

// paddedSlabs writes a padded array from its front to its back, a slab and the padding behind it at a time: so padding is written while it is near, and where slabs are runs nothing is
// written twice.
type paddedSlabs struct {
	box             box
	to, from, width int // in bytes: where the box begins in the result and in the operand; an element
}

// padsSlabs reports whether most of a result of so many bytes is what a box of several slabs copies there.
func padsSlabs(b *box, bytes int) bool {
	const fewest, shortest = 8, 128
	return b.outer() >= fewest && b.dst[0] >= shortest && 2*b.bytes() >= bytes
}

func (p *paddedSlabs) write(f *runtime.TensorFrame, lo, hi int) {
	dst, src, with := f.Out(0).Data, f.In(0).Data[p.from:], f.In(1).Data[:p.width]
	if lo == 0 {
		fillBytes(dst[:p.to], with)
	}
	b, end := &p.box, p.to+lo*p.box.dst[0]
	for i := lo; i < hi; i++ {
		at := end
		if end = min(at+b.dst[0], len(dst)); len(b.dims) == 1 {
			fillBytes(dst[at+b.run:end], with)
		} else {
			fillBytes(dst[at:end], with)
		}
		b.copySlabs(dst[p.to:], src, i, i+1)
	}
	if hi == b.outer() {
		fillBytes(dst[end:], with)
	}
}

// fillBytes repeats a pattern; dst is a multiple as long.
func fillBytes(dst, pattern []byte) {
	if len(dst) == 0 {
		return
	}
	if len(pattern) == 1 || allEqual(pattern) {
		if pattern[0] == 0 {
			clear(dst)
			return
		}
	}
	for n := copy(dst, pattern); n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}

func allEqual(b []byte) bool {
	for _, x := range b {
		if x != b[0] {
			return false
		}
	}
	return true
}

// starts reads the start indices of dynamic-slice and dynamic-update-slice, each clamped so that the window stays inside.
type starts struct {
	first   int // operand of the first index
	types   []hlo.PrimitiveType
	highest []int64
	strides []int
	list    bool // the old form: one operand with all indices
}

func newStarts(s *site, first int, array hlo.Shape, sizes []int64) (*starts, bool) {
	x := &starts{first: first, strides: rowMajor(array.Dimensions())}
	n := array.Rank()
	operands := s.in.NumOperands() - first
	x.list = operands == 1 && s.shape(first).Rank() == 1
	if !x.list && operands != n || x.list && s.shape(first).Dim(0) != int64(n) {
		return nil, false
	}
	for i := range n {
		at := first + i
		if x.list {
			at = first
		}
		t := s.shape(at).Type()
		if !t.IsInteger() || t.Bits() < 8 {
			return nil, false
		}
		x.types = append(x.types, t)
		x.highest = append(x.highest, array.Dim(i)-sizes[i])
	}
	return x, true
}

// offset is that of the window's first element, in elements.
func (x *starts) offset(f *runtime.TensorFrame) int {
	at := 0
	for i, t := range x.types {
		if x.highest[i] == 0 { // the window is as wide as the array
			continue
		}
		var v int64
		if x.list {
			v = readIndex(f.In(x.first).Data[i*t.ByteSize():], t)
		} else {
			v = readIndex(f.In(x.first+i).Data, t)
		}
		at += int(max(0, min(v, x.highest[i]))) * x.strides[i]
	}
	return at
}

// readIndex reads an integer; one above the range of int64 is the highest.
func readIndex(b []byte, t hlo.PrimitiveType) int64 {
	switch t {
	case hlo.S32:
		return int64(elems[int32](b[:4])[0])
	case hlo.S64:
		return elems[int64](b[:8])[0]
	case hlo.U32:
		return int64(elems[uint32](b[:4])[0])
	case hlo.U64:
		return int64(min(elems[uint64](b[:8])[0], 1<<63-1))
	case hlo.S16:
		return int64(elems[int16](b[:2])[0])
	case hlo.U16:
		return int64(elems[uint16](b[:2])[0])
	case hlo.S8:
		return int64(int8(b[0]))
	}
	return int64(b[0])
}

func dynamicSlice(s *site) (runtime.Bound, bool) {
	in, out := s.shape(0), s.in.Shape()
	x, ok := newStarts(s, 1, in, out.Dimensions())
	if !ok || in.Type() != out.Type() {
		return runtime.Bound{}, false
	}
	width := out.Type().ByteSize()
	b, ok := newBox(out.Dimensions(), rowMajor(in.Dimensions()), rowMajor(out.Dimensions()), width)
	if !ok {
		return runtime.Bound{}, false
	}
	move := newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
		b.copySlabs(f.Out(0).Data, f.In(0).Data[x.offset(f)*width:], lo, hi)
	})
	bound := move.bound(b.outer(), slabGrain(&b))
	bound.Small = smallSlice(x, &b)
	bound.Code = x.sliceCode(in, out)
	return bound, true
}

// dynamicUpdateSlice copies the operand, unless the plan works in place, and writes the update over it.
func dynamicUpdateSlice(s *site) (runtime.Bound, bool) {
	update, out := s.shape(1), s.in.Shape()
	x, ok := newStarts(s, 2, out, update.Dimensions())
	if !ok || s.shape(0).Type() != out.Type() || update.Type() != out.Type() {
		return runtime.Bound{}, false
	}
	width := out.Type().ByteSize()
	b, ok := newBox(update.Dimensions(), rowMajor(update.Dimensions()), rowMajor(out.Dimensions()), width)
	if !ok {
		return runtime.Bound{}, false
	}
	base := newBaseCopy(0)
	move := newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
		b.copySlabs(f.Out(0).Data[x.offset(f)*width:], f.In(1).Data, lo, hi)
	})
	bytes, grain := b.bytes(), slabGrain(&b)
	return runtime.Bound{Small: smallUpdate(x, &b, int(s.b.Out[0].Bytes)), Code: x.updateCode(update, out), Run: func(f *runtime.TensorFrame) error {
		base.run(f)
		if bytes > 0 {
			move.run(f, b.outer(), grain)
		}
		return nil
	}}, true
}

// baseCopy copies input i to output i, unless they are the same memory.
type baseCopy struct {
	i    int
	loop *parallelLoop
}

func newBaseCopy(i int) *baseCopy {
	return &baseCopy{i, newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
		copy(f.Out(i).Data[lo:hi], f.In(i).Data[lo:hi])
	})}
}

func (c *baseCopy) run(f *runtime.TensorFrame) {
	in, out := f.In(c.i).Data, f.Out(c.i).Data
	if len(out) > 0 && &in[0] != &out[0] {
		c.loop.run(f, len(out), 1<<18)
	}
}
