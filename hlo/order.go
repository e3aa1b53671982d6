package hlo

import (
	"cmp"
	"slices"
)

// Program order is ascending rank. Ranks are handed out with gaps of rankGap; an insertion takes a rank inside the gap before its
// neighbour, and when the gap is used up, a window of neighbours is spread out again.
const (
	rankGap  = 1 << 20
	rankStep = 1 << 10 // from its predecessor to an inserted instruction, so that insertions in a row do not halve the gap each time
)

// orderBase is the program order of the live ids below limit in some earlier version. Later versions filter it and merge newer ids in.
type orderBase struct {
	limit InstrID
	ids   []InstrID // nil: those below limit, ascending
}

func newOrderBase(nodes []*instrNode, limit InstrID) *orderBase {
	b := &orderBase{limit: limit, ids: make([]InstrID, len(nodes))}
	for i, n := range nodes {
		b.ids[i] = n.id
	}
	return b
}

func (b *orderBase) len() int {
	if b.ids == nil {
		return int(b.limit)
	}
	return len(b.ids)
}

func (b *orderBase) id(i int) InstrID {
	if b.ids == nil {
		return InstrID(i)
	}
	return b.ids[i]
}

func byRank(a, b *instrNode) int { return cmp.Compare(a.rank, b.rank) }

// order returns the live instructions in program order, cached. On a node owned by a session it must be called through a view.
func (c *compNode) order() []*instrNode {
	if o := c.cache().order.Load(); o != nil {
		return *o
	}
	o := c.computeOrder()
	c.cache().order.Store(&o)
	return o
}

func (c *compNode) computeOrder() []*instrNode {
	out := make([]*instrNode, 0, c.count)
	if c.idOrder {
		c.instrs.each(func(n *instrNode) bool { out = append(out, n); return true })
		return out
	}
	if c.base == nil {
		c.instrs.each(func(n *instrNode) bool { out = append(out, n); return true })
		slices.SortFunc(out, byRank)
		return out
	}
	var fresh []*instrNode
	for id := uint32(c.base.limit); id < c.instrs.n; id++ {
		if n := c.instrs.get(id); n != nil {
			fresh = append(fresh, n)
		}
	}
	slices.SortFunc(fresh, byRank)
	for i := range c.base.len() {
		n := c.instrs.get(uint32(c.base.id(i)))
		if n == nil {
			continue
		}
		for len(fresh) > 0 && fresh[0].rank < n.rank {
			out = append(out, fresh[0])
			fresh = fresh[1:]
		}
		out = append(out, n)
	}
	return append(out, fresh...)
}

func (c *compNode) orderIDs() []InstrID {
	ids := make([]InstrID, 0, c.count)
	if c.idOrder {
		c.instrs.each(func(n *instrNode) bool { ids = append(ids, n.id); return true })
		return ids
	}
	for _, n := range c.order() {
		ids = append(ids, n.id)
	}
	return ids
}

// inOrder calls f for each live instruction in program order.
func (c *compNode) inOrder(f func(*instrNode)) {
	if c.idOrder {
		c.instrs.each(func(n *instrNode) bool { f(n); return true })
		return
	}
	for _, n := range c.order() {
		f(n)
	}
}

// postOrder returns XLA's post-order (hlo-text section 10.4), cached: for each instruction without users in program order, depth
// first, its control predecessors from last to first, its operands from first to last, then itself. Instructions on a cycle, which
// only a broken edit can make, follow in program order, so that the result always names every instruction once.
func (c *compNode) postOrder() []InstrID {
	if p := c.cache().post.Load(); p != nil {
		return *p
	}
	users := c.userIndex()
	out := make([]InstrID, 0, c.count)
	seen := make([]bool, c.instrs.n)
	type frame struct {
		n    *instrNode
		next int // edges followed so far: control predecessors, then operands
	}
	var stack []frame
	visit := func(root *instrNode) {
		if seen[root.id] {
			return
		}
		seen[root.id] = true
		stack = append(stack, frame{n: root})
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			control := f.n.control()
			if f.next == len(control)+len(f.n.operands) {
				out = append(out, f.n.id)
				stack = stack[:len(stack)-1]
				continue
			}
			var to InstrID
			if f.next < len(control) {
				to = control[len(control)-1-f.next]
			} else {
				to = f.n.operands[f.next-len(control)]
			}
			f.next++
			if uint32(to) < c.instrs.n && !seen[to] {
				if n := c.instrs.get(uint32(to)); n != nil {
					seen[to] = true
					stack = append(stack, frame{n: n})
				}
			}
		}
	}
	c.inOrder(func(n *instrNode) {
		if len(users.of(n.id)) == 0 {
			visit(n)
		}
	})
	if len(out) < int(c.count) {
		c.inOrder(visit)
	}
	c.cache().post.Store(&out)
	return out
}

// orderOverlay lets a session find predecessors in program order without walking it. Up to limit the order is that of the state in
// which the overlay was made; what came later has its predecessor in pred, and so has everything it was inserted before.
type orderOverlay struct {
	limit InstrID
	ids   []InstrID // nil: the ids below limit in ascending order
	pos   []uint32  // by id: its place in ids
	pred  map[InstrID]InstrID
	last  InstrID // last in program order; may have been removed since
}

func newOrderOverlay(c *compNode) *orderOverlay {
	o := &orderOverlay{limit: InstrID(c.instrs.n), pred: make(map[InstrID]InstrID), last: NoInstr}
	if c.idOrder {
		if o.limit > 0 {
			o.last = o.limit - 1
		}
		return o
	}
	nodes := c.computeOrder()
	o.ids = make([]InstrID, len(nodes))
	o.pos = make([]uint32, o.limit)
	for i, n := range nodes {
		o.ids[i] = n.id
		o.pos[n.id] = uint32(i)
		o.last = n.id
	}
	return o
}

// before is the predecessor of id, dead or alive; NoInstr at the start.
func (o *orderOverlay) before(id InstrID) InstrID {
	if p, ok := o.pred[id]; ok {
		return p
	}
	if o.ids == nil {
		return id - 1 // NoInstr for 0
	}
	if i := o.pos[id]; i > 0 {
		return o.ids[i-1]
	}
	return NoInstr
}

// placed records that id now stands just before at.
func (o *orderOverlay) placed(id, at InstrID) {
	o.pred[id] = o.before(at)
	o.pred[at] = id
}

// livePred is the live instruction before id in the current state, nil at the start.
func (st *compState) livePred(id InstrID) *instrNode {
	for p := st.order.before(id); p != NoInstr; p = st.order.before(p) {
		if n := st.node.instrs.get(uint32(p)); n != nil {
			return n
		}
	}
	return nil
}

// rankBefore makes room before at and returns the rank to insert there.
func (st *compState) rankBefore(at InstrID) uint64 {
	if st.order == nil {
		st.order = newOrderOverlay(st.node)
	}
	for {
		high, low := st.instr(at).rank, uint64(0)
		if p := st.livePred(at); p != nil {
			low = p.rank
		}
		if gap := high - low; gap >= 2 {
			return low + min(gap/2, rankStep)
		}
		st.spread(at)
	}
}

// spread opens gaps before at: it takes ever more predecessors until the room up to the one before them allows a gap of rankStep
// each, and deals that room out evenly. At the start of the computation without such room, all ranks are dealt anew.
func (st *compState) spread(at InstrID) {
	high := st.instr(at).rank
	var window []InstrID // backwards from at
	for id := at; ; {
		p := st.livePred(id)
		low := uint64(0)
		if p != nil {
			low = p.rank
		}
		if step := (high - low) / uint64(len(window)+1); step >= rankStep {
			for i, id := range window {
				st.setRank(id, high-uint64(i+1)*step)
			}
			return
		}
		if p == nil {
			break
		}
		id = p.id
		window = append(window, id)
	}
	for i, n := range st.node.computeOrder() {
		st.setRank(n.id, uint64(i+1)*rankGap)
		st.node.maxRank = uint64(i+1) * rankGap
	}
}

func (st *compState) setRank(id InstrID, rank uint64) {
	if st.instr(id).rank != rank {
		st.ownInstr(id).rank = rank
	}
}
