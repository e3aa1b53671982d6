package hlo

import (
	"cmp"
	"iter"
	"slices"
)

// call is an instruction that calls computations.
type call struct {
	instr InstrID
	to    []CompID
}

// callIndex lists, by id, the instructions that call each computation of one version of a module.
type callIndex [][]caller

func (x callIndex) of(id CompID) []caller {
	if int(id) >= len(x) {
		return nil
	}
	return x[id]
}

type caller struct {
	comp  CompID
	instr InstrID
}

// callsOf lists the calling instructions of a frozen computation in program order. It is cached there, so that a new version of a
// module scans only the computations that changed.
func (c *compNode) callsOf() []call {
	if c.facts.Load()&callsNobody != 0 {
		return nil
	}
	if x := c.cached.Load(); x != nil {
		if p := x.calls.Load(); p != nil {
			return *p
		}
	}
	calls := c.findCalls()
	if len(calls) == 0 {
		c.facts.Or(callsNobody)
		return nil
	}
	c.cache().calls.Store(&calls)
	return calls
}

// findCalls reads all instructions to find those that call. Few are to be put in order, and the others need not be.
func (c *compNode) findCalls() (calls []call) {
	var ranks []rankedCall // in place of calls, unless ids are in order: to ask for ranks again is to look all over the tree
	c.instrs.each(func(in *instrNode) bool {
		switch to := in.called(); {
		case len(to) == 0:
		case c.idOrder:
			calls = append(calls, call{in.id, to})
		default:
			ranks = append(ranks, rankedCall{call{in.id, to}, in.rank})
		}
		return true
	})
	if len(ranks) == 0 {
		return calls
	}
	slices.SortFunc(ranks, func(a, b rankedCall) int { return cmp.Compare(a.rank, b.rank) })
	calls = make([]call, len(ranks))
	for i, k := range ranks {
		calls[i] = k.call
	}
	return calls
}

type rankedCall struct {
	call
	rank uint64
}

// Calls yields the instructions that call computations, in program order. They are remembered: most computations have few.
func (c Computation) Calls() iter.Seq[Instruction] {
	n := c.checked()
	return func(yield func(Instruction) bool) { n.eachCall(yield) }
}

func (c *compNode) eachCall(yield func(Instruction) bool) {
	if c.changesApart() {
		c.inProgramOrder(func(in Instruction) bool { return in.NumCallees() == 0 || yield(in) })
		return
	}
	for _, k := range c.callsOf() {
		if !yield(c.mustAt(k.instr)) {
			return
		}
	}
}

func (m *moduleNode) callIndex() callIndex {
	if x := m.cache().callers.Load(); x != nil {
		return *x
	}
	x := make(callIndex, m.comps.n)
	for _, id := range m.order {
		for _, k := range m.current(id).callsOf() {
			for i, to := range k.to {
				if uint32(to) < m.comps.n && !slices.Contains(k.to[:i], to) {
					x[to] = append(x[to], caller{id, k.instr})
				}
			}
		}
	}
	m.cache().callers.Store(&x)
	return x
}

// postOrder is what [Module.PostOrder] yields, cached: a depth-first search with an explicit stack, since nesting depth is up to the
// input.
func (m *moduleNode) postOrder() []CompID {
	if p := m.cache().postOrder.Load(); p != nil {
		return *p
	}
	type frame struct {
		id       CompID
		calls    []call
		instr, k int // next edge: callee k of calls[instr]
	}
	out := make([]CompID, 0, len(m.order))
	seen := make([]bool, m.comps.n)
	var stack []frame
	push := func(id CompID) {
		if c := m.comps.get(uint32(id)); c != nil && !seen[id] {
			c = m.current(id)
			seen[id] = true
			stack = append(stack, frame{id: id, calls: c.callsOf()})
		}
	}
	visit := func(id CompID) {
		push(id)
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			switch {
			case f.instr == len(f.calls):
				out = append(out, f.id)
				stack = stack[:len(stack)-1]
			case f.k == len(f.calls[f.instr].to):
				f.instr, f.k = f.instr+1, 0
			default:
				f.k++
				push(f.calls[f.instr].to[f.k-1])
			}
		}
	}
	called := make([]bool, m.comps.n)
	for _, id := range m.order {
		for _, k := range m.current(id).callsOf() {
			for _, to := range k.to {
				if uint32(to) < m.comps.n {
					called[to] = true
				}
			}
		}
	}
	for _, id := range m.order {
		if !called[id] {
			visit(id)
		}
	}
	if len(out) < len(m.order) {
		for _, id := range m.order {
			visit(id)
		}
	}
	m.cache().postOrder.Store(&out)
	return out
}

// current is a computation of the module to learn something from: a view must not be stale.
func (m *moduleNode) current(id CompID) *compNode { return Computation{m.comps.get(uint32(id))}.node() }

func (m *moduleNode) mustComp(id CompID) *compNode {
	c := m.comps.get(uint32(id))
	if c == nil {
		panic(noComputation(m, id))
	}
	return c
}
