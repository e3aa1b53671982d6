package loops

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// apply changes the loop.
//
//  1. In front of it parts are turned, and behind it turned back.
//  2. The body computes what is turned, and what leaves that is taken from there.
func (t *turning) apply() error {
	narrow := t.c.At(t.while).Shape()
	shapes := make([]hlo.Shape, narrow.NumElems())
	for i := range shapes {
		shapes[i] = narrow.Elem(i)
		if t.parts[i] {
			shapes[i] = turnedShape(shapes[i])
		}
	}
	state := hlo.MakeTuple(shapes...)
	t.around(state)
	cond := t.e.Computation(t.cond.ID())
	emit.Retuple(cond.Instr(cond.View().Parameters()[0]), state)
	t.ctx.Count("parts", int64(len(t.parts)))
	return t.inBody(state)
}

func turnedShape(s hlo.Shape) hlo.Shape {
	return hlo.MakeShape(s.Type(), swap(s.Dimensions())...).WithDefaultLayout()
}

// around turns parts before the loop and behind it.
func (t *turning) around(state hlo.Shape) {
	users, isRoot := slices.Collect(t.c.Users(t.while)), t.c.Root() == t.while
	narrow := t.c.At(t.while).Shape()
	at, init := emit.Before(t.c, t.c.At(t.while)), t.c.At(t.while).OperandInstr(0)
	given, isTuple, initID := slices.Collect(init.OperandIDs()), init.Opcode() == hlo.OpTuple, init.ID()
	elems := make([]hlo.InstrID, state.NumElems())
	for i := range elems {
		if isTuple {
			elems[i] = given[i]
		} else {
			elems[i] = at.Element(initID, i)
		}
		if t.parts[i] {
			elems[i] = at.Transpose(elems[i], swapped(narrow.Elem(i).Rank())...)
		}
	}
	t.c.Instr(t.while).SetOperand(0, at.OpOf(hlo.OpTuple, state, nil, elems...))
	pass.Release(t.c, initID, nil)
	emit.Retuple(t.c.Instr(t.while), state)

	behind := emit.End(t.c)
	results := make([]hlo.InstrID, len(elems))
	for i := range results {
		results[i] = behind.Element(t.while, i)
		if t.parts[i] {
			results[i] = behind.Transpose(results[i], swapped(narrow.Elem(i).Rank())...)
		}
	}
	tuple := behind.OpOf(hlo.OpTuple, narrow, nil, results...)
	emit.Redirect(t.c, users, t.while, tuple)
	if isRoot {
		t.c.SetRoot(tuple)
	}
	emit.Reorder(t.c)
}

// inBody makes the body work on the new state.
func (t *turning) inBody(state hlo.Shape) error {
	b := t.e.Computation(t.body.ID())
	param, root := t.body.Parameter(0).ID(), t.body.Root()
	emit.Retuple(b.Instr(param), state)
	w := &turned{t: t, at: emit.End(b), made: map[hlo.InstrID]hlo.InstrID{}}
	var gone []hlo.InstrID
	for in := range t.body.PostOrder() {
		switch {
		case t.turned[in.ID()]:
			w.value(in)
			gone = append(gone, in.ID())
		case t.leaves(in) && t.turned[in.Operand(0)]:
			b.ReplaceAllUses(in.ID(), w.left(in))
			gone = append(gone, in.ID())
		}
	}
	values := slices.Collect(b.At(root.ID()).OperandIDs())
	for i := range values {
		if t.parts[i] {
			values[i] = w.value(root.OperandInstr(i))
		}
	}
	b.SetRoot(w.at.OpOf(hlo.OpTuple, state, nil, values...))
	pass.Release(b, root.ID(), nil)
	for _, id := range slices.Backward(gone) {
		pass.Release(b, id, nil)
	}
	emit.Reorder(b)
	return nil
}

// turned makes turned instructions of those that were.
type turned struct {
	t    *turning
	at   emit.At
	made map[hlo.InstrID]hlo.InstrID
}

// value is a value turned, at no cost.
func (w *turned) value(in hlo.Instruction) hlo.InstrID {
	if v, ok := w.made[in.ID()]; ok {
		return v
	}
	var v hlo.InstrID
	switch {
	case w.t.turned[in.ID()]:
		v = w.again(in)
	case swaps(in):
		v = in.Operand(0)
		if from := in.OperandInstr(0); w.t.turned[from.ID()] { // it leaves, and comes back
			v = w.at.Transpose(w.value(from), swapped(in.Shape().Rank())...)
		}
	case isRow(in.Shape()):
		v = w.at.Reshape(w.plain(in), swap(in.Shape().Dimensions())...)
	default: // a broadcast
		v = w.at.Broadcast(in.Operand(0), turnedAxes(in), swap(in.Shape().Dimensions())...)
	}
	w.made[in.ID()] = v
	return v
}

// plain is a value that is not turned.
func (w *turned) plain(in hlo.Instruction) hlo.InstrID {
	if w.t.leaves(in) && w.t.turned[in.Operand(0)] {
		return w.left(in)
	}
	return in.ID()
}

// left is what leaves as it was.
func (w *turned) left(in hlo.Instruction) hlo.InstrID {
	from := w.value(in.OperandInstr(0))
	if swaps(in) {
		return from
	}
	x := w.at.Op(hlo.OpSlice, &hlo.SliceAttrs{Slice: swap(hlo.AttrsOf[hlo.SliceAttrs](in).Slice)}, from)
	return w.at.Reshape(x, in.Shape().Dimensions()...)
}

// again makes an instruction again, turned.
func (w *turned) again(in hlo.Instruction) hlo.InstrID {
	spec := emit.Again(in)
	spec.Shape = turnedShape(in.Shape())
	for n := range spec.Operands {
		if o := in.OperandInstr(n); o.Shape().IsArray() && o.Shape().Rank() >= 2 {
			spec.Operands[n] = w.value(o)
		}
	}
	rank := in.Shape().Rank()
	switch in.Opcode() {
	case hlo.OpConcatenate:
		spec.Attrs = &hlo.AxisAttrs{Dimensions: []int64{swapped(rank)[hlo.AttrsOf[hlo.AxisAttrs](in).Dimensions[0]]}}
	case hlo.OpSlice:
		spec.Attrs = &hlo.SliceAttrs{Slice: swap(hlo.AttrsOf[hlo.SliceAttrs](in).Slice)}
	case hlo.OpReshape:
		spec.Attrs = &hlo.ReshapeAttrs{InferredDimension: -1}
	case hlo.OpDynamicSlice:
		spec.Attrs = &hlo.DynamicSliceAttrs{Sizes: swap(hlo.AttrsOf[hlo.DynamicSliceAttrs](in).Sizes)}
		spec.Operands = append(spec.Operands[:1:1], swap(spec.Operands[1:])...)
	case hlo.OpDynamicUpdateSlice:
		spec.Operands = append(spec.Operands[:2:2], swap(spec.Operands[2:])...)
	}
	return w.at.Spec(spec)
}
