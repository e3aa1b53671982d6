package hlo

import (
	"cmp"
	"slices"
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
	fresh := c.fresh()
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

// fresh lists the instructions that are not in c.base, in program order.
func (c *compNode) fresh() []*instrNode {
	var fresh []*instrNode
	for id := uint32(c.base.limit); id < c.instrs.n; id++ {
		if n := c.instrs.get(id); n != nil {
			fresh = append(fresh, n)
		}
	}
	slices.SortFunc(fresh, byRank)
	return fresh
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
			if f.next == len(control)+len(f.n.operands()) {
				out = append(out, f.n.id)
				stack = stack[:len(stack)-1]
				continue
			}
			var to InstrID
			if f.next < len(control) {
				to = control[len(control)-1-f.next]
			} else {
				to = f.n.operands()[f.next-len(control)]
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
