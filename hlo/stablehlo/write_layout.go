package stablehlo

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// What depends on layouts, which StableHLO has at custom calls only.

// bitcast makes what a bitcast does to the elements by the layouts of both: the operand in the order of
// its memory, with the dimensions that the memory of the result has, in the order of the result.
func (b *bodyWriter) bitcast(in hlo.Instruction) bool {
	from, to := in.OperandInstr(0).Shape(), in.Shape()
	if !from.IsArray() || !to.IsArray() || !from.IsStatic() || !to.IsStatic() || from.Type() != to.Type() && !sameBits(from.Type(), to.Type()) {
		return false
	}
	v := b.values[in.Operand(0)].one
	if from.Type() != to.Type() {
		v = b.add("stablehlo.bitcast_convert", nil, []*mlir.Value{v}, []*mlir.Type{b.typ(hlo.MakeShape(to.Type(), from.Dimensions()...))})[0]
	}
	v = b.transpose(v, to.Type(), from.Dimensions(), majorToMinor(from))
	order := majorToMinor(to)
	memory := picked(to.Dimensions(), order)
	if memory := b.typ(hlo.MakeShape(to.Type(), memory...)); memory != v.Type {
		v = b.add("stablehlo.reshape", nil, []*mlir.Value{v}, []*mlir.Type{memory})[0]
	}
	back := make([]int64, len(order))
	for i, axis := range order {
		back[axis] = int64(i)
	}
	b.values[in.ID()] = value{one: b.transpose(v, to.Type(), memory, back)}
	return true
}

// sameBits reports whether bitcast_convert takes one type for the other, element by element.
func sameBits(a, b hlo.PrimitiveType) bool {
	return a.Bits() == b.Bits() && a != hlo.PRED && b != hlo.PRED && !a.IsComplex() && !b.IsComplex()
}

// transpose makes an operation unless the axes stay where they are.
func (b *bodyWriter) transpose(v *mlir.Value, t hlo.PrimitiveType, dims, order []int64) *mlir.Value {
	if slices.IsSorted(order) {
		return v
	}
	result := b.typ(hlo.MakeShape(t, picked(dims, order)...))
	return b.add("stablehlo.transpose", attrs("permutation", b.ints(order)), []*mlir.Value{v}, []*mlir.Type{result})[0]
}

// customLayouts are the attributes of a custom call that say how its arrays lie in memory, and which of them share it.
func (b *bodyWriter) customLayouts(in hlo.Instruction, a hlo.CustomCallAttrs) mlir.Attrs {
	var list mlir.Attrs
	if a.OperandLayouts != nil {
		list = attrs("operand_layouts", b.layouts(a.OperandLayouts.Shapes), "result_layouts", b.layouts([]hlo.Shape{in.Shape()}))
	}
	if len(a.OutputAliasing) > 0 {
		var aliases mlir.Array
		for _, x := range a.OutputAliasing {
			aliases = append(aliases, record("output_operand_alias", "output_tuple_indices", b.ints(x.Output),
				"operand_index", b.i64(x.Operand), "operand_tuple_indices", b.ints(x.OperandIndex)))
		}
		list = append(list, attrs("output_operand_aliases", aliases)...)
	}
	return list
}

// layouts lists, for each array of the shapes, its axes from minor to major.
func (b *bodyWriter) layouts(shapes []hlo.Shape) mlir.Array {
	list := mlir.Array{}
	for _, s := range shapes {
		for _, leaf := range s.Leaves {
			order := majorToMinor(leaf)
			slices.Reverse(order)
			d := mlir.Dense{Type: b.types.Tensor(b.types.Index(), []int64{int64(len(order))}, nil)}
			for _, axis := range order {
				d.Data = append(d.Data, mlir.ElementBytes(hlo.S64, uint64(axis))...)
			}
			list = append(list, d)
		}
	}
	return list
}

// majorToMinor is the axes of an array in the order of its memory, slowest first.
func majorToMinor(s hlo.Shape) []int64 {
	l, ok := s.Layout()
	if !ok || len(l.MinorToMajor) != s.Rank() {
		l = hlo.DefaultLayout(s.Rank())
	}
	order := slices.Clone(l.MinorToMajor)
	slices.Reverse(order)
	return order
}

// picked is the sizes of the axes in an order.
func picked(dims, order []int64) []int64 {
	sizes := make([]int64, len(order))
	for i, axis := range order {
		sizes[i] = dims[axis]
	}
	return sizes
}
