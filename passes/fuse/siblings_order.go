package fuse

import (
	"cmp"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/idmap"
)

// mergedOrder is an order of a computation's instructions in which operands come before users, kept up while instructions become one: two may if neither depends on the
// other, and then what depends on the one moves behind both. It is a list whose nodes carry labels that ascend, so that of two nodes it is known at once which one comes first,
// and a search for a way from one to the other need not go on behind it.
type mergedOrder struct {
	c     hlo.Computation
	nodes idmap.Map[hlo.InstrID, *orderNode]
	first *orderNode
}

type orderNode struct {
	label      uint64
	prev, next *orderNode
	members    []hlo.InstrID
}

// spacing is the distance of labels at first.
const spacing = 1 << 32

func newMergedOrder(c hlo.Computation) *mergedOrder {
	o := &mergedOrder{c: c, first: &orderNode{}} // nothing comes before the first
	last := o.first
	for in := range c.PostOrder() {
		n := &orderNode{label: last.label + spacing, prev: last, members: []hlo.InstrID{in.ID()}}
		last.next, last = n, n
		o.nodes.Set(in.ID(), n)
	}
	return o
}

// merge makes one node of those of two instructions, unless one of them depends on the other, or it takes too long to find out.
func (o *mergedOrder) merge(x, y hlo.InstrID) bool {
	a, b := o.nodes.Get(x), o.nodes.Get(y)
	if a.label > b.label {
		a, b = b, a
	}
	behind, ok := o.between(a, b)
	if !ok {
		return false
	}
	for _, id := range a.members {
		o.nodes.Set(id, b)
	}
	b.members = append(b.members, a.members...)
	remove(a)
	slices.SortFunc(behind, func(a, b *orderNode) int { return cmp.Compare(a.label, b.label) })
	for _, n := range behind {
		remove(n)
	}
	o.insert(b, behind)
	return true
}

// between lists what depends on a and comes before b; false if b depends on a.
func (o *mergedOrder) between(a, b *orderNode) (found []*orderNode, ok bool) {
	seen := map[*orderNode]bool{}
	for todo := []*orderNode{a}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, id := range n.members {
			in := o.c.MustAt(id)
			follow := func(user hlo.InstrID) bool {
				u := o.nodes.Get(user)
				if u == b || len(found) > maxSearch {
					return false
				}
				if u.label < b.label && !seen[u] {
					seen[u] = true
					found, todo = append(found, u), append(todo, u)
				}
				return true
			}
			for u := range in.Users() {
				if !follow(u.ID()) {
					return nil, false
				}
			}
			for s := range in.ControlSuccessors() {
				if !follow(s) {
					return nil, false
				}
			}
		}
	}
	return found, true
}

func remove(n *orderNode) {
	n.prev.next = n.next
	if n.next != nil {
		n.next.prev = n.prev
	}
}

// insert puts nodes right behind another one. Where the labels there are used up, all are given out again.
func (o *mergedOrder) insert(behind *orderNode, list []*orderNode) {
	end, at := behind.next, behind
	for _, n := range list {
		at.next, n.prev = n, at
		at = n
	}
	at.next = end
	step := uint64(spacing)
	if end != nil {
		end.prev = at
		step = (end.label - behind.label) / uint64(len(list)+1)
	}
	if step == 0 {
		for n := o.first; n.next != nil; n = n.next {
			n.next.label = n.label + spacing
		}
		return
	}
	for n := behind; n != at; n = n.next {
		n.next.label = n.label + step
	}
}
