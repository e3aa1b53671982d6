package verifier

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
)

// Aliasing between results and operands: of fusion and custom-call here, of async ops in asyncop.go, of the module in entry.go.

// aliasRules say which rules a pair breaks, and what its two parts may differ in.
type aliasRules struct {
	index, shape string
	except       hlo.ShapeEq // always ignored
	scalarSpace  bool        // parts of one element may change their memory space
}

// aliasPairs checks output_to_operand_aliasing of in.
func (r *run) aliasPairs(in hlo.Instruction, pairs []hlo.OutputAlias, rules aliasRules) {
	for _, p := range pairs {
		if p.Operand < 0 || p.Operand >= int64(in.NumOperands()) {
			r.report(in, rules.index, "Invalid aliasing operand index: %d, there are %d operands", p.Operand, in.NumOperands())
			return
		}
		whole := in.OperandInstr(int(p.Operand)).Shape()
		out, ok := in.Shape().Sub(p.Output)
		if !ok {
			r.report(in, rules.index, "Invalid aliasing output shape index: %s of %v", indexText(p.Output), in.Shape())
			return
		}
		from, ok := whole.Sub(p.OperandIndex)
		if !ok {
			r.report(in, rules.index, "Invalid aliasing operand shape index: %s of %v", indexText(p.OperandIndex), whole)
			return
		}
		e := rules.except
		if rules.scalarSpace && from.IsArray() && from.NumElements() == 1 {
			e |= hlo.IgnoreMemorySpace
		}
		if !r.same(out, from, e) {
			r.report(in, rules.shape, "Different aliasing shapes: %s vs %s, of operand %d%s and of output %s", from.String(), out.String(), p.Operand, indexText(p.OperandIndex), indexText(p.Output))
			return
		}
	}
}

func indexText(x hlo.ShapeIndex) string {
	b := []byte{'{'}
	for i, n := range x {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "%d", n)
	}
	return string(append(b, '}'))
}

// customCall checks what custom-calls of all targets, and of some, must keep.
func (r *run) customCall(in hlo.Instruction) {
	a := hlo.AttrsOf[hlo.CustomCallAttrs](in)
	if r.cfg.CallThreadNames && in.NumCallees() != 1 {
		r.sameThread(in, "THR-03")
	}
	if a.OperandLayouts != nil && a.Target != "LayoutConstraint" && a.Target != "control_dep" {
		r.constrainedLayouts(in, a.OperandLayouts.Shapes)
	}
	_, skip := frontendAttrs(in).Get("xla_skip_custom_call_alias_shape_check")
	rules := aliasRules{index: "CC-02", shape: "CC-03", scalarSpace: true}
	if a.Target == "Pin" || a.Target == "Unpin" {
		rules.except = hlo.IgnoreBuffer
	}
	if !skip {
		r.aliasPairs(in, a.OutputAliasing, rules)
	}
	if a.Target == "GetRngSeed" {
		r.rngSeed(in)
	}
}

func (r *run) constrainedLayouts(in hlo.Instruction, want []hlo.Shape) {
	switch {
	case !in.Shape().HasLayout():
		r.report(in, "CC-01", "a custom-call with constrained operand layouts needs a layout on its result, %v", in.Shape())
		return
	case len(want) != in.NumOperands():
		r.report(in, "CC-01", "%d operand layouts for %d operands", len(want), in.NumOperands())
		return
	}
	for i, s := range want {
		if o := in.OperandInstr(i).Shape(); !s.HasLayout() || !s.Compatible(o) {
			r.report(in, "CC-01", "the constrained layout of operand %d, %v, does not fit the operand, %v", i, s, o)
			return
		}
	}
}

func (r *run) rngSeed(in hlo.Instruction) {
	switch s := in.Shape(); {
	case in.NumOperands() != 0:
		r.report(in, "RNG-10", "GetRngSeed must have 0 operands, got %d", in.NumOperands())
	case s.Type() != hlo.U64:
		r.report(in, "RNG-10", "GetRngSeed must return U64 type, got %v", s)
	case !s.IsScalar():
		r.report(in, "RNG-10", "GetRngSeed must return a scalar, got %v", s)
	}
}
