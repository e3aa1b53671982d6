package hlo

import "slices"

// Versioned is what an [Owned] handle may stand for.
type Versioned interface{ Module | Computation }

// Owned is a linear handle to a session: whoever holds the live handle is the unique owner of the version in the making, and edits
// copy nothing that this session has made or copied before, through however many calls the handle is passed on. Every method but
// Stats, Edits and Edited consumes the handle and gives out a new one; using a consumed handle panics. Pass it on with Move, which the analyzer
// useaftermove understands:
//
//	m2 := hlo.Own(m).WithAttr(a, x).WithAttr(b, y).WithAttr(c, z).Share() // m untouched; its header copied once
//
// Ownership is not a count of references: others may hold m, and any number of its versions, and it costs nothing.
type Owned[T Versioned] struct {
	s   *ownership
	id  CompID // of the computation; NoComp for a module
	gen uint32
}

// ownership is shared by the handles of one chain; only the one with the current generation is live.
type ownership struct {
	e   *Editor
	gen uint32
}

// Own opens a session on m, which stays as it is.
func Own(m Module) Owned[Module] { return m.Edit().Own() }

// Own turns the session into an Owned handle: e and its handles can no longer be used, and what the session made is edited through
// the handle without copies.
func (e *Editor) Own() Owned[Module] {
	e.checkWhole("Own")
	e.settle()
	t := &Editor{epoch: e.epoch, gen: 1, root: e.root, stats: e.stats, writes: e.writes, grown: e.grown, aside: e.aside}
	if e.side != nil && e.side.calls != nil {
		t.side = &sideTables{calls: e.side.calls}
	}
	if e.root != nil {
		t.known = CompID(e.root.comps.n)
	}
	e.end(byOwn)
	return Owned[Module]{&ownership{t, 1}, NoComp, 1}
}

// OwnComputation is [Editor.Own] with a handle to computation id, which must exist.
func (e *Editor) OwnComputation(id CompID) Owned[Computation] {
	e.Computation(id)
	o := e.Own()
	return Owned[Computation]{o.s, id, o.gen}
}

// consume checks that o is live, and makes it stale.
func (o Owned[T]) consume() (*Editor, Owned[T]) {
	switch {
	case o.s == nil:
		panic("hlo: use of the zero Owned")
	case o.s.e == nil:
		panic("hlo: use of an Owned after Share")
	case o.s.gen != o.gen:
		panic("hlo: use of an Owned after it was moved")
	}
	o.s.gen++
	o.gen++
	o.s.e.holder.release() // whoever holds the live handle holds the session
	return o.s.e, o
}

// Move hands ownership over: the handle returned is live, o is not.
//
//halo:consume o
func (o Owned[T]) Move() Owned[T] {
	_, next := o.consume()
	return next
}

// WithAttr attaches a value under key to the module or computation, nil to remove it; see [Editor.SetNote]. For attributes of
// instructions use Edit.
//
//halo:consume o
func (o Owned[T]) WithAttr(key AttrKey, value Attr) Owned[T] {
	e, next := o.consume()
	if o.id == NoComp {
		e.SetNote(key, value)
	} else {
		e.Computation(o.id).SetNote(key, value)
	}
	return next
}

// WithName renames the module or computation.
//
//halo:consume o
func (o Owned[T]) WithName(name string) Owned[T] {
	e, next := o.consume()
	if o.id == NoComp {
		e.SetName(name)
	} else {
		e.Computation(o.id).SetName(name)
	}
	return next
}

// Edit lends the session to f, for edits of any kind. Freeze does not end it then: it gives the module as it is, as a view. Handles that f obtained are
// stale afterwards; views live until the next edit.
//
//halo:consume o
func (o Owned[T]) Edit(f func(*Editor)) Owned[T] { return o.lend(f, false) }

// Rewrite is Edit for who reads the module as it was while editing it: views, and what was obtained from them, last until the first Freeze or the end of f. What
// is overwritten is kept aside for that long, in room that is used again.
//
//halo:consume o
func (o Owned[T]) Rewrite(f func(*Editor)) Owned[T] { return o.lend(f, true) }

// lend is Edit and Rewrite.
//
//halo:consume o
func (o Owned[T]) lend(f func(*Editor), apart bool) Owned[T] {
	e, next := o.consume()
	if e.grown.next > 0 {
		e.grown = growth{next: growthStep} // whoever edits next has a bound of its own
	}
	e.owned = true
	if apart {
		e.setApart()
	}
	f(e)
	e.check()
	e.endApart()
	e.settle()
	e.owned = false
	e.noteEdited()
	e.endHandles(byOwnedEdit)
	return next
}

// Share publishes the version and ends the session. When nothing was edited, it is the one the session started from.
//
//halo:consume o
func (o Owned[T]) Share() T {
	e, _ := o.consume()
	o.s.e = nil
	m := e.Freeze()
	if o.id == NoComp {
		return any(m).(T)
	}
	return any(m.MustComputation(o.id)).(T)
}

// ShareModule is Share of the whole module, also for an owned computation.
//
//halo:consume o
func (o Owned[T]) ShareModule() Module {
	e, _ := o.consume()
	o.s.e = nil
	return e.Freeze()
}

// Edits is [Editor.Edits]. It does not consume o, and panics after Share.
func (o Owned[T]) Edits() uint64 {
	if o.s == nil || o.s.e == nil {
		panic("hlo: Edits of an Owned after Share")
	}
	return o.s.e.writes
}

// Edited lists the computations that calls of Edit have written to, made or removed since it was last asked, by id. It does not consume o, and
// panics after Share.
func (o Owned[T]) Edited() []CompID {
	if o.s == nil || o.s.e == nil {
		panic("hlo: Edited of an Owned after Share")
	}
	e := o.s.e
	for id := e.known; id < CompID(e.root.comps.n); id++ {
		e.edited = append(e.edited, id)
	}
	e.known = CompID(e.root.comps.n)
	list := e.edited
	e.edited = nil
	slices.Sort(list)
	return slices.Compact(list)
}

// noteEdited remembers the computations that the session has written to since it was last called.
func (e *Editor) noteEdited() {
	e.eachState(func(st *compState) {
		if st.viewGen != st.noted {
			e.edited = append(e.edited, st.node.id)
			st.noted = st.viewGen
		}
	})
}

// Stats is what the session has copied so far. It does not consume o, and panics after Share.
func (o Owned[T]) Stats() CopyStats {
	if o.s == nil || o.s.e == nil {
		panic("hlo: Stats of an Owned after Share")
	}
	return o.s.e.Stats()
}
