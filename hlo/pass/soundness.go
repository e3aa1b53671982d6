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

// mixes reports whether an elementwise instruction has floating operands of different widths, which text may have but algebra does not
// reckon with: x + 0 is not x if that rounds.
func mixes(in hlo.Instruction) bool {
	if !hlo.Info(in.Opcode()).Traits.Has(hlo.TraitElementwise) || in.NumOperands() < 2 {
		return false
	}
	width := 0
	for i := range in.NumOperands() {
		if t := in.OperandInstr(i).Shape().Type(); t.IsFloat() {
			if width != 0 && t.Bits() != width {
				return true
			}
			width = t.Bits()
		}
	}
	return false
}

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
