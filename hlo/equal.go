package hlo

import "slices"

// Equal reports whether two modules are structurally equal: equal in all that [Module.Hash] looks at. Names, ids, metadata, notes and the
// order of unrelated instructions do not count; a schedule counts as a fact, not by its order.
func (m Module) Equal(o Module) bool {
	if m.m == o.m {
		return true
	}
	if m.m == nil || o.m == nil {
		return false
	}
	x, y := m.m.hashes(), o.m.hashes()
	if x.whole != y.whole {
		return false
	}
	a, b := behaviour(m.m.config), behaviour(o.m.config)
	if !EqualAttr(a, b) {
		return false
	}
	w := equalWalk{a: m.m, b: o.m, seen: make(map[[2]CompID]bool)}
	w.match(m.m.entry, o.m.entry)
	ra, rb := m.m.looseRoots(x), o.m.looseRoots(y)
	if len(ra) != len(rb) {
		return false
	}
	for i := range ra {
		w.match(ra[i], rb[i])
	}
	return w.run()
}

// Equal reports whether two computations are structurally equal, with called computations equal only if they have the same ids, which
// makes sense within one lineage.
func (c Computation) Equal(o Computation) bool {
	if c.c == o.c {
		return true
	}
	if c.c == nil || o.c == nil {
		return false
	}
	a, b := c.node(), o.node()
	return equalStructure(a, b) && slices.Equal(a.structure().callees, b.structure().callees)
}

// equalWalk walks the call graphs of two modules in step. Called computations are matched by position; a computation is compared once
// per partner.
type equalWalk struct {
	a, b *moduleNode
	seen map[[2]CompID]bool
	todo [][2]CompID
}

// match demands that a and b be equal.
func (w *equalWalk) match(a, b CompID) {
	if p := [2]CompID{a, b}; !w.seen[p] {
		w.seen[p] = true
		w.todo = append(w.todo, p)
	}
}

func (w *equalWalk) run() bool {
	for len(w.todo) > 0 {
		p := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		a, b := w.a.comps.get(uint32(p[0])), w.b.comps.get(uint32(p[1]))
		if a == nil || b == nil {
			if a != nil || b != nil {
				return false
			}
			continue
		}
		if !equalStructure(a, b) {
			return false
		}
		ca, cb := a.structure().callees, b.structure().callees
		if len(ca) != len(cb) {
			return false
		}
		for i := range ca {
			w.match(ca[i], cb[i])
		}
	}
	return true
}

// equalStructure compares two computations but for their callees: in step along the canonical orders, whose positions are the bijection
// of ids.
func equalStructure(a, b *compNode) bool {
	if a == b {
		return true
	}
	sa, sb := a.structure(), b.structure()
	if sa.hash != sb.hash || a.thread != b.thread || a.scheduled != b.scheduled || len(a.params) != len(b.params) || len(sa.order) != len(sb.order) {
		return false
	}
	to := make([]InstrID, a.instrs.n) // partner of each id of a
	for i := range to {
		to[i] = NoInstr
	}
	for i, id := range sa.order {
		to[id] = sb.order[i]
	}
	partner := func(x, y InstrID) bool { return uint32(x) < a.instrs.n && to[x] == y }
	if (a.instrs.get(uint32(a.root)) != nil || b.instrs.get(uint32(b.root)) != nil) && !partner(a.root, b.root) {
		return false
	}
	for i, id := range sa.order {
		x, y := a.instrs.get(uint32(id)), b.instrs.get(uint32(sb.order[i]))
		if !slices.EqualFunc(x.operands(), y.operands(), partner) || !equalControl(x.control(), y.control(), to) || len(x.called()) != len(y.called()) {
			return false
		}
		if x != y && !equalMeaning(x, y) {
			return false
		}
	}
	return true
}

// equalControl compares sets.
func equalControl(x, y []InstrID, to []InstrID) bool {
	if len(x) != len(y) {
		return false
	}
	for _, id := range x {
		if !slices.Contains(y, to[id]) {
			return false
		}
	}
	return true
}

// equalMeaning compares what instructions say by themselves.
func equalMeaning(x, y *instrNode) bool { return equalMeaningBy(x, y, Shape.Equal) }

func equalMeaningBy(x, y *instrNode, shapes func(a, b Shape) bool) bool {
	if x.op != y.op || !shapes(x.shape, y.shape) {
		return false
	}
	if !EqualAttrs(x.attrs, y.attrs) {
		return false
	}
	a, b := x.common, y.common
	return a == b || meaningless(a) && meaningless(b) || equalCommon(meaningOf(a), meaningOf(b))
}

// meaningOf is c without what does not count.
func meaningOf(c *Common) *Common {
	if c == nil || c.Metadata == nil && c.Origin == nil && c.Statistics == nil {
		return c
	}
	d := *c
	d.Metadata, d.Origin, d.Statistics = nil, nil, nil
	return &d
}
