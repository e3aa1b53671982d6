package hlo

import (
	"fmt"
	"sync/atomic"
)

// Digest identifies the exact content of a version: names, ids, order, attributes with metadata, notes. Positions in a source text
// are not content. It is the same in every process. After a few edits only the nodes on their paths are digested again.
type Digest struct{ Hi, Lo uint64 }

// String is the digest in hexadecimal.
func (d Digest) String() string { return fmt.Sprintf("%016x%016x", d.Hi, d.Lo) }

func (h *hasher) digestSum() Digest { hi, lo := h.sum(); return Digest{hi, lo} }

func (h *hasher) add(d Digest) {
	h.word(d.Hi)
	h.word(d.Lo)
}

// Digest is the digest of the whole module.
func (m Module) Digest() Digest {
	if d := m.m.cache().digest.Load(); d != nil {
		return *d
	}
	d := digestModule(m.m)
	m.m.cache().digest.Store(&d)
	return d
}

func digestModule(m *moduleNode) Digest {
	h := newHasher(10)
	h.string(m.name)
	h.word(uint64(m.entry))
	optional(&h, m.config)
	h.notes(m.notes)
	h.word(uint64(len(m.order)))
	for _, id := range m.order {
		h.word(uint64(id))
		h.add(Computation{m.comps.get(uint32(id))}.Digest())
	}
	return h.digestSum()
}

// Digest is the digest of the computation; callees count by their ids.
func (c Computation) Digest() Digest {
	n := c.node()
	if d := n.cache().digest.Load(); d != nil {
		return *d
	}
	d := digestComputation(n, n.liveEpoch())
	n.cache().digest.Store(&d)
	return d
}

func digestComputation(c *compNode, live uint64) Digest {
	h := newHasher(11)
	h.word(uint64(c.id))
	h.string(c.name)
	h.string(c.thread)
	h.word(uint64(c.root))
	h.bool(c.scheduled)
	h.word(uint64(c.instrs.n))
	h.notes(c.notes)
	if c.instrs.root != nil {
		h.word(uint64(c.instrs.shift))
		h.add(digestNode(c.instrs.root, live))
	}
	return h.digestSum()
}

// digestNode is the digest of a tree of instructions, kept on nodes that do not belong to the session whose first epoch is live.
func digestNode(n *treeNode[instrNode], live uint64) Digest {
	if d := n.digest.Load(); d != nil {
		return *d
	}
	h := newHasher(12)
	for i, k := range n.kids() {
		if k != nil {
			h.word(uint64(i))
			h.add(digestNode(k, live))
		}
	}
	for i, in := range n.slots() {
		if in != nil {
			h.word(uint64(i))
			h.word(in.exactHash(live))
		}
	}
	d := h.digestSum()
	if live == 0 || n.epoch < live {
		n.digest.Store(&d)
	}
	return d
}

// exact is the hash of all that the instruction says, kept like [instrNode.local].
func (n *instrNode) exactHash(live uint64) uint64 {
	if x := atomic.LoadUint64(&n.exact); x != 0 {
		return x
	}
	h := newHasher(13)
	h.word(n.local(live))
	h.word(uint64(n.id))
	h.word(n.rank)
	h.string(n.name)
	for _, o := range n.operands() {
		h.word(uint64(o))
	}
	for _, o := range n.control() {
		h.word(uint64(o))
	}
	for _, o := range n.called() {
		h.word(uint64(o))
	}
	h.story(n.common)
	x := h.sum64()
	if n.frozenFor(live) {
		atomic.StoreUint64(&n.exact, x)
	}
	return x
}

func (h *hasher) notes(n *noteNode) {
	if n == nil {
		h.word(0)
		return
	}
	h.word(uint64(len(n.kv)))
	for _, kv := range n.kv {
		h.string(string(kv.key))
		h.any(kv.value)
	}
}
