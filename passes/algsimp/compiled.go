package algsimp

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/rules"
)

// compiledRules undo what XLA's pipeline for CPUs writes for its own kernels: numbers are widened only to be moved, gathers have one form, which
// others are transposed and reshaped from.
var compiledRules = []*pass.RewriteRule{
	rule("D32", "narrow(move(widen(x))) → move(x), on CPUs", narrowMoves, hlo.OpConvert),
	{ID: "D33", Doc: "narrow(reduce(widen(x))) of integers by add, multiply, and, or, xor → reduce(x) in the narrow type, on CPUs", Root: []hlo.Opcode{hlo.OpConvert},
		Operands: [][]hlo.Opcode{{hlo.OpReduce}}, RewriteAt: narrowReduce},
	over(rule("E40", "transpose(gather) → gather with its offset axes elsewhere, on CPUs, if the others keep their order", transposeOfGather, hlo.OpTranspose), []hlo.Opcode{hlo.OpGather}),
	over(rule("E41", "reshape(gather) without axes of size 1 of its slices → gather that collapses them, on CPUs", reshapeOfGather, hlo.OpReshape), []hlo.Opcode{hlo.OpGather}),
	placesRule,
}

func narrowMoves(in hlo.Instruction) (pass.Expr, bool) {
	m, t := in.OperandInstr(0), in.Shape().Type()
	wide := m.Shape().Type()
	if !hlo.Info(m.Opcode()).Traits.Has(hlo.TraitMovesData) && !is(m, hlo.OpSelect) || is(m, hlo.OpBitcast) || !oneUse(m) || !m.Shape().IsStatic() || t == wide || !rules.Keeps(t, wide) {
		return no()
	}
	var operands []pass.Expr
	for x := range m.Operands() {
		switch {
		case x.Shape().Type() != wide: // indices, and what select chooses by
			operands = append(operands, pass.Use(x))
		case is(x, hlo.OpConvert) && x.OperandInstr(0).Shape().Type() == t:
			operands = append(operands, pass.Use(x.OperandInstr(0)))
		default:
			return no()
		}
	}
	return done(shaped(m.Opcode(), in.Shape(), m.Attrs(), operands...))
}

// narrowReduce reduces in the type of the result: the lower bits of sums, of products and of bits depend on lower bits alone. `jnp.packbits` is such a sum.
func narrowReduce(s pass.Site, in hlo.Instruction) (pass.Expr, bool) {
	r, t := in.OperandInstr(0), in.Shape().Type()
	if r.NumOperands() != 2 || !oneUse(r) || !t.IsInteger() || t.Bits() < 8 || !r.Shape().IsStatic() {
		return no()
	}
	by, ok := combinerOf(s, r)
	x, wide := r.OperandInstr(0), r.Shape().Type()
	if !ok || !wide.IsInteger() || wide.Bits() <= t.Bits() || !is(x, hlo.OpConvert) {
		return no()
	}
	//halo:allow opswitch ops whose lower bits depend on lower bits alone
	switch by.op {
	case hlo.OpAdd, hlo.OpMultiply, hlo.OpAnd, hlo.OpOr, hlo.OpXor:
	default:
		return no()
	}
	if x = x.OperandInstr(0); !x.Shape().Type().IsInteger() || x.Shape().Type().Bits() > t.Bits() {
		return no()
	}
	converted := func(in hlo.Instruction) pass.Expr {
		if in.Shape().Type() == t {
			return pass.Use(in)
		}
		return shaped(hlo.OpConvert, in.Shape().WithType(t), nil, pass.Use(in))
	}
	return done(reducedBy(by.op, converted(x), converted(r.OperandInstr(1)), axes(r)))
}

func transposeOfGather(in hlo.Instruction) (pass.Expr, bool) {
	g := in.OperandInstr(0)
	a := hlo.AttrsOf[hlo.GatherAttrs](g)
	var offsets, batch, places []int64
	for i, axis := range axes(in) {
		if slices.Contains(a.OffsetDims, axis) {
			offsets, places = append(offsets, axis), append(places, int64(i))
		} else {
			batch = append(batch, axis)
		}
	}
	if !oneUse(g) || !slices.IsSorted(offsets) || !slices.IsSorted(batch) {
		return no()
	}
	a.OffsetDims = places
	return done(shaped(hlo.OpGather, in.Shape(), &a, pass.Use(g.OperandInstr(0)), pass.Use(g.OperandInstr(1))))
}

func reshapeOfGather(in hlo.Instruction) (pass.Expr, bool) {
	g := in.OperandInstr(0)
	a, x := hlo.AttrsOf[hlo.GatherAttrs](g), g.OperandInstr(0).Shape()
	if !oneUse(g) || g.Shape().Rank() <= in.Shape().Rank() {
		return no()
	}
	var windows []int64 // the axes of the operand that the offset axes are
	for i := range int64(x.Rank()) {
		if !slices.Contains(a.CollapsedSliceDims, i) && !slices.Contains(a.OperandBatchingDims, i) {
			windows = append(windows, i)
		}
	}
	collapsed, offsets, k := slices.Clone(a.CollapsedSliceDims), []int64{}, 0
	for axis, size := range g.Shape().Dimensions() {
		window := slices.Index(a.OffsetDims, int64(axis))
		switch {
		case k < in.Shape().Rank() && in.Shape().Dim(k) == size:
			if window >= 0 {
				offsets = append(offsets, int64(k))
			}
			k++
		case size == 1 && window >= 0:
			collapsed = append(collapsed, windows[window])
		default:
			return no()
		}
	}
	if k < in.Shape().Rank() {
		return no()
	}
	slices.Sort(collapsed)
	a.OffsetDims, a.CollapsedSliceDims = offsets, collapsed
	return done(shaped(hlo.OpGather, in.Shape(), &a, pass.Use(g.OperandInstr(0)), pass.Use(g.OperandInstr(1))))
}
