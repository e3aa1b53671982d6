package control

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/directive"
	"github.com/gohalo/halo/passes/emit"
)

// The custom calls that mark where a call was, and their frontend attributes.
const (
	markerBefore = "__xla_internal_call_marker_before"
	markerAfter  = "__xla_internal_call_marker_after"
	markedName   = "xla_call_marked_computation"
	markedCall   = "xla_call_marked_instruction_name"
)

// CallMarker marks calls that are about to be inlined.
var CallMarker = &pass.Pass{
	Name: "call-marker",
	Doc: `mark the beginning and the end of each call that call-inliner will inline, so that call-outliner finds it again

The operands of the call go through a custom call __xla_internal_call_marker_before, and its result through __xla_internal_call_marker_after. Frontend attributes
have the names of the computation and of the call. Calls of computations that use none of their parameters are not marked.`,
	Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
		closed := pass.Fact(ctx, m, analysis.FindClosed)
		if closed.Has(c.ID()) {
			return nil
		}
		marked := false
		for in := range m.MustComputation(c.ID()).Instructions() {
			if in.Opcode() != hlo.OpCall || directive.IsManualBody(m, in) || !mayInline(in, nil) || !readsParameters(m.MustComputation(in.Callee(0))) || in.Shape().IsToken() {
				continue
			}
			if !ctx.Spend("call") {
				continue
			}
			markCall(c, m, in)
			marked = true
			ctx.Count("calls", 1)
		}
		if marked {
			emit.Reorder(c)
		}
		return nil
	},
}

func readsParameters(c hlo.Computation) bool {
	return slices.ContainsFunc(c.Parameters(), func(id hlo.InstrID) bool { return c.UserCount(id) > 0 || c.Root().ID() == id })
}

// markCall puts the markers around a call. What runs before and after the call runs before the first and after the second. The second stands at the end
// of the computation.
func markCall(c hlo.CompEdit, m hlo.Module, in hlo.Instruction) {
	name := m.MustComputation(in.Callee(0)).Name()
	marker := func(target string, entries ...hlo.FrontendAttribute) (hlo.OpAttrs, *hlo.Common) {
		return &hlo.CustomCallAttrs{Target: target, HasSideEffect: true, FeatureGroupCount: 1, BatchGroupCount: 1},
			&hlo.Common{FrontendAttributes: &hlo.FrontendAttributes{Entries: append([]hlo.FrontendAttribute{{Key: markedName, Value: name}}, entries...)}}
	}
	call := in.ID()
	operands := slices.Collect(c.At(call).OperandIDs())
	control := slices.Collect(c.At(call).ControlPredecessors())
	at := emit.Before(c, in)
	shapes := make([]hlo.Shape, len(operands))
	for i, id := range operands {
		shapes[i] = at.Shape(id)
	}
	attrs, common := marker(markerBefore)
	before := at.Spec(hlo.InstrSpec{Opcode: hlo.OpCustomCall, Shape: hlo.MakeTuple(shapes...), Attrs: attrs, Common: common, Operands: operands, Control: control})
	c.Instr(call).SetOperands(emit.Elements(at, before)...)

	attrs, common = marker(markerAfter, hlo.FrontendAttribute{Key: markedCall, Value: in.Name()})
	if own := in.Common(); own != nil {
		common.Sharding, common.Metadata = own.Sharding, own.Metadata
	}
	users, later, root := slices.Collect(c.Users(call)), slices.Collect(c.ControlSuccessors(call)), c.Root() == call
	after := emit.End(c).Spec(hlo.InstrSpec{Opcode: hlo.OpCustomCall, Shape: in.Shape(), Attrs: attrs, Common: common, Operands: []hlo.InstrID{call}})
	for _, u := range users {
		useFor(c, u, call, after)
	}
	for _, s := range later {
		c.Instr(s).RemoveControlPredecessor(call).AddControlPredecessor(after)
	}
	for _, p := range control {
		c.Instr(call).RemoveControlPredecessor(p)
	}
	if root {
		c.SetRoot(after)
	}
}

// useFor makes an instruction use one value in the place of another.
func useFor(c hlo.CompEdit, user, old, new hlo.InstrID) {
	operands := slices.Collect(c.At(user).OperandIDs())
	for i, o := range operands {
		if o == old {
			operands[i] = new
		}
	}
	c.Instr(user).SetOperands(operands...)
}

// markerOf reads what a marker marks; false for other instructions.
func markerOf(in hlo.Instruction) (target, computation, call string, ok bool) {
	a, is := in.Attrs().(*hlo.CustomCallAttrs)
	if !is || a.Target != markerBefore && a.Target != markerAfter {
		return "", "", "", false
	}
	computation = "outlined_computation"
	if c := in.Common(); c != nil {
		if v, ok := c.FrontendAttributes.Get(markedName); ok && v != "" {
			computation = v
		}
		call, _ = c.FrontendAttributes.Get(markedCall)
	}
	return a.Target, computation, call, true
}

// errUnclosed is the error for markers that do not match.
func errUnclosed(after, before string) error {
	return fmt.Errorf("call-outliner: found _after marker for %s but nested _before marker for %s was not closed", after, before)
}
