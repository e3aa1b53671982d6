package verifier

import (
	"fmt"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// Chains of async-start, async-update and async-done (verifier section 6): who may use an asynchronous value, and which start each done
// ends. The shapes along a chain are the shape rules of the three ops.

// chainState is what the walks back from all dones have seen.
type chainState struct {
	dones   map[place][]hlo.Instruction // by async-start
	updates map[place]bool
}

func (r *run) chains() {
	s := &chainState{dones: make(map[place][]hlo.Instruction), updates: make(map[place]bool)}
	var starts, updates []hlo.Instruction
	for _, in := range r.linked {
		switch in.Opcode() {
		case hlo.OpAsyncStart:
			starts = append(starts, in)
			r.asyncUsers(in)
		case hlo.OpAsyncUpdate:
			updates = append(updates, in)
			r.asyncUsers(in)
			r.lateOperands(in)
		case hlo.OpAsyncDone:
			r.walkBack(s, in)
		}
	}
	for _, in := range starts {
		dones := s.dones[placeOf(in)]
		switch {
		case r.isBad(in):
		case len(dones) > 1:
			r.report(in, "ASYNC-25", "Async start %%%s is matched by multiple async done instructions: %s", in.Name(), listed(dones))
		case len(dones) == 0 && !r.carried(in):
			r.report(in, "ASYNC-26", "Async start %%%s has no matching async done", in.Name())
		}
	}
	for _, in := range updates {
		if !s.updates[placeOf(in)] && !r.isBad(in) && !r.carried(in) {
			r.report(in, "ASYNC-27", "Orphan async update %%%s found: no async done leads back to it", in.Name())
		}
	}
	state := make(map[place]uint8)
	for _, in := range updates {
		if !r.isBad(in) {
			r.updateOrigin(in, state)
		}
	}
	r.asyncCallers()
}

// listed names some instructions.
func listed(ins []hlo.Instruction) string {
	const most = 4
	var names []string
	for _, in := range ins[:min(len(ins), most)] {
		names = append(names, "%"+in.Name())
	}
	text := strings.Join(names, " and ")
	if n := len(ins) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// asyncUsers checks who uses the value of a start or update.
func (r *run) asyncUsers(in hlo.Instruction) {
	for u := range in.Users() {
		op := u.Opcode()
		if hlo.Info(op).Traits.Has(hlo.TraitCarriesAsync) || op == hlo.OpCustomCall && forwards(u) ||
			op == hlo.OpAsyncUpdate || op == hlo.OpAsyncDone { // the operands of updates are looked at there; a done with several breaks ASYNC-15
			continue
		}
		r.report(in, "ASYNC-21", "%v %%%s can only be used as operands of async-update, async-done, control flow, or tuple, not of %v %%%s", in.Opcode(), in.Name(), op, u.Name())
		return
	}
}

// lateOperands checks that what an update binds are plain values.
func (r *run) lateOperands(update hlo.Instruction) {
	for i := 1; i < update.NumOperands(); i++ {
		if in := update.OperandInstr(i); (in.Opcode() == hlo.OpAsyncStart || in.Opcode() == hlo.OpAsyncUpdate) && !r.isBad(in) {
			r.report(in, "ASYNC-20", "%v %%%s can only be used as the first operand of async-update or async-done, %%%s uses it as operand %d", in.Opcode(), in.Name(), update.Name(), i)
		}
	}
}

// walkBack follows a done to its start.
func (r *run) walkBack(s *chainState, done hlo.Instruction) {
	if done.NumOperands() != 1 {
		r.report(done, "ASYNC-15", "async-done expects a single operand: it must have exactly one operand, found %d", done.NumOperands())
		return
	}
	own := make(map[place]bool) // updates on this walk
	in := done.OperandInstr(0)
	shape, through := in.Shape(), !isAsyncProducer(in.Opcode()) // of steps themselves, shapes are checked where they are made
	for {
		p, ok := r.producer(in)
		switch {
		case !ok:
			r.report(done, "ASYNC-22", "Async done %s does not trace back to an async start", done.Name())
			return
		case p.Opcode() == hlo.OpAsyncStart && through && !shape.Compatible(p.Shape()): // a tuple around the value
			r.report(done, "ASYNC-22", "Async done %s does not trace back to an async start: its operand is no asynchronous value, %v", done.Name(), shape)
			return
		case p.Opcode() == hlo.OpAsyncStart:
			s.dones[placeOf(p)] = append(s.dones[placeOf(p)], done)
			return
		case p.Opcode() != hlo.OpAsyncUpdate:
			r.report(done, "ASYNC-23", "async-done %%%s traces back to non-start async op %%%s, %v", done.Name(), p.Name(), p.Opcode())
			return
		case p.NumOperands() == 0:
			r.report(p, "ASYNC-28", "async-update %%%s must have at least one operand", p.Name())
			return
		case own[placeOf(p)] || s.updates[placeOf(p)]:
			r.report(p, "ASYNC-24", "async-update %%%s is part of multiple chains or a cycle, seen from %%%s", p.Name(), done.Name())
			return
		}
		own[placeOf(p)], s.updates[placeOf(p)] = true, true
		in = p.OperandInstr(0)
	}
}

// updateOrigin checks that an update continues a start or an update, and that going on from there ends somewhere: around a loop, a chain
// may lead back to itself. state is 1 for updates in progress and 2 for finished ones.
func (r *run) updateOrigin(in hlo.Instruction, state map[place]uint8) {
	var way []place
	for at := in; state[placeOf(at)] == 0; {
		state[placeOf(at)] = 1
		way = append(way, placeOf(at))
		if at.NumOperands() == 0 {
			r.report(at, "ASYNC-08", "async-update expects at least one operand")
			break
		}
		p, ok := r.producer(at.OperandInstr(0))
		if !ok || p.Opcode() != hlo.OpAsyncStart && p.Opcode() != hlo.OpAsyncUpdate {
			r.report(at, "ASYNC-09", "async-update expects operand to trace to async-start or async-update, %%%s does not", at.OperandInstr(0).Name())
			break
		}
		if p.Opcode() == hlo.OpAsyncStart {
			break
		}
		if state[placeOf(p)] == 1 {
			r.report(p, "ASYNC-24", "async-update %%%s is part of multiple chains or a cycle: it continues itself around a loop", p.Name())
		}
		at = p
	}
	for _, p := range way {
		state[p] = 2
	}
}

// asyncCallers checks that computations that run asynchronously are called in no other way.
func (r *run) asyncCallers() {
	for c := range r.m.Computations() {
		if !r.isAsyncBody(c.ID()) {
			continue
		}
		for comp, instr := range r.m.Callers(c.ID()) {
			if in := r.m.MustComputation(comp).MustAt(instr); !hlo.IsAsync(in.Opcode()) {
				r.report(in, "ASYNC-31", "Async computation %%%s is called by non-async instruction %%%s", c.Name(), in.Name())
			}
		}
	}
}

// head is the first step of the chain of an async instruction that can be seen: its async-start, if nothing is wrong.
func (r *run) head(in hlo.Instruction) hlo.Instruction {
	var way []place
	at := in
	for {
		here := placeOf(at)
		if known, ok := r.heads[here]; ok {
			at = known
			break
		}
		if at.Opcode() == hlo.OpAsyncStart || at.NumOperands() == 0 {
			break
		}
		r.heads[here] = at // for chains that bite their tail
		way = append(way, here)
		p, ok := r.producer(at.OperandInstr(0))
		if !ok || !hlo.IsAsync(p.Opcode()) {
			break
		}
		at = p
	}
	for _, p := range way {
		r.heads[p] = at
	}
	return at
}

// chainCallee is the computation that an async instruction runs: what the head of its chain calls, or what it names itself when no start
// can be seen.
func (r *run) chainCallee(in hlo.Instruction) (hlo.CompID, bool) {
	if h := r.head(in); h.Opcode() == hlo.OpAsyncStart && h.NumCallees() > 0 {
		return h.Callee(0), true
	}
	if in.NumCallees() > 0 {
		return in.Callee(0), true
	}
	return hlo.NoComp, false
}

// promises checks what only profile doc demands: an asynchronous value has one user, which continues or ends it (ASYNC-S1), and ops with
// asynchronous opcodes of their own are not wrapped (ASYNC-S2). It comes last, and says nothing about what is wrong anyway.
func (r *run) promises() {
	if r.cfg.Profile != Doc {
		return
	}
	for _, in := range r.linked {
		if op := in.Opcode(); (op == hlo.OpAsyncStart || op == hlo.OpAsyncUpdate) && !r.isBad(in) {
			r.oneUser(in)
		}
	}
	for c := range r.m.Computations() {
		if a := r.async[c.ID()]; !a.start.IsZero() && !r.isBad(a.start) {
			r.notNative(c, a.start)
		}
	}
}

func (r *run) oneUser(in hlo.Instruction) {
	var user hlo.Instruction
	n := 0
	for u := range in.Users() {
		if customTarget(u) != "control_dep" {
			user = u
			n++
		}
	}
	switch {
	case n != 1:
		r.report(in, "ASYNC-S1", "The %v instruction requires one consumer, found %d", in.Opcode(), n)
	case user.Opcode() != hlo.OpAsyncUpdate && user.Opcode() != hlo.OpAsyncDone:
		r.report(in, "ASYNC-S1", "The consumer of a %v instruction needs to be one of (async-update, async-done), found %v", in.Opcode(), user.Opcode())
	}
}

func (r *run) notNative(c hlo.Computation, start hlo.Instruction) {
	root, others := c.Root(), 0
	for in := range c.Instructions() {
		if in.Opcode() != hlo.OpParameter {
			others++
		}
	}
	switch op := root.Opcode(); {
	case others != 1 || !hlo.HasNativeAsync(op):
	case isTransfer(op): // XLA wraps the transfers of a stream, so programs have them
		r.warn(start, "ASYNC-S2", "%v begins a pair of its own opcodes and is better not wrapped with async-start", op)
	default:
		r.report(start, "ASYNC-S2", "%v has asynchronous opcodes of its own and cannot be wrapped with async-start", op)
	}
}
