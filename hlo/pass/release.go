package pass

import (
	"github.com/gohalo/halo/hlo"
)

// Release removes an instruction that a rewrite has left without users, and then what it alone used. Whoever replaces values calls it: a
// fused computation must not hold dead code, and later rules see true numbers of users. What has effects, may have them, or is held by a
// control dependency stays. kept, which may be nil, hears of every instruction at which it stopped. An id that is gone is nothing to do.
func Release(c hlo.CompEdit, id hlo.InstrID, kept func(hlo.InstrID)) {
	if c.Has(id) && c.UserCount(id) > 0 { // the common case costs nothing
		if kept != nil {
			kept(id)
		}
		return
	}
	work := []hlo.InstrID{id}
	for len(work) > 0 {
		id := work[len(work)-1]
		work = work[:len(work)-1]
		if !c.Has(id) {
			continue
		}
		if c.UserCount(id) == 0 && c.Root() != id {
			if in := c.Instr(id); removable(in) { // no view: the next step would make another
				mark := len(work)
				for i := in.NumOperands() - 1; i >= 0; i-- {
					work = append(work, in.Operand(i))
				}
				if c.Remove(id) == nil {
					continue
				}
				work = work[:mark]
			}
		}
		if kept != nil {
			kept(id)
		}
	}
}

// ReleaseAll is Release of one after the other.
func ReleaseAll(c hlo.CompEdit, ids []hlo.InstrID) {
	if len(ids) == 0 || c.RemoveUnused(ids, removable) {
		return
	}
	for _, id := range ids {
		Release(c, id, nil)
	}
}

func removable(in hlo.InstrEdit) bool {
	const keeps = hlo.TraitSideEffect | hlo.TraitCollective | hlo.TraitRandom | hlo.TraitTokens | hlo.TraitAsyncStart | hlo.TraitAsyncDone
	return in.Opcode() != hlo.OpParameter && in.Opcode() != hlo.OpCustomCall && !hlo.IsAsync(in.Opcode()) && in.NumCallees() == 0 &&
		in.NumControlPredecessors() == 0 && hlo.Info(in.Opcode()).Traits&keeps == 0
}
