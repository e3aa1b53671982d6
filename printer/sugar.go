package printer

import "github.com/gohalo/halo/hlo"

// sugaredComputations marks the computations, by id, that are written only as part of the asynchronous operations that call them; nil
// when there are none. All calls of such a computation are sugared, or none is: otherwise text would need it both ways.
func sugaredComputations(m hlo.Module, s Sugar) []bool {
	if s == SugarOff || m.IsZero() {
		return nil
	}
	var marks []bool
	entry := m.Entry()
	for caller := range m.Computations() {
		for in := range caller.Instructions() {
			if in.Opcode() != hlo.OpAsyncStart || in.NumCallees() != 1 || in.Callee(0) == entry.ID() {
				continue
			}
			if marks == nil {
				marks = make([]bool, m.CompIDLimit())
			}
			if id := in.Callee(0); !marks[id] {
				c := m.MustComputation(id)
				marks[id] = hlo.IsExpandable(c) && canSugar(m, c, s)
			}
		}
	}
	return marks
}

// canSugar reports whether every call of c is an asynchronous one that may be sugared, and there is a start among them. Starts that
// share a computation come back with one each, which is the same program.
func canSugar(m hlo.Module, c hlo.Computation, s Sugar) bool {
	starts := 0
	for comp, id := range m.Callers(c.ID()) {
		in := m.MustComputation(comp).MustAt(id)
		switch {
		case !hlo.IsAsync(in.Opcode()):
			return false
		case in.Opcode() != hlo.OpAsyncStart:
			continue
		case s == SugarAuto && !hlo.CanSugar(in, c):
			return false
		case s == SugarOn:
			if _, ok := hlo.AsyncMnemonic(in.Opcode(), c.Root().Opcode()); !ok {
				return false
			}
		}
		starts++
	}
	return starts > 0
}

func (p *printer) isSugared(id hlo.CompID) bool { return int(id) < len(p.sugared) && p.sugared[id] }

// wrapped is the instruction that a sugared asynchronous one stands for; false for everything else.
func (p *printer) wrapped(in hlo.Instruction) (hlo.Instruction, bool) {
	if p.sugared == nil || !hlo.IsAsync(in.Opcode()) {
		return hlo.Instruction{}, false
	}
	c, ok := p.step.callee, p.step.leadsTo(in)
	if !ok {
		c, ok = hlo.AsyncCallee(p.m, in)
	}
	p.step = chainStep{in, c}
	if !ok || !p.isSugared(c.ID()) {
		return hlo.Instruction{}, false
	}
	return c.Root(), true
}

// chainStep is an asynchronous instruction and what its chain runs, zero when that cannot be known. The steps of a chain are written one after
// the other as a rule, and the printer remembers the last one: otherwise each would be followed back to the start.
type chainStep struct {
	in     hlo.Instruction
	callee hlo.Computation
}

// leadsTo reports whether in is this step or the next one, and runs what it runs: the step is a start, or has found its start.
func (s chainStep) leadsTo(in hlo.Instruction) bool {
	if s.callee.IsZero() || s.in.Opcode() != hlo.OpAsyncStart && s.in.NumCallees() > 0 || in.Computation().ID() != s.in.Computation().ID() {
		return false
	}
	return in.ID() == s.in.ID() || in.Opcode() != hlo.OpAsyncStart && in.NumOperands() > 0 && in.Operand(0) == s.in.ID()
}
