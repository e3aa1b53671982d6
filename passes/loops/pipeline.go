package loops

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/control"
)

const (
	mostStages   = 32    // rounds at once
	mostUnrolled = 10000 // instructions of them
)

// PipelineUnroller does as many rounds at once as values wait in the state.
var PipelineUnroller = &pass.Pass{
	Name: "while-loop-pipeline-unroller",
	Doc: `do as many rounds of a loop at once as it hands values from one part of its state to the next

A round that gives part 2 of its state as part 1 of the next one copies it. A loop stands before this one, whose body does so many rounds that each value is back where it began,
and which runs while all of them are due; the loop itself does the rounds that are left. Loops stay whose condition needs what has an effect or communicates, is shared, or whose rounds are random or collective.`,
	About: []hlo.Opcode{hlo.OpWhile},
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		repeats := pass.Fact(ctx, m, findRepeatable)
		effects := pass.Fact(ctx, m, analysis.FindSideEffects)
		e := ctx.Edit(m)
		for c := range m.PostOrder() {
			for in := range c.Instructions() {
				if in.Opcode() != hlo.OpWhile || !in.Shape().IsTuple() || done(in) {
					continue
				}
				b, cond := body(m, in), condition(m, in)
				n := stages(b)
				if n < 2 {
					continue
				}
				needed, ok := neededBy(cond, b, effects)
				switch {
				case !ok:
					ctx.Missed(in, "not unrolled: its condition needs what has an effect")
					continue
				case n > mostStages || n*b.NumInstructions() > mostUnrolled:
					ctx.Missed(in, "not unrolled: %d rounds of %d instructions at once are too many", n, b.NumInstructions())
					continue
				case !repeats[b.ID()] || effects.OfComputation(cond.ID()) || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 || isDecorated(in) || isDecorated(b.Root()) ||
					b.IsScheduled() || cond.IsScheduled() || c.IsScheduled() || b.Root().UserCount() > 0 || !takesPartsOnly(b) || !takesPartsOnly(cond):
					continue
				}
				if !ctx.SpendOn("unroll", pass.Cost{Instructions: n * b.NumInstructions()}) {
					continue
				}
				ctx.Passed(in, "%d rounds at once, before those that are left", n)
				spec := specOf(in)
				spec.Name += ".unrolled"
				spec.Callees = make([]hlo.CompID, 2)
				spec.Callees[calleeNamed("body")] = severalRounds(e, b, n)
				spec.Callees[calleeNamed("condition")] = severalDue(e, cond, b, needed, n)
				spec.Common = nil
				ce := e.Computation(c.ID())
				ce.Instr(in.ID()).SetOperand(0, ce.InsertSpecBefore(in.ID(), spec).ID())
				mark(ce, in)
				ctx.Count("loops", 1)
				ctx.Count("rounds", int64(n))
			}
		}
		return e.Freeze(), nil
	},
}

// done reports whether a loop has been looked at before.
func done(in hlo.Instruction) bool {
	c := in.Common()
	if c == nil || c.FrontendAttributes == nil {
		return false
	}
	_, ok := c.FrontendAttributes.Get(unrolledKey)
	return ok
}

// mark says that a loop does what another one before it has left, and drops what was known of the number of its rounds.
func mark(ce hlo.CompEdit, in hlo.Instruction) {
	now := hlo.Common{}
	if in.Common() != nil {
		now = *in.Common()
	}
	marks := &hlo.FrontendAttributes{}
	if now.FrontendAttributes != nil {
		marks.Entries = slices.Clone(now.FrontendAttributes.Entries)
	}
	marks.Entries = append(marks.Entries, hlo.FrontendAttribute{Key: unrolledKey, Value: "rest"})
	now.FrontendAttributes, now.BackendConfig = marks, ""
	ce.Instr(in.ID()).SetCommon(&now)
}

// stages is the number of rounds after which each value is in the part of the state where it was, or has left: 1 if no round hands a part on as another.
func stages(b hlo.Computation) int {
	root := b.Root()
	if root.Opcode() != hlo.OpTuple {
		return 1
	}
	to := map[int]int{} // what the next round finds elsewhere
	isTarget := map[int]bool{}
	for i := range root.NumOperands() {
		o := root.OperandInstr(i)
		if o.Opcode() != hlo.OpGetTupleElement || o.OperandInstr(0).Opcode() != hlo.OpParameter {
			continue
		}
		from := int(hlo.AttrsOf[hlo.TupleElementAttrs](o).Index)
		if _, twice := to[from]; !twice && from != i {
			to[from] = i
			isTarget[i] = true
		}
	}
	n := 1
	for from := range root.NumOperands() {
		if _, ok := to[from]; !ok || isTarget[from] {
			continue
		}
		length := 1
		for at, ok := to[from]; ok; at, ok = to[at] {
			length++
		}
		n = lcm(n, length)
	}
	return n
}

func lcm(a, b int) int {
	if a > mostStages || b > mostStages {
		return mostStages + 1
	}
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x * b
}

// neededBy is what a round has to compute for the conditions of the next ones; false if that has an effect, is random or comes from other devices.
func neededBy(cond, b hlo.Computation, effects *analysis.SideEffects) (needed map[hlo.InstrID]bool, ok bool) {
	needed = map[hlo.InstrID]bool{}
	ok = true
	seen := map[int]bool{}
	var part func(i int)
	var need func(in hlo.Instruction)
	need = func(in hlo.Instruction) {
		if needed[in.ID()] || in.Opcode() == hlo.OpParameter {
			return
		}
		if in.Opcode() == hlo.OpGetTupleElement && in.OperandInstr(0).Opcode() == hlo.OpParameter {
			needed[in.ID()] = true
			part(int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index))
			return
		}
		const no = hlo.TraitRandom | hlo.TraitCollective | hlo.TraitTokens | hlo.TraitAsyncStart | hlo.TraitAsyncDone
		if effects.Of(in) || hlo.Info(in.Opcode()).Traits&no != 0 || hlo.IsAsync(in.Opcode()) || in.NumControlPredecessors() > 0 || in.NumCallees() > 0 {
			ok = false
			return
		}
		needed[in.ID()] = true
		for o := range in.Operands() {
			if o.Opcode() == hlo.OpParameter {
				ok = false // the state as a whole
			}
			need(o)
		}
	}
	part = func(i int) {
		if !seen[i] {
			seen[i] = true
			need(b.Root().OperandInstr(i))
		}
	}
	for u := range cond.Parameter(0).Users() {
		if u.Opcode() != hlo.OpGetTupleElement {
			return nil, false
		}
		part(int(hlo.AttrsOf[hlo.TupleElementAttrs](u).Index))
	}
	return needed, ok
}

// rounds copies rounds one after the other into a computation: what the next one reads of the state is what the one before has made.
type rounds struct {
	e     *hlo.Editor
	made  *hlo.ComputationBuilder
	state hlo.InstrID         // the parameter
	parts map[int]hlo.InstrID // of the state, as far as they have been asked for
}

func newRounds(e *hlo.Editor, from hlo.Computation) *rounds {
	made := e.NewComputation(from.Name() + ".unrolled")
	made.SetExecutionThread(from.ExecutionThread())
	p := from.Parameter(0)
	state := made.Append(hlo.InstrSpec{Opcode: hlo.OpParameter, Name: p.Name(), Shape: p.Shape(), Attrs: p.Attrs(), Common: p.Common(), Position: p.Position()})
	return &rounds{e: e, made: made, state: state, parts: map[int]hlo.InstrID{}}
}

// copy copies the instructions of a computation that are wanted, and returns what became of each.
func (r *rounds) copy(c hlo.Computation, wanted func(hlo.Instruction) bool) map[hlo.InstrID]hlo.InstrID {
	copied := map[hlo.InstrID]hlo.InstrID{}
	for in := range c.PostOrder() {
		if in.Opcode() == hlo.OpParameter || !wanted(in) {
			continue
		}
		if in.Opcode() == hlo.OpGetTupleElement && in.OperandInstr(0).Opcode() == hlo.OpParameter {
			i := int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index)
			if _, ok := r.parts[i]; !ok {
				r.parts[i] = r.made.Append(control.Copy(r.e, in, map[hlo.InstrID]hlo.InstrID{in.Operand(0): r.state}))
			}
			copied[in.ID()] = r.parts[i]
			continue
		}
		copied[in.ID()] = r.made.Append(control.Copy(r.e, in, copied))
	}
	return copied
}

// next makes the state that a round returns that of the next one, as far as it has been computed.
func (r *rounds) next(b hlo.Computation, copied map[hlo.InstrID]hlo.InstrID) {
	parts := map[int]hlo.InstrID{}
	for i := range b.Root().NumOperands() {
		if id, ok := copied[b.Root().Operand(i)]; ok {
			parts[i] = id
		}
	}
	r.parts = parts
}

// severalRounds makes a body of n rounds.
func severalRounds(e *hlo.Editor, b hlo.Computation, n int) hlo.CompID {
	r := newRounds(e, b)
	for range n {
		r.next(b, r.copy(b, func(in hlo.Instruction) bool { return !in.IsRoot() }))
	}
	spec := specOf(b.Root())
	for i := range spec.Operands {
		spec.Operands[i] = r.parts[i]
	}
	return r.made.Finish(r.made.Append(spec))
}

// severalDue makes a condition that holds if n further rounds are due.
func severalDue(e *hlo.Editor, cond, b hlo.Computation, needed map[hlo.InstrID]bool, n int) hlo.CompID {
	r := newRounds(e, cond)
	var all hlo.InstrID
	for k := range n {
		due := r.copy(cond, func(hlo.Instruction) bool { return true })[cond.Root().ID()]
		if k == 0 {
			all = due
		} else {
			all = r.made.Append(hlo.InstrSpec{Opcode: hlo.OpAnd, Shape: cond.Root().Shape(), Operands: []hlo.InstrID{all, due}})
		}
		if k < n-1 {
			r.next(b, r.copy(b, func(in hlo.Instruction) bool { return needed[in.ID()] }))
		}
	}
	return r.made.Finish(all)
}

// takesPartsOnly reports whether a computation reads its state part by part.
func takesPartsOnly(c hlo.Computation) bool {
	for u := range c.Parameter(0).Users() {
		if u.Opcode() != hlo.OpGetTupleElement {
			return false
		}
	}
	return c.Root().Opcode() != hlo.OpParameter
}
