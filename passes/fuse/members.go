package fuse

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/idmap"
)

// membership says which fusions an instruction is a member of, by their roots: of one in most cases, and of several if it is copied into them. The zero value says of none.
type membership struct {
	one     []hlo.InstrID // by id; NoInstr: none or several
	several lists
	spare   []hlo.InstrID // for the next one
}

// emptied says of none. It uses the room of m.
func (m *membership) emptied() membership {
	if m.one != nil {
		return membership{spare: m.one}
	}
	return membership{spare: m.spare}
}

// of is the roots of the fusions of an instruction. They stay what they are.
func (m *membership) of(id hlo.InstrID) []hlo.InstrID {
	if int(id) < len(m.one) && m.one[id] != hlo.NoInstr {
		return m.one[id : id+1 : id+1]
	}
	return m.several.of(id)
}

// begin makes an instruction the root of a fusion.
func (m *membership) begin(in hlo.Instruction) {
	if m.one == nil {
		n := int(in.Computation().IDLimit())
		m.one = slices.Grow(m.spare[:0], n)[:n]
		for i := range m.one {
			m.one[i] = hlo.NoInstr
		}
	}
	m.one[in.ID()] = in.ID()
}

// set makes an instruction a member of fusions that have begun.
func (m *membership) set(id hlo.InstrID, roots []hlo.InstrID) {
	if len(roots) == 1 {
		m.one[id] = roots[0]
		return
	}
	m.several.set(id, m.several.keep(roots))
}

// lists says which list an instruction has, if any. Lists lie one after the other, each behind its length, so an instruction costs a word, and one that
// has the same list as another no more.
type lists struct {
	at  idmap.Map[hlo.InstrID, uint32] // where in all the list begins; 0: there is none
	all []hlo.InstrID
}

// of is the list of an instruction. It stays what it is.
func (l *lists) of(id hlo.InstrID) []hlo.InstrID {
	i := l.at.Get(id)
	if i == 0 {
		return nil
	}
	end := i + uint32(l.all[i-1])
	return l.all[i:end:end]
}

// keep copies a list, for set.
func (l *lists) keep(list []hlo.InstrID) (at uint32) {
	if need := len(list) + 1; cap(l.all)-len(l.all) < need {
		l.all = slices.Grow(l.all, max(need, len(l.all))) // twice as much: a long list moves seldom
	}
	l.all = append(append(l.all, hlo.InstrID(len(list))), list...)
	return uint32(len(l.all) - len(list))
}

func (l *lists) set(id hlo.InstrID, at uint32) { l.at.Set(id, at) }

// marks is a set of instructions of one computation that is emptied at no cost: one search after the other uses it.
type marks struct {
	by   []uint32 // by id: the last search that has met the instruction
	last uint32
	n    int // that this search has met
}

// begin empties the set.
func (m *marks) begin(c hlo.Computation) {
	if len(m.by) < int(c.IDLimit()) {
		m.by = make([]uint32, c.IDLimit())
	}
	m.last++
	m.n = 0
}

func (m *marks) has(id hlo.InstrID) bool { return m.by[id] == m.last }

// add reports whether the instruction was not in the set.
func (m *marks) add(id hlo.InstrID) bool {
	if m.has(id) {
		return false
	}
	m.by[id] = m.last
	m.n++
	return true
}
