package copies

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// elide takes a copy out of the memory of its source and its own: both become one, in which what follows the copy follows the source, or what comes
// before the source comes before what the copy replaced. It is refused if some value would be written over while it is still to be read.
func (b *buffers) elide(copied site, enforce bool) bool {
	in := b.v.instr(copied)
	if !in.Shape().Equal(in.OperandInstr(0).Shape()) {
		return false
	}
	dest, src := b.nodes[b.v.at[copied][0].number], b.nodes[b.v.at[site{copied.comp, in.Operand(0)}][0].number]
	var force []before // decided on the way, and taken back if the copy stays
	may := &force
	if !enforce {
		may = nil
	}
	refused := func() bool {
		b.o.release(force)
		return false
	}
	fits := func(x, y *node) bool { return x == nil || y == nil || b.before(x, y, may) }
	switch {
	case src == dest:
		return false
	case src.next == dest:
		b.drop(src, dest, copied)
	case dest.prev == nil:
		tail := dest
		for tail.next != nil {
			tail = tail.next
		}
		if tail == src || !fits(src, dest.next) || !fits(tail, src.next) {
			return refused()
		}
		follow, rest := dest.next, src.next
		b.drop(src, dest, copied)
		if follow != nil {
			src.next, follow.prev = follow, src
			if tail.next = rest; rest != nil {
				rest.prev = tail
			}
		}
	case src.next == nil:
		head := src
		for head.prev != nil {
			head = head.prev
		}
		if !fits(src, dest.next) || !fits(dest.prev, head) {
			return refused()
		}
		front, follow := dest.prev, dest.next
		b.drop(src, dest, copied)
		front.next, head.prev = head, front
		if src.next = follow; follow != nil {
			follow.prev = src
		}
	default:
		return false
	}
	return true
}

// drop takes the node of a copy out of its list; its source has its places and uses from now on.
func (b *buffers) drop(src, dest *node, copied site) {
	if dest.prev != nil {
		dest.prev.next = dest.next
	}
	if dest.next != nil {
		dest.next.prev = dest.prev
	}
	var uses []use
	for _, u := range src.uses {
		if u.site != copied {
			uses = append(uses, u)
		}
	}
	src.uses = append(uses, dest.uses...)
	src.places = append(src.places[:len(src.places):len(src.places)], dest.places...)
	for _, p := range dest.places {
		b.v.at[p.site][p.leaf] = src.value
	}
	b.nodes[dest.number] = src
}

// before reports whether a value is done with when another one is defined. force, if there is one, gets what has to be ordered for it.
func (b *buffers) before(x, y *node, force *[]before) bool {
	if len(x.uses) == 0 && !b.o.definedBefore(x.value, y.value) {
		return false
	}
	for _, u := range slices.Backward(x.uses) { // the last ones are those that are late
		if !b.o.usedBefore(x.value, u, y.value, force) {
			return false
		}
	}
	// What a computation returns is needed until its end.
	for _, p := range x.places {
		c := b.v.m.MustComputation(p.comp)
		if c.Root().ID() == p.in && b.o.inside(y.def.site, c.ID()) {
			return false
		}
	}
	return true
}

// unnecessary lists the copies that can go, in an order in which they can, and what must be ordered then.
func unnecessary(m hlo.Module, keep map[site]bool, enforce bool) ([]site, *ordering) {
	v := findValues(m)
	o := newOrdering(v)
	b := findBuffers(v, o)
	var gone []site
	for _, s := range v.order {
		in := v.instr(s)
		if in.Opcode() == hlo.OpCopy && in.Shape().IsArray() && !keep[s] && b.elide(s, enforce) {
			gone = append(gone, s)
		}
	}
	return gone, o
}
