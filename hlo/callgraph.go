package hlo

import "slices"

// call is an instruction that calls computations.
type call struct {
	instr InstrID
	to    []CompID
}

// callIndex is the call graph of one version of a module.
type callIndex struct {
	callers   map[CompID][]caller
	postOrder []CompID
}

type caller struct {
	comp  CompID
	instr InstrID
}

// callsOf lists the calling instructions of a frozen computation in program order. It is cached there, so that a new version of a
// module scans only the computations that changed.
func (c *compNode) callsOf() []call {
	if p := c.cache().calls.Load(); p != nil {
		return *p
	}
	var calls []call
	c.inOrder(func(n *instrNode) {
		if to := n.called(); len(to) > 0 {
			calls = append(calls, call{n.id, to})
		}
	})
	c.cache().calls.Store(&calls)
	return calls
}

func (m *moduleNode) callIndex() *callIndex {
	if x := m.cache().callers.Load(); x != nil {
		return x
	}
	x := &callIndex{callers: make(map[CompID][]caller), postOrder: make([]CompID, 0, len(m.order))}
	for _, id := range m.order {
		for _, k := range m.comps.get(uint32(id)).callsOf() {
			for i, to := range k.to {
				if !slices.Contains(k.to[:i], to) {
					x.callers[to] = append(x.callers[to], caller{id, k.instr})
				}
			}
		}
	}
	x.order(m)
	m.cache().callers.Store(x)
	return x
}

// order fills postOrder by depth-first search with an explicit stack: nesting depth is up to the input.
func (x *callIndex) order(m *moduleNode) {
	type frame struct {
		id       CompID
		calls    []call
		instr, k int // next edge: callee k of calls[instr]
	}
	seen := make([]bool, m.comps.n)
	var stack []frame
	push := func(id CompID) {
		if c := m.comps.get(uint32(id)); c != nil && !seen[id] {
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
				x.postOrder = append(x.postOrder, f.id)
				stack = stack[:len(stack)-1]
			case f.k == len(f.calls[f.instr].to):
				f.instr, f.k = f.instr+1, 0
			default:
				f.k++
				push(f.calls[f.instr].to[f.k-1])
			}
		}
	}
	for _, id := range m.order {
		if len(x.callers[id]) == 0 {
			visit(id)
		}
	}
	if len(x.postOrder) < len(m.order) {
		for _, id := range m.order {
			visit(id)
		}
	}
}

func (m *moduleNode) mustComp(id CompID) *compNode {
	c := m.comps.get(uint32(id))
	if c == nil {
		panic(noComputation(m, id))
	}
	return c
}
