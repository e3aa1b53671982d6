package fuse

import (
	"iter"
	"math"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/idmap"
)

// seating is an order of a computation's instructions and of the bands that are to stand for some of them. Every instruction and every band
// is seated behind what it reads: two bands that would wait for each other, if only through others, find no seats.
type seating struct {
	order []hlo.Instruction // each behind its operands
	index idmap.Map[hlo.InstrID, int]
	homes idmap.Map[hlo.InstrID, *band] // of members
	bands map[int][]*band               // between the instruction of a place and the one before it, in their order
}

// seat is a place in the order: before its instruction, and behind the first bands that are there.
type seat struct{ place, behind int }

func (s seat) isBefore(t seat) bool {
	return s.place < t.place || s.place == t.place && s.behind < t.behind
}

func newSeating(c hlo.Computation) *seating {
	s := &seating{bands: make(map[int][]*band)}
	if !s.takes(c.Instructions()) {
		s.takes(c.PostOrder()) // passes may add operands behind what uses them
	}
	return s
}

// takes makes an order the seating's, and reports whether every instruction is behind its operands in it.
func (s *seating) takes(order iter.Seq[hlo.Instruction]) bool {
	s.order = slices.AppendSeq(s.order[:0], order)
	s.index.Clear()
	for i, in := range s.order {
		for o := range in.OperandIDs() {
			if !s.index.Has(o) {
				return false
			}
		}
		s.index.Set(in.ID(), i)
	}
	return true
}

// of is the seat of an instruction, or of the band that it is a member of.
func (s *seating) of(id hlo.InstrID) seat {
	if b := s.homes.Get(id); b != nil {
		return seat{b.before, slices.Index(s.bands[b.before], b)}
	}
	return seat{s.index.Get(id), math.MaxInt}
}

// seat is the last seat of a band before all that use its members, if that is behind all that it reads.
func (b *band) seat(results []hlo.InstrID) (at seat, ok bool) {
	for id := range b.members {
		at.place = max(at.place, b.index.Get(id))
	}
	at.behind = math.MaxInt
	for id := range b.members {
		for user := range b.c.MustAt(id).Users() {
			if s := b.of(user.ID()); !b.members[user.ID()] && s.isBefore(at) {
				at = s
			}
		}
	}
	at.behind = min(at.behind, len(b.bands[at.place]))
	for id := range b.inputs(results) {
		if !b.of(id).isBefore(at) {
			return at, false
		}
	}
	return at, true
}

// sit takes a seat for the band.
func (b *band) sit(at seat) {
	b.before = at.place
	b.bands[at.place] = slices.Insert(b.bands[at.place], at.behind, b)
	for id := range b.members {
		b.homes.Set(id, b)
	}
}

// next is the first instruction behind the band's seat that is there: others have been replaced by fusions.
func (b *band) next(ce hlo.CompEdit) hlo.InstrID {
	behind := slices.Index(b.bands[b.before], b) + 1
	for i := b.before; i < len(b.order); i, behind = i+1, 0 {
		for _, other := range b.bands[i][behind:] {
			if other.made != hlo.NoInstr {
				return other.made
			}
		}
		if id := b.order[i].ID(); ce.Has(id) {
			return id
		}
	}
	return ce.Root()
}

// computes reports whether the band's kernel computes an instruction that it needs, instead of reading it.
func (b *band) computes(in hlo.Instruction) bool {
	return b.members[in.ID()] || b.copies[in.ID()] || cheap(in)
}

// inputs are the instructions that the band's kernel reads.
func (b *band) inputs(results []hlo.InstrID) map[hlo.InstrID]bool {
	read, seen := make(map[hlo.InstrID]bool), make(map[hlo.InstrID]bool)
	stack := slices.Clone(results)
	for len(stack) > 0 {
		id := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		in := b.c.MustAt(id)
		switch {
		case seen[id]:
		case b.computes(in):
			stack = slices.AppendSeq(stack, in.OperandIDs())
		default:
			read[id] = true
		}
		seen[id] = true
	}
	return read
}
