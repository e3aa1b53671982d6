package collectives

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/control"
	"github.com/gohalo/halo/passes/emit"
)

// tail is the end of a round that is done in the next one: collectives, all that is made of them, and the updates of the state that it ends in.
type tail struct {
	ops     []hlo.InstrID // operands first
	in      map[hlo.InstrID]bool
	updates map[int]hlo.InstrID // by part of the state
	inputs  []hlo.InstrID       // of the body, that the tail reads
}

// delay does the tail of each round in the next: the state gets what it reads.
func (w *pipelined) delay(ctx *pass.Context, m hlo.Module, while hlo.Instruction, body hlo.Computation) (bool, error) {
	t := &tail{in: map[hlo.InstrID]bool{}, updates: map[int]hlo.InstrID{}}
	n := 0
	for in := range body.PostOrder() {
		if !slices.Contains(w.kinds, in.Opcode()) || !isCollective(in) || n == w.limit || t.in[in.ID()] {
			continue
		}
		grown := &tail{in: map[hlo.InstrID]bool{}, updates: map[int]hlo.InstrID{}}
		if grown.follow(m, while, body, in) && len(grown.updates) > 0 && ctx.Spend("pipeline") {
			ctx.Passed(in, "is exchanged in the next round, with %d others", n)
			for id := range grown.in {
				t.in[id] = true
			}
			for i, id := range grown.updates {
				t.updates[i] = id
			}
			n++
		}
	}
	if n == 0 {
		return false, nil
	}
	ctx.Count("collectives", int64(n))
	for in := range body.PostOrder() {
		if t.in[in.ID()] {
			t.ops = append(t.ops, in.ID())
		}
	}
	t.findInputs(body)
	return true, w.applyTail(body, t)
}

// follow collects what is made of a value; false if that reaches anything but updates of the state.
func (t *tail) follow(m hlo.Module, while hlo.Instruction, body hlo.Computation, in hlo.Instruction) bool {
	if t.in[in.ID()] {
		return true
	}
	const no = hlo.TraitSideEffect | hlo.TraitRandom | hlo.TraitTokens | hlo.TraitAsyncStart | hlo.TraitAsyncDone
	if in.IsRoot() || in.UserCount() == 0 || len(t.in) > 256 || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 || hlo.Info(in.Opcode()).Traits&no != 0 || hlo.IsAsync(in.Opcode()) {
		return false
	}
	t.in[in.ID()] = true
	for u := range in.Users() {
		if u.Opcode() == hlo.OpDynamicUpdateSlice && u.Operand(0) != in.ID() {
			if part, ok := updatesState(m, while, body, u); ok {
				t.in[u.ID()] = true
				t.updates[part] = u.ID()
				continue
			}
		}
		if !t.follow(m, while, body, u) {
			return false
		}
	}
	return true
}

// updatesState reports whether an update writes a part of the state that nothing else in the loop reads, and which.
func updatesState(m hlo.Module, while hlo.Instruction, body hlo.Computation, update hlo.Instruction) (int, bool) {
	state, root := stateOf(update.OperandInstr(0)), body.Root()
	if u, ok := soleUser(update); !ok || u.ID() != root.ID() || update.NumControlPredecessors() > 0 {
		return 0, false
	}
	i := int64(slices.Index(slices.Collect(root.OperandIDs()), update.ID()))
	isState := isElement(state) && hlo.AttrsOf[hlo.TupleElementAttrs](state).Index == i && state.UserCount() == 1
	if !isState && !alwaysSinks(update) || slices.Contains(slices.Collect(root.OperandIDs())[i+1:], update.ID()) {
		return 0, false
	}
	for _, c := range []hlo.Computation{body, m.MustComputation(while.Callee(1))} {
		for u := range c.Parameter(0).Users() {
			if u.Opcode() != hlo.OpGetTupleElement || hlo.AttrsOf[hlo.TupleElementAttrs](u).Index == i && !(c.ID() == body.ID() && u.ID() == state.ID()) {
				return 0, false
			}
		}
	}
	return int(i), true
}

// stateOf is a value without the barriers that hold it.
func stateOf(in hlo.Instruction) hlo.Instruction {
	for in.Opcode() == hlo.OpOptBarrier && in.UserCount() == 1 && in.OperandInstr(0).Shape().IsArray() {
		in = in.OperandInstr(0)
	}
	return in
}

// isElement reports whether a value is a part of the state.
func isElement(in hlo.Instruction) bool {
	return in.Opcode() == hlo.OpGetTupleElement && in.OperandInstr(0).Opcode() == hlo.OpParameter
}

// alwaysSinks reports whether the program asks for an update to be delayed whatever it updates: its result is read behind the loop only.
func alwaysSinks(update hlo.Instruction) bool {
	c := update.Common()
	if c == nil {
		return false
	}
	v, _ := c.FrontendAttributes.Get("always_sink")
	return v == "1" || v == "true"
}

// findInputs lists what the tail reads: constants are made again, and the parts that it updates are there.
func (t *tail) findInputs(body hlo.Computation) {
	state := map[hlo.InstrID]bool{}
	for _, id := range t.updates {
		if base := body.MustAt(id).OperandInstr(0); isElement(stateOf(base)) {
			state[base.ID()] = true
		}
	}
	for _, id := range t.ops {
		for o := range body.MustAt(id).Operands() {
			if !t.in[o.ID()] && !state[o.ID()] && o.Opcode() != hlo.OpConstant && !slices.Contains(t.inputs, o.ID()) {
				t.inputs = append(t.inputs, o.ID())
			}
		}
	}
}

// applyTail changes the loop.
//
//  1. The first round is copied before the loop, without its tail.
//  2. The body does the tail of the round before, of what that has left in the state.
//  3. The tail of the last round stands behind the loop.
func (w *pipelined) applyTail(body hlo.Computation, t *tail) error {
	spec := emit.Again(w.c.At(w.while))
	narrow, init := spec.Shape, spec.Operands[0]
	n := narrow.NumElems()
	at := emit.Before(w.c, w.c.At(w.while))

	copied := map[hlo.InstrID]hlo.InstrID{body.Parameter(0).ID(): init}
	for in := range body.PostOrder() {
		if in.Opcode() != hlo.OpParameter && !t.in[in.ID()] && !in.IsRoot() {
			copied[in.ID()] = w.c.InsertSpecBefore(w.while, control.Copy(w.e, in, copied)).ID()
		}
	}
	root := body.Root()
	var parts []hlo.InstrID
	for i := range n {
		if id, ok := t.updates[i]; ok {
			parts = append(parts, copied[body.MustAt(id).Operand(0)])
		} else {
			parts = append(parts, copied[root.Operand(i)])
		}
	}
	shapes := narrow.Elems()
	for _, id := range t.inputs {
		parts, shapes = append(parts, copied[id]), append(shapes, body.MustAt(id).Shape())
	}
	state := hlo.MakeTuple(shapes...)
	spec.Common = emit.WiderOrigin(spec.Common, make([]*hlo.Origin, len(shapes)-narrow.NumElems()))
	spec.Operands, spec.Shape = []hlo.InstrID{at.OpOf(hlo.OpTuple, state, nil, parts...)}, state
	loop := at.Spec(spec)

	b := w.body
	param := body.Parameter(0).ID()
	emit.Widen(b.Instr(param), state)
	emit.Widen(w.cond.Instr(w.cond.View().Parameters()[0]), state)
	emit.Widen(b.Instr(root.ID()).SetOperands(append(slices.Collect(root.OperandIDs()), t.inputs...)...), state)
	inside := emit.Before(b, b.At(firstOf(b)))
	before := map[hlo.InstrID]hlo.InstrID{}
	for k, id := range t.inputs {
		before[id] = inside.Element(param, n+k)
	}
	for _, id := range t.ops {
		operands := slices.Collect(b.At(id).OperandIDs())
		for i, o := range operands {
			if to, ok := before[o]; ok {
				operands[i] = to
			}
		}
		b.Instr(id).SetOperands(operands...)
	}
	emit.Reorder(b)
	return w.behindTail(at, loop, body, t, narrow)
}

// behindTail does the last tail behind the loop, and puts what it makes in the place of the loop's results.
func (w *pipelined) behindTail(at emit.At, loop hlo.InstrID, body hlo.Computation, t *tail, narrow hlo.Shape) error {
	results := make([]hlo.InstrID, narrow.NumElems())
	for i := range results {
		results[i] = at.Element(loop, i)
	}
	last := map[hlo.InstrID]hlo.InstrID{}
	for k, id := range t.inputs {
		last[id] = at.Element(loop, narrow.NumElems()+k)
	}
	for i, id := range t.updates {
		if base := body.MustAt(id).OperandInstr(0); isElement(stateOf(base)) {
			last[base.ID()] = results[i]
		}
	}
	for _, id := range t.ops {
		in := body.MustAt(id)
		for o := range in.Operands() {
			if o.Opcode() == hlo.OpConstant && last[o.ID()] == 0 {
				last[o.ID()] = at.Spec(emit.Again(o))
			}
		}
		last[id] = at.Spec(control.Copy(w.e, in, last))
	}
	for i, id := range t.updates {
		results[i] = last[id]
	}
	return w.replaceLoop(at, narrow, results)
}
