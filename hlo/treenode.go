package hlo

import (
	"sync/atomic"
	"unsafe"
)

// treeNode is the head of a node of a tree, leaf or inner. Its entries follow it in the same allocation, as the types node4 to node32 say:
// *T in a leaf, *treeNode[T] in an inner node, and nil where there is none. Their number is a size class; an entry beyond it is nil, too.
// With the array in a fixed place, a step down the tree is one load.
type treeNode[T any] struct {
	epoch  uint64
	digest atomic.Pointer[Digest]
	size   uint8 // entries
	inner  bool
}

type (
	node4[T any] struct {
		treeNode[T]
		a [4]unsafe.Pointer
	}
	node8[T any] struct {
		treeNode[T]
		a [8]unsafe.Pointer
	}
	node16[T any] struct {
		treeNode[T]
		a [16]unsafe.Pointer
	}
	node32[T any] struct {
		treeNode[T]
		a [treeFan]unsafe.Pointer
	}
)

const treeHead = unsafe.Offsetof(node4[int]{}.a)

// treeNodeBytes is the size of a node of n entries.
func treeNodeBytes(n int) int { return int(treeHead) + 8*n }

// entries is the array behind the head.
func (n *treeNode[T]) entries() unsafe.Pointer { return unsafe.Add(unsafe.Pointer(n), treeHead) }

// slots is the entries of a leaf, nothing for an inner node and for nil.
func (n *treeNode[T]) slots() []*T {
	if n == nil || n.inner {
		return nil
	}
	return unsafe.Slice((**T)(n.entries()), int(n.size))
}

// kids is the entries of an inner node, nothing for a leaf and for nil.
func (n *treeNode[T]) kids() []*treeNode[T] {
	if n == nil || !n.inner {
		return nil
	}
	return unsafe.Slice((**treeNode[T])(n.entries()), int(n.size))
}

// slot is the address of entry k of a leaf, kid that of an inner node; k must be below n.size.
func (n *treeNode[T]) slot(k uint32) **T { return (**T)(unsafe.Add(n.entries(), uintptr(k)*8)) }

func (n *treeNode[T]) kid(k uint32) **treeNode[T] {
	return (**treeNode[T])(unsafe.Add(n.entries(), uintptr(k)*8))
}

// newNode makes a node of the smallest class with room for need entries.
func newNode[T any](epoch uint64, need int, inner bool) *treeNode[T] {
	var n *treeNode[T]
	switch {
	case need <= 4:
		n = new(node4[T]).init(epoch)
	case need <= 8:
		n = new(node8[T]).init(epoch)
	case need <= 16:
		n = new(node16[T]).init(epoch)
	default:
		n = new(node32[T]).init(epoch)
	}
	n.inner = inner
	return n
}

func (n *node4[T]) init(epoch uint64) *treeNode[T]  { return n.treeNode.init(epoch, len(n.a)) }
func (n *node8[T]) init(epoch uint64) *treeNode[T]  { return n.treeNode.init(epoch, len(n.a)) }
func (n *node16[T]) init(epoch uint64) *treeNode[T] { return n.treeNode.init(epoch, len(n.a)) }
func (n *node32[T]) init(epoch uint64) *treeNode[T] { return n.treeNode.init(epoch, len(n.a)) }

func (n *treeNode[T]) init(epoch uint64, size int) *treeNode[T] {
	n.epoch, n.size = epoch, uint8(size)
	return n
}

// ownInner returns n, or a copy of it or a new inner node, that carries epoch and has room for need entries.
func ownInner[T any](n *treeNode[T], epoch uint64, st *CopyStats, need int) *treeNode[T] {
	if n == nil {
		return newNode[T](epoch, need, true)
	}
	c := newNode[T](epoch, max(need, int(n.size)), true)
	copy(c.kids(), n.kids())
	if n.epoch != epoch {
		st.Inner++
		st.Bytes += treeNodeBytes(int(c.size))
	}
	return c
}

// ownLeaf is ownInner for a leaf.
func ownLeaf[T any](n *treeNode[T], epoch uint64, st *CopyStats, need int) *treeNode[T] {
	if n == nil {
		return newNode[T](epoch, need, false)
	}
	c := newNode[T](epoch, max(need, int(n.size)), false)
	c.copyLeaf(n, st)
	return c
}

// copyLeaf copies the entries of a leaf into n, a new one with room for them.
func (n *treeNode[T]) copyLeaf(from *treeNode[T], st *CopyStats) {
	copy(n.slots(), from.slots())
	if from.epoch != n.epoch {
		st.Leaves++
		st.Bytes += treeNodeBytes(int(n.size))
	}
}
