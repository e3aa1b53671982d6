package hlo

import "fmt"

// Recheck digests the module from scratch, from all its instructions, and compares with the digest it had when [Module.Digest]
// was first called. An error means that something wrote to a published version, which this package does not do and its interface does not allow
// but by writing to a slice or struct that is shared. It is a check for tests and for instruments around passes.
func (m Module) Recheck() error {
	was := m.Digest()
	if now := m.digestAfresh(); now != was {
		return fmt.Errorf("hlo: module %q was written to after it was published: its digest was %v and is %v", m.Name(), was, now)
	}
	return nil
}

// digestAfresh is Digest of a copy without caches.
func (m Module) digestAfresh() Digest { return digestModule(m.uncached().m) }

// uncached is a deep copy of the tree of nodes; what they point to is shared.
func (m Module) uncached() Module {
	x := m.m.cloneTo(new(smallModule), 0, new(CopyStats))
	comps := make([]*compNode, m.m.comps.n)
	for i := range comps {
		if c := m.m.comps.get(uint32(i)); c != nil {
			comps[i] = c.clone(0)
			comps[i].instrs.root = uncachedTree(c.instrs.root)
		}
	}
	x.comps = buildTree(0, comps)
	return Module{x}
}

func uncachedTree(n *treeNode[instrNode]) *treeNode[instrNode] {
	if n == nil {
		return nil
	}
	c := newNode[instrNode](0, int(n.size), n.inner)
	for i, k := range n.kids() {
		*c.kid(uint32(i)) = uncachedTree(k)
	}
	for i, in := range n.slots() {
		if in != nil {
			fresh := new(instrNode)
			in.copyTo(fresh, 0)
			*c.slot(uint32(i)) = fresh
		}
	}
	return c
}

// UnsharedBytes is the memory that m takes beside o: what letting go of m would give back while o is kept. Old versions are cheap, but
// 31 neighbours stay for each leaf that was replaced. Counted are nodes, as by [CopyStats]; not what instructions point to, nor
// derived facts. The cost depends on what the two share.
func (m Module) UnsharedBytes(o Module) int {
	if m == o {
		return 0
	}
	total := moduleNodeBytes
	if m.m.moduleInfo != o.m.moduleInfo {
		total += moduleInfoBytes
	}
	countUnshared(&m.m.comps, &o.m.comps, &total, func(c, d *compNode) {
		total += compNodeBytes
		var none tree[instrNode]
		other := &none
		if d != nil {
			other = &d.instrs
		}
		if d == nil || c.compInfo != d.compInfo {
			total += compInfoBytes
		}
		countUnshared(&c.instrs, other, &total, func(n, _ *instrNode) {
			total += instrNodeBytes
			if n.extra != nil {
				total += extraNodeBytes
			}
		})
	})
	return total
}

// countUnshared adds the sizes of the nodes of a that are not in b, and calls f for entries that differ.
func countUnshared[T any](a, b *tree[T], total *int, f func(x, y *T)) {
	shift := max(a.shift, b.shift)
	root, other := raise(a, shift), raise(b, shift)
	var walk func(x, y *treeNode[T])
	walk = func(x, y *treeNode[T]) {
		if x == nil || x == y {
			return
		}
		*total += treeNodeBytes(int(x.size))
		kids, slots := y.kids(), y.slots()
		for i, k := range x.kids() {
			walk(k, entry(kids, i))
		}
		for i, v := range x.slots() {
			if w := entry(slots, i); v != nil && v != w {
				f(v, w)
			}
		}
	}
	walk(root, other)
}
