package kernels

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// joinedSlice is a dynamic-slice of a concatenation, cut along the axis of that alone: what it takes of each array is copied to its place.
type joinedSlice struct {
	arrays  []joinedArray
	index   int // operand of the start along the axis
	typ     hlo.PrimitiveType
	at      int // of the start in its operand, in bytes
	highest int64
	unit    int // bytes of an index along the axis
	row     int // indices of a row of the result
}

// joinedArray is an array of the concatenation.
type joinedArray struct {
	operand  int
	from, to int // along the axis
}

// fusedJoinedSlice serves fusions of a dynamic-slice and the concatenation that it reads.
func fusedJoinedSlice(s *site) (runtime.Bound, bool) {
	c, ok := s.m.Computation(s.in.Callee(0))
	if !ok || c.Root().Opcode() != hlo.OpDynamicSlice || c.Root().OperandInstr(0).Opcode() != hlo.OpConcatenate {
		return runtime.Bound{}, false
	}
	slice := c.Root()
	whole := slice.OperandInstr(0)
	axis, shape, out := int(hlo.AttrsOf[hlo.AxisAttrs](whole).Dimensions[0]), whole.Shape(), slice.Shape()
	if shape.Type() != out.Type() || !shape.IsStatic() || !out.IsStatic() || out.NumElements() == 0 {
		return runtime.Bound{}, false
	}
	outer, x := 1, &joinedSlice{unit: out.Type().ByteSize(), row: int(out.Dim(axis)), highest: shape.Dim(axis) - out.Dim(axis)}
	for i, n := range shape.Dimensions() {
		switch {
		case i != axis && n != out.Dim(i):
			return runtime.Bound{}, false
		case i < axis:
			outer *= int(n)
		case i > axis:
			x.unit *= int(n)
		}
	}
	to := 0
	for o := range whole.Operands() {
		operand, ok := arrayParameters(o)
		if !ok || o.Shape().Type() != out.Type() {
			return runtime.Bound{}, false
		}
		from := to
		if to += int(o.Shape().Dim(axis)); to > from {
			x.arrays = append(x.arrays, joinedArray{operand, from, to})
		}
	}
	start := slice.OperandInstr(1 + axis%(slice.NumOperands()-1)) // or the one array of all, if that is how starts are given
	if start.Shape().Rank() == 1 {
		start = slice.OperandInstr(1)
		x.at = axis * start.Shape().Type().ByteSize()
	}
	x.typ = start.Shape().Type()
	if x.index, ok = arrayParameters(start); !ok || !x.typ.IsInteger() || x.typ.Bits() < 8 {
		return runtime.Bound{}, false
	}
	return newParallelLoop(x.copy).bound(outer*x.row, 1+(1<<16)/x.unit), true
}

// copy writes indices [lo, hi) of the result, counted through all its rows.
func (x *joinedSlice) copy(f *runtime.TensorFrame, lo, hi int) {
	dst := f.Out(0).Data
	start := int(max(0, min(readIndex(f.In(x.index).Data[x.at:], x.typ), x.highest)))
	for lo < hi {
		row := lo / x.row
		first := lo - row*x.row + start
		end := min(first+hi-lo, x.row+start) // of the row, along the concatenation
		for i := range x.arrays {
			a := &x.arrays[i]
			from, to := max(first, a.from), min(end, a.to)
			if from >= to {
				continue
			}
			src := f.In(a.operand).Data[(row*(a.to-a.from)+from-a.from)*x.unit:][:(to-from)*x.unit]
			copy(dst[(row*x.row+from-start)*x.unit:], src)
		}
		lo += end - first
	}
}
