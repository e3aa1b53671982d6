package verifier

import (
	"strings"

	"github.com/gohalo/halo/hlo"
)

// Checks that apply to instructions of any op.

// common checks attributes and memory that any instruction may have.
func (r *run) common(in hlo.Instruction) {
	if c := in.Common(); c != nil {
		if c.Sharding != nil {
			r.sharding(in, c.Sharding)
		}
		if c.ResultAccuracy != nil && !hlo.Info(in.Opcode()).HasAccuracy {
			r.report(in, "ELT-18", "Unary op with result accuracy is not supported for %v", in.Opcode())
		}
		if r.cfg.InstructionNameUnchanged && c.Metadata != nil {
			r.schedulingName(in, c.Metadata.SchedulingName)
		}
		if o := c.Origin; o != nil && !o.SyntheticCall && o.Tree != nil && !originFits(o.Tree, in.Shape()) {
			r.report(in, "MISC-02", "Mismatched tuple structure in shape and original value: %v", in.Shape())
		}
	}
	if r.cfg.CallThreadNames && in.NumCallees() == 1 && appliesThread(in.Opcode()) {
		r.toApplyThread(in)
	}
	if r.cfg.NoHostMemorySpace {
		r.noHostMemory(in)
	}
	if r.cfg.LayoutSensitive && !r.isBad(in) {
		r.layoutUnchanged(in)
	}
}

// schedulingName checks that an instruction is still called what the schedule called it.
func (r *run) schedulingName(in hlo.Instruction, want string) {
	name := in.Name()
	if want == "" || want == name || strings.Contains(name, ".remat") || strings.Contains(name, ".clone") {
		return
	}
	r.report(in, "NAME-02", "Expected instruction name to remain the same. Was '%s' is '%s'", want, name)
}

// originFits reports whether an original value is a tree of the form of s.
func originFits(n *hlo.OriginNode, s hlo.Shape) bool {
	if !s.IsTuple() {
		return !n.IsTuple
	}
	if !n.IsTuple {
		return s.NumElems() == 0
	}
	if len(n.Elements) != s.NumElems() {
		return false
	}
	for i, e := range n.Elements {
		if e != nil && !originFits(e, s.Elem(i)) {
			return false
		}
	}
	return true
}

// appliesThread reports whether the callee of op is a to_apply.
func appliesThread(op hlo.Opcode) bool {
	info := hlo.Info(op)
	return op == hlo.OpCustomCall || len(info.Callees) == 1 && info.Callees[0].Name == "to_apply"
}

func (r *run) toApplyThread(in hlo.Instruction) {
	callee := r.m.MustComputation(in.Callee(0))
	if a, b := callee.ExecutionThread(), in.Computation().ExecutionThread(); a != b {
		r.report(in, "THR-04", "to_apply computation execution thread does not match (%s vs %s)", a, b)
	}
}

// sameThread checks that what in calls runs on the thread of in.
func (r *run) sameThread(in hlo.Instruction, rule string) {
	parent := in.Computation().ExecutionThread()
	for id := range in.Callees() {
		callee := r.m.MustComputation(id)
		if t := callee.ExecutionThread(); t != parent {
			r.report(in, rule, "%v expects parent computation thread name same as called computation's thread name (%s vs %s of %%%s)", in.Opcode(), parent, t, callee.Name())
			return
		}
	}
}

func (r *run) noHostMemory(in hlo.Instruction) {
	for _, leaf := range in.Shape().Leaves {
		if leaf.IsBuffer() {
			leaf = leaf.Elem(0)
		}
		if leaf.IsArray() && inHost(leaf) {
			r.report(in, "MEM-04", "Instruction shouldn't have the layout of host memory space: %v", in.Shape())
			break
		}
	}
}
