package hlo

import (
	"cmp"
	"slices"
	"sync"
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
		if c.live == nil || c.live.isCurrent() {
			return *o
		}
		was := make([]*instrNode, len(*o)) // some may have been overwritten since
		for i, n := range *o {
			was[i] = c.instrs.get(uint32(n.id))
		}
		return was
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
	room := rankedRoom.Get().(*[]rankedNode)
	fresh := c.fresh((*room)[:0])
	*room = fresh
	for i := range c.base.len() {
		n := c.instrs.get(uint32(c.base.id(i)))
		if n == nil {
			continue
		}
		for len(fresh) > 0 && fresh[0].rank < n.rank {
			out = append(out, fresh[0].instrNode)
			fresh = fresh[1:]
		}
		out = append(out, n)
	}
	for _, n := range fresh {
		out = append(out, n.instrNode)
	}
	clear(*room) // so that it holds on to no node
	rankedRoom.Put(room)
	return out
}

// fresh puts into room the instructions that are not in c.base, in program order.
func (c *compNode) fresh(room []rankedNode) []rankedNode {
	for id := uint32(c.base.limit); id < c.instrs.n; id++ {
		if n := c.instrs.get(id); n != nil {
			room = pushed(room, rankedNode{n.rank, n})
		}
	}
	slices.SortFunc(room, func(a, b rankedNode) int { return cmp.Compare(a.rank, b.rank) })
	return room
}

// rankedNode has the rank at hand: to compare nodes is to look all over the memory.
type rankedNode struct {
	rank uint64
	*instrNode
}

var rankedRoom = sync.Pool{New: func() any { return new([]rankedNode) }}

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

// postWalk is what a depth-first search of a computation needs, used again by the next one.
type postWalk struct {
	edges      edgeLists // both kinds
	used, seen []bool    // by id
	begins     []uint32  // by id, see ascends
	stack      []postFrame
	out        []InstrID
}

type postFrame struct {
	id   InstrID
	next uint32 // the edge to follow next
}

var postWalks = sync.Pool{New: func() any { return new(postWalk) }}

// postOrder returns XLA's post-order (hlo-text section 10.4), cached: for each instruction without users in program order, depth
// first, its control predecessors from last to first, its operands from first to last, then itself. Instructions on a cycle, which
// only a broken edit can make, follow in program order, so that the result always names every instruction once. The order of the ids,
// in which texts that XLA wrote have most computations, is nil.
func (c *compNode) postOrder() []InstrID {
	if c.facts.Load()&postIsByID != 0 {
		return nil
	}
	if x := c.cached.Load(); x != nil {
		if p := x.post.Load(); p != nil {
			return *p
		}
	}
	w := postWalks.Get().(*postWalk)
	w.read(c)
	if w.ascends(c) {
		c.facts.Or(postIsByID)
		postWalks.Put(w)
		return nil
	}
	w.walk(c)
	out := slices.Clone(w.out)
	postWalks.Put(w)
	c.cache().post.Store(&out)
	return out
}

// read begins the search of a computation.
func (w *postWalk) read(c *compNode) {
	w.edges.collect(c, operandEdges|controlEdges|missingIDs)
	n := int(c.instrs.n)
	w.used = cleared(w.used, n)
	use := func(ids []InstrID) {
		for _, id := range ids {
			if int(id) < n {
				w.used[id] = true
			}
		}
	}
	if !w.edges.controlled {
		use(w.edges.to)
		return
	}
	c.instrs.each(func(in *instrNode) bool { use(in.operands()); return true })
}

// ascends reports whether the post-order is that of the ids, without gaps. To see that, no search has to keep the instructions on its way, which are all of them in
// a long chain: what has been visited is then whatever has a smaller id than the next in the order, and an instruction and all that it is the first to
// visit are neighbours. So the ids go down, and each is told where the part that ends with it begins.
func (w *postWalk) ascends(c *compNode) bool {
	n := c.instrs.n
	if !c.idOrder || n != uint32(c.count) {
		return false
	}
	w.begins = cleared(w.begins, int(n)) // and one; 0: nobody visits it
	last := uint32(0)
	for id, used := range w.used {
		if !used {
			w.begins[id] = last + 1
			last = uint32(id) + 1
		}
	}
	for id := n; id > 0; {
		id--
		next := w.begins[id]
		if next == 0 {
			return false
		}
		next--
		for _, to := range w.edges.of(InstrID(id)) {
			if uint32(to) < next {
				continue
			}
			if uint32(to) >= id || w.begins[to] != 0 {
				return false
			}
			w.begins[to] = next + 1
			next = uint32(to) + 1
		}
		if next != id {
			return false
		}
	}
	return true
}

// walk fills out.
func (w *postWalk) walk(c *compNode) {
	w.seen = cleared(w.seen, int(c.instrs.n))
	for _, id := range w.edges.missing {
		w.seen[id] = true
	}
	w.out = slices.Grow(w.out[:0], int(c.count))
	w.roots(c, func(id InstrID) {
		if !w.used[id] {
			w.visit(id)
		}
	})
	if len(w.out) < int(c.count) {
		w.roots(c, w.visit)
	}
}

// roots calls f for the instructions that may be in the order next, in program order.
func (w *postWalk) roots(c *compNode, f func(InstrID)) {
	if !c.idOrder {
		c.inOrder(func(n *instrNode) { f(n.id) })
		return
	}
	for id := range w.seen {
		if !w.seen[id] {
			f(InstrID(id))
		}
	}
}

// cleared is n zeros, in place of s.
func cleared[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	s = s[:n]
	clear(s)
	return s
}

// visit adds an instruction after all that it depends on and that is not in the order yet.
func (w *postWalk) visit(root InstrID) {
	if w.seen[root] {
		return
	}
	w.seen[root] = true
	stack := append(w.stack[:0], postFrame{root, w.edges.begin[root]})
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		if f.next == w.edges.begin[f.id+1] {
			w.out = append(w.out, f.id)
			stack = stack[:len(stack)-1]
			continue
		}
		to := w.edges.to[f.next]
		f.next++
		if int(to) < len(w.seen) && !w.seen[to] {
			w.seen[to] = true
			stack = pushed(stack, postFrame{to, w.edges.begin[to]})
		}
	}
	w.stack = stack
}
