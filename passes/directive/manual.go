package directive

import (
	"strings"

	"github.com/gohalo/halo/hlo"
)

// Targets of the custom calls around a manual computation of Shardy, and what its frontend attributes begin with.
const (
	ToLocal  = "xla.sdy.GlobalToLocalShape"
	ToGlobal = "xla.sdy.LocalToGlobalShape"

	shardy = "xla.sdy."
)

// ManualRegion is the custom call that leads into, or out of, the manual computation whose body a call runs; false if it runs none.
func ManualRegion(call hlo.Instruction) (hlo.Instruction, bool) {
	for o := range call.Operands() {
		if o.Opcode() == hlo.OpGetTupleElement {
			o = o.OperandInstr(0)
		}
		if calls(o, ToLocal) {
			return o, true
		}
	}
	for u := range call.Users() {
		if calls(u, ToGlobal) {
			return u, true
		}
		for w := range u.Users() {
			if u.Opcode() == hlo.OpGetTupleElement && calls(w, ToGlobal) {
				return w, true
			}
		}
	}
	return hlo.Instruction{}, false
}

func calls(in hlo.Instruction, target string) bool {
	return in.Opcode() == hlo.OpCustomCall && hlo.AttrsOf[hlo.CustomCallAttrs](in).Target == target
}

// MayHaveManual reports whether a module may have manual computations: most know nothing of Shardy, and need not be asked about each call.
func MayHaveManual(m hlo.Module) bool {
	for c := range m.Computations() {
		if c.Opcodes().Has(hlo.OpCustomCall) {
			return true
		}
	}
	return false
}

// IsManualBody reports whether a call runs the body of a manual computation that says how its values are split. That is said of one device's part, and
// nobody could tell any more if the body were copied to where the call is.
func IsManualBody(m hlo.Module, call hlo.Instruction) bool {
	if _, ok := ManualRegion(call); !ok {
		return false
	}
	seen := map[hlo.CompID]bool{}
	var says func(id hlo.CompID) bool
	says = func(id hlo.CompID) bool {
		if seen[id] {
			return false
		}
		seen[id] = true
		for in := range m.MustComputation(id).Instructions() {
			if c := in.Common(); c != nil && c.FrontendAttributes != nil {
				for _, e := range c.FrontendAttributes.Entries {
					if strings.HasPrefix(e.Key, shardy) {
						return true
					}
				}
			}
			for callee := range in.Callees() {
				if says(callee) {
					return true
				}
			}
		}
		return false
	}
	return says(call.Callee(0))
}
