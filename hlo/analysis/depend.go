package analysis

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Dependencies answers which instructions of a computation must come before or after one, by data and by control. It is immutable.
type Dependencies struct {
	c      hlo.Computation
	Order  []hlo.Instruction // program order: operands before users
	at     map[hlo.InstrID]int
	before [][]int // by position: what each needs directly
	after  [][]int
}

// FindDependencies looks at every edge once.
func FindDependencies(c hlo.Computation) *Dependencies {
	d := &Dependencies{c: c, at: make(map[hlo.InstrID]int)}
	if c.IsScheduled() {
		d.Order = slices.Collect(c.Instructions())
	} else {
		d.Order = slices.Collect(c.PostOrder())
	}
	for i, in := range d.Order {
		d.at[in.ID()] = i
	}
	d.before, d.after = make([][]int, len(d.Order)), make([][]int, len(d.Order))
	needed := make([]int, len(d.Order)) // by position: one past the last that needs it, so that what a large tuple has twice is found at once
	for i, in := range d.Order {
		need := func(id hlo.InstrID) {
			j := d.at[id]
			if needed[j] != i+1 {
				needed[j] = i + 1
				d.before[i] = append(d.before[i], j)
				d.after[j] = append(d.after[j], i)
			}
		}
		for id := range in.OperandIDs() {
			need(id)
		}
		for id := range in.ControlPredecessors() {
			need(id)
		}
	}
	return d
}

// Position is the place of an instruction in Order.
func (d *Dependencies) Position(id hlo.InstrID) int { return d.at[id] }

// Before lists the positions of what the instruction at position i needs directly, and After of what needs it.
func (d *Dependencies) Before(i int) []int { return d.before[i] }

// After lists the positions of what needs the instruction at position i directly.
func (d *Dependencies) After(i int) []int { return d.after[i] }

// Related marks the position of an instruction, and of all that must come before or after it.
func (d *Dependencies) Related(id hlo.InstrID) []bool {
	related := make([]bool, len(d.Order))
	walk := func(edges [][]int) {
		seen := make([]bool, len(d.Order))
		work := []int{d.at[id]}
		for len(work) > 0 {
			i := work[len(work)-1]
			work = work[:len(work)-1]
			if seen[i] {
				continue
			}
			seen[i], related[i] = true, true
			work = append(work, edges[i]...)
		}
	}
	walk(d.before)
	walk(d.after)
	return related
}
