package hlo

import (
	"cmp"
	"slices"
)

// canon numbers the instructions of a computation in an order that depends on structure alone:
//
//  1. the parameters by number;
//  2. what the root reaches, depth first, control predecessors before operands;
//  3. what is left hangs from instructions that nobody uses (side effects, dead code): these, ordered by a hash of the tree below each,
//     are visited like the root. Trees with equal hashes that share parts with others differently come in program order; then two
//     computations that differ only in that order can be told apart, but never two different ones confused;
//  4. instructions on a cycle, which only a broken edit can make, in program order.
type canon struct {
	c      *compNode
	live   uint64
	order  []InstrID
	number []uint32 // by id: position in order plus one; 0: not yet
	stack  []canonFrame
}

type canonFrame struct {
	n    *instrNode
	next int // edges followed so far
}

func newCanon(c *compNode) *canon {
	k := &canon{c: c, live: c.liveEpoch(), order: make([]InstrID, 0, c.count), number: make([]uint32, c.instrs.n)}
	entered := make([]bool, c.instrs.n)
	add := func(n *instrNode) {
		k.order = append(k.order, n.id)
		k.number[n.id] = uint32(len(k.order))
	}
	for _, id := range c.params {
		entered[id] = true
		add(c.instrs.get(uint32(id)))
	}
	if r := c.instrs.get(uint32(c.root)); r != nil {
		k.visit(r, entered, add)
	}
	if len(k.order) < int(c.count) {
		for _, n := range k.loose(entered) {
			k.visit(n, entered, add)
		}
	}
	if len(k.order) < int(c.count) {
		c.inOrder(func(n *instrNode) { k.visit(n, entered, add) })
	}
	return k
}

// visit calls leave for every instruction that root reaches and that has not been entered, predecessors first.
func (k *canon) visit(root *instrNode, entered []bool, leave func(*instrNode)) {
	if entered[root.id] {
		return
	}
	entered[root.id] = true
	k.stack = append(k.stack[:0], canonFrame{n: root})
	for len(k.stack) > 0 {
		f := &k.stack[len(k.stack)-1]
		control := f.n.control()
		if f.next == len(control)+len(f.n.operands()) {
			leave(f.n)
			k.stack = k.stack[:len(k.stack)-1]
			continue
		}
		var to InstrID
		if f.next < len(control) {
			to = control[f.next]
		} else {
			to = f.n.operands()[f.next-len(control)]
		}
		f.next++
		if n := k.c.instrs.get(uint32(to)); n != nil && !entered[to] {
			entered[to] = true
			k.stack = append(k.stack, canonFrame{n: n})
		}
	}
}

// loose returns the instructions without users that have not been entered, in canonical order.
func (k *canon) loose(entered []bool) []*instrNode {
	used := make([]bool, k.c.instrs.n)
	k.c.instrs.each(func(n *instrNode) bool {
		for _, o := range n.operands() {
			used[o] = true
		}
		for _, o := range n.control() {
			used[o] = true
		}
		return true
	})
	// The hash of a tree: local hash, then operands, by number where they have one and by hash else.
	hashes := make([]uint64, k.c.instrs.n)
	below := func(h *hasher, id InstrID) {
		if num := k.number[id]; num != 0 {
			h.word(uint64(num))
		} else {
			h.word(hashes[id])
		}
	}
	var sinks []*instrNode
	seen := slices.Clone(entered)
	k.c.inOrder(func(sink *instrNode) {
		if used[sink.id] || entered[sink.id] {
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
