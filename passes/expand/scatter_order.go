package expand

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// ScatterDeterminism combines what goes to one place before it is scattered.
var ScatterDeterminism = &pass.Pass{
	Name: "scatter-determinism-expander",
	Doc: `combine updates of one place in an order that does not depend on the machine

Of scatters that add or multiply floating-point numbers, elements of the updates are sorted by where they go, those of one place are combined by a parallel scan, and the last of each
place is scattered. The order of the operations, and with it the rounding, is another than that of the scatter, and always the same. Scatters of integers, and those that take the
largest or smallest, do not depend on the order.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range m.PostOrder() {
			for _, in := range backward(c) {
				if !dependsOnOrder(m, in) || !ctx.Spend("scatter") {
					continue
				}
				ce := e.Computation(c.ID())
				if err := emit.Replace(ce, in.ID(), combinedByPlace(emit.Before(ce, in), in)); err != nil {
					return m, err
				}
				ctx.Count("expanded", 1)
			}
		}
		return e.Freeze(), nil
	},
}

// dependsOnOrder reports whether a scatter adds or multiplies floating-point numbers at places that may be equal.
func dependsOnOrder(m hlo.Module, in hlo.Instruction) bool {
	if in.Opcode() != hlo.OpScatter || in.NumOperands() != 3 || !staticArrays(in) {
		return false
	}
	a := hlo.AttrsOf[hlo.ScatterAttrs](in)
	f := m.MustComputation(in.Callee(0))
	root := f.Root()
	t := in.Shape().Type()
	if a.UniqueIndices || len(a.InputBatchingDims) > 0 || !t.IsFloat() && !t.IsComplex() || root.Opcode() != hlo.OpAdd && root.Opcode() != hlo.OpMultiply || f.NumInstructions() != 3 {
		return false
	}
	if root.Shape().Type() != t || root.Operand(0) == root.Operand(1) || in.OperandInstr(2).Shape().Type() != t || len(a.ScatterDimsToOperandDims) == 0 {
		return false
	}
	n := in.OperandInstr(2).Shape().NumElements()
	for _, d := range a.UpdateWindowDims {
		n /= max(in.OperandInstr(2).Shape().Dim(int(d)), 1)
	}
	return n > 1 && in.Shape().NumElements() > 0 && in.OperandInstr(2).Shape().NumElements() > 0
}

// combinedByPlace is the scatter of what has been combined for each place.
func combinedByPlace(at emit.At, in hlo.Instruction) hlo.InstrID {
	a := hlo.AttrsOf[hlo.ScatterAttrs](in)
	array, e := in.OperandInstr(0).Shape(), at.C.Editor()
	size := array.NumElements()
	places, t := elementPlaces(at, in, &a)
	updates := windows(at, in.Operand(2), &a, array)
	n := at.Shape(updates).NumElements()
	updates = at.Reshape(updates, n)
	u := at.Shape(updates).Type()
	sort := at.Spec(hlo.InstrSpec{Opcode: hlo.OpSort, Shape: hlo.MakeTuple(at.Shape(places), at.Shape(updates)).WithDefaultLayout(), Operands: []hlo.InstrID{places, updates},
		Callees: []hlo.CompID{comparator(e, t, u, hlo.LT)}, Attrs: &hlo.SortAttrs{Dimensions: []int64{0}, IsStable: true}})
	places, updates = at.Element(sort, 0), at.Element(sort, 1)
	zero := at.Constant(emit.Zero(u))
	nowhere := at.Int(t, size)
	for d := int64(1); d < n; d *= 2 {
		// The update d before this one, where that goes to the same place.
		shifted := at.Concatenate(0, at.Fill(zero, d), at.SliceAxis(updates, 0, 0, n-d))
		before := at.Concatenate(0, at.Fill(at.Int(t, -1), d), at.SliceAxis(places, 0, 0, n-d))
		both := at.Spec(hlo.InstrSpec{Opcode: hlo.OpMap, Operands: []hlo.InstrID{shifted, updates}, Callees: []hlo.CompID{in.Callee(0)}, Attrs: &hlo.MapAttrs{Dimensions: []int64{0}}})
		updates = at.Select(at.Compare(hlo.EQ, places, before), both, updates)
	}
	last := at.Concatenate(0, at.Compare(hlo.NE, at.SliceAxis(places, 0, 0, n-1), at.SliceAxis(places, 0, 1, n)), at.Fill(at.Int(hlo.PRED, 1), 1))
	places = at.Select(last, places, at.Fill(nowhere, n))
	flat := at.Reshape(in.Operand(0), size)
	result := at.Spec(hlo.InstrSpec{Opcode: hlo.OpScatter, Shape: at.Shape(flat).WithoutLayout(), Operands: []hlo.InstrID{flat, at.Reshape(places, n, 1), updates}, Callees: []hlo.CompID{in.Callee(0)},
		Attrs: &hlo.ScatterAttrs{UpdateWindowDims: []int64{}, InsertedWindowDims: []int64{0}, ScatterDimsToOperandDims: []int64{0}, IndexVectorDim: 1, UniqueIndices: true}})
	return at.Reshape(result, array.Dimensions()...)
}

// elementPlaces is where each element of the updates goes, window by window: its number in the array in row-major order, or the size of the
// array where the window does not lie within it.
func elementPlaces(at emit.At, in hlo.Instruction, a *hlo.ScatterAttrs) (places hlo.InstrID, t hlo.PrimitiveType) {
	array := in.OperandInstr(0).Shape()
	size, sizes := array.NumElements(), windowSizes(a, array, in.OperandInstr(2).Shape())
	list := vectors(at, in.Operand(1), a.IndexVectorDim)
	t = at.Shape(list).Type()
	if t.Bits() < 32 {
		t = hlo.S32
		list = at.Convert(list, t)
	}
	to := hlo.S32
	if !holds(hlo.S32, size) {
		to = hlo.S64
	}
	n := at.Shape(list).Dim(0)
	strides := make([]int64, array.Rank())
	for d, stride := array.Rank()-1, int64(1); d >= 0; d-- {
		strides[d] = stride
		stride *= array.Dim(d)
	}
	start, within := at.Fill(at.Int(to, 0), n), at.Fill(at.Int(hlo.PRED, 1), n)
	for k, axis := range a.ScatterDimsToOperandDims {
		x := at.Reshape(at.Slice(list, []int64{0, int64(k)}, []int64{n, int64(k) + 1}), n)
		within = at.Binary(hlo.OpAnd, within, at.Compare(hlo.LE, x, at.Fill(at.Int(t, array.Dim(int(axis))-sizes[axis]), n)))
		if t.IsSigned() {
			within = at.Binary(hlo.OpAnd, within, at.Compare(hlo.GE, x, at.Fill(at.Int(t, 0), n)))
		}
		start = at.Binary(hlo.OpAdd, start, at.Binary(hlo.OpMultiply, at.Convert(x, to), at.Fill(at.Int(to, strides[axis]), n)))
	}
	dims := append([]int64{n}, sizes...)
	places = at.Broadcast(start, []int64{0}, dims...)
	for d, width := range sizes {
		if width > 1 {
			places = at.Binary(hlo.OpAdd, places, at.Binary(hlo.OpMultiply, at.Iota(to, int64(d)+1, dims...), at.Fill(at.Int(to, strides[d]), dims...)))
		}
	}
	places = at.Select(at.Broadcast(within, []int64{0}, dims...), places, at.Fill(at.Int(to, size), dims...))
	return at.Reshape(places, at.Shape(places).NumElements()), to
}
