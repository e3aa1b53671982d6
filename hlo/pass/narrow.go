package pass

import "github.com/gohalo/halo/hlo"

// narrows reports whether a rewrite would narrow a chain: work that runs beside one is taken into what waits for its done. That is work which
// only the instruction uses, which the new value no longer uses, and whose window is another.
func (w *rewriting) narrows(in hlo.Instruction, to Expr) bool {
	if w.windows == nil || !to.IsNew() {
		return false
	}
	kept := map[hlo.InstrID]bool{}
	to.uses(kept)
	return w.takesIn(in, in, kept)
}

// uses adds the instructions that an expression reads.
func (e *Expr) uses(set map[hlo.InstrID]bool) {
	if !e.IsNew() {
		set[e.id] = true
		return
	}
	for i := range e.operands {
		e.operands[i].uses(set)
	}
}

// takesIn looks at the operands of at that go with in.
func (w *rewriting) takesIn(in, at hlo.Instruction, kept map[hlo.InstrID]bool) bool {
	const free = hlo.TraitForwards | hlo.TraitMovesData
	for o := range at.Operands() {
		if kept[o.ID()] || o.UserCount() > 1 || o.Opcode() == hlo.OpParameter || o.Opcode() == hlo.OpConstant || w.windows.IsStep(o.ID()) {
			continue
		}
		if hlo.Info(o.Opcode()).Traits&free == 0 && w.windows.Narrows(o.ID(), in.ID()) || w.takesIn(in, o, kept) {
			return true
		}
	}
	return false
}
