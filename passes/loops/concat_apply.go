package loops

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// apply changes the loop.
//
//  1. In front of it the parts of each group are put together.
//  2. The body computes the groups as one, and takes parts out where something else reads them.
//  3. Behind it the parts are taken out.
func (g *grouping) apply() error {
	n := len(g.element)
	place := make([]int, n) // in the new state, of the group for its members
	byName := map[string][]int{}
	for name, parts := range g.parts {
		byName[name] = parts
	}
	var shapes []hlo.Shape
	narrow := g.c.At(g.while).Shape()
	for i := range n {
		parts, grouped := byName[g.member[i]]
		switch {
		case grouped && i != slices.Min(parts):
			place[i] = place[slices.Min(parts)]
			continue
		case grouped:
			s := narrow.Elem(i)
			shapes = append(shapes, hlo.MakeShape(s.Type(), g.groups[g.member[i]].of(s.Dimensions(), len(parts))...).WithDefaultLayout())
		default:
			shapes = append(shapes, narrow.Elem(i))
		}
		place[i] = len(shapes) - 1
	}
	state := hlo.MakeTuple(shapes...)
	g.inFront(place, state)
	if err := g.inBody(place, state); err != nil {
		return err
	}
	cond := g.e.Computation(g.cond.ID())
	emit.Retuple(cond.Instr(cond.View().Parameters()[0]), state)
	for _, u := range slices.Collect(cond.Users(cond.View().Parameters()[0])) {
		i := hlo.AttrsOf[hlo.TupleElementAttrs](cond.At(u)).Index
		cond.Instr(u).SetAttrs(&hlo.TupleElementAttrs{Index: int64(place[i])})
	}
	g.ctx.Count("concatenations", int64(len(g.concats)))
	g.ctx.Count("groups", int64(len(g.parts)))
	return nil
}

// inFront puts parts together before the loop, and takes them out behind it.
func (g *grouping) inFront(place []int, state hlo.Shape) {
	users, isRoot := slices.Collect(g.c.Users(g.while)), g.c.Root() == g.while
	narrow := g.c.At(g.while).Shape()
	at, init := emit.Before(g.c, g.c.At(g.while)), g.c.At(g.while).OperandInstr(0)
	given, isTuple, initID := slices.Collect(init.OperandIDs()), init.Opcode() == hlo.OpTuple, init.ID()
	part := func(i int) hlo.InstrID {
		if isTuple {
			return given[i]
		}
		return at.Element(initID, i)
	}
	elems := make([]hlo.InstrID, state.NumElems())
	done := make([]bool, len(elems))
	for i, to := range place {
		if done[to] {
			continue
		}
		done[to] = true
		parts := g.parts[g.member[i]]
		if parts == nil {
			elems[to] = part(i)
			continue
		}
		f := g.groups[g.member[i]]
		var arrays []hlo.InstrID
		for _, p := range parts {
			x := part(p)
			if f.new {
				x = at.Reshape(x, f.of(narrow.Elem(p).Dimensions(), 1)...)
			}
			arrays = append(arrays, x)
		}
		elems[to] = at.Concatenate(int64(f.axis), arrays...)
	}
	g.c.Instr(g.while).SetOperand(0, at.OpOf(hlo.OpTuple, state, nil, elems...))
	pass.Release(g.c, initID, nil)
	emit.Retuple(g.c.Instr(g.while), state)

	behind := emit.End(g.c)
	whole := map[int]hlo.InstrID{}
	results := make([]hlo.InstrID, len(place))
	for i, to := range place {
		if _, ok := whole[to]; !ok {
			whole[to] = behind.Element(g.while, to)
		}
		results[i] = g.taken(behind, whole[to], i, narrow.Elem(i))
	}
	tuple := behind.OpOf(hlo.OpTuple, narrow, nil, results...)
	emit.Redirect(g.c, users, g.while, tuple)
	if isRoot {
		g.c.SetRoot(tuple)
	}
	emit.Reorder(g.c)
}

// taken is part i of the old state, out of what stands for it in the new one.
func (g *grouping) taken(at emit.At, whole hlo.InstrID, i int, s hlo.Shape) hlo.InstrID {
	parts := g.parts[g.member[i]]
	if parts == nil {
		return whole
	}
	f, k := g.groups[g.member[i]], int64(slices.Index(parts, i))
	size := int64(1)
	if !f.new {
		size = s.Dim(f.axis)
	}
	x := at.SliceAxis(whole, f.axis, k*size, (k+1)*size)
	if f.new {
		x = at.Reshape(x, s.Dimensions()...)
	}
	if !at.Shape(x).Equal(s) {
		at.C.Instr(x).SetShape(s)
	}
	return x
}

// inBody makes the body work on the new state.
func (g *grouping) inBody(place []int, state hlo.Shape) error {
	b := g.e.Computation(g.body.ID())
	param, root := g.body.Parameter(0).ID(), g.body.Root()
	emit.Retuple(b.Instr(param), state)
	l := &joined{g: g, at: emit.End(b), made: map[string]hlo.InstrID{}}
	whole := map[int]hlo.InstrID{}
	for i, to := range place {
		if g.parts[g.member[i]] == nil {
			continue
		}
		if _, ok := whole[to]; !ok {
			whole[to] = l.at.Element(param, to)
			l.made[g.member[i]] = whole[to]
		}
	}
	values := make([]hlo.InstrID, state.NumElems())
	for i, to := range place {
		parts := g.parts[g.member[i]]
		if parts == nil {
			values[to] = root.Operand(i)
			continue
		}
		if i == slices.Min(parts) {
			var next []hlo.InstrID
			for _, p := range parts {
				next = append(next, root.Operand(p))
			}
			values[to] = l.join(next, g.groups[g.member[i]])
		}
	}
	var replaced []hlo.InstrID
	for _, id := range g.concats {
		in := g.body.MustAt(id)
		v := l.join(slices.Collect(in.OperandIDs()), form{axis: int(hlo.AttrsOf[hlo.AxisAttrs](in).Dimensions[0])})
		if !b.At(v).Shape().Equal(in.Shape()) {
			continue // another layout
		}
		b.ReplaceAllUses(id, v)
		for i := range values {
			if values[i] == id {
				values[i] = v
			}
		}
		replaced = append(replaced, id)
	}
	b.SetRoot(l.at.OpOf(hlo.OpTuple, state, nil, values...))
	for _, id := range append(replaced, root.ID()) {
		pass.Release(b, id, nil)
	}
	for i, id := range g.element {
		if id == hlo.NoInstr || !b.Has(id) {
			continue
		}
		if g.parts[g.member[i]] == nil {
			b.Instr(id).SetAttrs(&hlo.TupleElementAttrs{Index: int64(place[i])})
			continue
		}
		if b.UserCount(id) > 0 {
			b.ReplaceAllUses(id, g.taken(l.at, whole[place[i]], i, g.body.MustAt(id).Shape()))
		}
		if err := b.Remove(id); err != nil {
			return err
		}
	}
	emit.Reorder(b)
	return nil
}

// joined makes one instruction of parallel ones.
type joined struct {
	g    *grouping
	at   emit.At
	made map[string]hlo.InstrID
}

func (l *joined) join(ids []hlo.InstrID, f form) hlo.InstrID {
	body := l.g.body
	first := body.MustAt(ids[0])
	if !same(ids) && l.g.divides(ids, f) {
		return first.Operand(0)
	}
	name := vector(ids)
	if v, ok := l.made[name]; ok && !same(ids) {
		return v
	}
	dims := first.Shape().Dimensions()
	to := f.of(dims, len(ids))
	if same(ids) {
		axes := make([]int64, len(dims))
		for d := range axes {
			axes[d] = int64(d)
			if d >= f.axis {
				axes[d]++
			}
		}
		return l.at.Reshape(l.at.Broadcast(ids[0], axes, slices.Insert(slices.Clone(dims), f.axis, int64(len(ids)))...), to...)
	}
	spec := emit.Again(first)
	spec.Control, spec.Shape = nil, hlo.MakeShape(first.Shape().Type(), to...)
	if c := spec.Common; c != nil && (c.Sharding != nil || c.Origin != nil) {
		own := *c
		own.Sharding, own.Origin = nil, nil
		spec.Common = &own
	}
	for n := range spec.Operands {
		from, _ := formOfOperand(first, n, f)
		if from.axis < 0 {
			continue
		}
		operands := make([]hlo.InstrID, len(ids))
		for i, id := range ids {
			operands[i] = body.MustAt(id).Operand(n)
		}
		spec.Operands[n] = l.join(operands, from)
		if n == 0 {
			spec.Attrs = joinedAttrs(first, f, from)
		}
	}
	l.made[name] = l.at.Spec(spec)
	return l.made[name]
}

// joinedAttrs are the attributes of an instruction on arrays that are put together.
func joinedAttrs(in hlo.Instruction, f, from form) hlo.OpAttrs {
	switch in.Opcode() {
	case hlo.OpReshape:
		return &hlo.ReshapeAttrs{InferredDimension: -1}
	case hlo.OpBroadcast:
		axes := slices.Clone(hlo.AttrsOf[hlo.BroadcastAttrs](in).Dimensions)
		if !f.new {
			return &hlo.BroadcastAttrs{Dimensions: axes}
		}
		for i := range axes {
			if int(axes[i]) >= f.axis {
				axes[i]++
			}
		}
		return &hlo.BroadcastAttrs{Dimensions: slices.Insert(axes, from.axis, int64(f.axis))}
	case hlo.OpReduce:
		over := slices.Clone(hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions)
		if f.new {
			over = slices.DeleteFunc(over, func(d int64) bool { return int(d) == from.axis })
		}
		return &hlo.DimensionsAttrs{Dimensions: over}
	}
	return in.Attrs()
}
