package loops

import (
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/control"
	"github.com/gohalo/halo/passes/emit"
)

// widen moves the frontier, with all that it is made from, in front of the loop, and hands the values in as further parts of the state.
func (l *loop) widen(param, root hlo.InstrID, frontier []hlo.InstrID) error {
	while := specOf(l.c.At(l.while))
	narrow := while.Shape
	n := narrow.NumElems()
	l.moved = make(map[hlo.InstrID]hlo.InstrID)
	var origins []*hlo.Origin
	for _, id := range frontier {
		origins = append(origins, originOf(l.body.At(id)))
	}
	parts := make([]hlo.InstrID, 0, n+len(frontier))
	shapes := narrow.Elems()
	for i := range n {
		parts = append(parts, l.element(l.c, l.while, while.Operands[0], i))
	}
	for _, id := range frontier {
		parts = append(parts, l.copyOut(id, param, parts))
		shapes = append(shapes, l.body.At(id).Shape())
	}
	state := hlo.MakeTuple(shapes...)
	wide := l.c.InsertSpecBefore(l.while, hlo.InstrSpec{Opcode: hlo.OpTuple, Shape: state, Operands: parts}).ID()

	// The body takes the values from its state and hands them on.
	results := slices.Collect(l.body.At(root).OperandIDs())
	first := firstComputed(l.body)
	widenState(l.body.Instr(param), state, origins)
	var taken []hlo.InstrID
	instead := make(map[hlo.InstrID]hlo.InstrID, len(frontier))
	for k, id := range frontier {
		taken = append(taken, l.element(l.body, first, param, n+k))
		l.body.ReplaceAllUses(id, taken[k])
		instead[id] = taken[k]
	}
	for i, id := range results { // the root may have used what was moved
		if to, ok := instead[id]; ok {
			results[i] = to
		}
	}
	widenState(l.body.Instr(root).SetOperands(append(results, taken...)...), state, origins)
	widenState(l.cond.Instr(l.cond.View().Parameters()[0]), state, origins)

	for _, id := range frontier {
		l.drop(id)
	}
	for _, c := range []hlo.CompEdit{l.body, l.cond} { // as XLA names what it has widened
		if !strings.HasPrefix(c.Name(), "wide.") {
			c.SetName("wide." + c.Name())
		}
	}

	// Outside, the loop's value is the tuple of its first parts.
	while.Shape, while.Operands, while.Common = state, []hlo.InstrID{wide}, emit.WiderOrigin(while.Common, origins)
	loop := l.c.InsertSpecBefore(l.while, while).ID()
	var out []hlo.InstrID
	for i := range n {
		out = append(out, l.element(l.c, l.while, loop, i))
	}
	tuple := l.c.InsertSpecBefore(l.while, hlo.InstrSpec{Opcode: hlo.OpTuple, Shape: narrow, Operands: out}).ID()
	return l.c.ReplaceInstruction(l.while, tuple)
}

// drop removes what has been moved out and has no users in the body any more.
func (l *loop) drop(id hlo.InstrID) {
	if !l.body.Has(id) || l.body.UserCount(id) > 0 || l.body.Root() == id || !l.invariant[id] || l.body.At(id).NumControlSuccessors() > 0 {
		return
	}
	operands := slices.Collect(l.body.At(id).OperandIDs())
	if l.body.Remove(id) != nil {
		return
	}
	for _, o := range operands {
		l.drop(o)
	}
}

// widenState gives a parameter or the root the wider state.
func widenState(in hlo.InstrEdit, state hlo.Shape, origins []*hlo.Origin) {
	in.SetShape(state).SetCommon(emit.WiderOrigin(in.View().Common(), origins))
}

func originOf(in hlo.Instruction) *hlo.Origin {
	if c := in.Common(); c != nil {
		return c.Origin
	}
	return nil
}

// specOf is an instruction as something to make again.
func specOf(in hlo.Instruction) hlo.InstrSpec {
	return hlo.InstrSpec{Opcode: in.Opcode(), Name: in.Name(), Shape: in.Shape(), Operands: slices.Collect(in.OperandIDs()), Attrs: in.Attrs(),
		Common: in.Common(), Callees: slices.Collect(in.Callees()), Control: slices.Collect(in.ControlPredecessors()), Position: in.Position()}
}

func (l *loop) element(c hlo.CompEdit, before, tuple hlo.InstrID, i int) hlo.InstrID {
	return c.InsertSpecBefore(before, hlo.InstrSpec{Opcode: hlo.OpGetTupleElement, Shape: c.At(tuple).Shape().Elem(i),
		Operands: []hlo.InstrID{tuple}, Attrs: &hlo.TupleElementAttrs{Index: int64(i)}}).ID()
}

// copyOut copies an invariant instruction of the body, and what it is made from, in front of the loop.
func (l *loop) copyOut(id, param hlo.InstrID, state []hlo.InstrID) hlo.InstrID {
	if to, ok := l.moved[id]; ok {
		return to
	}
	in := l.body.At(id)
	if in.Opcode() == hlo.OpGetTupleElement && in.Operand(0) == param {
		return state[hlo.AttrsOf[hlo.TupleElementAttrs](in).Index]
	}
	operands := make(map[hlo.InstrID]hlo.InstrID)
	for o := range in.OperandIDs() {
		operands[o] = l.copyOut(o, param, state)
	}
	spec := control.Copy(l.e, in, operands)
	to := l.c.InsertSpecBefore(l.while, spec).ID()
	l.moved[id] = to
	return to
}
