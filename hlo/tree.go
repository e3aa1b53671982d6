package hlo

// A tree is a persistent array: a 32-way radix tree indexed by id. Readers walk it without locks. A writer holding an epoch copies
// each node on the way to the slot it writes unless the node already carries that epoch, so a chain of writes copies a path once.
// Leaves and inner nodes on the right edge are sized to fit; up to 32 entries the tree is a single leaf.

const (
	treeBits = 5
	treeFan  = 1 << treeBits
	treeMask = treeFan - 1
)

type tree[T any] struct {
	root  *treeNode[T]
	n     uint32 // one past the greatest index ever stored
	shift uint8  // treeBits × (levels below the root)
}

func (t *tree[T]) get(i uint32) *T {
	if i >= t.n {
		return nil
	}
	n := t.root
	for shift := t.shift; shift > 0; shift -= treeBits {
		k := i >> shift & treeMask
		if k >= uint32(n.size) {
			return nil
		}
		if n = *n.kid(k); n == nil {
			return nil
		}
	}
	if k := i & treeMask; k < uint32(n.size) {
		return *n.slot(k)
	}
	return nil
}

// slot returns the address of slot i, owning every node on the way: nodes of other epochs are copied, and counted in st.
func (t *tree[T]) slot(epoch uint64, st *CopyStats, i uint32) **T {
	if t.root == nil {
		t.root = newNode[T](epoch, min(int(i)+1, treeFan), false)
	}
	for uint64(i)>>(t.shift+treeBits) != 0 {
		r := newNode[T](epoch, 2, true)
		*r.kid(0) = t.root
		t.root = r
		t.shift += treeBits
	}
	t.n = max(t.n, i+1)
	p := &t.root
	for shift := t.shift; shift > 0; shift -= treeBits {
		k := i >> shift & treeMask
		n := *p
		if n == nil || n.epoch != epoch || k >= uint32(n.size) {
			n = ownInner(n, epoch, st, int(k)+1)
			*p = n
		}
		p = n.kid(k)
	}
	k := i & treeMask
	n := *p
	if n == nil || n.epoch != epoch || k >= uint32(n.size) {
		n = ownLeaf(n, epoch, st, int(k)+1)
		*p = n
	}
	return n.slot(k)
}

// each calls yield for every entry in index order until it returns false.
func (t *tree[T]) each(yield func(*T) bool) bool {
	return t.eachLeaf(func(slots []*T) bool {
		for _, v := range slots {
			if v != nil && !yield(v) {
				return false
			}
		}
		return true
	})
}

// eachLeaf calls yield for the slots of every leaf in index order until it returns false. Empty slots are nil.
func (t *tree[T]) eachLeaf(yield func([]*T) bool) bool {
	return t.root == nil || t.root.eachLeaf(yield)
}

func (n *treeNode[T]) eachLeaf(yield func([]*T) bool) bool {
	if !n.inner {
		return yield(n.slots())
	}
	for _, k := range n.kids() {
		if k != nil && !k.eachLeaf(yield) {
			return false
		}
	}
	return true
}

// leafList collects the entries of a tree to be: the leaves themselves, so that nothing is moved when the tree is made. All but the last
// are full.
type leafList[T any] struct {
	leaves []*treeNode[T]
	n      int
	open   *treeNode[T] // of full size, for the last leaf: to be used again by the next list
}

func (l *leafList[T]) at(i uint32) *T { return *l.leaves[i>>treeBits].slot(i & treeMask) }

// add puts an entry at the end.
func (l *leafList[T]) add(v *T) {
	k := l.n & treeMask
	if k == 0 {
		if l.open == nil {
			l.open = newNode[T](0, treeFan, false)
		}
		l.leaves = append(l.leaves, l.open)
		l.open = nil
	}
	*l.leaves[len(l.leaves)-1].slot(uint32(k)) = v
	l.n++
}

// each calls f for every entry.
func (l *leafList[T]) each(f func(*T)) {
	for i, leaf := range l.leaves {
		for _, v := range leaf.slots()[:min(treeFan, l.n-i*treeFan)] {
			f(v)
		}
	}
}

// tree makes a tree of the entries, all of whose nodes carry epoch, and empties the list.
func (l *leafList[T]) tree(epoch uint64) tree[T] {
	t := tree[T]{n: uint32(l.n)}
	if l.n == 0 {
		return t
	}
	level := l.leaves
	if k := l.n & treeMask; k != 0 {
		last := level[len(level)-1]
		fit := newNode[T](epoch, k, false)
		copy(fit.slots(), last.slots()[:k])
		clear(last.slots()[:k])
		level[len(level)-1], l.open = fit, last
	}
	for _, leaf := range level {
		leaf.epoch = epoch
	}
	for len(level) > 1 {
		up := level[:0]
		for i := 0; i < len(level); i += treeFan {
			part := level[i:min(i+treeFan, len(level))]
			in := newNode[T](epoch, len(part), true)
			copy(in.kids(), part)
			up = append(up, in)
		}
		level = up
		t.shift += treeBits
	}
	t.root = level[0]
	clear(l.leaves)
	l.leaves, l.n = l.leaves[:0], 0
	return t
}

// buildTree makes a tree of items at indices 0, 1, ..., all of whose nodes carry epoch. A nil item leaves its slot empty.
func buildTree[T any](epoch uint64, items []*T) tree[T] {
	var l leafList[T]
	for _, v := range items {
		l.add(v)
	}
	return l.tree(epoch)
}
