package expand

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

// overOneAxis reports whether an instruction folds windows of vectors.
func overOneAxis(in hlo.Instruction) bool {
	return in.Opcode() == hlo.OpReduceWindow && staticArrays(in) && in.OperandInstr(0).Shape().Rank() == 1 && hlo.AttrsOf[hlo.WindowAttrs](in).Window != nil
}

// overColumn folds the same windows of columns: backends have windows of matrices.
func overColumn(at emit.At, in hlo.Instruction) hlo.InstrID {
	spec, a, n := emit.Again(in), hlo.AttrsOf[hlo.WindowAttrs](in), in.NumOperands()/2
	a.Window = &hlo.Window{Dims: append(slices.Clone(a.Window.Dims), hlo.DefaultWindowDim(1))}
	spec.Attrs, spec.Name, spec.Common = &a, "", at.Common
	for i := range n {
		spec.Operands[i] = at.OpOf(hlo.OpReshape, column(at.Shape(spec.Operands[i])), &hlo.ReshapeAttrs{InferredDimension: -1}, spec.Operands[i])
	}
	back := func(x hlo.InstrID, s hlo.Shape) hlo.InstrID {
		return at.OpOf(hlo.OpReshape, s, &hlo.ReshapeAttrs{InferredDimension: -1}, x)
	}
	if !in.Shape().IsTuple() {
		spec.Shape = column(in.Shape())
		return back(at.Spec(spec), in.Shape())
	}
	var shapes []hlo.Shape
	for i := range n {
		shapes = append(shapes, column(in.Shape().Elem(i)))
	}
	spec.Shape = hlo.MakeTuple(shapes...)
	folded, parts := at.Spec(spec), make([]hlo.InstrID, n)
	for i := range parts {
		parts[i] = back(at.Element(folded, i), in.Shape().Elem(i))
	}
	return at.Tuple(parts...)
}

// column is the shape of a vector with a last axis of size 1, which is the slowest in memory.
func column(s hlo.Shape) hlo.Shape {
	return hlo.MakeShape(s.Type(), s.Dim(0), 1).WithLayout(&hlo.Layout{MinorToMajor: []int64{0, 1}})
}
