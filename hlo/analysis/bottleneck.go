package analysis

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Bottlenecks are instructions, by position in an order of dependencies, that each counted one must come before or after. What is independent of a
// counted instruction lies between the bottlenecks around it: programs have one at the end of each layer or so, and whoever looks for
// what can run beside something need not look at all of the program.
type Bottlenecks struct {
	positions []int
	limit     int
}

// FindBottlenecks looks at every edge once. It misses those past which a value is handed that is not counted.
func (d *Dependencies) FindBottlenecks(counts func(hlo.Instruction) bool) Bottlenecks {
	n := len(d.Order)
	after, before := make([]bool, n), make([]bool, n) // is counted, or comes after or before a counted one
	for i, in := range d.Order {
		after[i] = counts(in)
		before[i] = after[i]
		for _, j := range d.Before(i) {
			after[i] = after[i] || after[j]
		}
	}
	between := after
	for i := n - 1; i >= 0; i-- {
		for _, j := range d.After(i) {
			before[i] = before[i] || before[j]
		}
		between[i] = after[i] && before[i]
	}
	// All before an instruction lead to it if it is the only end of the program so far, and it leads to all after it if it is the only beginning of the rest.
	b := Bottlenecks{limit: n}
	first := make([]bool, n) // the only beginning
	open, closed := 0, make([]bool, n)
	for i := n - 1; i >= 0; i-- {
		if between[i] {
			open += 1 - closing(d.After(i), between, closed)
			first[i] = open == 1
		}
	}
	clear(closed)
	open = 0
	for i := range n {
		if between[i] {
			open += 1 - closing(d.Before(i), between, closed)
			if open == 1 && first[i] {
				b.positions = append(b.positions, i)
			}
		}
	}
	return b
}

// closing closes those of the positions that are marked, and says how many were open.
func closing(positions []int, marked, closed []bool) (n int) {
	for _, j := range positions {
		if marked[j] && !closed[j] {
			closed[j] = true
			n++
		}
	}
	return n
}

// Around gives the positions from low up to, but not, high of all that may be independent of one of two counted instructions, or lie between them.
func (b Bottlenecks) Around(first, last int) (low, high int) {
	i, found := slices.BinarySearch(b.positions, first)
	if !found {
		i--
	}
	if i >= 0 {
		low = b.positions[i]
	}
	high = b.limit
	if i, _ := slices.BinarySearch(b.positions, last); i < len(b.positions) {
		high = b.positions[i] + 1
	}
	return low, high
}
