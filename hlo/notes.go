package hlo

import (
	"cmp"
	"slices"
)

// noteNode holds keyed values that passes attach to a module or a computation: sorted by key, written in place by the session whose
// epoch it carries. Notes are not part of the text; they are part of the digest, not of the structural hash.
type noteNode struct {
	epoch uint64
	kv    []note
}

type note struct {
	key   AttrKey
	value Attr
}

func compareNote(n note, key AttrKey) int { return cmp.Compare(n.key, key) }

func (n *noteNode) get(key AttrKey) (Attr, bool) {
	if n == nil {
		return nil, false
	}
	i, ok := slices.BinarySearchFunc(n.kv, key, compareNote)
	if !ok {
		return nil, false
	}
	return n.kv[i].value, true
}

// same reports whether writing value under key would change nothing; a nil value means absence.
func (n *noteNode) same(key AttrKey, value Attr) bool {
	old, ok := n.get(key)
	if !ok {
		return value == nil
	}
	return value != nil && EqualAttr(old, value)
}

// with writes value under key, or removes it when value is nil, in place when n belongs to the session, else in a copy with some
// room to grow.
func (n *noteNode) with(epoch uint64, st *CopyStats, key AttrKey, value Attr) *noteNode {
	switch {
	case n == nil:
		n = &noteNode{epoch: epoch}
	case n.epoch != epoch:
		n = &noteNode{epoch: epoch, kv: append(make([]note, 0, len(n.kv)+4), n.kv...)}
		st.AttrSets++
		st.Bytes += 32 + 32*cap(n.kv)
	}
	i, ok := slices.BinarySearchFunc(n.kv, key, compareNote)
	switch {
	case value == nil && ok:
		n.kv = slices.Delete(n.kv, i, i+1)
	case value != nil && ok:
		n.kv[i].value = value
	case value != nil:
		n.kv = slices.Insert(n.kv, i, note{key, value})
	}
	return n
}
