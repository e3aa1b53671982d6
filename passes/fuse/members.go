package fuse

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/idmap"
)

// membership says which fusions an instruction is a member of, by their roots: of one in most cases, and of several if it is copied into them. The zero value says of none.
type membership struct {
	one     []hlo.InstrID // by id; NoInstr: none or several
	several idmap.Map[hlo.InstrID, []hlo.InstrID]
}

// of is the roots of the fusions of an instruction. They stay what they are.
func (m *membership) of(id hlo.InstrID) []hlo.InstrID {
	if int(id) < len(m.one) && m.one[id] != hlo.NoInstr {
		return m.one[id : id+1 : id+1]
	}
	return m.several.Get(id)
}

// begin makes an instruction the root of a fusion.
func (m *membership) begin(in hlo.Instruction) {
	if m.one == nil {
		m.one = slices.Repeat([]hlo.InstrID{hlo.NoInstr}, int(in.Computation().IDLimit()))
	}
	m.one[in.ID()] = in.ID()
}

// set makes an instruction a member of fusions that have begun.
func (m *membership) set(id hlo.InstrID, roots []hlo.InstrID) {
	if len(roots) == 1 {
		m.one[id] = roots[0]
		return
	}
	m.several.Set(id, roots)
}

// marks is a set of instructions of one computation that is emptied at no cost: one search after the other uses it.
type marks struct {
	by   []uint32 // by id: the last search that has met the instruction
	last uint32
	n    int // that this search has met
}

// begin empties the set.
func (m *marks) begin(c hlo.Computation) {
	if m.by == nil {
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
