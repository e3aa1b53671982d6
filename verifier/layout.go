package verifier

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Layouts and memory spaces (verifier 5.13).

// fastMemory is the space of generic fast memory.
const fastMemory = 1

// CanChangeLayout reports whether layout assignment lets an instruction have a layout other than its operands'. XLA's pipelines for CPU and
// GPU leave one layout to the operands and result of an op whose result elements come from elements at the same place, or in whole blocks.
func CanChangeLayout(in hlo.Instruction) bool {
	return hlo.Info(in.Opcode()).Traits&(hlo.TraitElementwise|hlo.TraitKeepsLayout) == 0
}

// defaultCanChangeLayout is CanChangeLayout, but for unary elementwise ops: one whose result lies otherwise than its operand is no more than
// a copy on the way, while arrays that are combined or cut must agree.
func defaultCanChangeLayout(in hlo.Instruction) bool {
	return CanChangeLayout(in) || in.NumOperands() == 1 && hlo.Info(in.Opcode()).Traits.Has(hlo.TraitElementwise)
}

// layoutUnchanged checks that an op that may not change layouts does not (LAY-02), nor moves data between memories unawares (MEM-01 to
// MEM-03).
func (r *run) layoutUnchanged(in hlo.Instruction) {
	out := in.Shape()
	layout, ok := out.Layout()
	if !ok || !out.IsArray() {
		return
	}
	if r.cfg.CanChangeLayout(in) {
		return
	}
	e := hlo.ShapeEq(hlo.IgnoreTiles | hlo.IgnoreMemorySpace | hlo.IgnoreElementType | hlo.IgnoreDynamic)
	for i := range in.NumOperands() {
		x := in.OperandInstr(i).Shape()
		if _, ok := x.Layout(); !ok || !x.IsArray() || x.Rank() != out.Rank() {
			continue
		}
		ignore := e
		if x.Type() != out.Type() { // bits of an element may differ where elements do
			ignore |= hlo.IgnoreElementSize
		}
		l, _ := x.Layout()
		if !layoutShape(l).EqualExcept(layoutShape(layout), ignore) {
			r.report(in, "LAY-02", "Instruction shouldn't change layouts %%%s = %v: operand %d is %v", in.Name(), out, i, x)
			return
		}
	}
	r.memoryUnchanged(in, out)
}

// layoutShape is a shape that differs from others in its layout only.
func layoutShape(l *hlo.Layout) hlo.Shape {
	dims := make([]int64, len(l.MinorToMajor))
	for i := range dims {
		dims[i] = 2
	}
	return hlo.MakeArray(hlo.F32, dims, nil, l)
}

func (r *run) memoryUnchanged(in hlo.Instruction, out hlo.Shape) {
	op := in.Opcode()
	if op != hlo.OpDynamicSlice && op != hlo.OpDynamicUpdateSlice && op != hlo.OpCopy {
		return
	}
	to := memorySpace(out)
	for o := range in.Operands() {
		x := o.Shape()
		if x.IsArray() && x.Rank() == out.Rank() && memorySpace(x) == fastMemory && to != fastMemory {
			r.report(in, "MEM-01", "%v shouldn't move data between generic fast memory space and others: %v to %v", op, x, out)
			return
		}
	}
	switch {
	case op == hlo.OpDynamicSlice && to == hostMemory && memorySpace(in.OperandInstr(0).Shape()) == 0:
		r.report(in, "MEM-02", "DynamicSlice instruction shouldn't change layout memory space from device to host: %v", out)
	case op == hlo.OpDynamicUpdateSlice && to == 0 && memorySpace(in.OperandInstr(1).Shape()) == hostMemory:
		r.report(in, "MEM-03", "DynamicUpdateSlice instruction shouldn't change layout memory space from host to device: %v", out)
	}
}

func (r *run) reshapeBitcast(in hlo.Instruction) {
	if !r.cfg.ReshapeIsBitcast || r.isFused(in.Computation().ID()) {
		return
	}
	if a, b := in.OperandInstr(0).Shape(), in.Shape(); !reshapesInPlace(a, b) {
		r.report(in, "SHP-09", "Reshape should be a physical bitcast: %v from %v", b, a)
	}
}

// reshapesInPlace reports whether a reshape from a to b leaves every byte where it is. Dimensions of size 1 do not count. Both lists of
// sizes are cut into the smallest groups of equal products; in each array, the dimensions of a group must lie next to each other in
// logical order, and the groups must lie in the same order.
func reshapesInPlace(a, b hlo.Shape) bool {
	la, oka := a.Layout()
	lb, okb := b.Layout()
	if !oka || !okb || a.NumElements() == 0 || !a.IsStatic() || !b.IsStatic() {
		return true
	}
	da, db := physical(a, la), physical(b, lb)
	var orderA, orderB []int // physical places of the groups' major dimensions, in logical order
	for i, j := 0, 0; i < len(da) || j < len(db); {
		i0, j0 := i, j
		pa, pb := int64(1), int64(1)
		for {
			if pa == pb && pa > 1 {
				break
			}
			if pa <= pb && i < len(da) {
				pa *= da[i].size
				i++
			} else if j < len(db) {
				pb *= db[j].size
				j++
			} else {
				return false
			}
		}
		if !consecutive(da[i0:i]) || !consecutive(db[j0:j]) {
			return false
		}
		orderA, orderB = append(orderA, da[i0].place), append(orderB, db[j0].place)
	}
	return slices.Equal(ranking(orderA), ranking(orderB))
}

// placed is a dimension and its place in memory, counted from the major end among dimensions larger than 1.
type placed struct {
	size  int64
	place int
}

func physical(s hlo.Shape, l *hlo.Layout) []placed {
	place := make([]int, s.Rank())
	n := 0
	for k := len(l.MinorToMajor) - 1; k >= 0; k-- {
		if axis := l.MinorToMajor[k]; axis >= 0 && axis < int64(s.Rank()) && s.Dim(int(axis)) != 1 {
			place[axis] = n
			n++
		}
	}
	var dims []placed
	for i := range s.Rank() {
		if s.Dim(i) != 1 {
			dims = append(dims, placed{s.Dim(i), place[i]})
		}
	}
	return dims
}

func consecutive(dims []placed) bool {
	for i := 1; i < len(dims); i++ {
		if dims[i].place != dims[i-1].place+1 {
			return false
		}
	}
	return true
}

// ranking replaces numbers by their ranks.
func ranking(v []int) []int {
	sorted := slices.Sorted(slices.Values(v))
	out := make([]int, len(v))
	for i, x := range v {
		out[i], _ = slices.BinarySearch(sorted, x)
	}
	return out
}
