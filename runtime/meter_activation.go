package runtime

// meter is what one activation measures.
type meter struct {
	of         *Meter
	executions int64
	timed      int64
	due        int64    // execution that is timed next
	on         bool     // this one is
	first      int64    // when this execution began
	last       int64    // when the step before ended
	ns         []int64  // of the steps, and of waiting for segments
	counted    *counted // of what an execution begins with, where executions are alike; else nil
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
	r.remeasure(m)
	if m != nil {
		m.mu.Lock()
		m.runs = append(m.runs, r)
		m.mu.Unlock()
	}
}

// remeasure makes the activations of an instance measure for m from nothing.
func (r *tensorRun) remeasure(m *Meter) {
	r.eachActivation(func(a *activation) { a.attach(m) })
	if m != nil && m.alike {
		r.eachMain(func(a *meter) { a.counted = &counted{ns: make([]int64, len(a.ns))} })
	}
}

func (a *activation) attach(m *Meter) {
	a.meter = nil
	if m != nil {
		a.unlink()
		a.meter = &meter{of: m, due: 1, ns: make([]int64, len(a.fn.steps)+1)}
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

// meterBegins tells the meter of a, if it has one, that an execution begins.
func (a *activation) meterBegins() {
	if a.meter != nil {
		a.meter.begin()
	}
}

// begin begins an execution, and reports whether it is timed.
func (m *meter) begin() bool {
	m.executions++
	m.on = m.executions >= m.due
	if m.counted != nil {
		m.on = m.of.outside.steps
	}
	if m.on {
		m.timed++
		m.first = m.of.now()
		m.last = m.first
	}
	return m.on
}

// end ends an execution that is timed, and decides which one is the next.
func (m *meter) end() {
	m.on = false
	if m.counted != nil {
		m.counted.pending = true
		return
	}
	m.due = m.of.later(m.executions, int64(len(m.ns)), m.last-m.first)
}

// tick ends step pc of an execution that is timed.
func (f *fiber) tick(a *activation, pc int) {
	m := a.meter
	now := m.of.now()
	m.ns[pc] += now - m.last - m.of.cost
	if len(f.spans) < m.of.spans {
		f.keep(a, pc, m.last, now)
		now = m.of.now()
	}
	m.last = now
}

// joined ends the time in which an execution waited for its segments.
func (f *fiber) joined(m *meter) {
	now := m.of.now()
	m.ns[len(m.ns)-1] += now - m.last - m.of.cost
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
	calls := a.stretches[i].calls
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
