// Package schedule holds the passes that decide in which order the instructions of a computation run.
package schedule

import (
	"slices"
	"strconv"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

const latencyDoc = `schedule every computation so that other work hides asynchronous latency

From the end of a computation backwards, the done of a chain is placed as late as its users allow, and its start, or the step that binds the last
operand, not before other work has filled the time that the chain takes; times are estimated from shapes. Otherwise the order is kept. At
most limit chains are under way at once, and of each kind as many as KIND-overlap-limit says, what callees have under way included. Unless
there is a limit on memory, no start stands behind a done of another chain if it needs nothing that comes in between, as estimates may be wrong. Where
there are no limits, hints and groups, the schedule that takes from the beginning what has the longest way to the end is made, too, and taken if it is
clearly shorter. A schedule that would take longer than the one there was is not taken.

With memory-limit, what needs less memory goes first where the limit is near; if the schedule needs more all the same, it is made again with nine tenths of
the limit, rerun times.

Of the frontend attributes, scheduler_hint="force_early", "force_delay" and "force_delay_async" are followed, the last two by
scheduler_delay_priority, and latency_metadata="ns" is the time of a chain. Instructions with the same _scheduling_group_id="N" stand together, in their
old order with keep_original_sequence_order_in_group="true"; "noop" is no group, and a group that something else lies between is given up.`

// NewLatencyHiding makes the pass latency-hiding-scheduler.
func NewLatencyHiding(o pass.Options) (*pass.Pass, error) {
	h, err := newHiding(o)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "latency-hiding-scheduler", Doc: latencyDoc, Options: o, Params: hidingParams, Makes: []pass.Phase{pass.Scheduled}, Run: h.run}, nil
}

func (h *hiding) run(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
	costs := pass.Fact(ctx, m, analysis.FindCosts)
	executed := pass.Fact(ctx, m, analysis.FindExecuted)
	uses := map[hlo.CompID]resources{}
	e := ctx.Edit(m)
	for c := range m.PostOrder() {
		var order []hlo.Instruction
		better := false
		if executed.Has(c.ID()) {
			g := newGraph(m, c, costs, analysis.OneCore)
			var err error
			if g.groups, err = newGroups(g.deps); err != nil {
				return m, err
			}
			g.used(uses)
			now := g.now()
			if len(g.latency)+len(g.members) > 0 {
				if now, better = g.better(ctx, h); better {
					order = g.instructions(now)
				}
			}
			uses[c.ID()] = g.most(now)
		}
		switch {
		case better && ctx.Spend("schedule"):
		case c.IsScheduled():
			continue
		default:
			order = slices.Collect(c.PostOrder())
		}
		ids := make([]hlo.InstrID, len(order))
		for i, in := range order {
			ids[i] = in.ID()
		}
		if err := e.Computation(c.ID()).SetSchedule(ids); err != nil {
			return m, err
		}
	}
	return scheduled(e, m), nil
}

// graph is a computation with times. Instructions are positions in deps.Order.
type graph struct {
	deps    *analysis.Dependencies
	seconds []float64       // of each instruction on the thread of the computation
	latency map[int]float64 // of a done: from its binder until it is ready
	binder  map[int]int     // of a done: the step that binds the last operand
	hint    map[int]int     // -1: early, 1: late
	delay   map[int]int     // priority of what is late
	rates   analysis.Rates

	kind map[int]string    // of a done: what its chain occupies
	uses map[int]resources // of calls, loops and branches: what their callees occupy
	memory
	groups
}

func newGraph(m hlo.Module, c hlo.Computation, costs *analysis.Costs, rates analysis.Rates) *graph {
	g := &graph{rates: rates, deps: analysis.FindDependencies(c), latency: map[int]float64{}, binder: map[int]int{}, hint: map[int]int{}, delay: map[int]int{},
		kind: map[int]string{}, uses: map[int]resources{}}
	g.seconds = make([]float64, len(g.deps.Order))
	for i, in := range g.deps.Order {
		traits := hlo.Info(in.Opcode()).Traits
		async := hlo.IsAsync(in.Opcode()) || traits&(hlo.TraitAsyncStart|hlo.TraitAsyncDone) != 0
		if k := costs.Of(in); !k.IsZero() && !async {
			g.seconds[i] = k.Seconds(g.rates)
		}
		if traits.Has(hlo.TraitAsyncDone) {
			g.chain(m, i, in, costs)
		}
		switch hint, _ := frontend(in, "scheduler_hint"); hint {
		case "force_early":
			g.hint[i] = -1
		case "force_delay":
			g.hint[i] = 1
		case "force_delay_async":
			if async {
				g.hint[i] = 1
			}
		}
		if text, ok := frontend(in, "scheduler_delay_priority"); ok {
			g.delay[i], _ = strconv.Atoi(text)
		}
	}
	g.memory = newMemory(g.deps)
	return g
}

func frontend(in hlo.Instruction, key string) (string, bool) {
	if c := in.Common(); c != nil {
		return c.FrontendAttributes.Get(key)
	}
	return "", false
}

// chain finds the start of a done in the same computation, and what takes the time.
func (g *graph) chain(m hlo.Module, done int, in hlo.Instruction, costs *analysis.Costs) {
	step := in.OperandInstr(0)
	binder := step
	for step.Opcode() == hlo.OpAsyncUpdate {
		if binder.Opcode() == hlo.OpAsyncUpdate && binder.NumOperands() == 1 {
			binder = step.OperandInstr(0) // it bound nothing
		}
		step = step.OperandInstr(0)
	}
	if !hlo.Info(step.Opcode()).Traits.Has(hlo.TraitAsyncStart) {
		return // carried into the computation from elsewhere
	}
	seconds := costs.Of(step).Seconds(g.rates)
	if ns, ok := frontend(step, "latency_metadata"); ok {
		if n, err := strconv.ParseFloat(ns, 64); err == nil && n >= 0 {
			seconds = n * 1e-9
		}
	}
	g.latency[done], g.binder[done] = seconds, g.deps.Position(binder.ID())
	g.kind[done] = kindOf(m, step)
}

// now is the order that there is.
func (g *graph) now() []int {
	now := make([]int, len(g.deps.Order))
	for i := range now {
		now[i] = i
	}
	return now
}

func (g *graph) instructions(order []int) []hlo.Instruction {
	sorted := make([]hlo.Instruction, len(order))
	for i, k := range order {
		sorted[i] = g.deps.Order[k]
	}
	return sorted
}

// clearly is how much less than the schedule from the end one from the beginning has to take.
const clearly = 0.99

// better returns a schedule that is estimated to take less time than the order that there is, or less memory where that has too little; else
// that order, and false.
func (g *graph) better(ctx *pass.Context, h *hiding) ([]int, bool) {
	now := g.now()
	before, _ := g.time(now)
	order := g.schedule(ctx, h, h.memory)
	peak := g.peak(order)
	for limit, k := h.memory, 0; h.memory > 0 && peak > h.memory && k < h.rerun; k++ {
		limit -= limit / 10
		again := g.schedule(ctx, h, limit)
		if p := g.peak(again); p < peak {
			order, peak = again, p
		}
	}
	order = g.early(h, order)
	after, waits := g.time(order)
	if h.memory == 0 && !h.limited() && len(g.members)+len(g.hint)+len(g.delay) == 0 {
		other := g.early(h, g.forward())
		if t, w := g.time(other); t < clearly*after {
			order, after, waits, peak = other, t, w, g.peak(other)
		}
	}
	ctx.Count("us before", int64(before*1e6))
	root := g.deps.Order[0].Computation().Root()
	name := root.Computation().Name()
	keep := func(format string, args ...any) ([]int, bool) {
		if ctx.Remarks() {
			ctx.Missed(root, "the schedule of %%%s is kept: "+format, append([]any{name}, args...)...)
		}
		ctx.Count("us after", int64(before*1e6))
		return now, false
	}
	was := g.peak(now)
	switch fits := h.memory == 0 || peak <= h.memory; {
	case !fits && peak >= was:
		return keep("the new one would need %d bytes, this one %d, and the limit is %d", peak, was, h.memory)
	case after >= before && (h.memory == 0 || was <= h.memory) && !g.apart(now):
		return keep("the new one would take %.1f µs, this one %.1f", after*1e6, before*1e6)
	case !fits && ctx.Remarks():
		ctx.Missed(root, "the schedule of %%%s needs %d bytes, and the limit is %d", name, peak, h.memory)
	}
	ctx.Count("us after", int64(after*1e6))
	for _, k := range order {
		if waits[k] > 0 {
			ctx.Missed(g.deps.Order[k], "is waited for %.1f of %.1f µs", waits[k]*1e6, g.latency[k]*1e6)
		} else if l, done := g.latency[k]; done {
			ctx.Passed(g.deps.Order[k], "is never waited for: its %.1f µs are hidden", l*1e6)
		}
	}
	return order, true
}

// time is how long an order takes, and how long each done is waited for.
func (g *graph) time(order []int) (clock float64, waits map[int]float64) {
	waits = map[int]float64{}
	at := make([]float64, len(order))
	for _, i := range order {
		if l, ok := g.latency[i]; ok {
			if ready := at[g.binder[i]] + l; ready > clock {
				waits[i] = ready - clock
				clock = ready
			}
		}
		clock += g.seconds[i]
		at[i] = clock
	}
	return clock, waits
}
