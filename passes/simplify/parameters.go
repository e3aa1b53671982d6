package simplify

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// dropParameters removes unused parameters from computations that are only called, with the operands of the calls, and what is
// dead without these. (Those of fusions are read, or the fusion is not legal.) Callees come first, since a caller may have read its own parameter for a call only.
func dropParameters(ctx *pass.Context, e *hlo.Editor, m hlo.Module, needed func(hlo.Instruction) bool) error {
	for c := range m.PostOrder() {
		if !e.Has(c.ID()) || c.ID() == m.Entry().ID() {
			continue
		}
		sites, ok := narrowableCalls(e, m, c.ID())
		if !ok {
			continue
		}
		dropped := false
		for i, p := range slices.Backward(e.View(c.ID()).Parameters()) {
			now := e.View(c.ID())
			if now.UserCount(p) > 0 || now.Root().ID() == p || now.MustAt(p).NumControlSuccessors()+now.MustAt(p).NumControlPredecessors() > 0 || !ctx.Spend("parameter") {
				continue
			}
			if err := e.Computation(c.ID()).RemoveParameter(i); err != nil {
				return err
			}
			for _, s := range sites {
				e.Computation(s.comp).Instr(s.id).RemoveOperand(i)
			}
			dropped = true
			ctx.Count("parameters", 1)
		}
		for _, s := range sites {
			if !dropped {
				break
			}
			if err := removeDead(ctx, e, e.View(s.comp), needed); err != nil {
				return err
			}
		}
	}
	return nil
}

type callSite struct {
	comp hlo.CompID
	id   hlo.InstrID
}

// narrowableCalls lists the calls of a computation that are still there; false if one of them needs the parameters as they are.
func narrowableCalls(e *hlo.Editor, m hlo.Module, id hlo.CompID) (sites []callSite, ok bool) {
	for caller, call := range m.Callers(id) {
		if !e.Has(caller) {
			continue
		}
		in, there := e.View(caller).At(call)
		if !there {
			continue
		}
		if in.Opcode() != hlo.OpCall || hlo.AttrsOf[hlo.CallAttrs](in).IsComposite {
			return nil, false
		}
		if c := in.Common(); c != nil && c.BackendConfig != "" {
			return nil, false // it may speak of operands by number
		}
		sites = append(sites, callSite{caller, call})
	}
	return sites, len(sites) > 0
}
