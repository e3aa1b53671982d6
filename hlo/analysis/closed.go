package analysis

import "github.com/gohalo/halo/hlo"

// Closed is the set of computations that belong to one instruction as a whole: those that a fusion fuses and those that an asynchronous
// instruction wraps. What may stand in them is limited, so a pass that has not been written for them leaves them alone.
func Closed(m hlo.Module) map[hlo.CompID]bool {
	set := map[hlo.CompID]bool{}
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if in.Opcode() == hlo.OpFusion || in.Opcode() == hlo.OpAsyncStart {
				for id := range in.Callees() {
					set[id] = true
				}
			}
		}
	}
	return set
}
