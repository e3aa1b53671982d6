package schedule

import (
	"cmp"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/passes/directive"
)

// groups are the scheduling groups of a computation.
type groups struct {
	of      []int // by position: its group, or -1
	members [][]int
	names   []string
	ordered []bool // members keep their order
}

const orderedAttr = "keep_original_sequence_order_in_group"

func newGroups(d *analysis.Dependencies) (groups, error) {
	g := groups{of: slices.Repeat([]int{-1}, len(d.Order))}
	number := map[string]int{}
	for i, in := range d.Order {
		group, err := directive.SchedulingGroup(in)
		if err != nil {
			return g, err
		}
		id := group.Name
		if id == "" || in.Opcode() == hlo.OpParameter || in.Opcode() == hlo.OpConstant {
			continue
		}
		n, known := number[id]
		if !known {
			n = len(g.members)
			number[id] = n
			g.members, g.names, g.ordered = append(g.members, nil), append(g.names, id), append(g.ordered, false)
		}
		g.of[i] = n
		g.members[n] = append(g.members[n], i)
		if keep, _ := frontend(in, orderedAttr); keep == "true" {
			g.ordered[n] = true
		}
	}
	for n, list := range g.members {
		if len(list) < 2 {
			g.dissolve(n)
		}
	}
	return g, nil
}

func (g *groups) dissolve(n int) {
	for _, i := range g.members[n] {
		g.of[i] = -1
	}
	g.members[n] = nil
}

// mostWalked bounds the edges that are walked to find what lies between members. Groups that have not been looked at are given up when nothing
// else is left.
const mostWalked = 1 << 24

// split lists the groups between whose members something else lies: it needs one of them, and another needs it.
func (g *groups) split(d *analysis.Dependencies) (list []int) {
	seen := slices.Repeat([]int{-1}, len(g.of)) // group for which it was seen last
	walked := 0
	for n, members := range g.members {
		if len(members) == 0 {
			continue
		}
		last := slices.Max(members)
		between := false
		var work []int
		visit := func(i int) {
			for _, u := range d.After(i) {
				walked++
				switch {
				case g.of[u] == n:
					between = between || g.of[i] != n
				case u < last && seen[u] != n:
					seen[u] = n
					work = append(work, u)
				}
			}
		}
		for _, i := range members {
			visit(i)
		}
		for len(work) > 0 && !between && walked < mostWalked {
			i := work[len(work)-1]
			work = work[:len(work)-1]
			visit(i)
		}
		if between {
			list = append(list, n)
		}
	}
	return list
}

// apart reports whether an order has something between the members of a group.
func (g *groups) apart(order []int) bool {
	first, last := map[int]int{}, map[int]int{}
	for k, i := range order {
		if n := g.of[i]; n >= 0 {
			if _, seen := first[n]; !seen {
				first[n] = k
			}
			last[n] = k
		}
	}
	for n := range first {
		if last[n]-first[n] != len(g.members[n])-1 {
			return true
		}
	}
	return false
}

// smallest is the group with the fewest members among those that are not placed, -1 if there is none.
func (g *groups) smallest(placed []bool) int {
	best := -1
	for n, list := range g.members {
		if len(list) > 0 && !placed[list[0]] && (best < 0 || cmp.Less(len(list), len(g.members[best]))) {
			best = n
		}
	}
	return best
}
