package pass

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Release removes an instruction that a rewrite has left without users, and then what it alone used. Whoever replaces values calls it: a
// fused computation must not hold dead code, and later rules see true numbers of users. What has effects, may have them, or is held by a
// control dependency stays. kept, which may be nil, hears of every instruction at which it stopped. An id that is gone is nothing to do.
func Release(c hlo.CompEdit, id hlo.InstrID, kept func(hlo.InstrID)) {
	work := []hlo.InstrID{id}
	for len(work) > 0 {
		id := work[len(work)-1]
		work = work[:len(work)-1]
		if !c.Has(id) {
			continue
		}
		if c.UserCount(id) == 0 && c.Root() != id {
			if in := c.At(id); removable(in) {
				operands := slices.Collect(in.OperandIDs())
				if c.Remove(id) == nil {
					slices.Reverse(operands)
					work = append(work, operands...)
					continue
				}
			}
		}
		if kept != nil {
			kept(id)
		}
	}
}

func removable(in hlo.Instruction) bool {
	const keeps = hlo.TraitSideEffect | hlo.TraitCollective | hlo.TraitRandom | hlo.TraitTokens | hlo.TraitAsyncStart | hlo.TraitAsyncDone
	return in.Opcode() != hlo.OpParameter && in.Opcode() != hlo.OpCustomCall && !hlo.IsAsync(in.Opcode()) && in.NumCallees() == 0 &&
		in.NumControlPredecessors() == 0 && hlo.Info(in.Opcode()).Traits&keeps == 0
}
