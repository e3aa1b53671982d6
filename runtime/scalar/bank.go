package scalar

import "slices"

// reach is a range of positions, both ends in it. Line i reads at 2i and writes at 2i+1.
type reach struct{ from, to int }

// inSequence sorts ranges, and joins those that meet.
func inSequence(list []reach) []reach {
	slices.SortFunc(list, func(x, y reach) int { return x.from - y.from })
	out := list[:0]
	for _, r := range list {
		if n := len(out); n > 0 && r.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, r.to)
			continue
		}
		out = append(out, r)
	}
	return out
}

// meet reports whether a range of x and one of y, which are in sequence, have a position in common.
func meet(x, y []reach) bool {
	for len(x) > 0 && len(y) > 0 {
		switch {
		case x[0].to < y[0].from:
			x = x[1:]
		case y[0].to < x[0].from:
			y = y[1:]
		default:
			return true
		}
	}
	return false
}

// merge is the sequence of the ranges of x and y, which do not meet.
func merge(x, y []reach) []reach {
	out := make([]reach, 0, len(x)+len(y))
	for len(x) > 0 && len(y) > 0 {
		if x[0].from < y[0].from {
			out, x = append(out, x[0]), x[1:]
		} else {
			out, y = append(out, y[0]), y[1:]
		}
	}
	return append(append(out, x...), y...)
}

// bank gives registers of one kind to values in the order in which they begin: each time the first that is free. A register may be free for a
// while only, between two ranges of a value. So a tree over the registers knows until when each one is, and only those that are free for the value's
// first range are looked at.
type bank struct {
	now   int
	regs  []int32
	taken [][]reach // by register: from now on, in sequence
	// until is a tree of maxima: leaf len(until)/2+k is the position at which register k is taken next, or was last.
	until []int
	// ends are lists by position: the registers of which a range ends there.
	ends []int32 // the first in links, or -1
	link []endOf
}

// endOf is a register in a list.
type endOf struct{ k, next int32 }

// never is behind all positions.
const never = int(^uint(0) >> 1)

func newBank(positions int) *bank {
	b := &bank{ends: make([]int32, positions), until: make([]int, 2)}
	for i := range b.ends {
		b.ends[i] = -1
	}
	return b
}

// take finds a register for a value with the given ranges, of which the first begins no earlier than those of the calls before.
func (b *bank) take(ranges []reach) (reg int32, ok bool) {
	for ; b.now < ranges[0].from; b.now++ {
		for e := b.ends[b.now]; e >= 0; e = b.link[e].next {
			k := b.link[e].k
			for len(b.taken[k]) > 0 && b.taken[k][0].to <= b.now {
				b.taken[k] = b.taken[k][1:]
			}
			b.set(k)
		}
	}
	for k := b.free(0, ranges[0].to); k >= 0; k = b.free(k+1, ranges[0].to) {
		if meet(b.taken[k], ranges) {
			continue
		}
		b.taken[k] = merge(b.taken[k], ranges)
		b.occupy(int32(k), ranges)
		return b.regs[k], true
	}
	return 0, false
}

// add is another register, with a value in it.
func (b *bank) add(reg int32, ranges []reach) int32 {
	k := len(b.regs)
	b.regs, b.taken = append(b.regs, reg), append(b.taken, ranges)
	if leaves := len(b.until) / 2; k == leaves {
		b.until = make([]int, 4*leaves)
		for k := range b.taken {
			b.set(int32(k))
		}
	}
	b.occupy(int32(k), ranges)
	return reg
}

func (b *bank) occupy(k int32, ranges []reach) {
	for _, r := range ranges {
		b.link = append(b.link, endOf{k, b.ends[r.to]})
		b.ends[r.to] = int32(len(b.link) - 1)
	}
	b.set(k)
}

// set writes a register's leaf.
func (b *bank) set(k int32) {
	next := never
	if list := b.taken[k]; len(list) > 0 {
		next = list[0].from
	}
	i := len(b.until)/2 + int(k)
	b.until[i] = next
	for i /= 2; i > 0; i /= 2 {
		b.until[i] = max(b.until[2*i], b.until[2*i+1])
	}
}

// free is the first register from k on that is not taken up to a position, or -1.
func (b *bank) free(k, to int) int {
	leaves := len(b.until) / 2
	if k >= leaves {
		return -1
	}
	i := leaves + k
	for b.until[i] <= to { // on to the next subtree
		for i%2 == 1 {
			i /= 2
		}
		if i == 0 {
			return -1
		}
		i++
	}
	for i < leaves {
		if i *= 2; b.until[i] <= to {
			i++
		}
	}
	return i - leaves
}
