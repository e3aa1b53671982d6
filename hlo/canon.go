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
	edges   edgeLists
	number  []uint32 // by id: position in order plus one; 0: not yet
	entered []bool   // by id, or there is no such instruction
	stack   []postFrame
	scrap   []uint32
}

var canonRoom = sync.Pool{New: func() any { return new(canon) }}

// canonical numbers and hashes the instructions of c. The hash is not finished, and the caller calls done. The order is found by the edges alone; then instructions are
// read in that order, a few at a time.
func canonical(c *compNode) *canon {
	k := canonRoom.Get().(*canon)
	k.c, k.live, k.hash = c, c.liveEpoch(), newHasher(6)
	k.order, k.callees = make([]InstrID, 0, c.count), nil
	k.edges.collect(c, operandEdges|controlEdges|firstToLast|missingIDs)
	k.number, k.entered = cleared(k.number, int(c.instrs.n)), cleared(k.entered, int(c.instrs.n))
	for _, id := range k.edges.missing {
		k.entered[id] = true
	}
	for _, id := range c.params {
		k.entered[id] = true
		k.add(id)
	}
	k.visit(c.root, k.entered, k.add)
	if len(k.order) < int(c.count) {
		for _, n := range k.loose() {
			k.visit(n.id, k.entered, k.add)
		}
	}
	if len(k.order) < int(c.count) {
		c.inOrder(func(n *instrNode) { k.visit(n.id, k.entered, k.add) })
	}
	for ids := range slices.Chunk(k.order, NodesAhead) {
		c.ahead(ids)
		for _, id := range ids {
			k.read(c.instrs.get(uint32(id)))
		}
	}
	return k
}

// done gives the room back, without holding on to the computation.
func (k *canon) done() {
	k.c, k.order, k.callees = nil, nil, nil
	canonRoom.Put(k)
}

// add numbers an instruction.
func (k *canon) add(id InstrID) {
	k.order = append(k.order, id)
	k.number[id] = uint32(len(k.order))
}

// read hashes what an instruction says and which numbers it names; control predecessors are a set.
func (k *canon) read(n *instrNode) {
	k.hash.word(n.local(k.live))
	if n.extra != nil {
		k.callees = append(k.callees, n.extra.called...)
	}
	for _, o := range n.operands() {
		k.hash.word(uint64(k.known(o, n)))
	}
	if p := n.control(); len(p) > 0 {
		k.scrap = k.scrap[:0]
		for _, o := range p {
			k.scrap = append(k.scrap, k.known(o, n))
		}
		slices.Sort(k.scrap)
		for _, o := range k.scrap {
			k.hash.word(uint64(o))
		}
	}
}

// known is the number of o as n names it: 0 on a cycle, if o comes later.
func (k *canon) known(o InstrID, n *instrNode) uint32 {
	if number := k.number[o]; number <= k.number[n.id] {
		return number
	}
	return 0
}

// visit calls leave for every instruction that root reaches and that has not been entered, predecessors first.
func (k *canon) visit(root InstrID, entered []bool, leave func(InstrID)) {
	if int(root) >= len(entered) || entered[root] {
		return
	}
	entered[root] = true
	stack := append(k.stack[:0], postFrame{root, k.edges.begin[root]})
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		if f.next == k.edges.begin[f.id+1] {
			leave(f.id)
			stack = stack[:len(stack)-1]
			continue
		}
		to := k.edges.to[f.next]
		f.next++
		if int(to) < len(entered) && !entered[to] {
			entered[to] = true
			stack = pushed(stack, postFrame{to, k.edges.begin[to]})
		}
	}
	k.stack = stack
}

// loose returns the instructions without users that have not been entered, in canonical order.
func (k *canon) loose() []*instrNode {
	used := make([]bool, len(k.number))
	for _, to := range k.edges.to {
		used[to] = true
	}
	// The hash of a tree: local hash, then operands, by number where they have one and by hash else.
	hashes := make([]uint64, len(k.number))
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
		k.visit(sink.id, seen, func(id InstrID) {
			n := k.c.instrs.get(uint32(id))
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
