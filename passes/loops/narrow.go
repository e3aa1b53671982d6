package loops

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// narrowing takes parts out of the state of one loop.
//
//  1. Parts that are the same value in every round are found, and parts that are the same constant.
//  2. What is read of them, in the loop and behind it, is read of the first, or of the constant; what is read behind the loop of a part that the body hands
//     on untouched is read of its initial value.
//  3. Parts that nothing depends on then go.
type narrowing struct {
	ctx     *pass.Context
	e       *hlo.Editor
	m       hlo.Module
	c       hlo.CompEdit // where the loop is
	while   hlo.Instruction
	effects *analysis.SideEffects

	body, cond hlo.Computation
	init       []hlo.InstrID
	alias      []int            // the first part that is the same value; the part itself if there is none
	constant   []*hlo.InstrSpec // nil if there is none
	handed     []bool           // parts that the body returns as it got them
	live       []bool
}

// dropDead makes the state of a loop narrower.
func dropDead(ctx *pass.Context, e *hlo.Editor, m hlo.Module, ce hlo.CompEdit, in hlo.Instruction, effects *analysis.SideEffects) error {
	n := &narrowing{ctx: ctx, e: e, m: m, c: ce, while: in, effects: effects, body: body(m, in), cond: condition(m, in)}
	if !n.canLook() || !n.spread() {
		return nil
	}
	n.findSame()
	n.findConstants()
	if !n.findLive() || !slices.Contains(n.live, false) || !ctx.Spend("dead-parts") {
		return nil
	}
	return n.apply()
}

// canLook reports whether the state is a tuple that is taken apart wherever it is used in the loop, which is as it was.
func (n *narrowing) canLook() bool {
	init := n.while.OperandInstr(0)
	b, c := n.body, n.cond
	if n.e.View(b.ID()) != b || n.e.View(c.ID()) != c || !init.Shape().IsTuple() || b.Root().Opcode() != hlo.OpTuple || !init.Shape().Compatible(n.while.Shape()) || b.Root().UserCount() > 0 ||
		analysis.IsSharded(n.while) || analysis.IsSharded(b.Root()) || n.while.NumControlSuccessors()+n.while.NumControlPredecessors() > 0 && (n.while.IsRoot()) {
		return false
	}
	for _, comp := range []hlo.Computation{b, c} {
		p := comp.Parameter(0)
		if comp.NumParameters() != 1 || p.IsRoot() || analysis.IsSharded(p) {
			return false
		}
		for u := range p.Users() {
			if u.Opcode() != hlo.OpGetTupleElement {
				return false
			}
		}
		for in := range comp.Instructions() {
			if in.NumControlPredecessors() > 0 {
				return false
			}
		}
	}
	return true
}

// spread names the initial value of each part. A tuple that something else made is taken apart, if there is a part that the loop only hands on.
func (n *narrowing) spread() bool {
	init := n.while.OperandInstr(0)
	if init.Opcode() != hlo.OpTuple {
		readers := func(c hlo.Computation, i int) (n int) {
			for u := range c.Parameter(0).Users() {
				if hlo.AttrsOf[hlo.TupleElementAttrs](u).Index == int64(i) {
					n++
				}
			}
			return n
		}
		idle := func(i int) bool {
			return handsOn(n.body, i, init.Shape().Elem(i)) && n.body.Root().OperandInstr(i).UserCount() == 1 && readers(n.body, i) == 1 && readers(n.cond, i) == 0
		}
		parts := make([]int, init.Shape().NumElems())
		for i := range parts {
			parts[i] = i
		}
		if analysis.IsSharded(init) || n.while.NumControlPredecessors() > 0 || !slices.ContainsFunc(parts, idle) || !slices.ContainsFunc(parts, func(i int) bool { return readers(n.cond, i) > 0 }) ||
			!n.ctx.Spend("spread") {
			return false
		}
		at := emit.Before(n.c, n.while)
		n.c.Instr(n.while.ID()).SetOperands(at.OpOf(hlo.OpTuple, init.Shape(), nil, emit.Elements(at, init.ID())...))
		n.while = n.c.At(n.while.ID())
		init = n.while.OperandInstr(0)
	}
	n.init = slices.Collect(init.OperandIDs())
	return true
}

// findSame finds parts that are one value in every round: they begin as the same value, and each round makes the same of them.
func (n *narrowing) findSame() {
	n.alias = make([]int, len(n.init))
	root := n.body.Root()
	begins := make(map[firstValue][]int) // the first of each class of parts
	for i := range n.alias {
		n.alias[i] = i
		value := n.firstValue(i)
		class := begins[value]
		k := slices.IndexFunc(class, func(j int) bool {
			return n.sameInit(i, j) && root.OperandInstr(i).Shape().Equal(root.OperandInstr(j).Shape())
		})
		if k >= 0 {
			n.alias[i] = class[k]
		} else {
			begins[value] = append(class, i)
		}
	}
	for changed := true; changed; { // what does not stay the same is taken apart until the rest does
		changed = false
		for i, j := range n.alias {
			if i != j && !n.sameValue(root.OperandInstr(i), root.OperandInstr(j), 0) {
				n.alias[i], changed = i, true
			}
		}
	}
}

// firstValue is equal for parts that begin as the same value: it has the hash of a constant under broadcasts, else the instruction itself.
type firstValue struct {
	is   hlo.InstrID
	hash uint64
}

func (n *narrowing) firstValue(i int) firstValue {
	in := n.c.At(n.init[i])
	from := in
	for from.Opcode() == hlo.OpBroadcast {
		from = from.OperandInstr(0)
	}
	if from.Opcode() == hlo.OpConstant && !from.Literal().IsElided() {
		return firstValue{hlo.NoInstr, from.LocalHash()}
	}
	return firstValue{is: in.ID()}
}

func (n *narrowing) sameInit(i, j int) bool {
	a, b := n.c.At(n.init[i]), n.c.At(n.init[j])
	if a.ID() == b.ID() {
		return true
	}
	for a.Opcode() == hlo.OpBroadcast && b.Opcode() == hlo.OpBroadcast && a.Shape().Equal(b.Shape()) && hlo.EqualAttrs(a.Attrs(), b.Attrs()) {
		a, b = a.OperandInstr(0), b.OperandInstr(0)
	}
	return a.Opcode() == hlo.OpConstant && b.Opcode() == hlo.OpConstant && a.Shape().Equal(b.Shape()) && a.Literal().Equal(b.Literal()) && !a.Literal().IsElided()
}

// sameValue reports whether two values of the body are the same if the parts that are assumed to be are.
func (n *narrowing) sameValue(a, b hlo.Instruction, depth int) bool {
	if a.ID() == b.ID() {
		return true
	}
	if depth > 8 || a.Opcode() != b.Opcode() || !a.Shape().Equal(b.Shape()) || a.NumOperands() != b.NumOperands() || !slices.Equal(slices.Collect(a.Callees()), slices.Collect(b.Callees())) {
		return false
	}
	if a.Opcode() == hlo.OpGetTupleElement && a.OperandInstr(0).Opcode() == hlo.OpParameter && b.OperandInstr(0).Opcode() == hlo.OpParameter {
		i, j := hlo.AttrsOf[hlo.TupleElementAttrs](a).Index, hlo.AttrsOf[hlo.TupleElementAttrs](b).Index
		return n.alias[i] == n.alias[j]
	}
	const varies = hlo.TraitRandom | hlo.TraitSideEffect | hlo.TraitCollective | hlo.TraitTokens | hlo.TraitAsyncStart | hlo.TraitAsyncDone
	if hlo.Info(a.Opcode()).Traits&varies != 0 || hlo.IsAsync(a.Opcode()) || a.Opcode() == hlo.OpCustomCall || n.effects.Of(a) || !hlo.EqualAttrs(a.Attrs(), b.Attrs()) {
		return false
	}
	for i := range a.NumOperands() {
		if !n.sameValue(a.OperandInstr(i), b.OperandInstr(i), depth+1) {
			return false
		}
	}
	return true
}

// findConstants finds parts that begin as a constant and become the same constant in every round, and those that stay as they are.
func (n *narrowing) findConstants() {
	n.constant, n.handed = make([]*hlo.InstrSpec, len(n.init)), make([]bool, len(n.init))
	for i, id := range n.init {
		k, next := n.c.At(id), n.body.Root().OperandInstr(i)
		if k.Opcode() == hlo.OpConstant && next.Opcode() == hlo.OpConstant && k.Shape().Equal(next.Shape()) && !k.Literal().IsElided() && k.Literal().Equal(next.Literal()) {
			spec := plainCopy(next)
			n.constant[i] = &spec
		}
		n.handed[i] = handsOn(n.body, i, k.Shape())
	}
}

// findLive marks the parts that something depends on; false if effects are in the way.
func (n *narrowing) findLive() bool {
	n.live = make([]bool, len(n.init))
	var work []int
	mark := func(parts []int) {
		for _, i := range parts {
			if i = n.alias[i]; n.constant[i] == nil && !n.live[i] {
				n.live[i] = true
				work = append(work, i)
			}
		}
	}
	outside := func(i int) {
		if !n.handed[i] {
			mark([]int{i})
		}
	}
	whole := n.while.IsRoot()
	for u := range n.while.Users() {
		if u.Opcode() == hlo.OpGetTupleElement {
			outside(int(hlo.AttrsOf[hlo.TupleElementAttrs](u).Index))
		} else {
			whole = true
		}
	}
	if whole {
		for i := range n.init {
			outside(i)
		}
	}
	inBody, inCond := newPartWalk(n.body), newPartWalk(n.cond)
	mark(inCond.from(n.cond.Root()))
	for _, w := range []*partWalk{inBody, inCond} {
		for in := range w.c.Instructions() {
			traits := hlo.Info(in.Opcode()).Traits
			const keeps = hlo.TraitSideEffect | hlo.TraitCollective | hlo.TraitRandom | hlo.TraitTokens | hlo.TraitAsyncStart | hlo.TraitAsyncDone
			if n.effects.Of(in) || in.NumCallees() > 0 || hlo.IsAsync(in.Opcode()) || traits&keeps != 0 || in.Opcode() == hlo.OpCustomCall {
				mark(w.from(in)) // it stays, whoever reads it
			}
		}
	}
	for len(work) > 0 {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		mark(inBody.from(n.body.Root().OperandInstr(i)))
	}
	return true
}

// partWalk finds the parts of the state that values of a computation are made from. It goes through each instruction once.
type partWalk struct {
	c     hlo.Computation
	seen  []bool // by id
	work  []hlo.InstrID
	parts []int
}

func newPartWalk(c hlo.Computation) *partWalk {
	return &partWalk{c: c, seen: make([]bool, c.IDLimit())}
}

// from lists the parts that a value is made from, but for those that are found on ways which have been gone before. The next call overwrites the list.
func (w *partWalk) from(in hlo.Instruction) []int {
	w.parts = w.parts[:0]
	for w.reach(in.ID()); len(w.work) > 0; {
		in := w.c.MustAt(w.work[len(w.work)-1])
		w.work = w.work[:len(w.work)-1]
		if in.Opcode() == hlo.OpGetTupleElement && in.OperandInstr(0).Opcode() == hlo.OpParameter {
			w.parts = append(w.parts, int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index))
			continue
		}
		for o := range in.OperandIDs() {
			w.reach(o)
		}
	}
	return w.parts
}

func (w *partWalk) reach(id hlo.InstrID) {
	if !w.seen[id] {
		w.seen[id] = true
		w.work = append(w.work, id)
	}
}

func (n *narrowing) apply() error {
	place := make([]int, len(n.init))
	var shapes []hlo.Shape
	var kept []hlo.InstrID
	for i, l := range n.live {
		place[i] = -1
		if l {
			place[i] = len(kept)
			kept, shapes = append(kept, n.init[i]), append(shapes, n.while.Shape().Elem(i))
		}
	}
	state := hlo.MakeTuple(shapes...)
	n.ctx.Count("parts", int64(len(n.init)-len(kept)))
	n.inBody(state, place)
	n.inside(n.e.Computation(n.cond.ID()), state, place)

	at := emit.Before(n.c, n.c.At(n.while.ID()))
	spec := emit.Again(n.c.At(n.while.ID()))
	initSpec := emit.Again(n.c.At(spec.Operands[0]))
	was, old := spec.Operands[0], spec.Shape
	common := spec.Common
	initSpec.Operands, initSpec.Shape, initSpec.Common, initSpec.Control = kept, state, emit.KeptOrigin(initSpec.Common, n.live), nil
	spec.Operands, spec.Shape, spec.Common = []hlo.InstrID{at.Spec(initSpec)}, state, emit.KeptOrigin(renumbered(common, place), n.live)
	loop := at.Spec(spec)
	results := make([]hlo.InstrID, len(n.init))
	for i := range results {
		switch {
		case n.live[i]:
			results[i] = at.Element(loop, place[i])
		case n.live[n.alias[i]]:
			results[i] = at.Element(loop, place[n.alias[i]])
		default:
			results[i] = n.init[i] // it never changes, or nothing reads it
		}
	}
	for _, u := range slices.Collect(n.c.Users(n.while.ID())) {
		in := n.c.At(u)
		if in.Opcode() != hlo.OpGetTupleElement {
			continue
		}
		i := int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index)
		if to := n.alias[i]; n.live[to] && !(n.handed[i] && !n.live[i]) {
			n.c.Instr(u).SetOperands(loop).SetAttrs(&hlo.TupleElementAttrs{Index: int64(place[to])})
		} else if err := n.c.ReplaceInstruction(u, results[i]); err != nil {
			return err
		}
	}
	if n.c.UserCount(n.while.ID()) > 0 || n.c.Root() == n.while.ID() {
		whole := at.OpOf(hlo.OpTuple, old, nil, results...)
		n.c.Instr(whole).SetCommon(originOnly(common))
		if err := n.c.ReplaceInstruction(n.while.ID(), whole); err != nil {
			return err
		}
	} else {
		for _, s := range slices.Collect(n.c.ControlSuccessors(n.while.ID())) {
			n.c.Instr(s).RemoveControlPredecessor(n.while.ID()).AddControlPredecessor(loop)
		}
		if err := n.c.Remove(n.while.ID()); err != nil {
			return err
		}
	}
	pass.Release(n.c, was, nil)
	for _, r := range results {
		pass.Release(n.c, r, nil)
	}
	return nil
}

// inBody narrows the body: first its root, and what only parts that go were made of.
func (n *narrowing) inBody(state hlo.Shape, place []int) {
	b := n.e.Computation(n.body.ID())
	root := b.Root()
	old := slices.Collect(b.At(root).OperandIDs())
	var kept []hlo.InstrID
	for i, id := range old {
		if n.live[i] {
			kept = append(kept, id)
		}
	}
	emit.Narrow(b.Instr(root).SetOperands(kept...), state, n.live)
	for i, id := range old {
		if !n.live[i] {
			pass.Release(b, id, nil)
		}
	}
	n.inside(b, state, place)
}

// inside makes a computation read the narrow state.
func (n *narrowing) inside(c hlo.CompEdit, state hlo.Shape, place []int) {
	param := c.View().Parameters()[0]
	for _, u := range slices.Collect(c.Users(param)) {
		i := int(hlo.AttrsOf[hlo.TupleElementAttrs](c.At(u)).Index)
		switch to := n.alias[i]; {
		case n.live[to]:
			c.Instr(u).SetAttrs(&hlo.TupleElementAttrs{Index: int64(place[to])})
		case n.constant[to] != nil && c.UserCount(u) > 0:
			k := emit.Before(c, c.At(u)).Spec(*n.constant[to])
			c.ReplaceAllUses(u, k)
			_ = c.Remove(u)
		default:
			removeWithUsers(c, u)
		}
	}
	emit.Narrow(c.Instr(param), state, n.live)
}

// originOnly is what the tuple of all parts has of the loop's attributes.
func originOnly(c *hlo.Common) *hlo.Common {
	if c == nil || c.Origin == nil && c.Metadata == nil {
		return nil
	}
	return &hlo.Common{Origin: c.Origin, Metadata: c.Metadata}
}
