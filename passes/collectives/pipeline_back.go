package collectives

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/control"
	"github.com/gohalo/halo/passes/emit"
)

// chain is a collective and what it is made from in the body, operands first.
type chain struct {
	collective hlo.InstrID
	ops        []hlo.InstrID // the collective last; elements of the state are not in it
}

// early moves collectives to the round before the one that needs them.
//
//  1. What the first round needs is exchanged before the loop, and becomes a part of the state.
//  2. Each round uses that part, and exchanges what the next round needs; the loop ends one round earlier.
//  3. The last round stands behind the loop.
func (w *pipelined) early(ctx *pass.Context, body hlo.Computation) error {
	var chains []chain
	for in := range body.PostOrder() {
		if !slices.Contains(w.kinds, in.Opcode()) || !isCollective(in) || !in.Shape().IsArray() || in.IsRoot() || len(chains) == w.limit {
			continue
		}
		ch := chain{collective: in.ID()}
		if w.collect(body, in, &ch) && ctx.Spend("pipeline") {
			ctx.Passed(in, "is exchanged a round earlier: %d bytes", in.Shape().ByteSize())
			chains = append(chains, ch)
		}
	}
	if len(chains) == 0 {
		return nil
	}
	ctx.Count("collectives", int64(len(chains)))
	spec := emit.Again(w.c.At(w.while))
	narrow := spec.Shape
	n := narrow.NumElems()
	at := emit.Before(w.c, w.c.At(w.while))
	init := spec.Operands[0]
	parts := make([]hlo.InstrID, n)
	for i := range parts {
		if tuple := w.c.At(init); tuple.Opcode() == hlo.OpTuple {
			parts[i] = tuple.Operand(i) // where the counter begins must be seen by the next run
		} else {
			parts[i] = at.Element(init, i)
		}
	}
	shapes := narrow.Elems()
	for _, ch := range chains {
		first := w.again(w.c, at, body, ch, func(i int) hlo.InstrID { return parts[i] })
		parts, shapes = append(parts, first), append(shapes, w.c.At(first).Shape())
	}
	state := hlo.MakeTuple(shapes...)
	spec.Common = emit.WiderOrigin(spec.Common, make([]*hlo.Origin, len(shapes)-narrow.NumElems()))
	spec.Operands, spec.Shape = []hlo.InstrID{at.OpOf(hlo.OpTuple, state, nil, parts...)}, state
	loop := at.Spec(spec)

	b := w.body
	param, root := b.View().Parameters()[0], b.Root()
	emit.Widen(b.Instr(param), state)
	inside := emit.Before(b, b.At(firstOf(b)))
	for k, ch := range chains {
		b.ReplaceAllUses(ch.collective, inside.Element(param, n+k))
	}
	last := w.lastRound(loop, body.Root().ID(), chains)
	results := slices.Collect(b.At(root).OperandIDs())
	next := results[w.loop.Induction]
	at = emit.Before(b, b.At(root))
	elements := map[int]hlo.InstrID{w.loop.Induction: next}
	for _, ch := range chains {
		results = append(results, w.again(b, at, body, ch, func(i int) hlo.InstrID {
			if _, ok := elements[i]; !ok {
				elements[i] = at.Element(param, i)
			}
			return elements[i]
		}))
	}
	emit.Widen(b.Instr(root).SetOperands(results...), state)
	for _, ch := range chains {
		if err := b.Remove(ch.collective); err != nil {
			return err
		}
	}
	w.endEarlier(state)
	emit.Reorder(b)
	if err := w.c.ReplaceInstruction(w.while, last); err != nil {
		return err
	}
	emit.Reorder(w.c)
	return nil
}

// firstOf is the first instruction of the body that is no parameter.
func firstOf(c hlo.CompEdit) hlo.InstrID {
	for in := range c.View().Instructions() {
		if in.Opcode() != hlo.OpParameter {
			return in.ID()
		}
	}
	return c.Root()
}

// collect gathers what a value is made from; false if that is more than the counter, constants, and parts of the state that no round
// changes.
func (w *pipelined) collect(body hlo.Computation, in hlo.Instruction, ch *chain) bool {
	if slices.Contains(ch.ops, in.ID()) {
		return true
	}
	if !freeOfOrder(body, in) || len(ch.ops) > 64 {
		return false
	}
	if in.Opcode() == hlo.OpGetTupleElement && in.OperandInstr(0).Opcode() == hlo.OpParameter {
		i := int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index)
		back := body.Root().OperandInstr(i)
		return i == w.loop.Induction || back.Opcode() == hlo.OpGetTupleElement && back.OperandInstr(0).Opcode() == hlo.OpParameter &&
			hlo.AttrsOf[hlo.TupleElementAttrs](back).Index == int64(i)
	}
	t := hlo.Info(in.Opcode()).Traits
	const no = hlo.TraitSideEffect | hlo.TraitRandom | hlo.TraitTokens | hlo.TraitControl | hlo.TraitAsyncStart | hlo.TraitAsyncDone
	if t&no != 0 || in.Opcode() == hlo.OpParameter || w.effects.Of(in) || t.Has(hlo.TraitCollective) && in.ID() != ch.collective || hlo.IsAsync(in.Opcode()) {
		return false
	}
	for o := range in.Operands() {
		if !w.collect(body, o, ch) {
			return false
		}
	}
	ch.ops = append(ch.ops, in.ID())
	return true
}

// freeOfOrder reports whether control dependencies say nothing of when an instruction of the body runs: it comes after constants, and before the end of the round.
func freeOfOrder(body hlo.Computation, in hlo.Instruction) bool {
	for p := range in.ControlPredecessors() {
		if body.MustAt(p).Opcode() != hlo.OpConstant {
			return false
		}
	}
	for s := range in.ControlSuccessors() {
		if body.Root().ID() != s && in.Opcode() != hlo.OpConstant {
			return false
		}
	}
	return true
}

// again makes a chain again, of other parts of the state.
func (w *pipelined) again(c hlo.CompEdit, at emit.At, body hlo.Computation, ch chain, part func(int) hlo.InstrID) hlo.InstrID {
	made := map[hlo.InstrID]hlo.InstrID{}
	var last hlo.InstrID
	for _, id := range ch.ops {
		in := body.MustAt(id)
		copied := map[hlo.InstrID]hlo.InstrID{}
		for o := range in.Operands() {
			if o.Opcode() == hlo.OpGetTupleElement && o.OperandInstr(0).Opcode() == hlo.OpParameter {
				copied[o.ID()] = part(int(hlo.AttrsOf[hlo.TupleElementAttrs](o).Index))
			} else {
				copied[o.ID()] = made[o.ID()]
			}
		}
		spec := control.Copy(w.e, in, copied)
		spec.Control = nil
		last = at.Spec(spec)
		made[id] = last
	}
	return last
}

// lastRound copies the body, which uses what has been exchanged, behind the loop.
func (w *pipelined) lastRound(loop, root hlo.InstrID, chains []chain) hlo.InstrID {
	v := w.body.View()
	dead := map[hlo.InstrID]bool{}
	for _, ch := range chains {
		dead[ch.collective] = true
	}
	copied := map[hlo.InstrID]hlo.InstrID{v.Parameters()[0]: loop}
	for in := range v.PostOrder() {
		if in.Opcode() != hlo.OpParameter && !dead[in.ID()] {
			copied[in.ID()] = w.c.InsertSpecBefore(w.while, control.Copy(w.e, in, copied)).ID()
		}
	}
	for _, id := range copied {
		if id != copied[root] && id != loop {
			pass.Release(w.c, id, nil)
		}
	}
	return copied[root]
}

// endEarlier makes the condition look at the counter of the next round.
func (w *pipelined) endEarlier(state hlo.Shape) {
	c := w.cond
	param := c.View().Parameters()[0]
	emit.Widen(c.Instr(param), state)
	for _, u := range slices.Collect(c.Users(param)) {
		in := c.At(u)
		if in.Opcode() != hlo.OpGetTupleElement || hlo.AttrsOf[hlo.TupleElementAttrs](in).Index != int64(w.loop.Induction) {
			continue
		}
		users := slices.Collect(c.Users(u))
		at := emit.End(c)
		next := at.Binary(hlo.OpAdd, u, at.Int(c.At(u).Shape().Type(), w.loop.Step))
		for _, user := range users {
			useInstead(c, user, u, next)
		}
	}
	emit.Reorder(c)
}
