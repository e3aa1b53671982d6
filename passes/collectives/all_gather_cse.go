package collectives

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// AllGatherCSE merges gathers of one parameter.
var AllGatherCSE = &pass.Pass{
	Name: "all-gather-cse",
	Doc: `gather a parameter once

All-gathers of the same parameter, perhaps through conversions, barriers and elements of tuples, that run between the same devices along the same
dimension become the first of them.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
			firsts := map[hlo.InstrID][]hlo.Instruction{} // by the parameter
			for in := range c.PostOrder() {
				if in.Opcode() != hlo.OpAllGather || in.NumOperands() != 1 || in.NumControlPredecessors() > 0 {
					continue
				}
				param, ok := parameterOf(in.OperandInstr(0))
				if !ok {
					continue
				}
				same := slices.IndexFunc(firsts[param], func(o hlo.Instruction) bool {
					fa, fb := factsOf(m, o), factsOf(m, in)
					return alike(o, in, fa, fb) && slices.Equal(fa.dims, fb.dims) && o.Shape().Equal(in.Shape()) &&
						sameParameter(o.OperandInstr(0), in.OperandInstr(0))
				})
				if same < 0 {
					firsts[param] = append(firsts[param], in)
					continue
				}
				if !ctx.Spend("all-gather") {
					break
				}
				ce := e.Computation(c.ID())
				if err := emit.Forward(ce, in.ID(), firsts[param][same].ID()); err != nil {
					return m, err
				}
				emit.Reorder(ce)
				ctx.Count("all-gathers", 1)
			}
		}
		return e.Freeze(), nil
	},
}

// parameterOf is the parameter that sameParameter may find a value to come from.
func parameterOf(in hlo.Instruction) (hlo.InstrID, bool) {
	for {
		switch in.Opcode() {
		case hlo.OpParameter:
			return in.ID(), true
		case hlo.OpGetTupleElement:
			if t := in.OperandInstr(0); t.Opcode() == hlo.OpTuple {
				in = t.OperandInstr(int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index))
				continue
			}
		case hlo.OpConvert, hlo.OpOptBarrier:
		default:
			return 0, false
		}
		in = in.OperandInstr(0)
	}
}

// sameParameter reports whether two values are the same of the same parameter.
func sameParameter(a, b hlo.Instruction) bool {
	for {
		if a.Opcode() == hlo.OpParameter {
			return a.ID() == b.ID()
		}
		if a.Opcode() != b.Opcode() || !a.Shape().Equal(b.Shape()) {
			return false
		}
		switch a.Opcode() {
		case hlo.OpConvert:
		case hlo.OpOptBarrier:
			if a.ID() != b.ID() {
				return false
			}
		case hlo.OpGetTupleElement:
			i := hlo.AttrsOf[hlo.TupleElementAttrs](a).Index
			if i != hlo.AttrsOf[hlo.TupleElementAttrs](b).Index {
				return false
			}
			if x, y := a.OperandInstr(0), b.OperandInstr(0); x.Opcode() == hlo.OpTuple && y.Opcode() == hlo.OpTuple {
				a, b = x.OperandInstr(int(i)), y.OperandInstr(int(i))
				continue
			}
		default:
			return false
		}
		a, b = a.OperandInstr(0), b.OperandInstr(0)
	}
}
