package hlo

import "github.com/gohalo/halo/internal/idmap"

// operandPlaces says at which places a wide user, such as the tuple of all results, has each value: looking through its operands for each of many
// values that are replaced would take the square of their number.
type operandPlaces struct {
	looked int // times that the operands were looked through
	first  idmap.Map[InstrID, int32]
	next   []int32 // the next place of the same value, or noPlace; nil: not made yet
}

const noPlace = -1

// The operands of a user of so many are looked through so many times before a session notes their places.
const (
	wideFrom = 64
	lookFrom = 8
)

// places is where user, which has these operands, has each value; nil if it should be looked for.
func (o *userOverlay) places(user InstrID, operands []InstrID) *operandPlaces {
	if len(operands) < wideFrom {
		return nil
	}
	p := o.wide[user]
	if p == nil {
		if o.wide == nil {
			o.wide = make(map[InstrID]*operandPlaces)
		}
		p = new(operandPlaces)
		o.wide[user] = p
	}
	if p.next == nil {
		if p.looked++; p.looked <= lookFrom {
			return nil
		}
		p.note(operands)
	}
	return p
}

// forget drops the places of a user that has other operands now.
func (o *userOverlay) forget(user InstrID) {
	if o.wide != nil {
		delete(o.wide, user)
	}
}

func (p *operandPlaces) note(operands []InstrID) {
	p.next = make([]int32, len(operands))
	for i := len(operands) - 1; i >= 0; i-- {
		p.add(int32(i), operands[i])
	}
}

func (p *operandPlaces) add(i int32, id InstrID) {
	p.next[i] = noPlace
	if first, ok := p.first.Lookup(id); ok {
		p.next[i] = first
	}
	p.first.Set(id, i)
}

// redirect writes new for old.
func (p *operandPlaces) redirect(operands []InstrID, old, new InstrID) {
	i, ok := p.first.Lookup(old)
	if !ok {
		return
	}
	p.first.Delete(old)
	for i != noPlace {
		next := p.next[i]
		operands[i] = new
		p.add(i, new)
		i = next
	}
}

// move records that place i has value to instead of old, and reports whether old is left at another.
func (p *operandPlaces) move(i int, old, to InstrID) (left bool) {
	at := p.first.Get(old)
	switch {
	case at != int32(i):
		for p.next[at] != int32(i) {
			at = p.next[at]
		}
		p.next[at] = p.next[i]
	case p.next[i] == noPlace:
		p.first.Delete(old)
	default:
		p.first.Set(old, p.next[i])
	}
	p.add(int32(i), to)
	return p.first.Has(old)
}
