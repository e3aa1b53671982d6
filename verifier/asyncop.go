package verifier

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Rules of the three async ops beyond their shapes (verifier 6.2).

func (r *run) asyncStart(in hlo.Instruction) {
	a := hlo.AttrsOf[hlo.AsyncStartAttrs](in)
	c := r.m.MustComputation(in.Callee(0))
	thread := a.ExecutionThread
	if thread == "" {
		thread = hlo.MainThread
	}
	if t := c.ExecutionThread(); t != thread {
		r.report(in, "ASYNC-05", "async-start expects same async thread name as wrapped computation's thread name (%s vs %s)", thread, t)
		return
	}
	// Aliases may name parameters that are bound later.
	f := r.signature(c.ID())
	parts := append([]hlo.Shape{hlo.MakeTuple(f.Parameters...), f.Result}, in.Shape().Elems()[2:]...)
	r.asyncAliases(in, a.OutputAliasing, hlo.MakeTuple(parts...), f.Parameters)
}

func (r *run) asyncAliases(in hlo.Instruction, pairs []hlo.OutputAlias, out hlo.Shape, params []hlo.Shape) {
	for _, p := range pairs {
		switch {
		case p.Operand < 0:
			r.report(in, "ASYNC-18", "Negative operand number %d in aliasing config", p.Operand)
			return
		case p.Operand >= int64(len(params)):
			r.report(in, "ASYNC-18", "Operand number %d in aliasing config is out of bounds: the computation has %d parameters", p.Operand, len(params))
			return
		case len(p.Output) == 0:
			r.report(in, "ASYNC-18", "Output index should not be empty in the aliasing config of async-start")
			return
		}
		from, ok := params[p.Operand].Sub(p.OperandIndex)
		if !ok {
			r.report(in, "ASYNC-18", "Invalid aliasing operand shape index %s of parameter %d, %v", indexText(p.OperandIndex), p.Operand, params[p.Operand])
			return
		}
		to, ok := out.Sub(p.Output)
		if !ok {
			r.report(in, "ASYNC-18", "Invalid aliasing output shape index %s of %v", indexText(p.Output), out)
			return
		}
		if !r.same(to, from, hlo.IgnoreBuffer) {
			r.report(in, "ASYNC-18", "Different aliasing shapes: %s vs %s, of parameter %d%s and of output %s", from.String(), to.String(), p.Operand, indexText(p.OperandIndex), indexText(p.Output))
			return
		}
	}
}

func (r *run) asyncUpdate(in hlo.Instruction) {
	if !r.ownCallee(in) {
		return
	}
	before := in.OperandInstr(0).Shape()
	if r.cfg.Profile == Doc && !r.contextStays(in, before) {
		return
	}
	for _, p := range hlo.AttrsOf[hlo.AsyncUpdateAttrs](in).OutputAliasing {
		switch {
		case p.Operand != 0:
			r.report(in, "ASYNC-19", "async-update can only alias to operand 0, not to operand %d", p.Operand)
			return
		case len(p.OperandIndex) == 0 || p.OperandIndex[0] < 2:
			r.report(in, "ASYNC-19", "async-update can only alias context of previous async op, not %s", indexText(p.OperandIndex))
			return
		case len(p.Output) == 0 || p.Output[0] < 2:
			r.report(in, "ASYNC-19", "async-update can only alias to context, not to %s", indexText(p.Output))
			return
		}
		from, ok := before.Sub(p.OperandIndex)
		if !ok {
			r.report(in, "ASYNC-19", "Out of bounds operand index %s of %v", indexText(p.OperandIndex), before)
			return
		}
		to, ok := in.Shape().Sub(p.Output)
		if !ok {
			r.report(in, "ASYNC-19", "Out of bounds output index %s of %v", indexText(p.Output), in.Shape())
			return
		}
		if !r.same(to, from, hlo.IgnoreBuffer) {
			r.report(in, "ASYNC-19", "Different aliasing shapes: %s vs %s, of operand 0%s and of output %s", from.String(), to.String(), indexText(p.OperandIndex), indexText(p.Output))
			return
		}
	}
}

// contextStays checks that an update hands on what follows operands and result. What that is is the implementation's own affair, so a
// change of its shape is only worth a warning.
func (r *run) contextStays(update hlo.Instruction, before hlo.Shape) bool {
	after := update.Shape()
	if !before.IsTuple() || !after.IsTuple() {
		return true
	}
	if after.NumElems() < before.NumElems() {
		r.report(update, "ASYNC-S3", "async-update drops context of its operand, the elements from 2 on: got %v, the operand is %v", after, before)
		return false
	}
	for i := 2; i < before.NumElems(); i++ {
		if !r.same(before.Elem(i), after.Elem(i), 0) {
			r.warn(update, "ASYNC-S3", "async-update changes element %d of the context: got %v, the operand is %v", i, after, before)
			break
		}
	}
	return true
}

func (r *run) asyncDone(in hlo.Instruction) { r.ownCallee(in) }

// ownCallee checks that an update or done that names a computation names that of its chain, or one equal to it.
func (r *run) ownCallee(in hlo.Instruction) bool {
	head, ok := r.chainCallee(in)
	if !ok {
		r.report(in, "ASYNC-10", "%v expects its wrapped async computation to be identical to that of its operand, it has none", in.Opcode())
		return false
	}
	if in.NumCallees() > 0 && in.Callee(0) != head && !r.equivalent(in.Callee(0), head) {
		r.report(in, "ASYNC-10", "%v expects its wrapped async computation to be identical to its operand's: %%%s differs from %%%s", in.Opcode(),
			r.m.MustComputation(in.Callee(0)).Name(), r.m.MustComputation(head).Name())
		return false
	}
	return true
}

// equivalent reports whether two computations do the same: equal parameters and threads and, walking from both roots, equal opcodes, shapes
// with layouts, attributes and callees. Names, metadata and dead code do not count.
func (r *run) equivalent(a, b hlo.CompID) bool {
	known := [2]hlo.CompID{a, b}
	if same, ok := r.compared[known]; ok {
		return same
	}
	same := r.compareBodies(a, b)
	if r.compared == nil {
		r.compared = make(map[[2]hlo.CompID]bool)
	}
	r.compared[known] = same
	return same
}

func (r *run) compareBodies(a, b hlo.CompID) bool {
	type pair struct{ a, b hlo.Instruction }
	x, y := r.m.MustComputation(a), r.m.MustComputation(b)
	if x.NumParameters() != y.NumParameters() || x.ExecutionThread() != y.ExecutionThread() {
		return false
	}
	partner := make(map[hlo.InstrID]hlo.InstrID)
	work := []pair{{x.Root(), y.Root()}}
	for len(work) > 0 {
		p := work[len(work)-1]
		work = work[:len(work)-1]
		if q, ok := partner[p.a.ID()]; ok {
			if q != p.b.ID() {
				return false
			}
			continue
		}
		partner[p.a.ID()] = p.b.ID()
		if p.a.Opcode() != p.b.Opcode() || !p.a.Shape().Equal(p.b.Shape()) || p.a.NumOperands() != p.b.NumOperands() ||
			p.a.NumCallees() != p.b.NumCallees() || !hlo.EqualAttrs(p.a.Attrs(), p.b.Attrs()) {
			return false
		}
		for i := range p.a.NumCallees() {
			if ca, cb := p.a.Callee(i), p.b.Callee(i); ca != cb && !r.equivalent(ca, cb) {
				return false
			}
		}
		for i := range p.a.NumOperands() {
			work = append(work, pair{p.a.OperandInstr(i), p.b.OperandInstr(i)})
		}
	}
	return true
}

// groupMarker is the frontend attribute of a start that wraps several collectives.
const groupMarker = "_collectives_group"

// asyncContents checks that a computation that runs asynchronously on the main thread is one op, a marked group of collectives, or a
// barrier (ASYNC-30).
func (r *run) asyncContents(c hlo.Computation) {
	a := r.async[c.ID()]
	if a.start.IsZero() || c.ExecutionThread() != hlo.MainThread || hlo.IsExpandable(c) {
		return
	}
	if a.starts == 1 {
		if _, ok := frontendAttrs(a.start).Get(groupMarker); ok {
			return
		}
	}
	ops := slices.Collect(c.Instructions())
	barrier := !slices.ContainsFunc(ops, func(in hlo.Instruction) bool {
		return in.Opcode() != hlo.OpParameter && in.Opcode() != hlo.OpGetTupleElement && !in.IsRoot()
	})
	if barrier {
		return
	}
	for _, in := range ops {
		if in.Opcode() != hlo.OpParameter && !in.IsRoot() {
			r.report(in, "ASYNC-30", "Asynchronous computation %%%s expected to contain only the root and parameter instructions", c.Name())
			return
		}
	}
}
