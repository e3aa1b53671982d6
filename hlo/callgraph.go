package hlo

import (
	"cmp"
	"iter"
	"slices"
	"sync"
)

// callList is the instructions of a computation that call others, and whom, in program order. They lie in arrays of numbers: a large module has many calls, and
// who asks for callees looks at no instruction.
type callList struct {
	instrs []InstrID
	ends   []uint32 // of their callees in to
	to     []CompID
}

// callees is shared with the list, and clipped.
func (l *callList) callees(i int) []CompID {
	begin := uint32(0)
	if i > 0 {
		begin = l.ends[i-1]
	}
	return l.to[begin:l.ends[i]:l.ends[i]]
}

func (l *callList) add(id InstrID, to []CompID) {
	for _, c := range to {
		l.to = pushed(l.to, c)
	}
	l.instrs, l.ends = pushed(l.instrs, id), pushed(l.ends, uint32(len(l.to)))
}

// callIndex lists the instructions that call each computation of one version of a module: those of id are list[off[id]:off[id+1]].
type callIndex struct {
	off  []uint32
	list []caller
}

func (x *callIndex) of(id CompID) []caller {
	if int(id)+1 >= len(x.off) {
		return nil
	}
	a, b := x.off[id], x.off[id+1]
	return x.list[a:b:b]
}

type caller struct {
	comp  CompID
	instr InstrID
}

// noCalls is the list of a computation that calls nobody.
var noCalls = new(callList)

// callsOf lists the calls of a frozen computation. It is cached there, so that a new version of a module scans only the computations that changed.
func (c *compNode) callsOf() *callList {
	if c.facts.Load()&callsNobody != 0 {
		return noCalls
	}
	if x := c.cached.Load(); x != nil {
		if p := x.calls.Load(); p != nil {
			return p
		}
	}
	_, calls := c.survey()
	return calls
}

// survey reads all instructions for what most passes want to know before they look at any: which opcodes there are and where, who calls whom, and whether there are arrays without
// elements. All of it is cached.
func (c *compNode) survey() (*OpcodeSet, *callList) {
	ops, calls := new(OpcodeSet), new(callList)
	room := callRanks.Get().(*[]rankedCall)
	ranks := (*room)[:0] // unless ids are in order
	var byID []Opcode
	if c.isLarge() {
		byID = make([]Opcode, c.instrs.n)
	}
	empty := false
	c.instrs.each(func(in *instrNode) bool {
		ops.add(in.op)
		if byID != nil {
			byID[in.id] = in.op
		}
		empty = empty || in.shape.isEmpty()
		if to := in.called(); len(to) > 0 {
			if !c.idOrder {
				ranks = pushed(ranks, rankedCall{in.rank, uint32(len(calls.instrs))})
			}
			calls.add(in.id, to)
		}
		return true
	})
	calls = calls.ranked(ranks)
	*room = ranks
	callRanks.Put(room)
	c.cache().opcodes.Store(ops)
	if byID != nil {
		c.cache().byID.Store(&byID)
	}
	if !empty {
		c.facts.Or(noEmpty)
	}
	if len(calls.instrs) == 0 {
		c.facts.Or(callsNobody)
		return ops, noCalls
	}
	c.cache().calls.Store(calls)
	return ops, calls
}

// rankedCall is a call of a list, and its place in program order.
type rankedCall struct {
	rank uint64
	at   uint32
}

var callRanks = sync.Pool{New: func() any { return new([]rankedCall) }}

// ranked is the list in the order of ranks, if there are any.
func (l *callList) ranked(ranks []rankedCall) *callList {
	byRank := func(a, b rankedCall) int { return cmp.Compare(a.rank, b.rank) }
	if slices.IsSortedFunc(ranks, byRank) {
		return l
	}
	slices.SortFunc(ranks, byRank)
	r := &callList{make([]InstrID, 0, len(l.instrs)), make([]uint32, 0, len(l.ends)), make([]CompID, 0, len(l.to))}
	for _, k := range ranks {
		r.add(l.instrs[k.at], l.callees(int(k.at)))
	}
	return r
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
	for _, id := range c.callsOf().instrs {
		if !yield(c.mustAt(id)) {
			return
		}
	}
}

// Callees yields what the instructions call, in program order, and again where it is called again. No instruction is looked at for that once the calls are
// remembered.
func (c Computation) Callees() iter.Seq[CompID] {
	n := c.checked()
	return func(yield func(CompID) bool) { n.eachCallee(yield) }
}

func (c *compNode) eachCallee(yield func(CompID) bool) {
	if !c.changesApart() {
		eachID(c.callsOf().to, yield)
		return
	}
	c.inProgramOrder(func(in Instruction) bool {
		for i := range in.NumCallees() {
			if !yield(in.Callee(i)) {
				return false
			}
		}
		return true
	})
}

func (m *moduleNode) callIndex() *callIndex {
	if x := m.cache().callers.Load(); x != nil {
		return x
	}
	n := m.comps.n
	off := make([]uint32, n+2) // while lists are filled, off[id+1] is where the next caller of id goes
	m.eachCall(func(to CompID, _ caller) { off[to+2]++ })
	for i := 2; i < len(off); i++ {
		off[i] += off[i-1]
	}
	x := &callIndex{off[:n+1], make([]caller, off[n+1])}
	m.eachCall(func(to CompID, from caller) {
		x.list[off[to+1]] = from
		off[to+1]++
	})
	m.cache().callers.Store(x)
	return x
}

// eachCall yields every computation that is called with each instruction that calls it.
func (m *moduleNode) eachCall(yield func(to CompID, from caller)) {
	for _, id := range m.order {
		calls := m.current(id).callsOf()
		for k, instr := range calls.instrs {
			callees := calls.callees(k)
			for i, to := range callees {
				if uint32(to) < m.comps.n && !slices.Contains(callees[:i], to) {
					yield(to, caller{id, instr})
				}
			}
		}
	}
}

// postOrder is what [Module.PostOrder] yields, cached: a depth-first search with an explicit stack, since nesting depth is up to the
// input.
func (m *moduleNode) postOrder() []CompID {
	if p := m.cache().postOrder.Load(); p != nil {
		return *p
	}
	type frame struct {
		id      CompID
		callees []CompID // still to follow
	}
	out := make([]CompID, 0, len(m.order))
	seen := make([]bool, m.comps.n)
	var stack []frame
	push := func(id CompID) {
		if c := m.comps.get(uint32(id)); c != nil && !seen[id] {
			c = m.current(id)
			seen[id] = true
			stack = append(stack, frame{id: id, callees: c.callsOf().to})
		}
	}
	visit := func(id CompID) {
		push(id)
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			if len(f.callees) == 0 {
				out = append(out, f.id)
				stack = stack[:len(stack)-1]
				continue
			}
			to := f.callees[0]
			f.callees = f.callees[1:]
			push(to)
		}
	}
	called := make([]bool, m.comps.n)
	for _, id := range m.order {
		for _, to := range m.current(id).callsOf().to {
			if uint32(to) < m.comps.n {
				called[to] = true
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
