package schedule

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
)

// Timeline is how long a computation takes, run in its order with its asynchronous work beside it, by the estimates of the scheduler.
type Timeline struct {
	Computation hlo.Computation
	// Seconds is the time from the first instruction to the last, Sync what it would be if every start were waited for at once.
	Seconds, Sync float64
	Chains        []Overlap
}

// Overlap is an asynchronous chain in a timeline.
type Overlap struct {
	Start, Done hlo.Instruction
	Begins      float64 // when the last operand is bound, in seconds from the beginning
	Latency     float64 // how long it takes
	Wait        float64 // how long its done is waited for: the part of the latency that hides nothing
}

// Hidden is the part of all the chains' time in which other work is done, from 0 to 1; 1 if there are no chains.
func (t *Timeline) Hidden() float64 {
	all, waited := 0.0, 0.0
	for _, c := range t.Chains {
		all += c.Latency
		waited += c.Wait
	}
	if all == 0 {
		return 1
	}
	return 1 - waited/all
}

// Estimate makes the timelines of the computations that are executed and have asynchronous chains, in the order of the module, by the rates of a machine.
func Estimate(m hlo.Module, rates analysis.Rates) (all []Timeline) {
	costs := analysis.FindCosts(m)
	executed := analysis.FindExecuted(m)
	for c := range m.Computations() {
		if !executed.Has(c.ID()) {
			continue
		}
		if g := newGraph(m, c, costs, rates); len(g.latency) > 0 {
			all = append(all, g.timeline(c))
		}
	}
	return all
}

func (g *graph) timeline(c hlo.Computation) Timeline {
	order := make([]int, 0, len(g.deps.Order))
	for in := range c.Instructions() {
		order = append(order, g.deps.Position(in.ID()))
	}
	t := Timeline{Computation: c}
	var waits map[int]float64
	t.Seconds, waits = g.time(order)
	clock := 0.0
	ends := make([]float64, len(order))
	for _, i := range order {
		if _, done := g.latency[i]; done {
			clock += waits[i]
		}
		clock += g.seconds[i]
		ends[i] = clock
		t.Sync += g.seconds[i] + g.latency[i]
	}
	for _, i := range order {
		latency, done := g.latency[i]
		if !done {
			continue
		}
		start := g.deps.Order[i].OperandInstr(0)
		for start.Opcode() == hlo.OpAsyncUpdate {
			start = start.OperandInstr(0)
		}
		t.Chains = append(t.Chains, Overlap{Start: start, Done: g.deps.Order[i], Begins: ends[g.binder[i]], Latency: latency, Wait: waits[i]})
	}
	return t
}
