package control

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// smallCall is the attribute of a call that XLA's runtime for processors compiles as one function.
const smallCall = "xla_cpu_small_call"

// NewSmallLoops makes the pass small-while-loop-hoisting.
func NewSmallLoops(o pass.Options) (*pass.Pass, error) {
	const size = "small-buffer-access-size"
	if err := o.Known(size); err != nil {
		return nil, err
	}
	most, err := o.Int(size, 1024)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{
		Name: "small-while-loop-hoisting",
		Doc: `call loops whose rounds touch little memory, and mark the calls

The call has frontend_attributes={xla_cpu_small_call="true"}: a backend may compile it as one function. Loops with effects stay, and those that call what the compiler does not know.`,
		Options: o,
		Params:  []pass.Param{{Name: size, Doc: "bytes that a round reads and writes at most; 1024"}},
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			e, costs, effects := ctx.Edit(m), pass.Fact(ctx, m, analysis.FindCosts), pass.Fact(ctx, m, analysis.FindSideEffects)
			for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
				if calledSmall(m, c) {
					continue
				}
				for in := range c.Instructions() {
					if in.Opcode() != hlo.OpWhile || effects.Of(in) || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 || !smallRounds(m, in, costs, int64(most)) || !ctx.Spend("loop") {
						continue
					}
					ce := e.Computation(c.ID())
					now := ce.At(in.ID())
					at, spec := emit.Before(ce, now), emit.Again(now)
					init := spec.Operands[0]
					f := emit.Computation(e, in.Name()+"_computation", []hlo.Shape{at.Shape(init)}, func(at emit.At, params []hlo.InstrID) hlo.InstrID { return at.Spec(emit.With(spec, params...)) })
					call := at.Call(f, init)
					ce.Instr(call).SetCommon(&hlo.Common{FrontendAttributes: &hlo.FrontendAttributes{Entries: []hlo.FrontendAttribute{{Key: smallCall, Value: "true"}}}})
					if err := emit.Replace(ce, in.ID(), call); err != nil {
						return m, err
					}
					ctx.Count("loops", 1)
				}
			}
			return e.Freeze(), nil
		},
	}, nil
}

// calledSmall reports whether a computation is the callee of a marked call.
func calledSmall(m hlo.Module, c hlo.Computation) bool {
	for id, at := range m.Callers(c.ID()) {
		if common := m.MustComputation(id).MustAt(at).Common(); common != nil {
			if _, ok := common.FrontendAttributes.Get(smallCall); ok {
				return true
			}
		}
	}
	return false
}

// smallRounds reports whether a round of a loop touches no more than so many bytes, all of them by what the compiler knows.
func smallRounds(m hlo.Module, while hlo.Instruction, costs *analysis.Costs, most int64) bool {
	bytes := int64(0)
	for id := range while.Callees() {
		k := costs.OfComputation(id)
		if k.Unknown || k.Messages > 0 || k.Sent > 0 || !plainly(m, id) {
			return false
		}
		bytes += k.Bytes
	}
	return bytes <= most
}

// plainly reports whether a computation, and what it calls, has no custom calls, fusions of another compiler, asynchronous or random ops.
func plainly(m hlo.Module, id hlo.CompID) bool {
	for in := range m.MustComputation(id).Instructions() {
		t := hlo.Info(in.Opcode()).Traits
		if in.Opcode() == hlo.OpCustomCall || hlo.IsAsync(in.Opcode()) || t.Has(hlo.TraitRandom) || t.Has(hlo.TraitCollective) || t.Has(hlo.TraitAsyncStart) || t.Has(hlo.TraitTokens) ||
			in.Opcode() == hlo.OpFusion && hlo.AttrsOf[hlo.FusionAttrs](in).Kind == hlo.FusionCustom {
			return false
		}
		for callee := range in.Callees() {
			if !plainly(m, callee) {
				return false
			}
		}
	}
	return true
}
