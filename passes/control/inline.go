// Package control holds the passes that change which computation calls which.
package control

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// CallInliner replaces calls by the bodies of their callees.
var CallInliner = &pass.Pass{
	Name: "call-inliner",
	Doc: `replace each call by a copy of what it calls

Calls with a backend configuration, composites, calls whose frontend attribute inlineable says "false" or "xla_late", and calls inside
the computation of an asynchronous instruction stay.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		return inlineAll(ctx, m, func(in hlo.Instruction) bool {
			return in.Opcode() == hlo.OpCall && mayInline(in)
		})
	},
}

// FusionInliner takes fusions apart.
var FusionInliner = &pass.Pass{
	Name:   "fusion-inliner",
	Breaks: []pass.Phase{pass.Fused},
	Doc: `replace each fusion by the instructions that it fuses

An optimised dump carries the fusions of the machine it was made for. What a fused computation means is what its instructions mean, so
it can run, and be fused anew, anywhere.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		return inlineAll(ctx, m, func(in hlo.Instruction) bool { return in.Opcode() == hlo.OpFusion })
	},
}

func mayInline(in hlo.Instruction) bool {
	if hlo.AttrsOf[hlo.CallAttrs](in).IsComposite {
		return false
	}
	c := in.Common()
	if c == nil {
		return true
	}
	v, _ := c.FrontendAttributes.Get("inlineable")
	return c.BackendConfig == "" && v != "false" && v != "xla_late"
}

// inlineAll inlines what want selects, callees before callers, so that a body is complete when it is copied.
func inlineAll(ctx *pass.Context, m hlo.Module, want func(hlo.Instruction) bool) (hlo.Module, error) {
	wrapped := asyncComputations(m)
	e := ctx.Edit(m)
	for c := range m.PostOrder() {
		if wrapped[c.ID()] {
			continue
		}
		for in := range c.Instructions() {
			if !want(in) || !ctx.SpendOn("inline", pass.Cost{Instructions: m.MustComputation(in.Callee(0)).NumInstructions()}) {
				continue
			}
			ce := e.Computation(c.ID())
			root := InlineBefore(ce, in.ID(), e.View(in.Callee(0)), slices.Collect(ce.At(in.ID()).OperandIDs()))
			if err := ce.ReplaceInstruction(in.ID(), root); err != nil {
				return m, err
			}
			ctx.Count("calls", 1)
		}
	}
	return e.Freeze(), nil
}

// asyncComputations is the set of computations that an async-start wraps.
func asyncComputations(m hlo.Module) map[hlo.CompID]bool {
	set := make(map[hlo.CompID]bool)
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if in.Opcode() == hlo.OpAsyncStart && in.NumCallees() > 0 {
				set[in.Callee(0)] = true
			}
		}
	}
	return set
}

// InlineBefore copies the instructions of callee in front of instruction at, with args for its parameters, and returns what became of
// its root. Copies run after what at runs after by control dependencies.
func InlineBefore(ce hlo.CompEdit, at hlo.InstrID, callee hlo.Computation, args []hlo.InstrID) hlo.InstrID {
	control := slices.Collect(ce.At(at).ControlPredecessors())
	copied := make(map[hlo.InstrID]hlo.InstrID, callee.NumInstructions())
	for i, p := range callee.Parameters() {
		copied[p] = args[i]
	}
	order := slices.Collect(callee.PostOrder())
	if callee.IsScheduled() {
		order = order[:0]
		for _, id := range callee.Schedule() {
			order = append(order, callee.MustAt(id))
		}
	}
	for _, in := range order {
		if in.Opcode() == hlo.OpParameter {
			continue
		}
		spec := Copy(ce.Editor(), in, copied)
		spec.Control = append(spec.Control, control...)
		copied[in.ID()] = ce.InsertSpecBefore(at, spec).ID()
	}
	return copied[callee.Root().ID()]
}
