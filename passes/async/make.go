// Package async holds the passes that begin work on other threads, that take such beginnings back, and what they have in common: [Make] and
// [unmake].
//
//	file            pass
//	wrap.go         async-wrapper: begin expensive work early, if other work can be done beside it
//	collective.go   async-collective-creator: collectives become pairs of their own opcodes
//	sync.go         async-unwrapper, sync-useless-pairs: chains become plain instructions again
//	replace.go      async-collective-replacer, convert-async-collectives-to-sync: the same for collectives, native pairs included
//	carry.go        loop-async-carrier: loops carry chains from round to round
//	hostcopy.go     host-memory-transfer-asyncifier: copies between host and device become pairs
package async

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/control"
)

// Make begins an instruction asynchronously on a thread: async-start of a computation of its own that holds the instruction alone, and
// async-done in its place. It returns the done. What the instruction calls is copied, since it runs on that thread too. Control predecessors go to the
// start, control successors to the done. In a schedule the two stand next to each other: moving them apart is a scheduler's work.
func Make(ce hlo.CompEdit, id hlo.InstrID, thread string) (hlo.InstrID, error) {
	if why := cannot(ce.At(id)); why != "" {
		return 0, fmt.Errorf("%%%s cannot run asynchronously: %s", ce.At(id).Name(), why)
	}
	return begin(ce, id, thread)
}

// begin is Make for what may have asynchronous opcodes of its own.
func begin(ce hlo.CompEdit, id hlo.InstrID, thread string) (hlo.InstrID, error) {
	e, in := ce.Editor(), ce.At(id)
	name, pos, shape := in.Name(), in.Position(), in.Shape()
	operands, control := slices.Collect(in.OperandIDs()), slices.Collect(in.ControlPredecessors())
	done, start := handedOn(in.Common())

	body := e.NewComputation("async_computation")
	root := specOnThread(e, in, thread)
	var bound []hlo.Shape
	for i := range operands {
		o := in.OperandInstr(i)
		bound = append(bound, o.Shape())
		root.Operands[i] = body.Append(hlo.InstrSpec{Opcode: hlo.OpParameter, Name: "param", Shape: o.Shape(), Attrs: &hlo.ParameterAttrs{Number: int64(i)}})
	}
	rootID := body.Append(root)
	body.SetScheduled(ce.View().IsScheduled())
	body.SetExecutionThread(thread)
	callee := body.Finish(rootID)

	state := hlo.MakeTuple(hlo.MakeTuple(bound...), shape, hlo.MakeArray(hlo.U32, nil, nil, hlo.DefaultLayout(0)))
	startID := ce.InsertSpecBefore(id, hlo.InstrSpec{Opcode: hlo.OpAsyncStart, Name: name + "-start", Shape: state, Operands: operands,
		Attrs: &hlo.AsyncStartAttrs{ExecutionThread: thread}, Callees: []hlo.CompID{callee}, Control: control, Common: start, Position: pos}).ID()
	doneID := ce.InsertSpecBefore(id, hlo.InstrSpec{Opcode: hlo.OpAsyncDone, Name: name + "-done", Shape: shape, Operands: []hlo.InstrID{startID},
		Attrs: &hlo.AsyncDoneAttrs{}, Common: done, Position: pos}).ID()
	for _, p := range control {
		ce.Instr(id).RemoveControlPredecessor(p)
	}
	if err := ce.ReplaceInstruction(id, doneID); err != nil {
		return 0, err
	}
	e.Computation(callee).Instr(rootID).SetName(name)
	return doneID, nil
}

// cannot says why an instruction cannot be wrapped, "" if it can.
func cannot(in hlo.Instruction) string {
	traits := hlo.Info(in.Opcode()).Traits
	switch {
	case traits&hlo.TraitNotWrappable != 0:
		return "the op is never wrapped"
	case hlo.HasNativeAsync(in.Opcode()):
		return "it has asynchronous opcodes of its own"
	case traits.Has(hlo.TraitTokens) || in.Shape().HasToken():
		return "it is ordered by tokens"
	}
	for o := range in.Operands() {
		switch {
		case o.Shape().HasToken():
			return "it is ordered by tokens"
		case hlo.IsAsync(o.Opcode()) && o.Opcode() != hlo.OpAsyncDone || hlo.Info(o.Opcode()).Traits.Has(hlo.TraitAsyncStart):
			return "it is part of a chain"
		}
	}
	return ""
}

// specOnThread is the instruction as the root of a computation on a thread: what it calls is on that thread, and nobody else's.
func specOnThread(e *hlo.Editor, in hlo.Instruction, thread string) hlo.InstrSpec {
	var callees []hlo.CompID
	for _, id := range slices.Collect(in.Callees()) {
		id = control.CloneComputation(e, id)
		setThread(e, id, thread)
		callees = append(callees, id)
	}
	return hlo.InstrSpec{Opcode: in.Opcode(), Name: in.Name(), Shape: in.Shape(), Operands: make([]hlo.InstrID, in.NumOperands()), Attrs: in.Attrs(),
		Common: in.Common(), Callees: callees, Position: in.Position()}
}

// setThread puts a fresh computation, and copies of what it calls, on a thread.
func setThread(e *hlo.Editor, id hlo.CompID, thread string) {
	c := e.Computation(id)
	c.SetExecutionThread(thread)
	var ids []hlo.InstrID
	for in := range c.View().Instructions() {
		ids = append(ids, in.ID())
	}
	for _, in := range ids {
		owned := c.At(in).Opcode() == hlo.OpFusion // copied already
		for i, callee := range slices.Collect(c.At(in).Callees()) {
			if c.At(in).Opcode() == hlo.OpAsyncStart {
				continue // it has a thread of its own
			}
			if !owned {
				callee = control.CloneComputation(e, callee)
				c.Instr(in).SetCallee(i, callee)
			}
			setThread(e, callee, thread)
		}
	}
}

// handedOn is what done and start inherit: the done the sharding, both metadata, frontend attributes and backend configuration.
func handedOn(c *hlo.Common) (done, start *hlo.Common) {
	if c == nil {
		return nil, nil
	}
	d, s := *c, *c
	d.BackendConfig, d.Origin, d.ResultAccuracy, d.Statistics = "", nil, nil, nil
	s.Sharding, s.Origin, s.ResultAccuracy, s.Statistics, s.BackendConfig = nil, nil, nil, nil, ""
	return &d, &s
}

// asyncChain is an asynchronous operation all of whose steps lie in one computation: start, updates, done.
type asyncChain struct {
	Start, Done hlo.Instruction
	Updates     []hlo.Instruction
}

// chainOf finds the chain that a done ends; false if a step is used by anything but the next one, or lies elsewhere.
func chainOf(done hlo.Instruction) (asyncChain, bool) {
	c := asyncChain{Done: done}
	for in := done; ; {
		if in.NumOperands() == 0 {
			return c, false
		}
		in = in.OperandInstr(0)
		if in.UserCount() != 1 || in.IsRoot() {
			return c, false
		}
		switch in.Opcode() {
		case hlo.OpAsyncUpdate:
			c.Updates = append(c.Updates, in)
		case hlo.OpAsyncStart:
			slices.Reverse(c.Updates)
			c.Start = in
			return c, true
		default:
			return c, false
		}
	}
}

// Operands lists all operands that the chain binds, in order.
func (c asyncChain) Operands() []hlo.InstrID {
	all := slices.Collect(c.Start.OperandIDs())
	for _, u := range c.Updates {
		all = append(all, slices.Collect(u.OperandIDs())[1:]...)
	}
	return all
}

// unmake is the inverse of [Make]: it puts the instructions of the wrapped computation in the place of the done, and removes the chain. The chain
// belongs to the session's current view of the computation. Control dependencies of all steps go to what replaces them.
func unmake(ce hlo.CompEdit, m hlo.Module, chain asyncChain) error {
	e := ce.Editor()
	callee := chain.Start.Callee(0)
	done, operands := chain.Done.ID(), chain.Operands()
	name := strings.TrimSuffix(chain.Done.Name(), "-done")
	steps := []hlo.InstrID{chain.Start.ID()}
	for _, u := range chain.Updates {
		steps = append(steps, u.ID())
	}
	body := e.View(callee)
	mainThread := ce.View().ExecutionThread()
	nested := body.ExecutionThread() != mainThread
	root := control.InlineBefore(ce, done, body, operands)
	if nested {
		returnCallees(ce, root)
	}
	if err := ce.ReplaceInstruction(done, root); err != nil {
		return err
	}
	for _, id := range slices.Backward(steps) {
		for _, p := range slices.Collect(ce.At(id).ControlPredecessors()) {
			ce.Instr(id).RemoveControlPredecessor(p)
			if p != root {
				ce.Instr(root).AddControlPredecessor(p)
			}
		}
		for _, s := range slices.Collect(ce.ControlSuccessors(id)) {
			ce.Instr(s).RemoveControlPredecessor(id)
			if s != root {
				ce.Instr(s).AddControlPredecessor(root)
			}
		}
		if err := ce.Remove(id); err != nil {
			return err
		}
	}
	callers := 0
	for range m.Callers(callee) {
		callers++
	}
	if callers == 1 {
		e.RemoveComputation(callee)
	}
	ce.Instr(root).SetName(name)
	return nil
}

// returnCallees puts what an instruction calls on the thread of the computation that it is in now.
func returnCallees(ce hlo.CompEdit, id hlo.InstrID) {
	e, thread := ce.Editor(), ce.View().ExecutionThread()
	owned := ce.At(id).Opcode() == hlo.OpFusion
	for i, callee := range slices.Collect(ce.At(id).Callees()) {
		if !owned {
			callee = control.CloneComputation(e, callee)
			ce.Instr(id).SetCallee(i, callee)
		}
		setThread(e, callee, thread)
	}
}
