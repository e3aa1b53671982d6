package loops

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// counters are the parts of a loop's state of one integer type to which each round adds a constant.
type counters struct {
	elem  hlo.PrimitiveType
	steps map[int]*hlo.Literal // by part, without trip
	trip  int                  // the part that counts the rounds from 0; -1 if none does
}

// mergeCounters makes several counters of a loop one: the others are what they were at first, and as many of their steps as rounds have been.
func mergeCounters(ctx *pass.Context, e *hlo.Editor, ce hlo.CompEdit, while hlo.Instruction) error {
	b, c := e.View(while.Callee(calleeNamed("body"))), e.View(while.Callee(calleeNamed("condition")))
	if !mayMergeCounters(while, b, c) {
		return nil
	}
	for _, t := range []hlo.PrimitiveType{hlo.S8, hlo.U8, hlo.S32, hlo.U32, hlo.S64, hlo.U64} {
		k := findCounters(while, b, t)
		if n := len(k.steps); n == 0 || n == 1 && k.trip < 0 {
			continue
		}
		if !ctx.Spend("counters") {
			return nil
		}
		ctx.Count("counters", int64(len(k.steps)))
		return k.merge(e, ce, while)
	}
	return nil
}

// mayMergeCounters reports whether the state is a tuple that the loop takes apart and that nothing more is said of.
func mayMergeCounters(while hlo.Instruction, b, c hlo.Computation) bool {
	if while.OperandInstr(0).Opcode() != hlo.OpTuple || b.Root().Opcode() != hlo.OpTuple || b.Root().UserCount() > 0 || analysis.IsSharded(while) || analysis.IsSharded(b.Root()) ||
		while.NumControlPredecessors()+while.NumControlSuccessors() > 0 || while.Common() != nil && while.Common().BackendConfig != "" {
		return false
	}
	for _, comp := range []hlo.Computation{b, c} {
		p := comp.Parameter(0)
		if comp.IsScheduled() || p.IsRoot() || analysis.IsSharded(p) || !p.Shape().Equal(while.Shape()) {
			return false
		}
		for u := range p.Users() {
			if u.Opcode() != hlo.OpGetTupleElement || u.NumControlPredecessors()+u.NumControlSuccessors() > 0 {
				return false
			}
		}
	}
	return b.Root().Shape().Equal(while.Shape()) && while.OperandInstr(0).Shape().Equal(while.Shape())
}

func findCounters(while hlo.Instruction, b hlo.Computation, t hlo.PrimitiveType) counters {
	k := counters{elem: t, steps: map[int]*hlo.Literal{}, trip: -1}
	for i := range while.Shape().NumElems() {
		next := b.Root().OperandInstr(i)
		if s := while.Shape().Elem(i); !s.IsArray() || s.Type() != t || s.Rank() != 0 || next.Opcode() != hlo.OpAdd {
			continue
		}
		for j := range 2 {
			was, step := next.OperandInstr(j), next.OperandInstr(1-j).Literal()
			if step == nil || was.Opcode() != hlo.OpGetTupleElement || was.OperandInstr(0).Opcode() != hlo.OpParameter || int(hlo.AttrsOf[hlo.TupleElementAttrs](was).Index) != i {
				continue
			}
			if first := while.OperandInstr(0).OperandInstr(i).Literal(); k.trip < 0 && isInt(step, 1) && isInt(first, 0) {
				k.trip = i
			} else {
				k.steps[i] = step
			}
			break
		}
	}
	return k
}

func isInt(l *hlo.Literal, want int64) bool {
	if l == nil {
		return false
	}
	v, ok := l.ScalarInt()
	return ok && v == want
}

// merge makes the loop again, in whose rounds and behind which the counters are computed from the number of rounds.
func (k counters) merge(e *hlo.Editor, ce hlo.CompEdit, while hlo.Instruction) error {
	// Everything is read before the first edit.
	id, narrow, spec := while.ID(), while.Shape(), specOf(while)
	n, parts, shapes, origins := narrow.NumElems(), slices.Collect(while.OperandInstr(0).OperandIDs()), narrow.Elems(), []*hlo.Origin(nil)
	callees := []hlo.CompID{while.Callee(calleeNamed("body")), while.Callee(calleeNamed("condition"))}
	at := emit.Before(ce, while)
	wider := k.trip < 0
	if wider {
		k.trip, origins = n, []*hlo.Origin{nil}
		parts, shapes = append(parts, at.Int(k.elem, 0)), append(shapes, hlo.MakeShape(k.elem))
	}
	state := hlo.MakeTuple(shapes...)
	spec.Operands = []hlo.InstrID{at.OpOf(hlo.OpTuple, state, nil, parts...)}

	for isCondition, callee := range callees {
		comp := e.Computation(callee)
		p := comp.View().Parameters()[0]
		readers := slices.Collect(comp.Users(p))
		if wider {
			widenState(comp.Instr(p), state, origins)
		}
		inside := emit.At{C: comp, Before: firstComputed(comp)}
		trip := inside.Element(p, k.trip)
		results := slices.Collect(comp.At(comp.Root()).OperandIDs())
		for i := range n {
			if k.steps[i] == nil {
				continue
			}
			first := inside.Element(p, i)
			value := k.value(inside, i, first, trip)
			for _, r := range readers {
				if int(hlo.AttrsOf[hlo.TupleElementAttrs](comp.At(r)).Index) == i {
					comp.ReplaceAllUses(r, value)
				}
			}
			results[i] = first
		}
		if isCondition == 0 {
			if wider {
				results = append(results, inside.Binary(hlo.OpAdd, trip, inside.Int(k.elem, 1)))
			}
			was := slices.Collect(comp.At(comp.Root()).OperandIDs())
			root := comp.Instr(comp.Root()).SetOperands(results...)
			if wider {
				widenState(root, state, origins)
			}
			for i := range k.steps {
				pass.Release(comp, was[i], nil)
			}
		}
		for _, r := range readers {
			pass.Release(comp, r, nil)
		}
		pass.Release(comp, trip, nil)
	}

	if wider {
		spec.Shape, spec.Common = state, emit.WiderOrigin(spec.Common, origins)
	}
	loop := at.Spec(spec)
	rounds := at.Element(loop, k.trip)
	out := make([]hlo.InstrID, n)
	for i := range n {
		out[i] = at.Element(loop, i)
		if k.steps[i] != nil {
			out[i] = k.value(at, i, out[i], rounds)
		}
	}
	return ce.ReplaceInstruction(id, at.OpOf(hlo.OpTuple, narrow, nil, out...))
}

// value is the counter i after so many rounds.
func (k counters) value(at emit.At, i int, first, rounds hlo.InstrID) hlo.InstrID {
	return at.Binary(hlo.OpAdd, first, at.Binary(hlo.OpMultiply, rounds, at.Constant(k.steps[i])))
}

// firstComputed is the first instruction of a computation that is no parameter; elements of the state may be taken before it.
func firstComputed(c hlo.CompEdit) hlo.InstrID {
	for in := range c.View().Instructions() {
		if in.Opcode() != hlo.OpParameter {
			return in.ID()
		}
	}
	return c.Root()
}
