package expand

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/control"
	"github.com/gohalo/halo/passes/emit"
)

// StableSort makes stable sorts of sorts that need not be.
var StableSort = &pass.Pass{
	Name: "stable-sort-expander",
	Doc: `order equal elements by their places, so that a sort need not be stable

An operand that counts along the axis breaks the tie, and is added where there is none. The comparator becomes
select(c(a, b) == c(b, a), place of a < place of b, c(a, b)).`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range m.PostOrder() {
			for _, in := range backward(c) {
				if in.Opcode() != hlo.OpSort || !hlo.AttrsOf[hlo.SortAttrs](in).IsStable || !staticArrays(in) || in.OperandInstr(0).Shape().Rank() == 0 || !ctx.Spend("sort") {
					continue
				}
				if err := breakTies(e, m, e.Computation(c.ID()), in); err != nil {
					return m, err
				}
				ctx.Count("expanded", 1)
			}
		}
		return e.Freeze(), nil
	},
}

// staticArrays reports whether all operands of in are arrays of known sizes.
func staticArrays(in hlo.Instruction) bool {
	for o := range in.Operands() {
		if !o.Shape().IsArray() || !o.Shape().IsStatic() {
			return false
		}
	}
	return in.NumOperands() > 0
}

// counts reports whether in counts from 0 along an axis in integers that are large enough.
func counts(in hlo.Instruction, axis int64) bool {
	return in.Opcode() == hlo.OpIota && in.Shape().Type().IsInteger() && hlo.AttrsOf[hlo.IotaAttrs](in).Dimension == axis && holds(in.Shape().Type(), in.Shape().Dim(int(axis))-1)
}

func breakTies(e *hlo.Editor, m hlo.Module, c hlo.CompEdit, in hlo.Instruction) error {
	spec, axis := emit.Again(in), hlo.AttrsOf[hlo.SortAttrs](in).Dimensions[0]
	at := emit.Before(c, in)
	tie := slices.IndexFunc(slices.Collect(in.Operands()), func(o hlo.Instruction) bool { return counts(o, axis) })
	added := tie < 0
	if added {
		s := in.OperandInstr(0).Shape()
		t := hlo.S32
		if !holds(t, s.Dim(int(axis))-1) {
			t = hlo.S64
		}
		tie = len(spec.Operands)
		spec.Operands = append(spec.Operands, at.Iota(t, axis, s.Dimensions()...))
	}
	var shapes []hlo.Shape
	for i, id := range spec.Operands {
		shapes = append(shapes, at.Shape(id))
		if i < in.NumOperands() && in.Shape().IsTuple() {
			shapes[i] = in.Shape().Elem(i)
		} else if i == 0 {
			shapes[i] = in.Shape()
		}
	}
	old := m.MustComputation(in.Callee(0))
	var params []hlo.Shape
	for _, s := range shapes {
		one := hlo.MakeShape(s.Type()).WithDefaultLayout()
		params = append(params, one, one)
	}
	spec.Callees = []hlo.CompID{emit.Computation(e, old.Name(), params, func(at emit.At, params []hlo.InstrID) hlo.InstrID {
		n := old.NumParameters()
		turned := slices.Clone(params)
		for i := 0; i < len(turned); i += 2 {
			turned[i], turned[i+1] = turned[i+1], turned[i]
		}
		first, second := applied(at, old, params[:n]...), applied(at, old, turned[:n]...)
		return at.Select(at.Compare(hlo.EQ, first, second), at.Compare(hlo.LT, params[2*tie], params[2*tie+1]), first)
	})}
	attrs := hlo.AttrsOf[hlo.SortAttrs](in)
	attrs.IsStable = false
	spec.Attrs = &attrs
	spec.Shape = shapes[0]
	if len(shapes) > 1 {
		spec.Shape = hlo.MakeTuple(shapes...)
	}
	if !added {
		return emit.Replace(c, in.ID(), at.Spec(spec))
	}
	spec.Common = nil // what it says of the parts is for the old ones
	sorted := at.Spec(spec)
	parts := make([]hlo.InstrID, in.NumOperands())
	for i := range parts {
		parts[i] = at.Element(sorted, i)
	}
	if len(parts) == 1 {
		return emit.Replace(c, in.ID(), parts[0])
	}
	return emit.Replace(c, in.ID(), at.Tuple(parts...))
}

// applied is what a computation makes of values: its instructions, copied.
func applied(at emit.At, f hlo.Computation, args ...hlo.InstrID) hlo.InstrID {
	copied := make(map[hlo.InstrID]hlo.InstrID, f.NumInstructions())
	for i, p := range f.Parameters() {
		copied[p] = args[i]
	}
	for in := range f.PostOrder() {
		if in.Opcode() != hlo.OpParameter {
			copied[in.ID()] = at.Spec(control.Copy(at.C.Editor(), in, copied))
		}
	}
	return copied[f.Root().ID()]
}

// PermutationSort inverts permutations without sorting.
var PermutationSort = &pass.Pass{
	Name: "permutation-sort-expander",
	Doc: `scatter for a sort that inverts a permutation

A sort of values together with counts gives a permutation. Sorted itself together with counts, it gives its inverse: places that can be written to directly.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range m.PostOrder() {
			for _, in := range backward(c) {
				if !invertsPermutation(m, in) || !ctx.Spend("sort") {
					continue
				}
				ce := e.Computation(c.ID())
				if err := emit.Replace(ce, in.ID(), inverse(e, emit.Before(ce, in), in)); err != nil {
					return m, err
				}
				ctx.Count("expanded", 1)
			}
		}
		return e.Freeze(), nil
	},
}

func invertsPermutation(m hlo.Module, in hlo.Instruction) bool {
	if in.Opcode() != hlo.OpSort || in.NumOperands() != 2 || !staticArrays(in) {
		return false
	}
	axis := hlo.AttrsOf[hlo.SortAttrs](in).Dimensions[0]
	perm := in.OperandInstr(0)
	if !counts(in.OperandInstr(1), axis) || perm.Opcode() != hlo.OpGetTupleElement || perm.OperandInstr(0).Opcode() != hlo.OpSort || !ascends(m.MustComputation(in.Callee(0))) {
		return false
	}
	first := perm.OperandInstr(0)
	return hlo.AttrsOf[hlo.SortAttrs](first).Dimensions[0] == axis && counts(first.OperandInstr(int(hlo.AttrsOf[hlo.TupleElementAttrs](perm).Index)), axis)
}

// ascends reports whether a comparator puts smaller elements of the first operand first.
func ascends(f hlo.Computation) bool {
	root := f.Root()
	if root.Opcode() != hlo.OpCompare {
		return false
	}
	x, y := root.OperandInstr(0), root.OperandInstr(1)
	if x.Opcode() != hlo.OpParameter || y.Opcode() != hlo.OpParameter {
		return false
	}
	switch hlo.AttrsOf[hlo.CompareAttrs](root).Direction {
	case hlo.LT:
		return number(x) == 0 && number(y) == 1
	case hlo.GT:
		return number(x) == 1 && number(y) == 0
	}
	return false
}

// inverse is the counts, which are the sorted permutation, and the place of each in it.
func inverse(e *hlo.Editor, at emit.At, in hlo.Instruction) hlo.InstrID {
	axis, s := hlo.AttrsOf[hlo.SortAttrs](in).Dimensions[0], in.OperandInstr(0).Shape()
	t, rank := s.Type(), int64(s.Rank())
	count := in.Operand(1)
	if at.Shape(count).Type() != t {
		count = at.Iota(t, axis, s.Dimensions()...)
	}
	column := append(slices.Clone(s.Dimensions()), 1)
	var indices []hlo.InstrID
	var inserted []int64
	for d := range rank {
		inserted = append(inserted, d)
		if d == axis {
			indices = append(indices, at.Reshape(in.Operand(0), column...))
			continue
		}
		indices = append(indices, at.Iota(t, d, column...))
	}
	u := in.OperandInstr(1).Shape()
	one := hlo.MakeShape(u.Type()).WithDefaultLayout()
	keep := emit.Computation(e, "update", []hlo.Shape{one, one}, func(_ emit.At, params []hlo.InstrID) hlo.InstrID { return params[1] })
	places := at.Spec(hlo.InstrSpec{Opcode: hlo.OpScatter, Shape: u.WithoutLayout(), Operands: []hlo.InstrID{in.Operand(1), at.Concatenate(rank, indices...), in.Operand(1)},
		Callees: []hlo.CompID{keep}, Attrs: &hlo.ScatterAttrs{InsertedWindowDims: inserted, ScatterDimsToOperandDims: inserted, IndexVectorDim: rank, UniqueIndices: true}})
	return at.Tuple(count, places)
}
