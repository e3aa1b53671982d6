package algsimp

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/scalar"
)

// reduceRules are about reduce of one array. A reduce begins with its initial value: where the number of reduces changes, that must be one that
// changes nothing.
func reduceRules(o *options) []*pass.RewriteRule {
	single := func(id, doc string, rewrite func(s pass.Site, in hlo.Instruction, by combiner) (pass.Expr, bool), operand ...hlo.Opcode) *pass.RewriteRule {
		r := &pass.RewriteRule{ID: id, Doc: doc, Root: []hlo.Opcode{hlo.OpReduce}, RewriteAt: func(s pass.Site, in hlo.Instruction) (pass.Expr, bool) {
			if in.NumOperands() != 2 || id == "G12" && in.OperandInstr(0).Shape().NumElements() != in.Shape().NumElements() {
				return no()
			}
			by, ok := combinerOf(s, in)
			if !ok {
				return no()
			}
			return rewrite(s, in, by)
		}}
		if operand != nil {
			r.Operands = [][]hlo.Opcode{operand}
		}
		return r
	}
	return []*pass.RewriteRule{
		rule("G10", "reduce of nothing → broadcast of the initial values", reduceOfNothing, hlo.OpReduce),
		{ID: "G11", Doc: "reduce of one array that gives a tuple of one → tuple of reduce", Root: []hlo.Opcode{hlo.OpReduce, hlo.OpReduceWindow}, RewriteAt: unwrapped},
		{ID: "G12t", Doc: "reduce of several arrays along no axis, or axes of size 1 → reshapes, if the initial values change nothing", FP: pass.ZeroSign,
			Root: []hlo.Opcode{hlo.OpReduce}, RewriteAt: reduceOfOnes},
		single("G12", "reduce along axes of size 1 → op(reshape(x), initial value)", func(_ pass.Site, in hlo.Instruction, by combiner) (pass.Expr, bool) {
			x := in.OperandInstr(0)
			if x.Shape().NumElements() != in.Shape().NumElements() || in.Shape().NumElements() == 0 {
				return no()
			}
			r := reshaped(pass.Use(x), in.Shape().Dimensions()...)
			if by.neutral(in.OperandInstr(1)) {
				return done(r)
			}
			return done(shaped(by.op, in.Shape(), nil, r, like(in.Shape(), pass.Use(in.OperandInstr(1)))))
		}),
		loosely(pass.ZeroSign, single("G13", "Σ -x → -Σ x", func(_ pass.Site, in hlo.Instruction, by combiner) (pass.Expr, bool) {
			n := in.OperandInstr(0)
			if by.op != hlo.OpAdd || !in.Shape().Type().IsFloat() || !splatIs(in.OperandInstr(1), isAnyZero) || !oneUse(n) {
				return no()
			}
			return same(in, hlo.OpNegate, pass.Again(in, pass.Use(n.OperandInstr(0)), pass.Use(in.OperandInstr(1))))
		}, hlo.OpNegate)),
		single("G22", "minimum, maximum, and, or of a repeated scalar → op(scalar, initial value)", func(_ pass.Site, in hlo.Instruction, by combiner) (pass.Expr, bool) {
			b := in.OperandInstr(0)
			if !b.OperandInstr(0).Shape().IsScalar() || !by.idempotent() || b.Shape().NumElements() == 0 {
				return no()
			}
			return done(like(in.Shape(), makeOp(by.op, nil, pass.Use(b.OperandInstr(0)), pass.Use(in.OperandInstr(1)))))
		}, hlo.OpBroadcast),
		loosely(pass.Overflow, single("G24", "Σ of a repeated array along the axes of repetition → x·n + initial value", sumOfBroadcast, hlo.OpBroadcast)),
		loosely(pass.Overflow, single("G16", "reduce(transpose(x)) → reduce(x), transposed if need be", func(_ pass.Site, in hlo.Instruction, _ combiner) (pass.Expr, bool) {
			return reduceOfTranspose(in, o.alwaysReduceOfTranspose)
		}, hlo.OpTranspose)),
		single("G17e", "reduce(reduce(x)) by one op, where any grouping has the same result → reduce(x) along the axes of both", func(s pass.Site, in hlo.Instruction, by combiner) (pass.Expr, bool) {
			if !by.associative() {
				return no()
			}
			return reduceOfReduce(s, in, by)
		}, hlo.OpReduce),
		loosely(pass.Overflow, single("G17", "reduce(reduce(x)) by one op → reduce(x) along the axes of both, if the initial value changes nothing", reduceOfReduce, hlo.OpReduce)),
		single("G18e", "reduce(reshape(x)), where any grouping has the same result → reduce(x), reshaped if need be", func(_ pass.Site, in hlo.Instruction, by combiner) (pass.Expr, bool) {
			if !by.associative() {
				return no()
			}
			return reduceOfReshape(in, o.alwaysReduceOfTranspose)
		}, hlo.OpReshape),
		loosely(pass.Overflow, single("G18", "reduce(reshape(x)) → reduce(x), reshaped if need be", func(_ pass.Site, in hlo.Instruction, _ combiner) (pass.Expr, bool) {
			return reduceOfReshape(in, o.alwaysReduceOfTranspose)
		}, hlo.OpReshape)),
		loosely(pass.Overflow, single("G19", "reduce(concatenate) along its axis → reduces combined", func(_ pass.Site, in hlo.Instruction, by combiner) (pass.Expr, bool) {
			return reduceOfConcatenate(in, by, o.reduceOfConcat)
		}, hlo.OpConcatenate)),
		loosely(pass.Overflow, single("G20", "Σ over batch axes of a dot → contraction of them", sumOfDot, hlo.OpDot)),
		loosely(pass.Overflow, single("G15", "Σ(dot(a, b)) over free axes → dot(Σ a, Σ b), if that is cheaper", func(_ pass.Site, in hlo.Instruction, by combiner) (pass.Expr, bool) {
			return dotOfSums(in, by, o.raiseThreshold)
		}, hlo.OpDot)),
		loosely(pass.Overflow, single("G23", "reduce(broadcast(x)) along axes of x → broadcast(reduce(x))", reduceBeforeBroadcast, hlo.OpBroadcast)),
		{ID: "G21", Doc: "maximum beside its place in another reduce of the same array → element 0 of that, and so for minimum",
			Root: []hlo.Opcode{hlo.OpReduce}, RewriteAt: besideArgMax},
		{ID: "G14", Doc: "where the maximum of equal numbers stands → the number, and place 0", Root: []hlo.Opcode{hlo.OpReduce}, RewriteAt: argMaxOfSplat},
	}
}

// combiner is a computation of one op on its two parameters.
type combiner struct {
	op hlo.Opcode
	t  hlo.PrimitiveType
}

// combinerOf reads what an instruction calls.
func combinerOf(s pass.Site, in hlo.Instruction) (combiner, bool) {
	c, ok := s.Computation(in.Callee(0))
	if !ok || c.NumParameters() != 2 {
		return combiner{}, false
	}
	r := c.Root()
	if r.NumOperands() != 2 || r.NumCallees() > 0 || !hlo.Info(r.Opcode()).Traits.Has(hlo.TraitElementwise|hlo.TraitCommutative) || !r.Shape().IsScalar() {
		return combiner{}, false
	}
	a, okA := r.OperandInstr(0).ParameterNumber()
	b, okB := r.OperandInstr(1).ParameterNumber()
	if !okA || !okB || a == b {
		return combiner{}, false
	}
	t := r.Shape().Type()
	for x := range r.Operands() {
		if x.Shape().Type() != t {
			return combiner{}, false
		}
	}
	return combiner{r.Opcode(), t}, true
}

// neutral reports whether op(x, init) is x for every x, bit for bit.
func (c combiner) neutral(init hlo.Instruction) bool {
	return splatIs(init, func(l *hlo.Literal) bool {
		return c.neutralSoFar(l) && !(c.op == hlo.OpAdd && l.Shape().Type().IsFloat() && !scalar.IsMinusZero(l))
	})
}

// neutralUpToSign is neutral, but for the sign of a zero.
func (c combiner) neutralUpToSign(init hlo.Instruction) bool { return splatIs(init, c.neutralSoFar) }

func (c combiner) neutralSoFar(l *hlo.Literal) bool {
	if l.Shape().Type() != c.t {
		return false
	}
	is := neutrals[c.op]
	return is != nil && is(l) && !(c.op == hlo.OpMultiply && c.t.IsComplex())
}

// neutrals recognise the neutral element of each op that folds.
var neutrals = [hlo.NumOpcodes]func(*hlo.Literal) bool{
	hlo.OpAdd: isAnyZero, hlo.OpXor: scalar.IsZero, hlo.OpMultiply: scalar.IsOne, hlo.OpAnd: scalar.AllOnes, hlo.OpOr: scalar.IsZero,
	hlo.OpMaximum: scalar.IsLowest, hlo.OpMinimum: scalar.IsHighest,
}

func (c combiner) idempotent() bool {
	switch c.op {
	case hlo.OpMinimum, hlo.OpMaximum, hlo.OpAnd, hlo.OpOr:
		return true
	}
	return false
}

// associative reports whether results are the same however arguments are grouped.
func (c combiner) associative() bool {
	return c.idempotent() || c.t.IsInteger() && (c.op == hlo.OpAdd || c.op == hlo.OpMultiply || c.op == hlo.OpXor)
}

func isAnyZero(l *hlo.Literal) bool {
	if l.Shape().Type().IsComplex() {
		return scalar.Is(l, 0)
	}
	return scalar.IsZero(l) || scalar.IsMinusZero(l)
}

func reduceOfNothing(in hlo.Instruction) (pass.Expr, bool) {
	n := in.NumOperands() / 2
	for i := range n {
		if in.OperandInstr(i).Shape().NumElements() != 0 {
			return no()
		}
	}
	if n == 1 && in.Shape().IsArray() {
		return done(likeShape(in.Shape(), pass.Use(in.OperandInstr(1))))
	}
	return tupleOf(in, func(i int) pass.Expr { return likeShape(in.Shape().Elem(i), pass.Use(in.OperandInstr(n+i))) })
}

// likeShape is x repeated over a shape, or x itself.
func likeShape(s hlo.Shape, x pass.Expr) pass.Expr {
	if s.Rank() == 0 {
		return x
	}
	return shaped(hlo.OpBroadcast, s, &hlo.BroadcastAttrs{}, x)
}

// tupleOf makes a tuple of the shape of in.
func tupleOf(in hlo.Instruction, element func(i int) pass.Expr) (pass.Expr, bool) {
	var parts []pass.Expr
	for i := range in.Shape().NumElems() {
		parts = append(parts, element(i))
	}
	return done(shaped(hlo.OpTuple, in.Shape(), nil, parts...))
}

// unwrapped calls a computation without the tuple around its only result.
func unwrapped(s pass.Site, in hlo.Instruction) (pass.Expr, bool) {
	if in.NumOperands() != 2 || !in.Shape().IsTuple() || in.Shape().NumElems() != 1 {
		return no()
	}
	c, ok := s.Computation(in.Callee(0))
	if !ok || !is(c.Root(), hlo.OpTuple) {
		return no()
	}
	inner := shaped(in.Opcode(), in.Shape().Elem(0), in.Attrs(), pass.Use(in.OperandInstr(0)), pass.Use(in.OperandInstr(1)))
	if !valid(inner) {
		return no()
	}
	inner = inner.Making(&pass.NewCallee{Key: "unwrapped." + c.Name(), Make: func(e *hlo.Editor) hlo.CompID {
		b := e.NewComputation(c.Name())
		b.SetScheduled(e.Config().IsScheduled)
		ids := map[hlo.InstrID]hlo.InstrID{}
		for x := range c.PostOrder() {
			if x.ID() == c.Root().ID() {
				continue
			}
			spec := hlo.InstrSpec{Opcode: x.Opcode(), Shape: x.Shape(), Attrs: x.Attrs(), Common: x.Common()}
			for o := range x.OperandIDs() {
				spec.Operands = append(spec.Operands, ids[o])
			}
			for f := range x.Callees() {
				spec.Callees = append(spec.Callees, f)
			}
			ids[x.ID()] = b.Append(spec)
		}
		return b.Finish(ids[c.Root().Operand(0)])
	}})
	return done(shaped(hlo.OpTuple, in.Shape(), nil, inner))
}

// reduceOfOnes reads a computation that combines each pair of parameters by an op of its own.
func reduceOfOnes(s pass.Site, in hlo.Instruction) (pass.Expr, bool) {
	n := in.NumOperands() / 2
	if n < 2 || !in.Shape().IsTuple() || in.Shape().Elem(0).NumElements() != in.OperandInstr(0).Shape().NumElements() {
		return no()
	}
	c, ok := s.Computation(in.Callee(0))
	if !ok || !is(c.Root(), hlo.OpTuple) || c.Root().NumOperands() != n {
		return no()
	}
	for i := range n {
		r := c.Root().OperandInstr(i)
		if r.NumOperands() != 2 || r.NumCallees() > 0 || !hlo.Info(r.Opcode()).Traits.Has(hlo.TraitElementwise|hlo.TraitCommutative) {
			return no()
		}
		a, okA := r.OperandInstr(0).ParameterNumber()
		b, okB := r.OperandInstr(1).ParameterNumber()
		if !okA || !okB || min(a, b) != int64(i) || max(a, b) != int64(n+i) {
			return no()
		}
		by := combiner{r.Opcode(), r.Shape().Type()}
		if !by.neutralUpToSign(in.OperandInstr(n+i)) || in.OperandInstr(i).Shape().NumElements() != in.Shape().Elem(i).NumElements() {
			return no()
		}
	}
	return tupleOf(in, func(i int) pass.Expr {
		return shaped(hlo.OpReshape, in.Shape().Elem(i), nil, pass.Use(in.OperandInstr(i)))
	})
}

func sumOfBroadcast(_ pass.Site, in hlo.Instruction, by combiner) (pass.Expr, bool) {
	b := in.OperandInstr(0)
	at := broadcastAxes(b)
	t := in.Shape().Type()
	if by.op != hlo.OpAdd || !slices.IsSorted(at) || t.IsComplex() {
		return no()
	}
	n := int64(1)
	for _, a := range axes(in) {
		if slices.Contains(at, a) {
			return no()
		}
		n *= b.Shape().Dim(int(a))
	}
	k, ok := scalar.Nearest(t, float64(n))
	if !ok {
		return no()
	}
	var to []int64
	for _, a := range at {
		before := int64(0)
		for _, r := range axes(in) {
			if r < a {
				before++
			}
		}
		to = append(to, a-before)
	}
	x := pass.Use(b.OperandInstr(0))
	if in.Shape().Rank() != x.Shape().Rank() || !slices.IsSorted(to) {
		x = shaped(hlo.OpBroadcast, in.Shape(), &hlo.BroadcastAttrs{Dimensions: to}, x)
	}
	scaled := shaped(hlo.OpMultiply, in.Shape(), nil, x, like(in.Shape(), pass.Constant(k)))
	return done(shaped(hlo.OpAdd, in.Shape(), nil, like(in.Shape(), pass.Use(in.OperandInstr(1))), scaled))
}

func reduceOfTranspose(in hlo.Instruction, always bool) (pass.Expr, bool) {
	t := in.OperandInstr(0)
	if !always && in.Shape().Rank() > 1 && !oneUse(t) && !onlyReduced(t) {
		return no()
	}
	var gone []int64
	var kept []int64 // axes of x that stay, in the order of the result
	for i, a := range axes(t) {
		if slices.Contains(axes(in), int64(i)) {
			gone = append(gone, a)
		} else {
			kept = append(kept, a)
		}
	}
	slices.Sort(gone)
	r := reduced(in, pass.Use(t.OperandInstr(0)), pass.Use(in.OperandInstr(1)), gone)
	perm := make([]int64, len(kept))
	sorted := slices.Sorted(slices.Values(kept))
	for i, a := range kept {
		perm[i] = int64(slices.Index(sorted, a))
	}
	return done(transposed(r, perm...))
}

func onlyReduced(x hlo.Instruction) bool {
	for u := range x.Users() {
		if !is(u, hlo.OpReduce) {
			return false
		}
	}
	return !x.IsRoot()
}

func reduceOfReduce(s pass.Site, in hlo.Instruction, by combiner) (pass.Expr, bool) {
	inner := in.OperandInstr(0)
	if inner.NumOperands() != 2 || !sameValue(in.OperandInstr(1), inner.OperandInstr(1)) || !by.neutralUpToSign(in.OperandInstr(1)) {
		return no()
	}
	if other, ok := combinerOf(s, inner); !ok || other != by {
		return no()
	}
	var kept, gone []int64
	for i := range int64(inner.OperandInstr(0).Shape().Rank()) {
		if slices.Contains(axes(inner), i) {
			gone = append(gone, i)
		} else {
			kept = append(kept, i)
		}
	}
	for _, a := range axes(in) {
		gone = append(gone, kept[a])
	}
	slices.Sort(gone)
	return done(reduced(in, pass.Use(inner.OperandInstr(0)), pass.Use(in.OperandInstr(1)), gone))
}
