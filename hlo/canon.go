package hlo

import (
	"cmp"
	"slices"
	"sync"
)

// canon numbers the instructions of a computation in an order that depends on structure alone:
//
//  1. the parameters by number;
//  2. what the root reaches, depth first, control predecessors before operands;
//  3. what is left hangs from unused instructions (side effects, dead code): these, ordered by a hash of the tree below each,
//     are visited like the root. Trees with equal hashes that share parts with others differently come in program order; then two
//     computations that differ only in that order can be told apart, but never two different ones confused;
//  4. instructions on a cycle, which only a broken edit can make, in program order.
type canon struct {
	c       *compNode
	live    uint64
	order   []InstrID
	callees []CompID // in that order
	hash    hasher   // of the instructions in order

	// Room for the work, used again for the next computation.
	nodes   []*instrNode // by id
	number  []uint32     // by id: position in order plus one; 0: not yet
	entered []bool       // by id
	stack   []canonFrame
	deep    int // most frames of stack in use so far
	scrap   []uint32
}

type canonFrame struct {
	n    *instrNode
	next int // edges followed so far
}

var canonRoom = sync.Pool{New: func() any { return new(canon) }}

// canonical numbers and hashes the instructions of c. The hash is not finished, and the caller calls done.
func canonical(c *compNode) *canon {
	k := canonRoom.Get().(*canon)
	k.c, k.live, k.hash = c, c.liveEpoch(), newHasher(6)
	k.order, k.callees = make([]InstrID, 0, c.count), nil
	k.nodes, k.number, k.entered = room(k.nodes, c.instrs.n), room(k.number, c.instrs.n), room(k.entered, c.instrs.n)
	c.instrs.each(func(n *instrNode) bool { k.nodes[n.id] = n; return true })
	for _, id := range c.params {
		k.entered[id] = true
		k.add(k.nodes[id])
	}
	if int(c.root) < len(k.nodes) && k.nodes[c.root] != nil {
		k.visit(k.nodes[c.root], k.entered, k.add)
	}
	if len(k.order) < int(c.count) {
		for _, n := range k.loose() {
			k.visit(n, k.entered, k.add)
		}
	}
	if len(k.order) < int(c.count) {
		c.inOrder(func(n *instrNode) { k.visit(n, k.entered, k.add) })
	}
	return k
}

// room returns a zeroed slice of length n, in the same memory if that is enough.
func room[T any](s []T, n uint32) []T {
	if int(n) > cap(s) {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// done gives the room back, without holding on to the computation.
func (k *canon) done() {
	clear(k.nodes)
	clear(k.stack[:k.deep])
	k.c, k.order, k.callees, k.deep = nil, nil, nil, 0
	canonRoom.Put(k)
}

// add numbers n and hashes what it says and which numbers it names; control predecessors are a set.
func (k *canon) add(n *instrNode) {
	k.order = append(k.order, n.id)
	k.number[n.id] = uint32(len(k.order))
	k.hash.word(n.local(k.live))
	if n.extra != nil {
		k.callees = append(k.callees, n.extra.called...)
	}
	for _, o := range n.operands() {
		k.hash.word(uint64(k.number[o]))
	}
	if p := n.control(); len(p) > 0 {
		k.scrap = k.scrap[:0]
		for _, o := range p {
			k.scrap = append(k.scrap, k.number[o])
		}
		slices.Sort(k.scrap)
		for _, o := range k.scrap {
			k.hash.word(uint64(o))
		}
	}
}

// visit calls leave for every instruction that root reaches and that has not been entered, predecessors first.
func (k *canon) visit(root *instrNode, entered []bool, leave func(*instrNode)) {
	if entered[root.id] {
		return
	}
	entered[root.id] = true
	stack, deep := append(k.stack[:0], canonFrame{n: root}), 1
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		to, ok := f.step()
		switch {
		case !ok:
			leave(f.n)
			stack = stack[:len(stack)-1]
		case int(to) < len(entered) && !entered[to] && k.nodes[to] != nil:
			entered[to] = true
			stack = append(stack, canonFrame{n: k.nodes[to]})
			deep = max(deep, len(stack))
		}
	}
	k.stack, k.deep = stack, max(k.deep, deep)
}

// step returns the next edge to follow: control predecessors, then operands.
func (f *canonFrame) step() (to InstrID, ok bool) {
	i := f.next
	f.next++
	if f.n.extra != nil {
		if control := f.n.extra.control; i < len(control) {
			return control[i], true
		} else {
			i -= len(control)
		}
	}
	if ops := f.n.operands(); i < len(ops) {
		return ops[i], true
	}
	return NoInstr, false
}

// loose returns the instructions without users that have not been entered, in canonical order.
func (k *canon) loose() []*instrNode {
	used := make([]bool, len(k.nodes))
	for _, n := range k.nodes {
		if n == nil {
			continue
		}
		for _, o := range n.operands() {
			used[o] = true
		}
		for _, o := range n.control() {
			used[o] = true
		}
	}
	// The hash of a tree: local hash, then operands, by number where they have one and by hash else.
	hashes := make([]uint64, len(k.nodes))
	below := func(h *hasher, id InstrID) {
		if num := k.number[id]; num != 0 {
			h.word(uint64(num))
		} else {
			h.word(hashes[id])
		}
	}
	var sinks []*instrNode
	seen := slices.Clone(k.entered)
	k.c.inOrder(func(sink *instrNode) {
		if used[sink.id] || k.entered[sink.id] {
			return
		}
		sinks = append(sinks, sink)
		k.visit(sink, seen, func(n *instrNode) {
			h := newHasher(7)
			h.word(n.local(k.live))
			for _, o := range n.operands() {
				below(&h, o)
			}
			for _, o := range n.control() {
				below(&h, o)
			}
			hashes[n.id] = h.sum64()
		})
	})
	slices.SortStableFunc(sinks, func(a, b *instrNode) int { return cmp.Compare(hashes[a.id], hashes[b.id]) })
	return sinks
}
