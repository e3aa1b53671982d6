package analysis

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Dependencies answers which instructions of a computation must come before or after one, by data and by control. It is immutable.
type Dependencies struct {
	c             hlo.Computation
	Order         []hlo.Instruction // program order: operands before users
	at            []int32           // by id: the position
	before, after edges
}

// edges lead from positions to positions: those from i are to[first[i]:first[i+1]].
type edges struct {
	first []int32
	to    []int
}

func (e *edges) len() int { return len(e.first) - 1 }

func (e *edges) from(i int) []int {
	a, b := e.first[i], e.first[i+1]
	return e.to[a:b:b]
}

// FindDependencies looks at every edge once.
func FindDependencies(c hlo.Computation) *Dependencies {
	d := &Dependencies{c: c, at: make([]int32, c.IDLimit()), Order: make([]hlo.Instruction, 0, c.NumInstructions())}
	if c.IsScheduled() {
		d.Order = slices.AppendSeq(d.Order, c.Instructions())
	} else {
		d.Order = slices.AppendSeq(d.Order, c.PostOrder())
	}
	count := 0
	for i, in := range d.Order {
		d.at[in.ID()] = int32(i)
		count += in.NumOperands() + in.NumControlPredecessors()
	}
	n := len(d.Order)
	d.before = edges{make([]int32, n+1), make([]int, 0, count)}
	needed := make([]int32, n) // by position: one past the last that needs it, so that what a large tuple has twice is found at once
	d.after.first = make([]int32, n+1)
	for i, in := range d.Order {
		need := func(id hlo.InstrID) {
			if j := d.at[id]; needed[j] != int32(i)+1 {
				needed[j] = int32(i) + 1
				d.before.to = append(d.before.to, int(j))
				d.after.first[j+1]++
			}
		}
		for id := range in.OperandIDs() {
			need(id)
		}
		for id := range in.ControlPredecessors() {
			need(id)
		}
		d.before.first[i+1] = int32(len(d.before.to))
	}
	d.after.to = make([]int, len(d.before.to))
	next := needed // the place of the next edge
	for j := range n {
		next[j] = d.after.first[j]
		d.after.first[j+1] += d.after.first[j]
	}
	for i := range n {
		for _, j := range d.before.from(i) {
			d.after.to[next[j]] = i
			next[j]++
		}
	}
	return d
}

// Position is the place of an instruction in Order.
func (d *Dependencies) Position(id hlo.InstrID) int { return int(d.at[id]) }

// Before lists the positions of what the instruction at position i needs directly, and After of what needs it.
func (d *Dependencies) Before(i int) []int { return d.before.from(i) }

// After lists the positions of what needs the instruction at position i directly.
func (d *Dependencies) After(i int) []int { return d.after.from(i) }

// Related marks the position of an instruction, and of all that must come before or after it.
func (d *Dependencies) Related(id hlo.InstrID) []bool { return d.RelatedWithin(id, 0, len(d.Order)) }

// RelatedWithin is [Dependencies.Related] for the positions from low up to, but not, high, among which the instruction is. It looks at nothing outside of
// them.
func (d *Dependencies) RelatedWithin(id hlo.InstrID, low, high int) []bool {
	related := make([]bool, high-low)
	seen := make([]bool, high-low)
	var work []int
	walk := func(e edges) {
		clear(seen)
		work = append(work[:0], d.Position(id))
		for len(work) > 0 {
			i := work[len(work)-1]
			work = work[:len(work)-1]
			if i < low || i >= high || seen[i-low] {
				continue
			}
			seen[i-low], related[i-low] = true, true
			work = append(work, e.from(i)...)
		}
	}
	walk(d.before)
	walk(d.after)
	return related
}
