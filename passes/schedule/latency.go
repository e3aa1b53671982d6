// Package schedule holds the passes that decide in which order the instructions of a computation run.
package schedule

import (
	"container/heap"
	"slices"
	"strconv"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

const latencyDoc = `schedule every computation so that asynchronous work is under way while other work is done

From the end of a computation backwards, the done of a chain is placed as late as its users allow, and its start, or the step that binds the last
operand, not before other work has filled the time that the chain takes; times are estimated from shapes. Otherwise the order is kept. At
most limit chains are under way at once. A schedule that would take longer than the one there was is not taken. Of the frontend
attributes, scheduler_hint="force_early", "force_delay" and "force_delay_async" are followed, latency_metadata="ns" is the time of a chain.`

// NewLatencyHiding makes the pass latency-hiding-scheduler.
func NewLatencyHiding(o pass.Options) (*pass.Pass, error) {
	if err := o.Known("limit"); err != nil {
		return nil, err
	}
	limit, err := o.Int("limit", 4)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "latency-hiding-scheduler", Doc: latencyDoc, Options: o, Params: []pass.Param{{Name: "limit", Doc: "how many chains may be under way at once; 4"}},
		Makes: []pass.Phase{pass.Scheduled}, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			costs := pass.Fact(ctx, m, analysis.FindCosts)
			executed := pass.Fact(ctx, m, analysis.FindExecuted)
			e := ctx.Edit(m)
			for c := range m.PostOrder() {
				order, better := []hlo.Instruction(nil), false
				if executed.Has(c.ID()) {
					if g := newGraph(c, costs, analysis.OneCore); len(g.latency) > 0 {
						order, better = g.better(ctx, max(limit, 1))
					}
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
			if !m.Config().IsScheduled {
				config := *m.Config()
				config.IsScheduled = true
				e.SetConfig(&config)
			}
			return e.Freeze(), nil
		}}, nil
}

// graph is a computation with times. Instructions are positions in deps.Order.
type graph struct {
	deps    *analysis.Dependencies
	seconds []float64       // of each instruction on the thread of the computation
	latency map[int]float64 // of a done: from its binder until it is ready
	binder  map[int]int     // of a done: the step that binds the last operand
	hint    map[int]int     // -1: early, 1: late
	rates   analysis.Rates
}

func newGraph(c hlo.Computation, costs *analysis.Costs, rates analysis.Rates) *graph {
	g := &graph{rates: rates, deps: analysis.FindDependencies(c), latency: map[int]float64{}, binder: map[int]int{}, hint: map[int]int{}}
	g.seconds = make([]float64, len(g.deps.Order))
	for i, in := range g.deps.Order {
		traits := hlo.Info(in.Opcode()).Traits
		async := hlo.IsAsync(in.Opcode()) || traits&(hlo.TraitAsyncStart|hlo.TraitAsyncDone) != 0
		if k := costs.Of(in); !k.IsZero() && !async {
			g.seconds[i] = k.Seconds(g.rates)
		}
		if traits.Has(hlo.TraitAsyncDone) {
			g.chain(i, in, costs)
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
	}
	return g
}

func frontend(in hlo.Instruction, key string) (string, bool) {
	if c := in.Common(); c != nil {
		return c.FrontendAttributes.Get(key)
	}
	return "", false
}

// chain finds the start of a done in the same computation, and what takes the time.
func (g *graph) chain(done int, in hlo.Instruction, costs *analysis.Costs) {
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
}

// better returns a schedule that is estimated to take less time than the order that there is; false if none was found.
func (g *graph) better(ctx *pass.Context, limit int) ([]hlo.Instruction, bool) {
	now := make([]int, len(g.deps.Order))
	for i := range now {
		now[i] = i
	}
	before, _ := g.time(now)
	order := g.schedule(limit)
	after, waits := g.time(order)
	ctx.Count("us before", int64(before*1e6))
	if after >= before {
		if ctx.Remarks() {
			ctx.Missed(g.deps.Order[0].Computation().Root(), "the schedule of %%%s is kept: the new one would take %.1f µs, this one %.1f",
				g.deps.Order[0].Computation().Name(), after*1e6, before*1e6)
		}
		ctx.Count("us after", int64(before*1e6))
		return nil, false
	}
	ctx.Count("us after", int64(after*1e6))
	sorted := make([]hlo.Instruction, len(order))
	for i, k := range order {
		sorted[i] = g.deps.Order[k]
		if waits[k] > 0 {
			ctx.Missed(sorted[i], "is waited for %.1f of %.1f µs", waits[k]*1e6, g.latency[k]*1e6)
		} else if l, done := g.latency[k]; done {
			ctx.Passed(sorted[i], "is never waited for: its %.1f µs are hidden", l*1e6)
		}
	}
	return sorted, true
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

// schedule is list scheduling from the end backwards.
//
//  1. An instruction is free when all that comes after it is placed. A step that binds the last operand of a chain has to wait until as much time
//     as the chain takes lies between it and the done.
//  2. Of what is free and need not wait, take dones first, then what makes a done free, then the last in the old order.
//  3. If everything has to wait, take what has to wait the least. A done whose chain would be one too many waits until another has begun.
func (g *graph) schedule(limit int) []int {
	n := len(g.deps.Order)
	s := &list{g: g, now: 0, ready: &queue{}, stalled: &queue{}}
	left := make([]int, n)
	at := make([]float64, n) // when each was placed, backwards
	dueFor := make(map[int][]int)
	for done, binder := range g.binder {
		dueFor[binder] = append(dueFor[binder], done)
	}
	var held []int // dones that are one too many
	inFlight := 0
	free := func(i int) {
		due := 0.0
		for _, done := range dueFor[i] {
			due = max(due, at[done]+g.latency[done])
		}
		s.push(i, due)
	}
	for i := range n {
		if left[i] = len(g.deps.After(i)); left[i] == 0 {
			free(i)
		}
	}
	order := make([]int, 0, n)
	for len(order) < n {
		i := s.pop()
		_, isDone := g.latency[i]
		if isDone && inFlight >= limit && s.len() > 0 {
			held = append(held, i)
			continue
		}
		if isDone {
			inFlight++
		}
		if len(dueFor[i]) > 0 {
			inFlight -= len(dueFor[i])
			for _, h := range held {
				s.push(h, 0)
			}
			held = held[:0]
		}
		at[i] = s.now
		s.now += g.seconds[i]
		order = append(order, i)
		for _, p := range g.deps.Before(i) {
			if left[p]--; left[p] == 0 {
				free(p)
			}
		}
		if s.len() == 0 && len(held) > 0 { // nothing else is left: the limit cannot be kept
			s.push(held[0], 0)
			held = held[1:]
		}
	}
	slices.Reverse(order)
	return order
}

// list holds what is free: ready now, or to wait until its time.
type list struct {
	g              *graph
	now            float64
	ready, stalled *queue
}

func (s *list) len() int { return s.ready.Len() + s.stalled.Len() }

func (s *list) push(i int, due float64) {
	it := item{i: i, due: due, rank: s.rank(i)}
	if due > s.now {
		it.rank = 0
		heap.Push(s.stalled, it)
	} else {
		it.due = 0
		heap.Push(s.ready, it)
	}
}

func (s *list) rank(i int) int {
	switch {
	case s.g.hint[i] > 0:
		return 0
	case s.g.hint[i] < 0:
		return 4
	}
	if _, done := s.g.latency[i]; done {
		return 1
	}
	for _, p := range s.g.deps.Before(i) {
		if _, done := s.g.latency[p]; done {
			return 2
		}
	}
	return 3
}

func (s *list) pop() int {
	for s.stalled.Len() > 0 && (*s.stalled)[0].due <= s.now {
		it := heap.Pop(s.stalled).(item)
		heap.Push(s.ready, item{i: it.i, rank: s.rank(it.i)})
	}
	if s.ready.Len() > 0 {
		return heap.Pop(s.ready).(item).i
	}
	it := heap.Pop(s.stalled).(item)
	s.now = max(s.now, it.due)
	return it.i
}

// item is a free instruction.
type item struct {
	i    int
	due  float64
	rank int
}

type queue []item

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(item)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func (q queue) Less(i, j int) bool {
	a, b := q[i], q[j]
	switch {
	case a.due != b.due:
		return a.due < b.due
	case a.rank != b.rank:
		return a.rank < b.rank
	}
	return a.i > b.i
}
