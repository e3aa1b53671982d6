package runtime

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Meter measures the time that the steps of executions take. Give one to executions as [RunOptions.Meter] and read it when they have ended.
//
// A step lasts from the end of the step before it to its own end, so the steps of a function together are the function. Reading the clock takes
// longer than many a step of a loop: of functions that run often, only some executions are timed, so few that the clock takes about a
// fiftieth of the time. What a step takes is then an estimate, the mean of the timed executions times their number; how often it ran is exact. Loops
// that are one program over scalars are one step.
type Meter struct {
	start time.Time
	cost  int64 // of reading the clock, in nanoseconds
	spans int   // that each fiber may keep
	alike bool

	mu   sync.Mutex
	runs []*tensorRun
}

// MeterOptions say what a meter keeps.
type MeterOptions struct {
	// Spans is how many steps each sequence of steps keeps with the times at which it began and ended; 0 is none.
	Spans int
	// Alike says that all executions do the same work. Then those that take much longer than the shortest do not count: another process had the
	// processor.
	Alike bool
}

// NewMeter returns a meter of which the clock begins now.
func NewMeter(o MeterOptions) *Meter {
	m := &Meter{start: time.Now(), spans: o.Spans, alike: o.Alike, cost: 1 << 30}
	for range 64 {
		from := m.now()
		m.cost = min(m.cost, m.now()-from)
	}
	return m
}

func (m *Meter) now() int64 { return int64(time.Since(m.start)) }

// A MeterCall is a function as it is called from one place: the executions of that place together. The places of a program are a tree.
type MeterCall struct {
	Function   *Function
	Executions int64
	Timed      int64 // of these
	Parallel   bool  // its steps run beside each other: see Segment
	Steps      []MeterStep
}

// MeterStep is a step of a call.
type MeterStep struct {
	StepInfo
	// Nanoseconds is the time of all executions, with that of what it calls.
	Nanoseconds int64
	Callees     []*MeterCall
}

// StepInfo describes a step of a tensor function.
type StepInfo struct {
	Kernel    int   // index among the kernels of the function in the file, -1 for the return and other steps that no kernel stands for
	Scratch   int64 // bytes
	Evaluated bool  // the kernel has no fast implementation: see [Bound.Evaluated]
	Compiled  bool  // a loop that is one program over scalars
	Starts    bool  // what it calls runs beside it
	Suspends  bool  // it may wait for other sequences, devices or operands
}

// MeterSpan is one execution of a step.
type MeterSpan struct {
	Call       *MeterCall
	Step       int           // index among the steps of the call
	Execution  int64         // of the call, from 1
	Lane       int           // number of the sequence of steps that it belongs to
	Device     int           // replica times partitions and partition, as the run says
	Worker     uintptr       // a number of the goroutine that it ended on
	Begin, End time.Duration // since the meter was made
}

// Reset forgets what was measured. No execution that is measured may be under way.
func (m *Meter) Reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.runs {
		r.eachActivation(func(a *activation) { a.attach(m) })
		r.eachFiber(func(f *fiber) { f.spans = f.spans[:0] })
	}
}

// Calls returns the measurements, merged over all instances of each entry function, and the spans that were kept. No execution that is measured may
// be under way.
func (m *Meter) Calls() (entries []*MeterCall, spans []MeterSpan) {
	m.mu.Lock()
	defer m.mu.Unlock()
	roots := map[*tensorFunction]*MeterCall{}
	for _, r := range m.runs {
		c := roots[r.entry]
		if c == nil {
			c = &MeterCall{}
			roots[r.entry] = c
			entries = append(entries, c)
		}
		g := gather{of: map[*activation]*MeterCall{}}
		g.call(c, r.main.base)
		r.eachFiber(func(f *fiber) {
			for _, s := range f.spans {
				spans = append(spans, MeterSpan{g.of[s.a], s.step, s.execution, f.lane, s.device, s.worker, time.Duration(s.begin), time.Duration(s.end)})
			}
		})
	}
	return entries, spans
}

// gather adds what activations measured to calls.
type gather struct{ of map[*activation]*MeterCall }

func (g *gather) call(c *MeterCall, a *activation) {
	g.of[a] = c
	if c.Steps == nil {
		c.Function, c.Steps = a.fn.fn, make([]MeterStep, len(a.fn.steps))
		for i := range a.fn.steps {
			c.Steps[i].StepInfo = a.fn.steps[i].info()
		}
	}
	g.times(c, a.meter, false)
	if a.parallel != nil {
		c.Parallel = true
		for i := range a.parallel.views[1:] {
			view := &a.parallel.views[i+1]
			g.of[view] = c
			g.times(c, view.meter, true)
		}
	}
	for i := range a.fn.steps {
		s := &a.fn.steps[i]
		if s.site < 0 {
			continue
		}
		site, step := &a.sites[s.site], &c.Steps[i]
		if step.Callees == nil {
			for range s.callees {
				step.Callees = append(step.Callees, &MeterCall{})
			}
		}
		for k, child := range site.children {
			g.call(step.Callees[k], child)
		}
		if site.op != nil {
			g.call(step.Callees[0], site.op.fiber.base)
		}
		for _, op := range site.free {
			g.call(step.Callees[0], op.fiber.base)
		}
	}
}

func (g *gather) times(c *MeterCall, m *meter, view bool) {
	steps, timed := m.ns, m.timed
	if m.alike != nil {
		steps, timed = m.alike.ns, m.alike.timed
	}
	if !view {
		c.Executions += m.executions
		c.Timed += timed
	}
	if timed == 0 {
		return
	}
	scale := float64(m.executions) / float64(timed)
	for i, ns := range steps {
		c.Steps[i].Nanoseconds += int64(float64(ns) * scale)
	}
}

func (s *step) info() StepInfo {
	suspends := s.kind == stepAsyncKernel || s.kind == stepAsyncDone || s.kind == stepAwaitArgument
	return StepInfo{Kernel: int(s.kernel), Scratch: s.scratch, Evaluated: s.evaluated, Compiled: s.scalar != nil, Starts: s.kind == stepAsyncStart,
		Suspends: suspends}
}

// StepsOf describes the steps of a tensor function in their order.
func (f *Function) StepsOf() []StepInfo {
	list := make([]StepInfo, len(f.tensor.steps))
	for i := range list {
		list[i] = f.tensor.steps[i].info()
	}
	return list
}

// meter is what one activation measures.
type meter struct {
	of         *Meter
	executions int64
	timed      int64
	due        int64 // execution that is timed next
	on         bool  // this one is
	first      int64 // when this execution began
	last       int64 // when the step before ended
	ns         []int64
	alike      *alike // of entry functions whose executions are alike, or nil
}

// alike keeps the executions that count: those that take at most [MuchLonger] times as long as the shortest.
type alike struct {
	shortest int64
	ns       []int64 // of all that count
	timed    int64
}

// MuchLonger is how many times as long as the shortest an execution may take that counts, of those that are alike.
const MuchLonger = 1.25

// take counts an execution whose steps took ns, or does not, and clears ns for the next one.
func (k *alike) take(ns []int64, took int64) {
	switch {
	case k.timed == 0 || float64(took)*MuchLonger < float64(k.shortest):
		copy(k.ns, ns)
		k.shortest, k.timed = took, 1
	case float64(took) <= float64(k.shortest)*MuchLonger:
		for i := range ns {
			k.ns[i] += ns[i]
		}
		k.timed++
		k.shortest = min(k.shortest, took)
	}
	clear(ns)
}

// span is a MeterSpan of an activation.
type span struct {
	a          *activation
	step       int
	execution  int64
	device     int
	worker     uintptr
	begin, end int64
}

// attach makes the activations of an instance measure for m, or not at all if it is nil.
func (r *tensorRun) attach(m *Meter) {
	r.meter = m
	r.eachActivation(func(a *activation) { a.attach(m) })
	if m != nil {
		m.mu.Lock()
		m.runs = append(m.runs, r)
		m.mu.Unlock()
	}
}

func (a *activation) attach(m *Meter) {
	a.meter = nil
	if m != nil {
		a.meter = &meter{of: m, due: 1, ns: make([]int64, len(a.fn.steps))}
		if m.alike && a.caller == nil {
			a.meter.alike = &alike{ns: make([]int64, len(a.fn.steps))}
		}
	}
}

// eachActivation calls visit for every activation of the instance, views of segments included.
func (r *tensorRun) eachActivation(visit func(*activation)) { r.main.base.each(visit, func(*fiber) {}) }

// eachFiber calls visit for every fiber of the instance.
func (r *tensorRun) eachFiber(visit func(*fiber)) {
	visit(&r.main)
	r.main.base.each(func(*activation) {}, visit)
}

func (a *activation) each(visit func(*activation), fibers func(*fiber)) {
	visit(a)
	if p := a.parallel; p != nil {
		for i := range p.views[1:] {
			visit(&p.views[i+1])
			fibers(&p.fibers[i+1])
		}
	}
	ops := func(op *asyncOp) {
		fibers(&op.fiber)
		op.fiber.base.each(visit, fibers)
	}
	for i := range a.sites {
		for _, child := range a.sites[i].children {
			child.each(visit, fibers)
		}
		if op := a.sites[i].op; op != nil {
			ops(op)
		}
		for _, op := range a.sites[i].free {
			ops(op)
		}
	}
}

// begin begins an execution, and reports whether it is timed.
func (m *meter) begin() bool {
	m.executions++
	m.on = m.executions >= m.due
	if m.on {
		m.timed++
		m.first = m.of.now()
		m.last = m.first
	}
	return m.on
}

// clockShare is how many times as long as reading the clock the executions must be that are not timed.
const clockShare = 50

// end ends an execution that is timed, and decides which one is the next: soon at first, and later so that the clock takes little of the time.
// A little chance keeps it from seeing always the same rounds of loops within loops.
func (m *meter) end() {
	m.on = false
	if m.alike != nil {
		m.alike.take(m.ns, m.last-m.first)
	}
	period := int64(len(m.ns))*(m.of.cost+1)*clockShare/max(m.last-m.first, 1) + 1
	period = min(period, m.executions)
	m.due = m.executions + 1 + (period-1)/2 + rand.Int64N(period)
}

// tick ends step pc of an execution that is timed.
func (f *fiber) tick(a *activation, pc int) {
	m := a.meter
	now := m.of.now()
	m.ns[pc] += max(now-m.last-m.of.cost, 0)
	if len(f.spans) < m.of.spans {
		f.keep(a, pc, m.last, now)
		now = m.of.now()
	}
	m.last = now
}

func (f *fiber) keep(a *activation, pc int, begin, end int64) {
	if f.spans == nil {
		f.spans = make([]span, 0, min(f.run.meter.spans, 1<<12))
	}
	ctx := &f.run.ctx
	f.spans = append(f.spans, span{a, pc, a.meter.executions, ctx.Replica<<16 | ctx.Partition, f.goroutine, begin, end})
}

// straightTimed is straight in an execution that is timed.
func (f *fiber) straightTimed(a *activation) bool {
	if a.often && len(a.fn.stretches) > 0 {
		if !f.stretchTimed(a, 0) {
			return false
		}
		a.finish()
	} else {
		stop := &f.run.stop
		for pc, run := range a.fn.runs {
			a.pc = pc
			if stop.Load() != nil {
				return false
			}
			if err := run(&a.frames[pc]); err != nil {
				f.failKernel(err)
				a.pc++
				return false
			}
			f.tick(a, pc)
		}
		a.copyResults()
	}
	f.tick(a, len(a.fn.steps)-1)
	a.meter.end()
	return true
}

// stretchTimed is stretch in an execution that is timed.
func (f *fiber) stretchTimed(a *activation, i int) bool {
	stop := &f.run.stop
	calls := a.stretches[i]
	for i := range calls {
		c := &calls[i]
		if c.loop != nil {
			c.loop(c.n, c.d, c.a, c.b, c.c)
		} else {
			a.pc = c.pc
			if stop.Load() != nil {
				return false
			}
			if err := a.fn.steps[c.pc].run(&a.frames[c.pc]); err != nil {
				f.failKernel(err)
				a.pc++
				return false
			}
		}
		if i+1 == len(calls) || calls[i+1].pc != c.pc {
			f.tick(a, c.pc)
		}
	}
	return true
}
