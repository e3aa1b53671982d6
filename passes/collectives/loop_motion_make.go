package collectives

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/match"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// take removes a reduction from the body. What a reduce-scatter was added to becomes as large as its operand.
func (l *loopMotion) take(mv moving, spec hlo.InstrSpec, operand hlo.Shape) error {
	b := l.e.Computation(l.body)
	user := mv.add
	if n := len(mv.path); n > 0 {
		user = mv.path[n-1]
	}
	useInstead(b, user, mv.reduce, spec.Operands[0])
	if err := b.Remove(mv.reduce); err != nil {
		return err
	}
	if spec.Opcode != hlo.OpReduceScatter {
		return nil
	}
	large := func(s hlo.Shape) hlo.Shape { return operand.WithType(s.Type()) }
	for _, id := range append(slices.Clone(mv.path), mv.add) {
		if b.At(id).Opcode() == hlo.OpSelect {
			l.enlargeSelect(b, id, operand)
		}
		b.Instr(id).SetShape(large(b.At(id).Shape()))
	}
	param := b.View().Parameters()[0]
	for _, u := range slices.Collect(b.Users(param)) {
		if hlo.AttrsOf[hlo.TupleElementAttrs](b.At(u)).Index == int64(mv.part) {
			b.Instr(u).SetShape(large(b.At(u).Shape()))
		}
	}
	state := withPart(b.At(param).Shape(), mv.part, large)
	b.Instr(param).SetShape(state)
	b.Instr(b.Root()).SetShape(state)
	for _, s := range l.loops {
		c := l.e.Computation(l.e.View(s.comp).MustAt(s.id).Callee(1))
		c.Instr(c.View().Parameters()[0]).SetShape(state)
	}
	return nil
}

// enlargeSelect gives the zeros and the predicate of a select the shape of the value.
func (l *loopMotion) enlargeSelect(b hlo.CompEdit, id hlo.InstrID, s hlo.Shape) {
	in := b.At(id)
	operands := slices.Collect(in.OperandIDs())
	pred := in.OperandInstr(0)
	at := emit.Before(b, in)
	zero := -1
	for k := 1; k <= 2; k++ {
		if _, ok := match.SplatValue(in.OperandInstr(k)); ok {
			zero = k
		}
	}
	t := in.Shape().Type()
	if pred.Opcode() == hlo.OpBroadcast {
		operands[0] = at.Fill(pred.Operand(0), s.Dimensions()...)
	}
	operands[zero] = at.Fill(at.Constant(emit.Zero(t)), s.Dimensions()...)
	b.Instr(id).SetOperands(operands...)
}

// withPart is a tuple with part i changed.
func withPart(s hlo.Shape, i int, change func(hlo.Shape) hlo.Shape) hlo.Shape {
	elems := s.Elems()
	elems[i] = change(elems[i])
	return hlo.MakeTuple(elems...)
}

// behind puts the reductions behind a loop.
func (l *loopMotion) behind(s loopSite, all []moving, specs map[hlo.InstrID]hlo.InstrSpec) error {
	c := l.e.Computation(s.comp)
	at := emit.Before(c, c.At(s.id))
	spec := emit.Again(c.At(s.id))
	old, init := spec.Shape, spec.Operands[0]
	state := l.e.View(l.body).Parameter(0).Shape()
	parts := make([]hlo.InstrID, old.NumElems())
	if in := c.At(init); in.Opcode() == hlo.OpTuple {
		parts = slices.Collect(in.OperandIDs())
	} else {
		for i := range parts {
			parts[i] = at.Element(init, i)
		}
	}
	before := slices.Clone(parts)
	for _, mv := range all {
		if !mv.rows {
			parts[mv.part] = at.Constant(zeros(state.Elem(mv.part)))
		}
	}
	spec.Operands, spec.Shape = []hlo.InstrID{at.OpOf(hlo.OpTuple, state, nil, parts...)}, state
	loop := at.Spec(spec)
	results := make([]hlo.InstrID, len(parts))
	for i := range results {
		results[i] = at.Element(loop, i)
	}
	for _, mv := range all {
		r := specs[mv.reduce]
		t := old.Elem(mv.part).Type()
		r.Control = nil
		part, shape := results[mv.part], old.Elem(mv.part)
		if mv.block != nil {
			part = at.Slice(part, mv.block.start, mv.block.limit)
			shape = at.Shape(part)
		}
		r.Operands = []hlo.InstrID{at.Convert(part, r.Shape.Type())}
		r.Shape = shape.WithType(r.Shape.Type())
		sum := at.Convert(at.Spec(r), t)
		if mv.block != nil {
			sum = at.DynamicUpdateSlice(results[mv.part], sum, constants(at, mv.block.start)...)
		}
		if !mv.rows {
			sum = at.OpOf(hlo.OpAdd, old.Elem(mv.part), nil, before[mv.part], sum)
		}
		results[mv.part] = sum
	}
	for _, u := range slices.Collect(c.Users(s.id)) {
		if in := c.At(u); in.Opcode() == hlo.OpGetTupleElement {
			if err := c.ReplaceInstruction(u, results[hlo.AttrsOf[hlo.TupleElementAttrs](in).Index]); err != nil {
				return err
			}
		}
	}
	if c.UserCount(s.id) > 0 || c.Root() == s.id {
		if err := c.ReplaceInstruction(s.id, at.OpOf(hlo.OpTuple, old, nil, results...)); err != nil {
			return err
		}
	} else if err := c.Remove(s.id); err != nil {
		return err
	}
	pass.Release(c, init, nil)
	for _, r := range results {
		pass.Release(c, r, nil)
	}
	return nil
}

// constants are scalar indices, each value once.
func constants(at emit.At, values []int64) []hlo.InstrID {
	made := map[int64]hlo.InstrID{}
	ids := make([]hlo.InstrID, len(values))
	for i, v := range values {
		if _, ok := made[v]; !ok {
			made[v] = at.Int(hlo.S64, v)
		}
		ids[i] = made[v]
	}
	return ids
}

// zeros is an array of zeros.
func zeros(s hlo.Shape) *hlo.Literal {
	l, err := hlo.NewLiteral(s, make([]byte, s.ByteSize()))
	if err != nil {
		panic(err) // the length is the shape's own
	}
	return l
}
