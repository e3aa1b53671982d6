// Package simplify holds the passes that make modules smaller without changing what they compute.
package simplify

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/idmap"
)

const dceDoc = `remove unused instructions and uncalled computations

An instruction is needed if it is a parameter or has side effects, or if the root or a needed instruction uses it or runs after it by a
control dependency. A collective on a channel is needed as well, since another program may wait for it; where all devices run this one,
remove-collectives removes it. A call that says the sharding of a parameter, or of a value with other users, is needed too. Unused results of a fusion go. Of an asynchronous chain all steps are needed when one is.

Parameters stay, since removing one changes every caller. With call-analysis, unused ones go from computations that are only called,
with what computed the arguments; module-dce looks into the state of loops as well. With remove-entry-params the program takes fewer
arguments than before.`

var dceParams = []pass.Param{
	{Name: "call-analysis", Doc: "remove unused parameters of called computations"},
	{Name: "remove-entry-params", Doc: "remove them from the entry too: callers must know"},
	{Name: "remove-collectives", Doc: "remove unused collectives on channels: no other program must wait for them"},
}

// deadCode is the pass with its options.
type deadCode struct{ callAnalysis, entryParams, collectives bool }

// DCE is dce without options.
var DCE = &pass.Pass{Name: "dce", Doc: dceDoc, Params: dceParams, Own: removeDeadCode}

// NewDCE makes the pass dce.
func NewDCE(o pass.Options) (*pass.Pass, error) {
	d := &deadCode{}
	if err := o.Known("call-analysis", "remove-entry-params", "remove-collectives"); err != nil {
		return nil, err
	}
	var err error
	if d.callAnalysis, err = o.Bool("call-analysis"); err != nil {
		return nil, err
	}
	if d.entryParams, err = o.Bool("remove-entry-params"); err != nil {
		return nil, err
	}
	if d.collectives, err = o.Bool("remove-collectives"); err != nil {
		return nil, err
	}
	p := *DCE
	p.Options = o
	if d.callAnalysis || d.entryParams || d.collectives {
		p.Own, p.Run = nil, d.run
	}
	return &p, nil
}

// removeDeadCode is dce without options.
func removeDeadCode(ctx *pass.Context, o hlo.Owned[hlo.Module]) (_ hlo.Owned[hlo.Module], err error) {
	o = o.Edit(func(e *hlo.Editor) { err = RemoveDead(ctx, e) })
	return o, err
}

func (d *deadCode) run(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
	effects := pass.Fact(ctx, m, analysis.FindSideEffects)
	e := ctx.Edit(m)
	needed := effects.Needed
	if d.collectives {
		needed = effects.Of
	}
	if err := removeUnneeded(ctx, e, m, needed); err != nil {
		return m, err
	}
	if d.callAnalysis {
		if err := dropParameters(ctx, e, m, needed); err != nil {
			return m, err
		}
		if err := removeUnneeded(ctx, e, e.ViewModule(), needed); err != nil { // what computed arguments that are gone
			return m, err
		}
	}
	if d.entryParams {
		if err := dropEntryParameters(ctx, e, m); err != nil {
			return m, err
		}
	}
	return e.Freeze(), nil
}

// RemoveDead is what dce does without options, in a session of the pass of ctx.
func RemoveDead(ctx *pass.Context, e *hlo.Editor) error {
	m := e.ViewModule()
	return removeUnneeded(ctx, e, m, pass.Fact(ctx, m, analysis.FindSideEffects).Needed)
}

// removeUnneeded removes dead instructions and uncalled computations from m as a session sees it. needed reports what stays even if nothing uses it.
func removeUnneeded(ctx *pass.Context, e *hlo.Editor, m hlo.Module, needed func(hlo.Instruction) bool) error {
	callers := make([]int, m.CompIDLimit())
	for c := range m.Computations() {
		for range m.Callers(c.ID()) {
			callers[c.ID()]++
		}
	}
	reached, err := removeFromReached(ctx, e, callers, needed)
	if err != nil {
		return err
	}
	all := true
	for id := range e.Computations() {
		all = all && reached.Has(id)
	}
	if all {
		return nil
	}
	for _, id := range unreachable(e.ViewModule(), &reached) {
		if !ctx.Spend("computation") {
			break
		}
		e.RemoveComputation(id)
		ctx.Count("computations", 1)
	}
	return nil
}

// removeFromReached removes dead instructions from the entry and from what it still calls then, callers first: what only dead instructions call is
// not reached.
func removeFromReached(ctx *pass.Context, e *hlo.Editor, callers []int, needed func(hlo.Instruction) bool) (reached idmap.Set[hlo.CompID], err error) {
	reached.Add(e.Entry())
	for work := []hlo.CompID{e.Entry()}; len(work) > 0; {
		id := work[0]
		work = work[1:]
		for again := true; again; { // what a fusion no longer takes in may be dead
			err := removeDead(ctx, e, e.View(id), needed)
			if err == nil {
				again, err = dropFusionOutputs(ctx, e, callers, needed, id)
			}
			if err != nil {
				return reached, err
			}
		}
		for id := range e.View(id).Callees() {
			if reached.Add(id) {
				work = append(work, id)
			}
		}
	}
	return reached, nil
}

func removeDead(ctx *pass.Context, e *hlo.Editor, c hlo.Computation, needed func(hlo.Instruction) bool) error {
	dead := deadInstructions(c, needed)
	if len(dead) == 0 {
		return nil
	}
	ce := e.Computation(c.ID())
	for _, id := range dead {
		if !ctx.Spend("instruction") {
			return nil
		}
		if err := ce.Remove(id); err != nil {
			return err
		}
		ctx.Count("instructions", 1)
	}
	return nil
}

// saysSharding reports a call that says how a value is split over devices which others read, too: whoever partitions the program reads it, though no
// instruction does.
func saysSharding(in hlo.Instruction) bool {
	if in.Opcode() != hlo.OpCustomCall || in.NumOperands() == 0 || hlo.AttrsOf[hlo.CustomCallAttrs](in).Target != "Sharding" {
		return false
	}
	x := in.OperandInstr(0)
	return x.IsRoot() || x.Opcode() == hlo.OpParameter || x.UserCount() > 1
}

// deadInstructions lists what can be removed from c, users before operands. Where everything is read by something, or needed without, nothing can: the last of
// the dead would have no reader.
func deadInstructions(c hlo.Computation, always func(hlo.Instruction) bool) []hlo.InstrID {
	needed := make([]bool, c.IDLimit())
	// Most of what is needed by an instruction has a smaller id, so ids go down from here on: instructions are met in the order in which they lie in memory.
	next := hlo.InstrID(c.IDLimit())
	var late []hlo.InstrID // those that are found to be needed when their turn is over
	need := func(id hlo.InstrID) {
		if !needed[id] {
			needed[id] = true
			if id >= next {
				late = append(late, id)
			}
		}
	}
	need(c.Root().ID())
	n, read := 0, make([]bool, c.IDLimit())
	for in := range c.Instructions() {
		n++
		for i := range in.NumOperands() {
			read[in.Operand(i)] = true
		}
		if in.Opcode() == hlo.OpParameter || always(in) || saysSharding(in) {
			need(in.ID())
		}
	}
	live := 0
	for id := range read {
		if read[id] || needed[id] {
			live++
		}
	}
	if live == n {
		return nil
	}
	live = 0
	for next > 0 || len(late) > 0 {
		var id hlo.InstrID
		if last := len(late) - 1; last >= 0 {
			id, late = late[last], late[:last]
		} else {
			next--
			if id = next; !needed[id] {
				continue
			}
		}
		in := c.MustAt(id)
		live++
		for i := range in.NumOperands() {
			need(in.Operand(i))
		}
		if in.NumControlPredecessors() > 0 {
			for id := range in.ControlPredecessors() {
				need(id)
			}
		}
		// A start keeps its done.
		if hlo.Info(in.Opcode()).Traits.Has(hlo.TraitAsyncStart) || in.Opcode() == hlo.OpAsyncUpdate {
			for user := range in.Users() {
				if hlo.IsAsync(user.Opcode()) || hlo.Info(user.Opcode()).Traits.Has(hlo.TraitAsyncDone) {
					need(user.ID())
				}
			}
		}
	}
	if live == n {
		return nil
	}
	dead := make([]hlo.InstrID, 0, n-live)
	for in := range c.OperandsFirst() {
		if !needed[in.ID()] {
			dead = append(dead, in.ID())
		}
	}
	slices.Reverse(dead)
	return dead
}

// unreachable lists computations that can go, callers before callees.
func unreachable(m hlo.Module, reachable *idmap.Set[hlo.CompID]) (ids []hlo.CompID) {
	for c := range m.PostOrder() {
		if !reachable.Has(c.ID()) {
			ids = append(ids, c.ID())
		}
	}
	slices.Reverse(ids)
	return ids
}
