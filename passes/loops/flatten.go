package loops

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// isNested reports whether the state of a loop has tuples in it, of arrays only, which can be taken apart. What asynchronous work hands on looks like one.
func isNested(m analysis.Computations, while hlo.Instruction, inEntry bool) bool {
	s := while.Shape()
	if !s.IsTuple() || s.NumElems() == 0 || communicates(m, while) || !isTuples(while.OperandInstr(0), inEntry) {
		return false
	}
	for _, leaf := range s.Leaves {
		if !leaf.IsArray() {
			return false
		}
	}
	nested := false
	for i := range s.NumElems() {
		nested = nested || s.Elem(i).IsTuple()
	}
	for _, comp := range []hlo.Computation{body(m, while), condition(m, while)} {
		if comp.NumParameters() != 1 || isDecorated(comp.Parameter(0)) || isDecorated(comp.Root()) {
			return false
		}
	}
	return nested && !isDecorated(while) && while.OperandInstr(0).Shape().Equal(s) && body(m, while).Root().Shape().Equal(s)
}

// isTuples reports whether a value, and all parts of it that look like tuples, are tuples and not asynchronous work: they are made here, or a caller of the program gives them.
func isTuples(in hlo.Instruction, inEntry bool) bool {
	switch {
	case !in.Shape().IsTuple():
		return true
	case in.Opcode() == hlo.OpTuple:
		for o := range in.Operands() {
			if !isTuples(o, inEntry) {
				return false
			}
		}
		return true
	case in.Opcode() == hlo.OpGetTupleElement:
		return isTuples(in.OperandInstr(0), inEntry)
	}
	return in.Opcode() == hlo.OpParameter && inEntry
}

// flatten makes the state of a loop one tuple of arrays.
func flatten(e *hlo.Editor, c hlo.CompEdit, while hlo.Instruction) error {
	old := while.Shape()
	var leaves []hlo.Shape
	for _, leaf := range old.Leaves {
		leaves = append(leaves, leaf)
	}
	state := hlo.MakeTuple(leaves...)

	flattenInside(e.Computation(while.Callee(calleeNamed("condition"))), state, old)
	b := e.Computation(while.Callee(calleeNamed("body")))
	flattenInside(b, state, old)
	root := b.Root()
	b.SetRoot(emit.End(b).OpOf(hlo.OpTuple, state, nil, takenApart(emit.End(b), root)...))
	pass.Release(b, root, nil)

	at := emit.Before(c, while)
	spec, was := emit.Again(while), while.Operand(0)
	spec.Shape, spec.Operands = state, []hlo.InstrID{at.OpOf(hlo.OpTuple, state, nil, takenApart(at, while.Operand(0))...)}
	loop := at.Spec(spec)
	next := 0
	whole := putTogether(at, old, func() hlo.InstrID {
		next++
		return at.Element(loop, next-1)
	})
	if err := c.ReplaceInstruction(while.ID(), whole); err != nil {
		return err
	}
	takeElements(c, whole)
	pass.Release(c, was, nil)
	return nil
}

// flattenInside makes a computation take the flat state.
func flattenInside(c hlo.CompEdit, state, old hlo.Shape) {
	param := c.View().Parameters()[0]
	users := slices.Collect(c.Users(param))
	c.Instr(param).SetShape(state)
	at, next := emit.End(c), 0
	nested := putTogether(at, old, func() hlo.InstrID {
		next++
		return at.Element(param, next-1)
	})
	emit.Redirect(c, users, param, nested)
	if c.Root() == param {
		c.SetRoot(nested)
	}
	takeElements(c, nested)
	pass.Release(c, nested, nil)
	emit.Reorder(c)
}

// takeElements puts the parts of a tuple in the place of what takes them out of it.
func takeElements(c hlo.CompEdit, tuple hlo.InstrID) {
	for _, u := range slices.Collect(c.Users(tuple)) {
		in := c.At(u)
		if in.Opcode() != hlo.OpGetTupleElement || in.NumControlPredecessors()+in.NumControlSuccessors() > 0 {
			continue
		}
		part := c.At(tuple).Operand(int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index))
		c.ReplaceAllUses(u, part)
		_ = c.Remove(u) // without users and control edges
		if c.At(part).Opcode() == hlo.OpTuple {
			takeElements(c, part)
		}
	}
}

// takenApart lists the arrays of a tuple. Those of a tuple that is made here are at hand.
func takenApart(at emit.At, id hlo.InstrID) (arrays []hlo.InstrID) {
	s := at.Shape(id)
	if !s.IsTuple() {
		return []hlo.InstrID{id}
	}
	for i := range s.NumElems() {
		if in := at.C.At(id); in.Opcode() == hlo.OpTuple {
			arrays = append(arrays, takenApart(at, in.Operand(i))...)
		} else {
			arrays = append(arrays, takenApart(at, at.Element(id, i))...)
		}
	}
	return arrays
}

// putTogether makes a tuple of a shape of arrays that next hands out in order.
func putTogether(at emit.At, s hlo.Shape, next func() hlo.InstrID) hlo.InstrID {
	if !s.IsTuple() {
		return next()
	}
	parts := make([]hlo.InstrID, s.NumElems())
	for i := range parts {
		parts[i] = putTogether(at, s.Elem(i), next)
	}
	return at.OpOf(hlo.OpTuple, s, nil, parts...)
}
