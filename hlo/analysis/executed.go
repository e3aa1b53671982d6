package analysis

import (
	"iter"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/idmap"
)

// Executed is the set of computations that run as computations: the entry, and what control instructions call. Others are applied to
// elements, wrapped for asynchronous execution, or fused.
type Executed struct{ set idmap.Set[hlo.CompID] }

// FindExecuted looks at every call once.
func FindExecuted(m hlo.Module) (executed Executed) {
	executed.set.Add(m.Entry().ID())
	for c := range m.Computations() {
		for in := range c.Calls() {
			if hlo.Info(in.Opcode()).Traits.Has(hlo.TraitControl) && in.Opcode() != hlo.OpAsyncStart {
				for id := range in.Callees() {
					executed.set.Add(id)
				}
			}
		}
	}
	return executed
}

// Has reports whether a computation is one of them.
func (e Executed) Has(id hlo.CompID) bool { return e.set.Has(id) }

// In yields those of m, in the order of the module.
func (e Executed) In(m hlo.Module) iter.Seq[hlo.Computation] {
	return func(yield func(hlo.Computation) bool) {
		for c := range m.Computations() {
			if e.set.Has(c.ID()) && !yield(c) {
				return
			}
		}
	}
}

// Executions yields each computation that is executed as such, and how often: loops of unknown length count as one round.
func Executions(m hlo.Module) iter.Seq2[hlo.Computation, int64] {
	rounds := map[hlo.CompID]int64{m.Entry().ID(): 1}
	order := slices.Collect(m.PostOrder())
	slices.Reverse(order) // callers first
	for _, c := range order {
		if rounds[c.ID()] == 0 {
			continue
		}
		for in := range c.Instructions() {
			if in.Opcode() == hlo.OpFusion || !hlo.Info(in.Opcode()).Traits.Has(hlo.TraitControl) {
				continue
			}
			n := int64(1)
			if in.Opcode() == hlo.OpWhile {
				if trips, ok := tripCount(in); ok {
					n = max(trips, 1)
				} else if loop, counts := FindLoop(m, in); counts {
					n = max(loop.Trip, 1)
				}
			}
			for id := range in.Callees() {
				rounds[id] += rounds[c.ID()] * n
			}
		}
	}
	return func(yield func(hlo.Computation, int64) bool) {
		for _, c := range order {
			if n := rounds[c.ID()]; n > 0 && !yield(c, n) {
				return
			}
		}
	}
}
