package verifier

import (
	"strconv"

	"github.com/gohalo/halo/hlo"
)

// Calls and control flow (verifier 5.9).

func (r *run) call(in hlo.Instruction) {
	if hlo.AttrsOf[hlo.CallAttrs](in).IsComposite {
		r.composite(in)
	}
}

// composite checks the frontend attributes that describe a composite call.
func (r *run) composite(in hlo.Instruction) {
	attrs := frontendAttrs(in)
	if len(attrs.Entries) == 0 {
		r.report(in, "CALL-04", "A composite call op must have frontend attributes")
		return
	}
	if name, ok := attrs.Get("composite.name"); !ok || name == "" {
		r.report(in, "CALL-04", "A composite call op must have frontend attributes with key composite.name whose value is non-empty")
		return
	}
	if v, ok := attrs.Get("composite.attributes"); ok && v == "" {
		r.report(in, "CALL-04", "A composite call op must have frontend attributes with key composite.attributes whose value is default: {} or non-empty")
		return
	}
	if v, ok := attrs.Get("composite.version"); ok {
		if n, err := strconv.ParseInt(v, 10, 64); err != nil || n < 0 {
			r.report(in, "CALL-04", "A composite call op must have frontend attributes with a composite.version whose value is a non-negative integer but got: %s", v)
		}
	}
}

func (r *run) while(in hlo.Instruction) {
	r.sameThread(in, "THR-01")
	body, cond := r.m.MustComputation(in.Callee(0)), r.m.MustComputation(in.Callee(1))
	r.sameSharding(in, "WHL-07", "while", body.Root(), body.Parameter(0), cond.Parameter(0))
}

func (r *run) conditional(in hlo.Instruction) {
	r.sameThread(in, "THR-01")
	var roots []hlo.Instruction
	for id := range in.Callees() {
		roots = append(roots, r.m.MustComputation(id).Root())
	}
	r.sameSharding(in, "CND-08", "conditional", roots...)
}

// sameSharding checks that the shardings that there are agree.
func (r *run) sameSharding(in hlo.Instruction, rule, what string, others ...hlo.Instruction) {
	var first hlo.Instruction
	for _, o := range append([]hlo.Instruction{in}, others...) {
		c := o.Common()
		if c == nil || c.Sharding == nil {
			continue
		}
		if first.IsZero() {
			first = o
		} else if !hlo.EqualAttr(first.Common().Sharding, c.Sharding) {
			r.report(in, rule, "Inconsistent %s sharding among instructions: %%%s has %s, %%%s has %s", what, first.Name(), shardingText(first), o.Name(), shardingText(o))
			return
		}
	}
}

func shardingText(in hlo.Instruction) string {
	return string(in.Common().Sharding.AppendText(nil, false))
}

// fusion checks what is inside a fusion.
func (r *run) fusion(in hlo.Instruction) {
	if in.NumCallees() != 1 {
		r.report(in, "FUS-01", "Fusion has a non-unary number of called computations: %d", in.NumCallees())
		return
	}
	r.sameThread(in, "THR-01")
	c := r.m.MustComputation(in.Callee(0))
	if first := r.fused[c.ID()]; first != in {
		r.report(in, "FUS-01", "Instruction of fused computation does not match expected instruction: %%%s is fused by %%%s too", c.Name(), first.Name())
		return
	}
	root := c.Root()
	if root.UserCount() > 0 {
		r.report(root, "FUS-06", "Root of fused computation may not have users")
		return
	}
	for f := range c.Instructions() {
		if f != root && f.UserCount() == 0 && !sideEffect(f) {
			r.report(f, "FUS-07", "Non-root instruction in fused computation must have users: %%%s", f.Name())
		}
	}
	r.parameterNumbers(c, "FUS-09")
	r.aliasPairs(in, hlo.AttrsOf[hlo.FusionAttrs](in).OutputAliasing, aliasRules{index: "FUS-10", shape: "FUS-10"})
}

// parameterNumbers checks that parameters are numbered 0 to n-1.
func (r *run) parameterNumbers(c hlo.Computation, rule string) {
	for i := range c.NumParameters() {
		p := c.Parameter(i)
		if n, _ := p.ParameterNumber(); n != int64(i) {
			r.report(p, rule, "parameter number %d of %d parameters is out of range or appears more than once", n, c.NumParameters())
			return
		}
	}
}

// sideEffect reports whether an instruction does something besides computing its value.
func sideEffect(in hlo.Instruction) bool {
	return hlo.Info(in.Opcode()).Traits.Has(hlo.TraitSideEffect) || hlo.Info(in.Opcode()).Traits.Has(hlo.TraitCollective) ||
		hlo.AttrsOf[hlo.CustomCallAttrs](in).HasSideEffect || in.Opcode() == hlo.OpWhile || in.Opcode() == hlo.OpCall || in.Opcode() == hlo.OpConditional
}
