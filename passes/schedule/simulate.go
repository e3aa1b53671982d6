package schedule

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
)

// Machine is what a simulation runs on.
type Machine struct {
	Rates   analysis.Rates
	Workers int             // threads that compute; at least one
	Free    map[string]bool // names of instructions that take no time
}

// Span is a piece of work in a simulation, from Begin to End in seconds from the beginning of the computation.
type Span struct {
	Instr      hlo.Instruction
	Lane       int // a worker, or the number of workers and more for what holds none: waiting, and talking to other devices
	Begin, End float64
	Ready      float64 // when all that it needs was there
	Async      bool    // it was begun by a start

	chain hlo.InstrID
}

// Simulation is one computation, run as the executor runs it: what is ready runs, on the workers, in the order of the program; in a schedule,
// all but asynchronous work runs in the written order.
type Simulation struct {
	Computation hlo.Computation
	Workers     int
	Seconds     float64
	Serial      float64 // the sum of all work
	Spans       []Span  // by Begin
	Chains      []Hidden
}

// Hidden is how much of a chain's time other work fills.
type Hidden struct {
	Start, Done     hlo.Instruction
	Begin, End      float64
	Hidden, Exposed float64 // their sum is the chain's time
	Why             string  // what keeps the exposed part from being hidden; empty if there is none
}

// Exposed is the time in which chains are under way and nothing else is, counted once however many chains there are.
func (s *Simulation) Exposed() float64 {
	var chains, work []interval
	for _, x := range s.Spans {
		if x.Async {
			chains = append(chains, interval{x.Begin, x.End})
		} else {
			work = append(work, interval{x.Begin, x.End})
		}
	}
	return uncovered(chains, work)
}

// task is an instruction, or what a start begins, as the simulation sees it.
type task struct {
	in      hlo.Instruction
	chain   hlo.Instruction // the start that began it, if it is asynchronous
	seconds float64
	holds   bool // a worker
	async   bool
	needs   []int
	waits   int
	users   []int
	ready   float64
	end     float64
	lane    int // see Span
}

// Simulate runs a computation on a machine.
func Simulate(m hlo.Module, c hlo.Computation, costs *analysis.Costs, on Machine) *Simulation {
	d := analysis.FindDependencies(c)
	tasks := make([]task, len(d.Order), 2*len(d.Order))
	job := map[int]int{}   // of a done: the task of what its start begins, or the first of several
	parts := map[int]int{} // of the first of several: the task after the last
	previous := -1
	for i, in := range d.Order {
		t := &tasks[i]
		t.in, t.needs = in, slices.Clone(d.Before(i))
		if k := costs.Of(in); !k.IsZero() && !hlo.IsAsync(in.Opcode()) && !analysis.IsStart(in) && !analysis.IsDone(in) && !on.Free[in.Name()] {
			t.seconds, t.holds = k.Seconds(on.Rates), k.HoldsThread()
		}
		if c.IsScheduled() {
			if previous >= 0 {
				t.needs = append(t.needs, previous)
			}
			previous = i
		}
	}
	for i, in := range d.Order {
		if !analysis.IsDone(in) || in.NumOperands() == 0 {
			continue
		}
		binder, start := binderOf(in)
		if start.IsZero() {
			continue
		}
		if late := lateSteps(in); len(late) > 0 && start.Opcode() == hlo.OpAsyncStart {
			first := len(tasks)
			tasks = expand(tasks, m, start, late, d, costs, on)
			job[i] = first
			tasks[i].needs = append(tasks[i].needs, len(tasks)-1)
			parts[first] = len(tasks)
			continue
		}
		k := costs.Of(start)
		j := len(tasks)
		t := task{in: start, chain: start, async: true, needs: []int{d.Position(binder.ID())}, holds: k.HoldsThread()}
		if !on.Free[start.Name()] {
			t.seconds = k.Seconds(on.Rates)
		}
		tasks = append(tasks, t)
		job[i] = j
		tasks[i].needs = append(tasks[i].needs, j)
	}
	s := &Simulation{Computation: c, Workers: max(on.Workers, 1)}
	s.run(tasks)
	bottlenecks := d.FindBottlenecks(func(in hlo.Instruction) bool { return analysis.IsDone(in) || tasks[d.Position(in.ID())].seconds > 0 })
	for i, j := range job {
		h := s.hidden(tasks, i, j, max(parts[j], j+1))
		if h.Why == "" && h.Exposed > noticeable {
			h.Why = s.obstacle(tasks, i, h.End, d, bottlenecks)
		}
		s.Chains = append(s.Chains, h)
	}
	slices.SortFunc(s.Chains, func(a, b Hidden) int {
		return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.Start.ID(), b.Start.ID()))
	})
	return s
}

// lateSteps lists the updates of a chain that bind operands.
func lateSteps(done hlo.Instruction) (late []hlo.Instruction) {
	for step := done.OperandInstr(0); step.Opcode() == hlo.OpAsyncUpdate; step = step.OperandInstr(0) {
		if step.NumOperands() > 1 {
			late = append(late, step)
		}
	}
	slices.Reverse(late)
	return late
}

// expand makes a task of each instruction that a start runs: one after the other, those that read a late operand not before it is bound.
func expand(tasks []task, m hlo.Module, start hlo.Instruction, late []hlo.Instruction, d *analysis.Dependencies, costs *analysis.Costs, on Machine) []task {
	binders := slices.Repeat([]int{d.Position(start.ID())}, start.NumOperands()) // of each parameter
	for _, u := range late {
		binders = append(binders, slices.Repeat([]int{d.Position(u.ID())}, u.NumOperands()-1)...)
	}
	first := len(tasks)
	at := make(map[hlo.InstrID]int)
	for in := range m.MustComputation(start.Callee(0)).PostOrder() {
		if n, ok := in.ParameterNumber(); ok && int(n) < len(binders) {
			at[in.ID()] = binders[n]
			continue
		}
		t := task{in: in, chain: start, async: true, needs: []int{binders[0]}}
		if len(tasks) > first {
			t.needs[0] = len(tasks) - 1
		}
		for id := range in.OperandIDs() {
			if k := at[id]; !slices.Contains(t.needs, k) {
				t.needs = append(t.needs, k)
			}
		}
		if k := costs.Of(in); !k.IsZero() && !on.Free[in.Name()] {
			t.seconds, t.holds = k.Seconds(on.Rates), k.HoldsThread()
		}
		at[in.ID()] = len(tasks)
		tasks = append(tasks, t)
	}
	if len(tasks) == first { // it hands on a parameter
		tasks = append(tasks, task{in: start, chain: start, async: true, needs: slices.Clone(binders)})
	}
	return tasks
}

// binderOf finds the start of a done's chain in the same computation, and the step that gives it its last operand.
func binderOf(done hlo.Instruction) (binder, start hlo.Instruction) {
	step := done.OperandInstr(0)
	binder = step
	for step.Opcode() == hlo.OpAsyncUpdate {
		if binder.Opcode() == hlo.OpAsyncUpdate && binder.NumOperands() == 1 {
			binder = step.OperandInstr(0) // it bound nothing
		}
		step = step.OperandInstr(0)
	}
	if !hlo.Info(step.Opcode()).Traits.Has(hlo.TraitAsyncStart) {
		return hlo.Instruction{}, hlo.Instruction{}
	}
	return binder, step
}

// run advances from event to event: what is ready begins, starts first, as in the executor, and then in program order, while there are
// workers for it.
func (s *Simulation) run(tasks []task) {
	var free, holding ranking // what is ready, by its rank: what needs no worker, and what does
	push := func(i int) {
		t := &tasks[i]
		if t.holds && t.seconds > 0 {
			heap.Push(&holding, ranked{i, rankOf(t)})
		} else {
			heap.Push(&free, ranked{i, rankOf(t)})
		}
	}
	for i := range tasks {
		for _, n := range tasks[i].needs {
			tasks[n].users = append(tasks[n].users, i)
			tasks[i].waits++
		}
	}
	for i := range tasks {
		if tasks[i].waits == 0 {
			push(i)
		}
	}
	workers := make([]bool, s.Workers) // busy
	var outside []bool                 // lanes of what holds no worker
	var running ranking                // by their ends
	now := 0.0
	finish := func(i int) {
		tasks[i].end = now
		for _, u := range tasks[i].users {
			if tasks[u].waits--; tasks[u].waits == 0 {
				tasks[u].ready = now
				push(u)
			}
		}
	}
	for {
		lane := slices.Index(workers, false)
		var i int
		switch {
		case lane >= 0 && len(holding) > 0 && (len(free) == 0 || holding[0].before(free[0])):
			i = heap.Pop(&holding).(ranked).i
			workers[lane] = true
		case len(free) > 0:
			i = heap.Pop(&free).(ranked).i
			if tasks[i].seconds == 0 {
				finish(i)
				continue
			}
			if lane = slices.Index(outside, false); lane < 0 {
				outside, lane = append(outside, false), len(outside)
			}
			outside[lane] = true
			lane += s.Workers
		case len(running) > 0:
			first := heap.Pop(&running).(ranked).i
			now = tasks[first].end
			if lane := tasks[first].lane; lane < s.Workers {
				workers[lane] = false
			} else {
				outside[lane-s.Workers] = false
			}
			finish(first)
			continue
		default:
			s.Seconds = now
			return
		}
		t := &tasks[i]
		t.lane, t.end = lane, now+t.seconds
		s.Serial += t.seconds
		s.Spans = append(s.Spans, Span{Instr: t.in, Lane: lane, Begin: now, End: t.end, Ready: t.ready, Async: t.async})
		if t.async {
			s.Spans[len(s.Spans)-1].chain = t.chain.ID()
		}
		heap.Push(&running, ranked{i, t.end})
	}
}

// rankOf says what goes first.
func rankOf(t *task) float64 {
	switch {
	case analysis.IsStart(t.in) && !t.async:
		return 0
	case t.async:
		return 1
	case analysis.IsDone(t.in):
		return 3
	}
	return 2
}

// noticeable is a time that counts, in seconds.
const noticeable = 1e-9

// hidden measures a chain against everything else, and says if it waited for a worker.
func (s *Simulation) hidden(tasks []task, done, job, after int) Hidden {
	t := &tasks[job]
	start := t.chain
	h := Hidden{Start: start, Done: tasks[done].in, Begin: math.Inf(1)}
	var own, others []interval
	for k := job; k < after; k++ {
		h.Begin, h.End = min(h.Begin, tasks[k].end-tasks[k].seconds), max(h.End, tasks[k].end)
	}
	for _, x := range s.Spans { // in the order in which they begin
		switch {
		case x.chain == start.ID() && x.Async:
			own = append(own, interval{x.Begin, x.End})
		case x.Begin < h.End && x.End > h.Begin:
			others = append(others, interval{x.Begin, x.End})
		}
		if x.Begin > h.End {
			break
		}
	}
	all := uncovered(own, nil)
	h.Exposed = uncovered(own, others)
	h.Hidden = all - h.Exposed
	if late := t.end - t.seconds - t.ready; late > noticeable {
		h.Why = fmt.Sprintf("limit: it waited %.1f µs for one of %d workers", late*1e6, s.Workers)
	}
	return h
}

// obstacle says why nothing runs beside the rest of a chain.
func (s *Simulation) obstacle(tasks []task, done int, end float64, d *analysis.Dependencies, bottlenecks analysis.Bottlenecks) string {
	if s.Computation.IsScheduled() {
		low, high := bottlenecks.Around(done, done)
		related := d.RelatedWithin(tasks[done].in.ID(), low, high)
		for i, in := range d.Order[low:high] {
			if t := &tasks[low+i]; t.seconds > 0 && !related[i] && t.end-t.seconds >= end {
				return fmt.Sprintf("order: %%%s does not need it, and the schedule has it behind %%%s", in.Name(), tasks[done].in.Name())
			}
		}
	}
	for _, u := range d.After(done) {
		return fmt.Sprintf("dependency: %%%s needs it, and nothing else is left to do", d.Order[u].Name())
	}
	return "dependency: the result of the computation needs it, and nothing else is left to do"
}

// interval is a time from one moment to another.
type interval struct{ from, to float64 }

// uncovered is how much of the union of some intervals no other covers.
func uncovered(of, by []interval) (sum float64) {
	of, by = union(of), union(by)
	for _, x := range of {
		at := x.from
		for _, y := range by {
			if y.to <= at || y.from >= x.to {
				continue
			}
			if y.from > at {
				sum += y.from - at
			}
			at = max(at, y.to)
		}
		if at < x.to {
			sum += x.to - at
		}
	}
	return sum
}

func union(list []interval) (u []interval) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b interval) int { return cmp.Compare(a.from, b.from) })
	for _, x := range list {
		if n := len(u); n > 0 && x.from <= u[n-1].to {
			u[n-1].to = max(u[n-1].to, x.to)
		} else {
			u = append(u, x)
		}
	}
	return u
}
