package analysis

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/idmap"
)

// Closed is the set of computations that belong to one instruction as a whole: those that a fusion fuses and those that an asynchronous
// instruction wraps. What may stand in them is limited, so a pass that has not been written for them leaves them alone.
type Closed struct{ set idmap.Set[hlo.CompID] }

// FindClosed looks at every call once.
func FindClosed(m hlo.Module) (closed Closed) {
	for c := range m.Computations() {
		if !c.Opcodes().Meets(closers) {
			continue
		}
		for in := range c.Calls() {
			if in.Opcode() == hlo.OpFusion || in.Opcode() == hlo.OpAsyncStart {
				for id := range in.Callees() {
					closed.set.Add(id)
				}
			}
		}
	}
	return closed
}

var closers = hlo.OpcodesOf(hlo.OpFusion, hlo.OpAsyncStart)

// Has reports whether a computation is closed.
func (c Closed) Has(id hlo.CompID) bool { return c.set.Has(id) }
