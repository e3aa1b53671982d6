package control

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

// sharing is what the calls of one computation have become, so that a call makes only the copies in which it differs from the call of
// the same callee before it. A nil sharing shares nothing.
type sharing struct {
	effects *analysis.SideEffects
	copies  map[hlo.CompID]map[hlo.InstrID]hlo.InstrID // by callee: what the last call made of its instructions
}

// newSharing is nil for a computation in which work begins asynchronously: what one call may wait for, another one need not.
func (i *inlining) newSharing(c hlo.Computation) *sharing {
	if n, async := i.callsIn(c); n < 2 || async {
		return nil
	}
	return &sharing{pass.Fact(i.ctx, i.m, analysis.FindSideEffects), map[hlo.CompID]map[hlo.InstrID]hlo.InstrID{}}
}

// callsIn is the number of calls in c and what dissolves in it, and whether work begins asynchronously there.
func (i *inlining) callsIn(c hlo.Computation) (n int, async bool) {
	async = c.Opcodes().Meets(asyncStarts)
	for in := range c.Calls() {
		if in.Opcode() != hlo.OpCall {
			continue
		}
		n++
		if callee := in.Callee(0); i.dissolving.Has(callee) {
			more, begins := i.callsIn(i.e.View(callee))
			n, async = n+more, async || begins
		}
	}
	return n, async
}

var asyncStarts = hlo.OpcodesWith(hlo.TraitAsyncStart)

// with is s for a call that may share: copies would lack the attributes of another call, or the control dependencies of this one.
func (s *sharing) with(call hlo.Instruction) *sharing {
	if c := call.Common(); s == nil || c != nil && c.FrontendAttributes != nil || call.NumControlPredecessors()+call.NumControlSuccessors() > 0 {
		return nil
	}
	return s
}

// last is what the last call made of a callee's instructions; copied, which the caller fills, is that for the next one.
func (s *sharing) last(callee hlo.CompID, copied map[hlo.InstrID]hlo.InstrID) map[hlo.InstrID]hlo.InstrID {
	if s == nil {
		return nil
	}
	last := s.copies[callee]
	s.copies[callee] = copied
	return last
}

// copyOf is the copy of an instruction that the last call has made, if another one would equal it.
func (s *sharing) copyOf(ce hlo.CompEdit, in hlo.Instruction, last, now map[hlo.InstrID]hlo.InstrID) (hlo.InstrID, bool) {
	id, made := last[in.ID()]
	if !made || !s.effects.Mergeable(in) || !ce.Has(id) {
		return 0, false
	}
	for i := range in.NumOperands() {
		if o := in.Operand(i); last[o] != now[o] {
			return 0, false
		}
	}
	return id, true
}
