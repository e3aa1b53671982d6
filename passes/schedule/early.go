package schedule

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
)

// early puts starts before dones that they need not wait for, with what they need, if that takes no time and the limits allow it. The times of a
// schedule are estimates: a start behind a done of another chain would be late if that took longer than was thought. Nothing is put between the
// members of a group.
func (g *graph) early(h *hiding, order []int) []int {
	if h.memory > 0 || h.limited() && len(g.uses) > 0 {
		return order
	}
	e := &earlier{g: g, left: make([]int, len(order)), placed: make([]bool, len(order)), binds: map[int]resources{}, underWay: resources{}, begun: make([]bool, len(g.members))}
	for done, binder := range g.binder {
		if e.binds[binder] == nil {
			e.binds[binder] = resources{}
		}
		e.binds[binder][g.kind[done]]++
	}
	for i := range order {
		e.left[i] = len(g.deps.Before(i))
	}
	for i := range order {
		if e.left[i] == 0 {
			e.reach(i)
		}
	}
	for _, i := range order {
		n := g.of[i]
		if _, done := g.latency[i]; done && !e.placed[i] && (n < 0 || !e.begun[n]) {
			slices.Sort(e.ready)
			var later []int
			for _, k := range e.ready {
				switch {
				case e.placed[k]:
				case h.fits(e.underWay, e.binds[k]):
					e.place(k)
				default:
					later = append(later, k)
				}
			}
			e.ready = later
		}
		if n >= 0 {
			e.begun[n] = true
		}
		e.place(i)
	}
	return e.order
}

// earlier is an order in the making.
type earlier struct {
	g        *graph
	order    []int
	placed   []bool
	left     []int             // of what comes before each, how much is neither placed nor within reach
	ready    []int             // steps within reach that bind the last operand of a chain
	binds    map[int]resources // of such steps
	underWay resources
	begun    []bool // groups that have a member placed
}

// place appends an instruction, behind what it needs.
func (e *earlier) place(i int) {
	if e.placed[i] {
		return
	}
	e.placed[i] = true
	for _, p := range e.g.deps.Before(i) {
		e.place(p)
	}
	e.order = append(e.order, i)
	e.underWay.add(e.binds[i], 1)
	if kind, done := e.g.kind[i]; done {
		e.underWay[kind]--
	}
	if !e.free(i) {
		e.follow(i)
	}
}

// reach is told of what could be placed, as far as its operands go.
func (e *earlier) reach(i int) {
	if e.free(i) {
		if e.binds[i] != nil {
			e.ready = append(e.ready, i)
		}
		e.follow(i)
	}
}

func (e *earlier) follow(i int) {
	for _, u := range e.g.deps.After(i) {
		if e.left[u]--; e.left[u] == 0 {
			e.reach(u)
		}
	}
}

// free reports whether an instruction takes no time, and nothing says where it is to be.
func (e *earlier) free(i int) bool {
	in := e.g.deps.Order[i]
	runs := hlo.Info(in.Opcode()).Traits.Has(hlo.TraitControl) && !analysis.IsStart(in)
	return !runs && !analysis.IsDone(in) && e.g.seconds[i] == 0 && e.g.of[i] < 0 && e.g.hint[i] == 0 && e.g.delay[i] == 0
}
