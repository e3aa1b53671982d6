package kernels

import "github.com/gohalo/halo/runtime"

// What a sequence does once it is built: it runs part by part on frames that are kept from one execution to the next, or hands its parts on as calls of loops.

// seqState is the frames of one execution.
type seqState struct {
	ctx     *runtime.ExecContext
	buffers []runtime.Buffer
	frames  []*runtime.TensorFrame
	base    *byte // of the scratch memory that the frames know
}

// run executes the parts in order.
func (q *sequence) run(f *runtime.TensorFrame) error {
	st := q.states.Get().(*seqState)
	defer q.states.Put(st)
	q.prepare(st, f)
	for i := range q.values {
		if v := &q.values[i]; v.constant == nil {
			st.buffers[i].Data = v.place.of(f)
		}
	}
	for i := range q.parts {
		if run := q.parts[i].bound.Run; run != nil {
			if err := run(st.frames[i]); err != nil {
				return err
			}
		}
	}
	for _, r := range q.staged {
		copy(f.Out(r.result).Data, st.buffers[r.value].Data)
	}
	return nil
}

// small is the parts as calls, if all of them are, since what they pass on has its place in the scratch memory.
func (q *sequence) small() []runtime.SmallCall {
	if len(q.staged) > 0 {
		return nil
	}
	var all []runtime.SmallCall
	for i := range q.parts {
		p := &q.parts[i]
		if p.bound.Run != nil && p.bound.Small == nil {
			return nil
		}
		for _, c := range p.bound.Small {
			c.D, c.A, c.B, c.C = q.placeIn(p, c.D), q.placeIn(p, c.A), q.placeIn(p, c.B), q.placeIn(p, c.C)
			all = append(all, c)
		}
	}
	return all
}

// later is small with the later calls of parts that have some.
func (q *sequence) later() runtime.LaterCalls {
	if len(q.staged) > 0 {
		return runtime.LaterCalls{}
	}
	var all runtime.LaterCalls
	better := false
	for i := range q.parts {
		p := &q.parts[i]
		part := runtime.LaterCalls{Calls: p.bound.Small}
		if p.bound.Later != nil {
			if l := p.bound.Later(); len(l.Calls) > 0 {
				part, better = l, true
			}
		}
		if p.bound.Run != nil && part.Calls == nil {
			return runtime.LaterCalls{}
		}
		for _, c := range part.Calls {
			for _, at := range [...]*runtime.Place{&c.D, &c.A, &c.B, &c.C} {
				*at = q.laterPlaceIn(p, *at, all.Room)
			}
			all.Calls = append(all.Calls, c)
		}
		all.Room += (part.Room + runtime.BufferAlign - 1) &^ (runtime.BufferAlign - 1)
	}
	if !better {
		return runtime.LaterCalls{}
	}
	return all
}

// laterPlaceIn is placeIn for later calls, whose room begins at an offset.
func (q *sequence) laterPlaceIn(p *seqPart, at runtime.Place, room int) runtime.Place {
	switch at.Kind {
	case runtime.InRoom:
		at.Offset += room
		return at
	case runtime.InTable:
		table := make([]runtime.Place, len(at.Table))
		for i := range table {
			table[i] = q.laterPlaceIn(p, at.Table[i], room)
		}
		return runtime.Place{Kind: runtime.InTable, Table: table}
	}
	return q.placeIn(p, at)
}

// placeIn is where a place of a part is in the sequence.
func (q *sequence) placeIn(p *seqPart, at runtime.Place) runtime.Place {
	v := p.out
	switch at.Kind {
	case runtime.InScratch:
		at.Offset += int(p.scratch.at)
		return at
	case runtime.InInput:
		v = p.in[at.Index]
	case runtime.InOutput:
	default:
		return at
	}
	switch x := &q.values[v]; {
	case x.constant != nil:
		return runtime.Place{Kind: runtime.InConst, Const: x.constant, Offset: at.Offset}
	case x.place.kind == inScratch:
		return runtime.Place{Kind: runtime.InScratch, Offset: int(x.place.section.at) + at.Offset}
	case x.place.kind == inOutput:
		return runtime.Place{Kind: runtime.InOutput, Index: x.place.index, Offset: at.Offset}
	default:
		return runtime.Place{Kind: runtime.InInput, Index: x.place.index, Offset: at.Offset}
	}
}

// prepare makes the frames, unless they are those of the last execution.
func (q *sequence) prepare(st *seqState, f *runtime.TensorFrame) {
	var base *byte
	if s := f.Scratch(); len(s) > 0 {
		base = &s[0]
	}
	if st.frames != nil && st.ctx == f.Ctx() && st.base == base {
		return
	}
	st.ctx, st.base = f.Ctx(), base
	st.buffers = make([]runtime.Buffer, len(q.values))
	for i, v := range q.values {
		st.buffers[i] = runtime.Buffer{Data: v.constant, Type: v.typ.Type, Dims: v.typ.Dims}
	}
	st.frames = make([]*runtime.TensorFrame, len(q.parts))
	for i, p := range q.parts {
		var ins []*runtime.Buffer
		for _, v := range p.in {
			ins = append(ins, &st.buffers[v])
		}
		st.frames[i] = runtime.NewTensorFrame(st.ctx, ins, []*runtime.Buffer{&st.buffers[p.out]}, p.scratch.of(f))
	}
}
