package verifier

import "github.com/gohalo/halo/hlo"

// Schedules (verifier 8.1). A schedule is the program order of a computation here, so that it names every instruction once by construction
// (SCH-03, SCH-04); what remains is that it exists and that nothing comes before what it needs.

func (r *run) schedule() {
	if !r.m.Config().IsScheduled {
		return
	}
	live := r.live()
	for c := range r.m.Computations() {
		if r.isFused(c.ID()) || !live[c.ID()] {
			continue
		}
		if !c.IsScheduled() {
			r.reportComputation(c, "SCH-02", "computation %%%s missing from HLO schedule", c.Name())
			continue
		}
		r.scheduled(c)
	}
	if r.cfg.NoCollectiveDeadlocks {
		r.deadlocks()
	}
}

// live marks the computations that the entry calls, directly or not, but for the insides of fusions.
func (r *run) live() []bool {
	live := make([]bool, r.m.CompIDLimit())
	work := []hlo.CompID{r.m.Entry().ID()}
	live[work[0]] = true
	for len(work) > 0 {
		c := r.m.MustComputation(work[len(work)-1])
		work = work[:len(work)-1]
		for in := range calls(c) {
			for id := range in.Callees() {
				if !live[id] && !r.isFused(c.ID()) {
					live[id] = true
					work = append(work, id)
				}
			}
		}
	}
	return live
}

func (r *run) scheduled(c hlo.Computation) {
	done := make([]bool, c.IDLimit())
	for in := range c.Instructions() {
		for o := range in.OperandIDs() {
			if !done[o] {
				r.report(in, "SCH-05", "%%%s is not scheduled after its operand %%%s", in.Name(), c.MustAt(o).Name())
			}
		}
		for p := range in.ControlPredecessors() {
			if !done[p] {
				r.report(in, "SCH-06", "%%%s is not scheduled after its control predecessor %%%s", in.Name(), c.MustAt(p).Name())
			}
		}
		done[in.ID()] = true
	}
}
