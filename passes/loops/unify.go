package loops

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// AccumulatorInputUnification lets loops write their results over what they have read.
var AccumulatorInputUnification = &pass.Pass{
	Name: "scan-loop-accumulator-input-unification",
	Doc: `let a loop that reads an array part by part write its result over it

It is done for a loop in the body of another one which reads an array of its state, and writes all of another one, in parts of one size, both the part of the round. If the array that it reads comes from the
state of the outer loop, the one that it writes goes to its place there, and begins as a value of the outer body, one array of the state is enough: what a round reads, only a later one overwrites. Otherwise the
outer loop would copy the result to where the array was.`,
	About: []hlo.Opcode{hlo.OpWhile},
	Lent:  true,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		effects := pass.Fact(ctx, m, analysis.FindSideEffects)
		var bodies []hlo.CompID // of loops, those inside first
		seen := map[hlo.CompID]bool{}
		for c := range m.PostOrder() {
			for in := range c.Calls() {
				if in.Opcode() == hlo.OpWhile && !seen[body(m, in).ID()] {
					bodies = append(bodies, body(m, in).ID())
					seen[body(m, in).ID()] = true
				}
			}
		}
		e := ctx.Edit(m)
		now := analysis.Now(e)
		for _, id := range bodies {
			ce := e.Computation(id)
			for in := range pass.EachOf(ce, hlo.OpWhile) {
				if !ownsCallees(m, in) {
					continue
				}
				n := 0
				for _, u := range findUnified(now, in) {
					if ctx.Spend("unify") {
						u.merge(e, ce)
						n++
					}
				}
				if n == 0 {
					continue
				}
				ctx.Count("arrays", int64(n))
				if err := dropDead(ctx, e, e.ViewModule(), ce, ce.At(in.ID()), effects); err != nil {
					return m, err
				}
			}
		}
		return e.Freeze(), nil
	},
}

// unified is an array that a loop reads, and one that it writes: parts of its state.
type unified struct {
	body     hlo.CompID
	init     hlo.InstrID
	from, to int
	element  hlo.InstrID   // the array that is written, in the body
	reads    []hlo.InstrID // slices of the other one
}

// findUnified lists the pairs of a loop.
func findUnified(now analysis.Computations, while hlo.Instruction) (pairs []unified) {
	outer, init := while.Computation(), while.OperandInstr(0)
	l, ok := analysis.FindLoop(now, while)
	if !ok || outer.Root().Opcode() != hlo.OpTuple || init.UserCount() != 1 || init.IsRoot() || analysis.IsSharded(while) || analysis.IsSharded(init) {
		return nil
	}
	b, cond := body(now, while), condition(now, while)
	if !takesPartsOnly(b) || !takesPartsOnly(cond) {
		return nil
	}
	from := map[int64]int{} // by part of the outer state: that of this one which begins as it
	for i := range init.NumOperands() {
		if o := init.OperandInstr(i); isState(o) {
			from[hlo.AttrsOf[hlo.TupleElementAttrs](o).Index] = i
		}
	}
	for k := range outer.Root().NumOperands() {
		o := outer.Root().OperandInstr(k)
		i, ok := from[int64(k)]
		if !ok || o.Opcode() != hlo.OpGetTupleElement || o.Operand(0) != while.ID() {
			continue
		}
		u := unified{body: b.ID(), init: init.ID(), from: i, to: int(hlo.AttrsOf[hlo.TupleElementAttrs](o).Index)}
		delete(from, int64(k))
		if while.Shape().Elem(u.from).Equal(while.Shape().Elem(u.to)) && len(elementsOf(cond, u.from))+len(elementsOf(cond, u.to)) == 0 &&
			!isState(init.OperandInstr(u.to)) && u.find(b, l) {
			pairs = append(pairs, u)
		}
	}
	return pairs
}

// isState reports an element of a parameter.
func isState(in hlo.Instruction) bool {
	return in.Opcode() == hlo.OpGetTupleElement && in.OperandInstr(0).Opcode() == hlo.OpParameter
}

// find looks at what a round does with the arrays.
func (u *unified) find(b hlo.Computation, l analysis.Loop) bool {
	root := b.Root()
	written := elementsOf(b, u.to)
	if len(written) != 1 || !handsOn(b, u.from, root.OperandInstr(u.to).Shape()) {
		return false
	}
	u.element = written[0]
	update := root.OperandInstr(u.to)
	if update.Opcode() != hlo.OpDynamicUpdateSlice || !usesOnce(update, u.element) || b.MustAt(u.element).UserCount() != 1 || update.UserCount() != 1 || !usesOnce(root, update.ID()) {
		return false
	}
	along, ok := partOfRound(update, update.OperandInstr(1).Shape(), 2, l)
	if !ok {
		return false
	}
	for _, id := range elementsOf(b, u.from) {
		for r := range b.MustAt(id).Users() {
			if r == root {
				if root.Operand(u.from) != id || !usesOnce(root, id) {
					return false
				}
				continue
			}
			if r.Opcode() != hlo.OpDynamicSlice || !usesOnce(r, id) {
				return false
			}
			if axis, ok := partOfRound(r, r.Shape(), 1, l); !ok || axis != along {
				return false
			}
			u.reads = append(u.reads, r.ID())
		}
	}
	return len(u.reads) > 0
}

// usesOnce reports whether an instruction has a value as its first operand and no other, or, if it is a tuple, as one operand.
func usesOnce(in hlo.Instruction, id hlo.InstrID) bool {
	n := 0
	for o := range in.OperandIDs() {
		if o == id {
			n++
		}
	}
	return n == 1 && (in.Opcode() == hlo.OpTuple || in.Operand(0) == id)
}

// partOfRound is the axis along which a dynamic slice or update has the part of the round, of parts that together are the whole array.
func partOfRound(in hlo.Instruction, part hlo.Shape, indices int, l analysis.Loop) (axis int, ok bool) {
	whole := in.OperandInstr(0).Shape()
	if !whole.IsStatic() || in.NumOperands() != indices+whole.Rank() {
		return 0, false
	}
	axis = -1
	for d := range whole.Rank() {
		if part.Dim(d) == whole.Dim(d) {
			continue // all of it, whatever the index
		}
		if axis >= 0 {
			return 0, false
		}
		axis = d
	}
	if axis < 0 {
		return 0, false
	}
	size := part.Dim(axis)
	return axis, size > 0 && isCounter(in.OperandInstr(indices+axis), l) && l.First == 0 && l.Step == size && l.Trip == whole.Dim(axis)/size && whole.Dim(axis)%size == 0
}

// merge makes one array of two.
func (u *unified) merge(e *hlo.Editor, c hlo.CompEdit) {
	b := e.Computation(u.body)
	for _, r := range u.reads {
		b.Instr(r).SetOperand(0, u.element)
	}
	emit.Reorder(b)
	init := c.Instr(u.init)
	was := init.Operand(u.to)
	init.SetOperand(u.to, init.Operand(u.from))
	pass.Release(c, was, nil)
}
