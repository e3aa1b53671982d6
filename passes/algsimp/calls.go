package algsimp

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/rules"
	"github.com/gohalo/halo/hlo/scalar"
)

// callRules are about collectives of repeated numbers, map, tuples, barriers, and conversions of constants.
var callRules = []*pass.RewriteRule{
	rule("H19", "all-gather or all-to-all of a repeated scalar → broadcast", func(in hlo.Instruction) (pass.Expr, bool) {
		b := in.OperandInstr(0)
		if in.NumOperands() != 1 || !in.Shape().IsArray() || !is(b, hlo.OpBroadcast) || !b.OperandInstr(0).Shape().IsScalar() || !repeatsConstant(b) {
			return no()
		}
		return done(likeShape(in.Shape(), pass.Use(b.OperandInstr(0))))
	}, hlo.OpAllGather, hlo.OpAllToAll),
	loosely(pass.Rounding, &pass.RewriteRule{ID: "H20", Doc: "all-reduce or reduce-scatter of a repeated number → the number, or the number times the size of the groups",
		Root: []hlo.Opcode{hlo.OpAllReduce, hlo.OpReduceScatter}, RewriteAt: collectiveOfSplat}),
	{ID: "G09", Doc: "map by one op, a constant or a parameter → the op on arrays, the constant repeated, or the operand", Root: []hlo.Opcode{hlo.OpMap}, RewriteAt: trivialMap},
	over(rule("H21", "element of a tuple → what it was made of", func(in hlo.Instruction) (pass.Expr, bool) {
		return use(in.OperandInstr(0).OperandInstr(int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index)))
	}, hlo.OpGetTupleElement), []hlo.Opcode{hlo.OpTuple}),
	rule("D24", "convert of a constant → constant", func(in hlo.Instruction) (pass.Expr, bool) {
		c := in.OperandInstr(0)
		from, to := c.Shape().Type(), in.Shape().Type()
		if c.Literal() == nil || c.Literal().IsElided() || !c.Shape().IsScalar() || from.Bits() < to.Bits() || to.Bits() < 8 || !oneUse(c) {
			return no()
		}
		return convertedConstant(in, c.Literal())
	}, hlo.OpConvert),
	over(rule("D28", "bitcast-convert(concatenate(bitcast-convert(x), …)) → concatenate(x, …)", func(in hlo.Instruction) (pass.Expr, bool) {
		c := in.OperandInstr(0)
		var parts []pass.Expr
		for part := range c.Operands() {
			if !is(part, hlo.OpBitcastConvert) {
				return no()
			}
			x := part.OperandInstr(0)
			if x.Shape().Type() != in.Shape().Type() || x.Shape().Type() == hlo.PRED || !slices.Equal(x.Shape().Dimensions(), part.Shape().Dimensions()) {
				return no()
			}
			parts = append(parts, pass.Use(x))
		}
		return done(shaped(hlo.OpConcatenate, in.Shape(), c.Attrs(), parts...))
	}, hlo.OpBitcastConvert), []hlo.Opcode{hlo.OpConcatenate}),
	rule("D30", "reduce-precision to the type's own precision → operand", func(in hlo.Instruction) (pass.Expr, bool) {
		a := hlo.AttrsOf[hlo.ReducePrecisionAttrs](in)
		own := map[hlo.PrimitiveType][2]int64{hlo.F16: {5, 10}, hlo.BF16: {8, 7}, hlo.F32: {8, 23}, hlo.F64: {11, 52}}[in.Shape().Type()]
		if own != [2]int64{a.ExponentBits, a.MantissaBits} {
			return no()
		}
		return use(in.OperandInstr(0))
	}, hlo.OpReducePrecision),
	rule("D31", "conditional on a converted predicate → conditional on the predicate, its branches exchanged", func(in hlo.Instruction) (pass.Expr, bool) {
		c := in.OperandInstr(0)
		if !is(c, hlo.OpConvert) || c.OperandInstr(0).Shape().Type() != hlo.PRED || in.NumCallees() != 2 || in.NumOperands() != 3 || c.Shape().Type() != hlo.S32 {
			return no()
		}
		// Branch 0 is for false: of a predicate, the first branch is for true.
		e := shaped(hlo.OpConditional, in.Shape(), in.Attrs(), pass.Use(c.OperandInstr(0)), pass.Use(in.OperandInstr(2)), pass.Use(in.OperandInstr(1)))
		if !valid(e) {
			return no()
		}
		return e.Calling(in.Callee(1), in.Callee(0)), true
	}, hlo.OpConditional),
	rule("H22", "barrier over a tuple of which elements are not read → barrier over the others", func(in hlo.Instruction) (pass.Expr, bool) {
		return narrowedBarrier(in)
	}, hlo.OpGetTupleElement),
	rule("H23", "constant tuple → tuple of constants", func(in hlo.Instruction) (pass.Expr, bool) {
		l := in.Literal()
		if l == nil || !in.Shape().IsTuple() || l.IsElided() || l.NumParts() != in.Shape().NumElems() {
			return no()
		}
		return tupleOf(in, func(i int) pass.Expr { return pass.Constant(l.Part(i)) })
	}, hlo.OpConstant),
	dynamic(over(rule("F37", "slice-to-dynamic(pad-to-static(x)) → x", func(in hlo.Instruction) (pass.Expr, bool) {
		if hlo.AttrsOf[hlo.CustomCallAttrs](in).Target != "SliceToDynamic" {
			return no()
		}
		e := in.OperandInstr(0)
		if !is(e, hlo.OpGetTupleElement) || !is(e.OperandInstr(0), hlo.OpCustomCall) || hlo.AttrsOf[hlo.TupleElementAttrs](e).Index != 0 ||
			hlo.AttrsOf[hlo.CustomCallAttrs](e.OperandInstr(0)).Target != "PadToStatic" {
			return no()
		}
		for i := 1; i < in.NumOperands(); i++ {
			size := in.OperandInstr(i)
			if !is(size, hlo.OpGetTupleElement) || size.Operand(0) != e.Operand(0) || hlo.AttrsOf[hlo.TupleElementAttrs](size).Index != int64(i) {
				return no()
			}
		}
		return use(e.OperandInstr(0).OperandInstr(0))
	}, hlo.OpCustomCall), []hlo.Opcode{hlo.OpGetTupleElement})),
}

func repeatsConstant(x hlo.Instruction) bool {
	_, ok := splat(x)
	return ok
}

func convertedConstant(in hlo.Instruction, l *hlo.Literal) (pass.Expr, bool) {
	v, ok := rules.Converted(l, in.Shape())
	if !ok {
		return no()
	}
	return pass.Constant(v), true
}

// groupSize is the number of devices in each group of a collective, 0 if it is not known.
func groupSize(g *hlo.ReplicaGroups) int64 {
	if g = g.Listed(); g == nil || len(g.Lists) == 0 {
		return 0
	}
	n := len(g.Lists[0])
	for _, l := range g.Lists {
		if len(l) != n {
			return 0
		}
	}
	return int64(n)
}

func collectiveOfSplat(s pass.Site, in hlo.Instruction) (pass.Expr, bool) {
	if in.NumOperands() != 1 || !in.Shape().IsArray() || in.NumCallees() != 1 {
		return no()
	}
	l, ok := splat(in.OperandInstr(0))
	by, known := combinerOf(s, in)
	if !ok || !known {
		return no()
	}
	if by.idempotent() {
		return done(likeShape(in.Shape(), pass.Constant(l)))
	}
	var groups *hlo.ReplicaGroups
	switch a := in.Attrs().(type) {
	case *hlo.AllReduceAttrs:
		groups = a.ReplicaGroups
	case *hlo.ReduceScatterAttrs:
		groups = a.ReplicaGroups
	}
	t := in.Shape().Type()
	n := int64(0)
	if groups != nil {
		n = groupSize(groups)
	}
	k, okK := scalar.Nearest(t, float64(n))
	if by.op != hlo.OpAdd || n == 0 || !okK || t.IsComplex() {
		return no()
	}
	sum, ok := rules.Evaluate(hlo.OpMultiply, nil, l, k)
	if !ok {
		return no()
	}
	return done(likeShape(in.Shape(), pass.Constant(sum)))
}

func trivialMap(s pass.Site, in hlo.Instruction) (pass.Expr, bool) {
	c, ok := s.Computation(in.Callee(0))
	if !ok {
		return no()
	}
	r := c.Root()
	if n, isParam := r.ParameterNumber(); isParam {
		return use(in.OperandInstr(int(n)))
	}
	if isConstant(r) && r.Literal() != nil {
		return done(likeShape(in.Shape(), pass.Constant(r.Literal())))
	}
	traits := hlo.Info(r.Opcode()).Traits
	if !traits.Has(hlo.TraitElementwise) || r.NumCallees() > 0 || traits&(hlo.TraitRandom|hlo.TraitSideEffect) != 0 {
		return no()
	}
	var args []pass.Expr
	for x := range r.Operands() {
		n, isParam := x.ParameterNumber()
		if !isParam {
			return no()
		}
		args = append(args, pass.Use(in.OperandInstr(int(n))))
	}
	return done(shaped(r.Opcode(), in.Shape(), r.Attrs(), args...))
}

// narrowedBarrier is asked of an element that is read from a barrier. All that is read must be elements.
func narrowedBarrier(in hlo.Instruction) (pass.Expr, bool) {
	b := in.OperandInstr(0)
	if !is(b, hlo.OpOptBarrier) || !is(b.OperandInstr(0), hlo.OpTuple) || b.NumControlPredecessors() > 0 || b.NumControlSuccessors() > 0 || b.IsRoot() ||
		b.Common() != nil && b.Common().Sharding != nil {
		return no()
	}
	t := b.OperandInstr(0)
	var read []int64
	for u := range b.Users() {
		if !is(u, hlo.OpGetTupleElement) {
			return no()
		}
		read = append(read, hlo.AttrsOf[hlo.TupleElementAttrs](u).Index)
	}
	slices.Sort(read)
	read = slices.Compact(read)
	// One reader at a time can be given another barrier: only a single one is.
	if len(read) != 1 || b.UserCount() != 1 || t.NumOperands() < 2 || in.Common() != nil && in.Common().Sharding != nil {
		return no()
	}
	kept := pass.Use(t.OperandInstr(int(read[0])))
	s := hlo.MakeTuple(kept.Shape())
	barrier := shaped(hlo.OpOptBarrier, s, nil, shaped(hlo.OpTuple, s, nil, kept))
	return done(shaped(hlo.OpGetTupleElement, in.Shape(), &hlo.TupleElementAttrs{Index: 0}, barrier))
}
