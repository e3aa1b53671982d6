package runtime

import (
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

	mu      sync.Mutex
	runs    []*tensorRun
	outside outside
}

// MeterOptions say what a meter keeps.
type MeterOptions struct {
	// Spans is how many steps each sequence of steps keeps with the times at which it began and ended; 0 is none.
	Spans int
	// Alike says that all executions do the same work, one after the other, each between calls of Begin and End. Then those that take much longer than the
	// shortest do not count: another process had the processor.
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
	// Joining is for how many nanoseconds of all executions the sequence that began it had nothing to do but wait for the others.
	Joining int64
	Steps   []MeterStep
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
	Returns   bool  // it returns from the function
	Starts    bool  // what it calls runs beside it
	Beside    bool  // it runs beside the sequence of steps that began its function: see Segment
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
	m.outside = outside{}
	for _, r := range m.runs {
		r.remeasure(m)
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
		for i, info := range a.fn.stepInfos() {
			c.Steps[i].StepInfo = info
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
	if m.counted != nil {
		steps, timed = m.counted.ns, m.counted.timed
		if timed == 0 && m.counted.spare != nil {
			steps, timed = m.counted.spare, 1
		}
	}
	if !view {
		c.Executions += m.executions
		c.Timed += timed
	}
	if timed == 0 {
		return
	}
	scale := float64(m.executions) / float64(timed)
	excess := 0.0 // of each step
	last := len(steps) - 1
	if m.counted != nil {
		excess = m.of.outside.clockExcess() * float64(timed)
		c.Joining -= int64(m.of.outside.clockExcess() * float64(m.counted.inJoin) * scale)
	}
	for i, ns := range steps[:last] {
		c.Steps[i].Nanoseconds += int64(max(float64(ns)-excess, min(float64(ns), 0)) * scale)
	}
	c.Joining = max(c.Joining+int64(float64(steps[last])*scale), 0)
}

func (s *step) info() StepInfo {
	suspends := s.kind == stepAsyncKernel || s.kind == stepAsyncDone || s.kind == stepAwaitArgument
	return StepInfo{Kernel: int(s.kernel), Scratch: s.scratch, Evaluated: s.evaluated, Compiled: s.scalar != nil, Returns: s.kind == stepReturn,
		Starts: s.kind == stepAsyncStart, Suspends: suspends}
}

// StepsOf describes the steps of a tensor function in their order.
func (f *Function) StepsOf() []StepInfo { return f.tensor.stepInfos() }

func (t *tensorFunction) stepInfos() []StepInfo {
	list := make([]StepInfo, len(t.steps))
	for i := range list {
		list[i] = t.steps[i].info()
		list[i].Beside = len(t.segments) > 0 && t.segmentOf(i) > 0
	}
	return list
}
