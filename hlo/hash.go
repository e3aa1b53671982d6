package hlo

import (
	"fmt"
	"slices"
	"sync/atomic"
)

// Hash is a structural hash: equal for modules that mean the same, whatever their names, ids, metadata, and the order of unrelated
// instructions. It is the same in every process. For the exact content see [Digest].
type Hash struct{ Hi, Lo uint64 }

// String is the hash in hexadecimal.
func (h Hash) String() string { return fmt.Sprintf("%016x%016x", h.Hi, h.Lo) }

func (h *hasher) hash() Hash { hi, lo := h.sum(); return Hash{hi, lo} }

// structure is what is structural about one computation, but for what its callees contain: those may change while the computation
// stays the same. It is cached with the computation.
type structure struct {
	hash    Hash
	order   []InstrID // canonical order
	callees []CompID  // in canonical order
}

// moduleHashes are the hashes of one version of a module: of each computation with its callees, and of all.
type moduleHashes struct {
	comps []Hash // by CompID
	whole Hash
}

// Hash is the structural hash of the module: the entry and what it calls, uncalled computations, and what the header says about
// behaviour (layouts, aliases, counts). It is computed in time proportional to what changed since a version whose hash is known.
func (m Module) Hash() Hash {
	if c := m.m.cached.Load(); c != nil {
		if x := c.hashes.Load(); x != nil {
			return x.whole
		}
	}
	return m.m.hashes().whole
}

// HashOf is the structural hash of computation id and all that it calls. It panics when there is no such computation.
func (m Module) HashOf(id CompID) Hash {
	m.m.mustComp(id)
	return m.m.hashes().comps[id]
}

// Hash is the structural hash of the computation alone: callees count by their ids. [Module.HashOf] looks into them.
func (c Computation) Hash() Hash {
	s := c.node().structure()
	h := newHasher(2)
	h.word(s.hash.Hi)
	h.word(s.hash.Lo)
	for _, id := range s.callees {
		h.word(uint64(id))
	}
	return h.hash()
}

func (m *moduleNode) hashes() *moduleHashes {
	if x := m.cache().hashes.Load(); x != nil {
		return x
	}
	x := &moduleHashes{comps: make([]Hash, m.comps.n)}
	for _, id := range m.postOrder() { // callees first; on a circle, a hash not known yet counts as zero
		s := m.current(id).structure()
		h := newHasher(3)
		h.word(s.hash.Hi)
		h.word(s.hash.Lo)
		for _, to := range s.callees {
			if uint32(to) < m.comps.n {
				h.word(x.comps[to].Hi)
				h.word(x.comps[to].Lo)
			}
		}
		x.comps[id] = h.hash()
	}
	h := newHasher(4)
	if m.comps.get(uint32(m.entry)) != nil {
		h.word(x.comps[m.entry].Hi)
		h.word(x.comps[m.entry].Lo)
	}
	for _, r := range m.looseRoots(x) {
		h.word(x.comps[r].Hi)
		h.word(x.comps[r].Lo)
	}
	h.config(m.config)
	x.whole = h.hash()
	m.cache().hashes.Store(x)
	return x
}

// looseRoots lists the uncalled computations other than the entry, by hash.
func (m *moduleNode) looseRoots(x *moduleHashes) []CompID {
	var roots []CompID
	for _, id := range m.order {
		if id != m.entry && len(m.callIndex().of(id)) == 0 {
			roots = append(roots, id)
		}
	}
	slices.SortStableFunc(roots, func(a, b CompID) int { return compareHash(x.comps[a], x.comps[b]) })
	return roots
}

func compareHash(a, b Hash) int {
	switch {
	case a == b:
		return 0
	case a.Hi < b.Hi || a.Hi == b.Hi && a.Lo < b.Lo:
		return -1
	}
	return 1
}

// behaviour is the part of a header that says how the module behaves, with defaults written out.
func behaviour(c *ModuleConfig) ModuleConfig {
	return ModuleConfig{
		IsScheduled: c.IsScheduled, InputOutputAlias: c.InputOutputAlias, BufferDonors: c.BufferDonors, AliasPassthrough: c.AliasPassthrough,
		EntryLayout: c.EntryLayout, AllowSPMDToParameters: c.AllowSPMDToParameters, AllowSPMDToOutput: c.AllowSPMDToOutput,
		ReplicaCount: max(c.ReplicaCount, 1), NumPartitions: max(c.NumPartitions, 1), UseSPMD: c.UseSPMD,
		FrontendAttributes: c.FrontendAttributes,
	}
}

func (h *hasher) config(c *ModuleConfig) {
	b := behaviour(c)
	optional(h, &b)
}

// local returns the hash of what an instruction says by itself: opcode, shape, attributes, numbers of operands and callees. It is kept on the
// node unless the node belongs to the session of epoch live.
func (n *instrNode) local(live uint64) uint64 {
	if x := atomic.LoadUint64(&n.stamp); x&hashed != 0 {
		return x
	}
	h := newHasher(5)
	h.word(opHash(n.op))
	h.word(uint64(len(n.operands()))<<40 | uint64(len(n.called()))<<20 | uint64(len(n.control())))
	h.shape(n.shape)
	h.attrs(n.attrs)
	h.meaning(n.common)
	x := h.sum64() | hashed
	if n.frozenFor(live) {
		atomic.StoreUint64(&n.stamp, x)
	}
	return x
}

// opHashes are atomic, and 0 until they are asked for.
var opHashes [256]uint64

// opHash is the hash of a mnemonic, since opcodes may be renumbered.
func opHash(op Opcode) uint64 {
	x := atomic.LoadUint64(&opHashes[op])
	if x == 0 {
		h := newHasher(14)
		h.string(op.String())
		x = h.sum64()
		atomic.StoreUint64(&opHashes[op], x)
	}
	return x
}

// liveEpoch is the first epoch of the session that may still write to nodes of c, 0 for a frozen computation.
func (c *compNode) liveEpoch() uint64 {
	if c.live != nil && c.lender == 0 {
		return c.live.e.firstEpoch()
	}
	return c.lender
}

// structure computes the canonical order and the hash over it, cached.
func (c *compNode) structure() *structure {
	if s := c.cache().shape.Load(); s != nil {
		return s
	}
	k := canonical(c)
	defer k.done()
	h := &k.hash
	h.string(c.thread)
	h.bool(c.scheduled)
	h.word(uint64(len(c.params))<<32 | uint64(c.count))
	if int(c.root) < len(k.number) {
		h.word(uint64(k.number[c.root]))
	}
	s := &structure{hash: h.hash(), order: k.order, callees: k.callees}
	c.cache().shape.Store(s)
	return s
}
