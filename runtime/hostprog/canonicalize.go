package hostprog

import "slices"

const mergeOp = "tfrt.merge.chains"

// Canonicalize simplifies merges of chains, in place, until nothing changes.
// Of the operands of a merge those with other uses go, as far as the merge
// still waits for them: they occur again, or an operand that stays has waited
// for them. A merge of one chain that has other uses is that chain.
//
// TFRT drops such operands in any case, and then no longer waits for them.
func Canonicalize(p *Program) {
	walk(p.Module, func(op *Op) {
		for _, r := range op.Regions {
			for canonicalizeRegion(r) {
			}
		}
	})
}

func canonicalizeRegion(r *Region) (changed bool) {
	for i := 0; i < len(r.Ops); i++ {
		op := r.Ops[i]
		if op.Name != mergeOp || len(op.Operands) == 0 || len(op.Results) != 1 {
			continue
		}
		if v := mergedInto(op); v != nil {
			r.Ops = slices.Delete(r.Ops, i, i+1)
			for _, o := range op.Operands {
				o.uses--
			}
			replace(r, op.Results[0], v)
			return true
		}
		changed = dropOperands(op) || changed
	}
	return changed
}

// mergedInto is the operand that a merge can be replaced by: none is used by
// the merge alone, and this one stands for all. The first is preferred.
func mergedInto(op *Op) *Value {
	for _, v := range op.Operands {
		if v.uses == 1 || v.Type != op.Results[0].Type {
			return nil
		}
	}
	for _, v := range op.Operands {
		all := true
		for _, o := range op.Operands {
			all = all && (o == v || waitsFor(v, o))
		}
		if all {
			return v
		}
	}
	return nil
}

// dropOperands removes operands with other uses that others stand for.
func dropOperands(op *Op) (changed bool) {
	for i := 0; i < len(op.Operands); i++ {
		v := op.Operands[i]
		implied := func(o *Value) bool { return o != v && waitsFor(o, v) }
		if v.uses > 1 && (slices.Contains(op.Operands[:i], v) || slices.ContainsFunc(op.Operands, implied)) {
			op.Operands = slices.Delete(op.Operands, i, i+1)
			v.uses--
			i--
			changed = true
		}
	}
	return changed
}

// maxSteps bounds how far back waitsFor looks.
const maxSteps = 1000

// waitsFor says that v is not there before earlier is: v comes from it through
// kernels that wait for all their operands. Ops that call functions may not.
func waitsFor(v, earlier *Value) bool {
	seen := map[*Op]bool{}
	todo := []*Value{v}
	for len(todo) > 0 && len(seen) < maxSteps {
		v, todo = todo[len(todo)-1], todo[:len(todo)-1]
		if v.Op == nil || seen[v.Op] || !isStrict(v.Op) {
			continue
		}
		seen[v.Op] = true
		if slices.Contains(v.Op.Operands, earlier) {
			return true
		}
		todo = append(todo, v.Op.Operands...)
	}
	return false
}

func isStrict(op *Op) bool {
	return len(op.Regions) == 0 && !op.Attrs.Has(attrNonStrict) &&
		!slices.ContainsFunc(op.Attrs, func(e NamedAttr) bool { return functionRefs(e.Attr) })
}

// replace makes every use of one value a use of another, in a region and those within.
func replace(r *Region, from, to *Value) {
	for _, op := range r.Ops {
		for i, v := range op.Operands {
			if v == from {
				op.Operands[i] = to
				from.uses--
				to.uses++
			}
		}
		for _, inner := range op.Regions {
			replace(inner, from, to)
		}
	}
}
