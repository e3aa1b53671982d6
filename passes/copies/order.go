package copies

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
)

// ordering says what runs before what: where one needs the other, or one is in what the other calls or comes before it.
type ordering struct {
	v    *values
	deps map[hlo.CompID]*analysis.Dependencies
	// forced is what has been decided to run before an instruction, and forcedBy before what.
	forced, forcedBy map[site][]hlo.InstrID
	imposed          map[hlo.CompID]bool // where something has been decided
	windows          map[hlo.CompID]*analysis.Windows
}

func newOrdering(v *values) *ordering {
	return &ordering{v: v, deps: map[hlo.CompID]*analysis.Dependencies{}, forced: map[site][]hlo.InstrID{}, forcedBy: map[site][]hlo.InstrID{}, imposed: map[hlo.CompID]bool{},
		windows: map[hlo.CompID]*analysis.Windows{}}
}

func (o *ordering) dependencies(id hlo.CompID) *analysis.Dependencies {
	d := o.deps[id]
	if d == nil {
		d = analysis.FindDependencies(o.v.m.MustComputation(id))
		o.deps[id] = d
	}
	return d
}

func (o *ordering) windowsOf(id hlo.CompID) *analysis.Windows {
	w, known := o.windows[id]
	if !known {
		w = analysis.FindWindows(o.v.m.MustComputation(id))
		o.windows[id] = w
	}
	return w
}

// step is an instruction and the number of the computation that is entered at it, -1 for the instruction itself.
type step struct {
	site
	callee int
}

// path is the way from the entry to an instruction.
func (o *ordering) path(s site) []step {
	steps := []step{{s, -1}}
	for {
		by, ok := o.v.caller[s.comp]
		if !ok {
			slices.Reverse(steps)
			return steps
		}
		callee := 0
		in := o.v.instr(by)
		for i := range in.NumCallees() {
			if in.Callee(i) == s.comp {
				callee = i
			}
		}
		steps = append(steps, step{by, callee})
		s = by
	}
}

// inside reports whether s is in computation id, or in what that calls.
func (o *ordering) inside(s site, id hlo.CompID) bool {
	for {
		if s.comp == id {
			return true
		}
		by, ok := o.v.caller[s.comp]
		if !ok {
			return false
		}
		s = by
	}
}

// insideCallee reports whether s is in what an instruction calls.
func (o *ordering) insideCallee(s, call site) bool {
	for {
		by, ok := o.v.caller[s.comp]
		if !ok {
			return false
		}
		if by == call {
			return true
		}
		s = by
	}
}

// runsBefore reports whether a has run when b begins to. Within one instruction that calls, the condition of a loop runs before the body.
func (o *ordering) runsBefore(a, b site) bool {
	p, q := o.path(a), o.path(b)
	for i := 0; i < len(p) && i < len(q); i++ {
		switch {
		case p[i] == q[i]:
			continue
		case p[i].site != q[i].site:
			return o.needs(p[i].comp, q[i].in, p[i].in)
		case p[i].callee < 0 || q[i].callee < 0:
			return false
		case o.v.instr(p[i].site).Opcode() == hlo.OpWhile:
			return p[i].callee == 1
		default: // two ways of which one is taken: any order is right
			return p[i].callee < q[i].callee
		}
	}
	return false
}

// needs reports whether an instruction depends on another one of its computation.
func (o *ordering) needs(id hlo.CompID, in, on hlo.InstrID) bool {
	d := o.dependencies(id)
	from, to := d.Position(in), d.Position(on)
	if from == to {
		return false
	}
	if !o.imposed[id] && from < to {
		return false
	}
	if o.v.m.MustComputation(id).IsScheduled() {
		return true
	}
	// From both ends, an edge at a time: a tuple of thousands at one end must not be looked through if the other is near.
	up := search{work: []edge{{at: from}}, seen: map[int]bool{from: true}, next: func(i int) ([]int, []hlo.InstrID) {
		return d.Before(i), o.forced[site{id, d.Order[i].ID()}]
	}}
	down := search{work: []edge{{at: to}}, seen: map[int]bool{to: true}, next: func(i int) ([]int, []hlo.InstrID) {
		return d.After(i), o.forcedBy[site{id, d.Order[i].ID()}]
	}}
	within := func(i int) bool { return o.imposed[id] || i >= to && i <= from }
	for {
		if i, more := up.step(d, within); !more || i == to {
			return more
		}
		if i, more := down.step(d, within); !more || i == from {
			return more
		}
	}
}

// search walks along dependencies.
type search struct {
	work []edge
	seen map[int]bool
	next func(i int) (positions []int, forced []hlo.InstrID)
}

// edge is the next one to be looked at of those of an instruction.
type edge struct{ at, n int }

// step looks at one edge and returns where it leads, and whether there was one.
func (s *search) step(d *analysis.Dependencies, within func(int) bool) (int, bool) {
	for len(s.work) > 0 {
		top := &s.work[len(s.work)-1]
		positions, forced := s.next(top.at)
		to := -1
		switch n := top.n; {
		case n < len(positions):
			to = positions[n]
		case n < len(positions)+len(forced):
			to = d.Position(forced[n-len(positions)])
		default:
			s.work = s.work[:len(s.work)-1]
			continue
		}
		top.n++
		if !s.seen[to] && within(to) {
			s.seen[to] = true
			s.work = append(s.work, edge{at: to})
		}
		return to, true
	}
	return -1, false
}

// definedBefore reports whether a is there before b.
func (o *ordering) definedBefore(a, b *value) bool {
	ai, bi := o.v.instr(a.def.site), o.v.instr(b.def.site)
	entry := o.v.m.Entry().ID()
	if ai.Opcode() == hlo.OpParameter && a.def.comp == entry {
		return bi.Opcode() != hlo.OpParameter || b.def.comp != entry
	}
	// Values that are merged at parameters come before all that is computed there, those merged at an instruction after all that is computed in it.
	am, bm := a.merged && ai.Opcode() == hlo.OpParameter, b.merged && bi.Opcode() == hlo.OpParameter
	switch {
	case am && !bm && o.inside(b.def.site, a.def.comp):
		return true
	case bm && o.inside(a.def.site, b.def.comp):
		return false
	case b.merged && !bm && o.insideCallee(a.def.site, b.def.site):
		return true
	case bm && o.v.caller[b.def.comp] == a.def.site:
		return false
	}
	return o.runsBefore(a.def.site, b.def.site)
}

// before says that a use must run before an instruction, so that a value can take the place of another one.
type before struct {
	comp        hlo.CompID
	first, then hlo.InstrID
}

// usedBefore reports whether a use is over when b is defined. If it is not known to be, but could be, force gets what makes it so; force may be nil.
func (o *ordering) usedBefore(a *value, u use, b *value, force *[]before) bool {
	in, def := o.v.instr(u.site), o.v.instr(b.def.site)
	switch {
	case u.site == b.def.site:
		return !b.merged && sharesInPlace(o.v.m, in, u, b.def.leaf) || b.merged && in.Opcode() == hlo.OpConditional
	case o.insideCallee(b.def.site, u.site):
		// It is handed over to what defines b: there its uses are its own, but a loop that keeps it needs it again.
		return in.Opcode() != hlo.OpWhile || o.v.at[site{in.Callee(0), o.v.m.MustComputation(in.Callee(0)).Parameter(0).ID()}][u.leaf] != a
	case b.merged && def.Opcode() != hlo.OpParameter && o.insideCallee(u.site, b.def.site):
		return true
	case o.runsBefore(u.site, b.def.site):
		return true
	}
	if force == nil || u.comp != b.def.comp || def.Opcode() == hlo.OpParameter || in.IsRoot() || o.v.m.MustComputation(u.comp).IsScheduled() ||
		o.needs(u.comp, u.in, b.def.in) || o.windowsOf(u.comp).Postpones(in, def) || def.Opcode() == hlo.OpCopy && writesOther(o.v.m, in, def.Operand(0)) {
		return false
	}
	decided := before{u.comp, u.in, b.def.in}
	o.force(decided)
	*force = append(*force, decided)
	return true
}

// writesOther reports whether an instruction writes into the memory of a given operand.
func writesOther(m hlo.Module, in hlo.Instruction, operand hlo.InstrID) bool {
	for _, p := range inPlace(m, in) {
		if in.Operand(p.operand) == operand {
			return true
		}
	}
	return false
}

// force decides an order. It counts at once: what is to be forced next must not contradict it.
func (o *ordering) force(b before) {
	o.imposed[b.comp] = true
	s, by := site{b.comp, b.then}, site{b.comp, b.first}
	o.forced[s] = append(o.forced[s], b.first)
	o.forcedBy[by] = append(o.forcedBy[by], b.then)
}

// release takes back what was decided last.
func (o *ordering) release(all []before) {
	for _, b := range slices.Backward(all) {
		s, by := site{b.comp, b.then}, site{b.comp, b.first}
		o.forced[s] = o.forced[s][:len(o.forced[s])-1]
		o.forcedBy[by] = o.forcedBy[by][:len(o.forcedBy[by])-1]
	}
}
