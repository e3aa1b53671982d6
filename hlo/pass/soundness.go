package pass

import "github.com/gohalo/halo/hlo"

// A rule is algebra over values whose sizes and types are what they seem. Where they are not, the rewriter holds rules back, so that no rule
// has to think of it.

// sound reports whether a rule that matched may fire as far as sizes are concerned.
func sound(rule *RewriteRule, in hlo.Instruction, to Expr) bool {
	if in.Shape().IsStatic() && rule.Dynamic {
		return true
	}
	if !rule.Dynamic && !staticAround(in, to) {
		return false
	}
	if to.IsNew() {
		return keepsSizes(to)
	}
	// A repeated constant has the size of its bound: it cannot stand for a value that may be smaller.
	traits := hlo.Info(in.Computation().MustAt(to.id).Opcode()).Traits
	return in.Shape().IsStatic() || !traits.Has(hlo.TraitNullaryValue) && in.Computation().MustAt(to.id).Opcode() != hlo.OpBroadcast
}

// mixes reports whether an instruction, or one that it computes from, is one that only mixed precision allows: x + 0 is not x if that rounds.
func (w *rewriting) mixes(in hlo.Instruction, depth int) bool {
	seen, operands, all := hlo.InvalidType, true, true
	for i := range in.NumOperands() {
		o := in.OperandInstr(i)
		if !o.Shape().IsArray() {
			continue
		}
		if t := o.Shape().Type(); t.IsFloat() {
			operands = operands && (seen == hlo.InvalidType || t == seen)
			seen = t
		}
		if depth > 0 && w.mixes(o, depth-1) {
			return true
		}
	}
	for _, leaf := range in.Shape().Leaves {
		all = all && (!leaf.Type().IsFloat() || seen == hlo.InvalidType || leaf.Type() == seen)
	}
	return (!operands || !all) && w.mixed(in, operands)
}

// operandsMix asks [rewriting.mixes] of what an instruction computes from. It may mix itself where a value of its own type stands for it: the other
// operands do not matter then, whatever their type.
func (w *rewriting) operandsMix(in hlo.Instruction) bool {
	for o := range in.Operands() {
		if o.Shape().IsArray() && w.mixes(o, mixingDepth-1) {
			return true
		}
	}
	return false
}

// mixed reports whether an instruction whose operands and result are of several floating types is legal in mixed precision only.
func (w *rewriting) mixed(in hlo.Instruction, operands bool) bool {
	info := hlo.Info(in.Opcode())
	folds := info.Traits.Has(hlo.TraitApply) && in.Opcode() != hlo.OpSort // elements, and what they begin with
	if !operands && (folds || info.Match != hlo.MatchOwn && !info.Traits.Has(hlo.TraitMixesPrecision)) {
		return true
	}
	ctx := hlo.ShapeContext{Op: in.Opcode(), Attrs: in.Attrs(), Stated: in.Shape()}
	for o := range in.Operands() {
		ctx.Operands = append(ctx.Operands, o.Shape())
	}
	for id := range in.Callees() {
		ctx.Callees = append(ctx.Callees, w.c.Editor().View(id).Signature())
	}
	s, err := hlo.InferShape(&ctx)
	return err != nil || !s.EqualExcept(in.Shape(), hlo.Compatible)
}

// mixingDepth is how many levels of operands a rule may look at.
const mixingDepth = 3

// staticAround reports whether nothing near a rewrite has a dynamic dimension: the instruction, two levels of its operands, and what the
// new expression uses.
func staticAround(in hlo.Instruction, to Expr) bool {
	if !allStatic(in, 2) {
		return false
	}
	return usesStatic(in.Computation(), to)
}

func allStatic(in hlo.Instruction, depth int) bool {
	if !in.Shape().IsStatic() {
		return false
	}
	if depth > 1 || depth == 1 && in.Opcode() != hlo.OpTuple { // the shape of a tuple has those of its operands
		for i := range in.NumOperands() {
			if !allStatic(in.OperandInstr(i), depth-1) {
				return false
			}
		}
	}
	return true
}

func usesStatic(c hlo.Computation, e Expr) bool {
	if !e.shape.IsStatic() {
		return false
	}
	for _, o := range e.operands {
		if !usesStatic(c, o) {
			return false
		}
	}
	return true
}

// keepsSizes reports whether every new value of dynamic size computes the size from an operand. A broadcast of a constant, an iota or a
// reshape states a size, and the statement is only a bound.
func keepsSizes(e Expr) bool {
	if !e.IsNew() {
		return true
	}
	for _, o := range e.operands {
		if !keepsSizes(o) {
			return false
		}
	}
	if e.shape.IsStatic() {
		return true
	}
	traits := hlo.Info(e.spec.Opcode).Traits
	switch {
	case len(e.operands) == 0 || e.spec.Opcode == hlo.OpReshape || e.shape.IsTuple():
		return false
	case traits.Has(hlo.TraitElementwise):
		for _, o := range e.operands {
			if !o.shape.IsScalar() && !sameSizes(o.shape, e.shape) {
				return false
			}
		}
	case e.spec.Opcode == hlo.OpBroadcast:
		return broadcastKeeps(e)
	}
	for _, o := range e.operands {
		if !o.shape.IsStatic() {
			return true
		}
	}
	return false
}

// sameSizes reports whether the same dimensions are dynamic.
func sameSizes(a, b hlo.Shape) bool {
	if a.Rank() != b.Rank() {
		return false
	}
	for i := range a.Rank() {
		if a.IsDynamicDimension(i) != b.IsDynamicDimension(i) {
			return false
		}
	}
	return true
}

// broadcastKeeps reports whether each dynamic dimension of a broadcast is one of its operand.
func broadcastKeeps(e Expr) bool {
	attrs, ok := e.spec.Attrs.(*hlo.BroadcastAttrs)
	if !ok {
		return false
	}
	from := map[int]int{}
	for i, d := range attrs.Dimensions {
		from[int(d)] = i
	}
	for i := range e.shape.Rank() {
		axis, ok := from[i]
		if e.shape.IsDynamicDimension(i) && (!ok || !e.operands[0].shape.IsDynamicDimension(axis)) {
			return false
		}
	}
	return true
}
