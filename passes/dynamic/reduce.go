package dynamic

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/control"
	"github.com/gohalo/halo/passes/emit"
)

// reduce writes over the filling along the dimensions that go: with the value that it begins with, where that leaves others as they are, else with one that does. Where
// no such value is known, whether an element is there is reduced beside it.
func reduce(b *body, in hlo.Instruction) bool {
	k := in.NumOperands() / 2
	gone := ints(hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions)
	first := b.operand(0)
	var sizes []hlo.InstrID
	for d, n := range first.sizes {
		if !slices.Contains(gone, d) {
			sizes = append(sizes, n)
		}
	}
	operands := make([]hlo.InstrID, 2*k)
	some := false
	for i := range operands {
		operands[i] = b.operand(i).data
		some = some || i < k && b.operand(i).masked(gone...)
	}
	if !some {
		return b.kept(sizes, operands...)
	}
	f := b.m.MustComputation(in.Callee(0))
	if id, ok := neutral(f); ok && k == 1 && id.Shape().Type() == first.shape.Type() {
		with := operands[1]
		if l := in.OperandInstr(1).Literal(); l == nil || !l.Equal(id) && !(isZero(l) && isAdd(f)) {
			with = b.at.Constant(id)
		}
		return b.kept(sizes, b.mask(first, with, gone...), operands[1])
	}
	return b.reducePresent(in, gone, sizes, operands)
}

func isAdd(f hlo.Computation) bool { return f.Root().Opcode() == hlo.OpAdd }

func isZero(l *hlo.Literal) bool {
	return !l.IsElided() && !slices.ContainsFunc(l.Bytes(), func(x byte) bool { return x != 0 })
}

func ints(v []int64) []int {
	out := make([]int, len(v))
	for i, n := range v {
		out[i] = int(n)
	}
	return out
}

// reducePresent reduces whether there is an element at all beside the elements: of two, the one that is there is the result.
func (b *body) reducePresent(in hlo.Instruction, gone []int, sizes, operands []hlo.InstrID) bool {
	k := len(operands) / 2
	dims := b.at.Shape(operands[0]).Dimensions()
	v := b.operand(0)
	for i := range k {
		if w := b.operand(i); w.isSized() {
			v = w
		}
	}
	there := hlo.NoInstr
	for _, d := range gone {
		if v.sizes[d] == hlo.NoInstr {
			continue
		}
		if p := b.inside(dims, d, v.sizes[d]); there == hlo.NoInstr {
			there = p
		} else {
			there = b.at.Binary(hlo.OpAnd, there, p)
		}
	}
	f := b.m.MustComputation(in.Callee(0))
	var params []hlo.Shape
	for side := range 2 {
		for i := range k {
			params = append(params, f.Parameter(side*k+i).Shape())
		}
		params = append(params, hlo.MakeShape(hlo.PRED))
	}
	g := emit.Computation(b.e, f.Name()+".present", params, func(at emit.At, p []hlo.InstrID) hlo.InstrID {
		left, right := p[:k+1], p[k+1:]
		both := inlined(at, f, append(slices.Clone(left[:k]), right[:k]...))
		var results []hlo.InstrID
		for i := range k {
			r := both
			if k > 1 {
				r = at.Element(both, i)
			}
			one := at.Select(left[k], at.Convert(left[i], at.Shape(r).Type()), at.Convert(right[i], at.Shape(r).Type()))
			results = append(results, at.Select(at.Binary(hlo.OpAnd, left[k], right[k]), r, one))
		}
		return at.Tuple(append(results, at.Binary(hlo.OpOr, left[k], right[k]))...)
	})
	inputs := append(slices.Clone(operands[:k]), there)
	inits := append(slices.Clone(operands[k:]), b.at.Int(hlo.PRED, 1))
	out := b.at.Spec(hlo.InstrSpec{Opcode: hlo.OpReduce, Attrs: in.Attrs(), Operands: append(inputs, inits...), Callees: []hlo.CompID{g}})
	return b.madeOf(out, sizes)
}

// madeOf says that the value of the instruction that is written is the first of the parts of a tuple, of these sizes, or a tuple of them.
func (b *body) madeOf(tuple hlo.InstrID, sizes []hlo.InstrID) bool {
	s := b.in.Shape()
	if s.IsArray() {
		return b.becomes(array(s, b.at.Element(tuple, 0), sizes))
	}
	var parts []*value
	for i := range s.NumElems() {
		parts = append(parts, array(s.Elem(i), b.at.Element(tuple, i), sizes))
	}
	return b.becomes(apart(s, parts))
}

// inlined is a computation written out where its arguments are.
func inlined(at emit.At, f hlo.Computation, args []hlo.InstrID) hlo.InstrID {
	copied := map[hlo.InstrID]hlo.InstrID{}
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

// sort sorts what is there before what is not.
func sort(b *body, in hlo.Instruction) bool {
	d, k := int(hlo.AttrsOf[hlo.SortAttrs](in).Dimensions[0]), in.NumOperands()
	first := b.operand(0)
	operands := make([]hlo.InstrID, k)
	for i := range operands {
		operands[i] = b.operand(i).data
		if v := b.operand(i); v.sizes[d] != hlo.NoInstr {
			first = v
		}
	}
	if first.sizes[d] == hlo.NoInstr {
		return b.kept(first.sizes, operands...)
	}
	f := b.m.MustComputation(in.Callee(0))
	var params []hlo.Shape
	for _, p := range f.Parameters() {
		params = append(params, f.MustAt(p).Shape())
	}
	present := hlo.MakeShape(hlo.PRED)
	g := emit.Computation(b.e, f.Name()+".present", append(params, present, present), func(at emit.At, p []hlo.InstrID) hlo.InstrID {
		left, right := p[2*k], p[2*k+1]
		before := inlined(at, f, p[:2*k])
		return at.Binary(hlo.OpAnd, left, at.Binary(hlo.OpOr, at.Unary(hlo.OpNot, right), before))
	})
	there := b.inside(b.at.Shape(operands[0]).Dimensions(), d, first.sizes[d])
	out := b.at.Spec(hlo.InstrSpec{Opcode: hlo.OpSort, Attrs: in.Attrs(), Operands: append(operands, there), Callees: []hlo.CompID{g}})
	return b.madeOf(out, first.sizes)
}
