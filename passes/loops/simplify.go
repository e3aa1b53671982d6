package loops

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/control"
)

// Simplifier removes loops, and parts of their state.
var Simplifier = &pass.Pass{
	Name: "while-loop-simplifier",
	Doc: `remove loops that run once or never, and parts of the state that nothing depends on

A loop whose condition is false at once is its input; one of a single round is its body. A part of the state is dead if nobody looks at it after the
loop, and if neither the condition nor any other part depends on it. Loops that communicate, and those that hand asynchronous work from round to
round, stay.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		effects := pass.Fact(ctx, m, analysis.FindSideEffects)
		e := ctx.Edit(m)
		for c := range m.PostOrder() {
			for in := range c.Instructions() {
				if in.Opcode() != hlo.OpWhile || !ownsCallees(m, in) || effects.OfComputation(condition(m, in).ID()) || communicates(m, in) {
					continue
				}
				ce := e.Computation(c.ID())
				if l, ok := analysis.FindLoop(m, in); ok && l.Trip <= 1 && ctx.SpendOn("few-rounds", pass.Cost{}) {
					if err := unloop(ce, in, body(m, in), l.Trip); err != nil {
						return m, err
					}
					ctx.Count("loops", 1)
					continue
				}
				if err := dropDead(ctx, e, m, ce, in, effects); err != nil {
					return m, err
				}
			}
		}
		return e.Freeze(), nil
	},
}

// communicates reports whether a loop has steps of asynchronous work, or tokens, in its body or in its state.
func communicates(m hlo.Module, while hlo.Instruction) (found bool) {
	while.Shape().Leaves(func(_ hlo.ShapeIndex, leaf hlo.Shape) bool {
		found = found || leaf.IsToken()
		return !found
	})
	for in := range body(m, while).Instructions() {
		const steps = hlo.TraitAsyncStart | hlo.TraitAsyncDone | hlo.TraitTokens
		found = found || hlo.IsAsync(in.Opcode()) || hlo.Info(in.Opcode()).Traits&steps != 0
	}
	return found
}

// body and condition are the callees of a loop.
func body(m hlo.Module, while hlo.Instruction) hlo.Computation {
	return m.MustComputation(while.Callee(calleeNamed("body")))
}

func condition(m hlo.Module, while hlo.Instruction) hlo.Computation {
	return m.MustComputation(while.Callee(calleeNamed("condition")))
}

func calleeNamed(role string) int {
	return slices.IndexFunc(hlo.Info(hlo.OpWhile).Callees, func(r hlo.CalleeRole) bool { return r.Name == role })
}

// unloop replaces a loop of no round by its input, and one of one round by its body.
func unloop(ce hlo.CompEdit, while hlo.Instruction, body hlo.Computation, trips int64) error {
	to := ce.At(while.ID()).Operand(0)
	if trips == 1 {
		to = control.InlineBefore(ce, while.ID(), ce.Editor().View(body.ID()), []hlo.InstrID{to})
	}
	if !ce.At(to).Shape().Equal(while.Shape()) {
		return nil
	}
	return ce.ReplaceInstruction(while.ID(), to)
}

// dropDead makes the state of a loop narrower.
func dropDead(ctx *pass.Context, e *hlo.Editor, m hlo.Module, ce hlo.CompEdit, in hlo.Instruction, effects *analysis.SideEffects) error {
	b, c, init := body(m, in), condition(m, in), ce.At(ce.At(in.ID()).Operand(0))
	if init.Opcode() != hlo.OpTuple || b.Root().Opcode() != hlo.OpTuple || in.IsRoot() || isDecorated(in) || isDecorated(b.Root()) ||
		b.Root().UserCount() > 0 || e.Has(b.ID()) && e.View(b.ID()) != b || e.View(c.ID()) != c {
		return nil
	}
	n := in.Shape().NumElems()
	live, ok := liveParts(in, b, c, n, effects)
	if !ok || !slices.Contains(live, false) || !slices.Contains(live, true) || !ctx.Spend("dead-parts") {
		return nil
	}
	var kept []int
	var shapes []hlo.Shape
	place := make([]int, n)
	for i := range n {
		if live[i] {
			place[i] = len(kept)
			kept = append(kept, i)
			shapes = append(shapes, in.Shape().Elem(i))
		}
	}
	ctx.Count("parts", int64(n-len(kept)))
	state := hlo.MakeTuple(shapes...)
	pick := func(ids []hlo.InstrID) (some []hlo.InstrID) {
		for _, i := range kept {
			some = append(some, ids[i])
		}
		return some
	}
	narrow := func(id hlo.CompID) {
		inner := e.Computation(id)
		param := inner.View().Parameters()[0]
		for user := range inner.Users(param) {
			i := int(hlo.AttrsOf[hlo.TupleElementAttrs](inner.At(user)).Index)
			if live[i] {
				inner.Instr(user).SetAttrs(&hlo.TupleElementAttrs{Index: int64(place[i])})
			}
		}
		inner.Instr(param).SetShape(state)
	}
	eb := e.Computation(b.ID())
	old := slices.Collect(b.Root().OperandIDs())
	eb.Instr(b.Root().ID()).SetOperands(pick(old)...).SetShape(state)
	// What only dead parts were made of goes first: it may read elements that are no more.
	for i, id := range old {
		if !live[i] {
			pass.Release(eb, id, nil)
		}
	}
	for user := range eb.Users(b.Parameters()[0]) {
		if !live[hlo.AttrsOf[hlo.TupleElementAttrs](eb.At(user)).Index] {
			removeWithUsers(eb, user)
		}
	}
	narrow(b.ID())
	for user := range e.Computation(c.ID()).Users(c.Parameters()[0]) {
		if !live[hlo.AttrsOf[hlo.TupleElementAttrs](c.MustAt(user)).Index] {
			removeWithUsers(e.Computation(c.ID()), user)
		}
	}
	narrow(c.ID())

	spec := specOf(ce.At(in.ID()))
	tuple := ce.InsertSpecBefore(in.ID(), hlo.InstrSpec{Opcode: hlo.OpTuple, Shape: state, Operands: pick(slices.Collect(init.OperandIDs()))}).ID()
	spec.Shape, spec.Operands, spec.Common = state, []hlo.InstrID{tuple}, renumbered(spec.Common, place)
	loop := ce.InsertSpecBefore(in.ID(), spec).ID()
	for user := range ce.Users(in.ID()) {
		i := int(hlo.AttrsOf[hlo.TupleElementAttrs](ce.At(user)).Index)
		ce.Instr(user).SetOperands(loop).SetAttrs(&hlo.TupleElementAttrs{Index: int64(place[i])})
	}
	for s := range ce.ControlSuccessors(in.ID()) {
		ce.Instr(s).RemoveControlPredecessor(in.ID()).AddControlPredecessor(loop)
	}
	return ce.Remove(in.ID())
}

// removeWithUsers removes dead code that reads what is no longer there.
func removeWithUsers(c hlo.CompEdit, id hlo.InstrID) {
	for user := range c.Users(id) {
		removeWithUsers(c, user)
	}
	if c.Has(id) {
		_ = c.Remove(id) // what cannot go is live, and then so is the part
	}
}

// isDecorated reports attributes that describe each part of a tuple.
func isDecorated(in hlo.Instruction) bool {
	c := in.Common()
	return c != nil && (c.Sharding != nil || c.Origin != nil)
}

// liveParts marks the parts of the state that something depends on; false if the state is used in another way than part by part.
func liveParts(while hlo.Instruction, b, c hlo.Computation, n int, effects *analysis.SideEffects) ([]bool, bool) {
	live := make([]bool, n)
	for user := range while.Users() {
		if user.Opcode() != hlo.OpGetTupleElement {
			return nil, false
		}
		live[hlo.AttrsOf[hlo.TupleElementAttrs](user).Index] = true
	}
	for _, comp := range []hlo.Computation{b, c} {
		p := comp.Parameter(0)
		if p.IsRoot() || isDecorated(p) {
			return nil, false
		}
		for user := range p.Users() {
			if user.Opcode() != hlo.OpGetTupleElement {
				return nil, false
			}
		}
		for in := range comp.Instructions() {
			if in.NumControlPredecessors() > 0 {
				return nil, false
			}
		}
	}
	needs := func(from hlo.Instruction) (parts []int) {
		seen := map[hlo.InstrID]bool{}
		for work := []hlo.Instruction{from}; len(work) > 0; {
			in := work[len(work)-1]
			work = work[:len(work)-1]
			if seen[in.ID()] {
				continue
			}
			seen[in.ID()] = true
			if in.Opcode() == hlo.OpGetTupleElement && in.OperandInstr(0).Opcode() == hlo.OpParameter {
				parts = append(parts, int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index))
				continue
			}
			work = slices.AppendSeq(work, in.Operands())
		}
		return parts
	}
	var work []int
	mark := func(parts []int) {
		for _, i := range parts {
			live[i] = true
			work = append(work, i)
		}
	}
	for i, l := range live {
		if l {
			work = append(work, i)
		}
	}
	mark(needs(c.Root()))
	for in := range b.Instructions() {
		traits := hlo.Info(in.Opcode()).Traits
		if effects.Of(in) || in.NumCallees() > 0 || hlo.IsAsync(in.Opcode()) ||
			traits&(hlo.TraitSideEffect|hlo.TraitCollective|hlo.TraitRandom|hlo.TraitTokens|hlo.TraitAsyncStart|hlo.TraitAsyncDone) != 0 || in.Opcode() == hlo.OpCustomCall {
			mark(needs(in)) // it stays, whoever reads it
		}
	}
	done := make([]bool, n)
	for len(work) > 0 {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		if !done[i] {
			done[i] = true
			mark(needs(b.Root().OperandInstr(i)))
		}
	}
	return live, true
}
