package analysis

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/idmap"
)

// SideEffects has the computations of a module that do more than compute their result. It is immutable.
type SideEffects struct {
	impure idmap.Set[hlo.CompID]
	joined idmap.Set[hlo.CompID] // those that run collectives on channels
}

// FindSideEffects looks at every computation once, callees first.
func FindSideEffects(m hlo.Module) *SideEffects {
	s := new(SideEffects)
	for c := range m.PostOrder() {
		of := c.Calls()
		switch {
		case c.Opcodes().Meets(mayHaveEffects):
			of = c.Instructions()
		case s.impure.Len()+s.joined.Len() == 0:
			continue
		}
		for in := range of {
			if s.Of(in) {
				s.impure.Add(c.ID())
			}
			if s.joins(in) {
				s.joined.Add(c.ID())
			}
			if s.impure.Has(c.ID()) && s.joined.Has(c.ID()) {
				break
			}
		}
	}
	return s
}

// mayHaveEffects are the opcodes of instructions that have effects by themselves.
var mayHaveEffects = hlo.OpcodesWith(hlo.TraitSideEffect).With(hlo.OpcodesWith(hlo.TraitCollective)).With(hlo.OpcodesOf(hlo.OpCustomCall))

// Needed reports whether in must be kept even if its value is unused: it has side effects, or is or calls a collective on a channel. A channel joins
// collectives of several programs, so that another program may wait for this one. Collectives without a channel join executions of this
// program, from which they go together.
func (s *SideEffects) Needed(in hlo.Instruction) bool { return s.Of(in) || s.joins(in) }

// joins reports whether in is a collective on a channel, or calls one.
func (s *SideEffects) joins(in hlo.Instruction) bool {
	if hlo.Info(in.Opcode()).Traits.Has(hlo.TraitCollective) {
		channel, _ := in.Attr("channel_id")
		if id, ok := channel.(hlo.OptInt); ok && id.Set {
			return true
		}
	}
	for i := range in.NumCallees() {
		if s.joined.Has(in.Callee(i)) {
			return true
		}
	}
	return false
}

// Of reports whether in does more than compute its value.
func (s *SideEffects) Of(in hlo.Instruction) bool {
	if hlo.Info(in.Opcode()).Traits.Has(hlo.TraitSideEffect) {
		return true
	}
	if in.Opcode() == hlo.OpCustomCall && hlo.AttrsOf[hlo.CustomCallAttrs](in).HasSideEffect {
		return true
	}
	for i := range in.NumCallees() { // asked of every instruction: an iterator would be an allocation each
		if s.impure.Has(in.Callee(i)) {
			return true
		}
	}
	return false
}

// Mergeable reports whether another instruction that computes the same from the same operands may stand for in: it is pure, and is held by nothing but its
// operands.
func (s *SideEffects) Mergeable(in hlo.Instruction) bool {
	return s.Pure(in) && in.NumControlPredecessors() == 0 && in.NumControlSuccessors() == 0
}

// Pure reports whether an instruction does nothing but compute its value from its operands, always the same: it has no effects, and is not random. A
// parameter, or an update of an asynchronous chain, stands for itself only.
func (s *SideEffects) Pure(in hlo.Instruction) bool {
	const keeps = hlo.TraitRandom | hlo.TraitAsyncStart | hlo.TraitAsyncDone | hlo.TraitTokens | hlo.TraitCollective
	return in.Opcode() != hlo.OpParameter && in.Opcode() != hlo.OpAsyncUpdate && hlo.Info(in.Opcode()).Traits&keeps == 0 && !s.Of(in)
}

// OfComputation reports whether running the computation has effects.
func (s *SideEffects) OfComputation(id hlo.CompID) bool { return s.impure.Has(id) }

// Reachable is the set of computations that the entry calls, itself included.
func Reachable(m hlo.Module) map[hlo.CompID]bool {
	seen := map[hlo.CompID]bool{}
	work := []hlo.CompID{m.Entry().ID()}
	seen[m.Entry().ID()] = true
	for len(work) > 0 {
		c := m.MustComputation(work[len(work)-1])
		work = work[:len(work)-1]
		for id := range c.Callees() {
			if !seen[id] {
				seen[id] = true
				work = append(work, id)
			}
		}
	}
	return seen
}
