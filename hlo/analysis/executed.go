package analysis

import (
	"iter"

	"github.com/gohalo/halo/hlo"
)

// Executed is the set of computations that run as computations: the entry, and what control instructions call. Others are applied to
// elements, wrapped for asynchronous execution, or fused.
type Executed struct{ set map[hlo.CompID]bool }

// FindExecuted looks at every instruction once.
func FindExecuted(m hlo.Module) Executed {
	set := map[hlo.CompID]bool{m.Entry().ID(): true}
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if hlo.Info(in.Opcode()).Traits.Has(hlo.TraitControl) && in.Opcode() != hlo.OpAsyncStart {
				for id := range in.Callees() {
					set[id] = true
				}
			}
		}
	}
	return Executed{set}
}

// Has reports whether a computation is one of them.
func (e Executed) Has(id hlo.CompID) bool { return e.set[id] }

// In yields those of m, in the order of the module.
func (e Executed) In(m hlo.Module) iter.Seq[hlo.Computation] {
	return func(yield func(hlo.Computation) bool) {
		for c := range m.Computations() {
			if e.set[c.ID()] && !yield(c) {
				return
			}
		}
	}
}
