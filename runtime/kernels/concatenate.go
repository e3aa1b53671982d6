package kernels

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// concatenated is an operand of a concatenation that has elements.
type concatenated struct {
	operand int
	box     box
	at      int // where in the result its first element is, in bytes
}

func (p *concatenated) copy(f *runtime.TensorFrame, lo, hi int) {
	p.box.copySlabs(f.Out(0).Data[p.at:], f.In(p.operand).Data, lo, hi)
}

// concatenate copies each operand to its place.
func concatenate(s *site) (runtime.Bound, bool) {
	axis := hlo.AttrsOf[hlo.AxisAttrs](s.in).Dimensions[0]
	out := s.in.Shape()
	strides := rowMajor(out.Dimensions())
	width := out.Type().ByteSize()
	var parts []concatenated
	var small []runtime.SmallCall
	isSmall := out.ByteSize() <= smallBytes
	at := 0
	for i := range s.in.NumOperands() {
		shape := s.shape(i)
		if shape.Type() != out.Type() {
			return runtime.Bound{}, false
		}
		b, ok := newBox(shape.Dimensions(), rowMajor(shape.Dimensions()), strides, width)
		if !ok {
			return runtime.Bound{}, false
		}
		if b.bytes() > 0 {
			p := concatenated{i, b, at * strides[axis] * width}
			parts = append(parts, p)
			calls := smallBox(&p.box, p.at, i, 0)
			isSmall = isSmall && calls != nil
			small = append(small, calls...)
		}
		at += int(shape.Dim(int(axis)))
	}
	if !isSmall {
		small = nil
	}
	if len(parts) == 2 && s.in.NumOperands() == 2 {
		if v := newInterleaving(&parts[0].box, &parts[1].box, parts[1].at, width); v != nil {
			bound := newParallelLoop(v.write).bound(v.rows, 1+(1<<16)/(v.run[0]+v.run[1]))
			bound.Small = small
			return bound, true
		}
	}
	if row, ok := commonRow(parts); ok {
		bound := concatenateRows(parts, row)
		bound.Small = small
		return bound, true
	}
	loops := make([]*parallelLoop, len(parts))
	for i := range parts {
		loops[i] = newParallelLoop(parts[i].copy)
	}
	return runtime.Bound{Small: small, Run: func(f *runtime.TensorFrame) error {
		for i := range parts {
			loops[i].run(f, parts[i].box.outer(), slabGrain(&parts[i].box))
		}
		return nil
	}}, true
}

// commonRow is the size of a row of the result, in bytes, if it has several and each operand has a run of every one.
func commonRow(parts []concatenated) (row int, ok bool) {
	if len(parts) < 2 {
		return 0, false
	}
	for i := range parts {
		b := &parts[i].box
		if len(b.dims) != 1 || b.dims[0] != parts[0].box.dims[0] {
			return 0, false
		}
		row += b.run
	}
	return row, true
}

// rowsBlock is the size of a block of rows that all operands write one after the other, in bytes: it stays in the nearest cache.
const rowsBlock = 1 << 14

// concatenateRows writes the result from its front to its back, block by block of rows.
func concatenateRows(parts []concatenated, row int) runtime.Bound {
	block := 1 + rowsBlock/row
	loop := newParallelLoop(func(f *runtime.TensorFrame, lo, hi int) {
		for ; lo < hi; lo += block {
			for i := range parts {
				parts[i].copy(f, lo, min(lo+block, hi))
			}
		}
	})
	return loop.bound(parts[0].box.dims[0], 1+(1<<16)/row)
}
