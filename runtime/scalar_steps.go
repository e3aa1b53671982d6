package runtime

import (
	"sync/atomic"
	"unsafe"

	"github.com/gohalo/halo/runtime/scalar"
)

// Kernels one after the other that only compute on a few numbers are one program of package scalar where they run often, as the whole of a
// loop is that has nothing else. What a kernel reads that none of them computes comes from memory; what others read goes there.

// scalarSteps are some steps of a stretch as a program.
type scalarSteps struct {
	first, end int
	program    *scalar.Program
	memory     []scalarRegister
	consts     []scalarConst
}

// scalarRegister is a register that a program reads or writes in memory.
type scalarRegister struct {
	place scalar.Place
	reg   int32
}

const (
	// linkAfter is the number of times that stretches of a function run before its steps are linked, which takes far longer than running them.
	linkAfter = 1 << 10
	// leastCalls is the number of calls of loops that a program has to replace: entering one takes as long as some of them.
	leastCalls = 6
	// callsOfKernel is about how many calls of loops take as long as the way to a kernel that has none.
	callsOfKernel = 6
	// stepsOfCall is about how many instructions of a program take as long as a call of a loop.
	stepsOfCall = 10
	// valuesOfCall is about how many values of a program, before instructions are made of them, take as long.
	valuesOfCall = 20
)

var atOnce atomic.Bool

// LinkAtOnce makes programs of steps when they next run and of loops when they are loaded, also where that does not pay, and returns what undoes that. It is for tests.
func LinkAtOnce() (restore func()) {
	before := atOnce.Swap(true)
	return func() { atOnce.Store(before) }
}

// countRuns counts the runs of a's stretches; at last the function's steps are linked and bound. Where steps are measured they stay by
// themselves.
func (a *activation) countRuns() {
	if a.meter != nil {
		return
	}
	if a.rounds++; a.rounds < linkAfter && !atOnce.Load() {
		return
	}
	a.rounds = linkAfter
	if len(a.fn.segments) > 0 || a.fn.events {
		return
	}
	a.fn.link.Do(func() {
		a.fn.askLater()
		a.fn.linkSteps()
		a.fn.keepLater()
	})
	if len(a.fn.linked)+len(a.fn.later) == 0 {
		return
	}
	a.linked = make([]linkedSteps, len(a.fn.linked))
	for i, s := range a.fn.linked {
		a.linked[i] = s.begin(a.run)
	}
	a.later = make([]laterState, len(a.fn.later))
	for i := range a.later {
		a.later[i] = newLaterState(&a.fn.later[i])
	}
	a.moved = true
	a.bindStretches()
}

// unlink makes each of a's steps run by itself again.
func (a *activation) unlink() { a.linked, a.later, a.rounds, a.moved = nil, nil, 0, true }

// linkedSteps are scalarSteps of an activation.
type linkedSteps struct {
	state *scalar.State
	run   Loop
}

func (s *scalarSteps) begin(r *tensorRun) linkedSteps {
	state := s.program.NewState()
	for _, c := range s.consts {
		state.SetPlace(c.place, unsafe.Pointer(&c.data[0]))
	}
	return linkedSteps{state, func(int, unsafe.Pointer, unsafe.Pointer, unsafe.Pointer, unsafe.Pointer) {
		for state.Begin(); !s.program.Run(state) && !r.cancelled.Load(); {
		}
	}}
}

// linkSteps makes programs of the steps of t's stretches.
func (t *tensorFunction) linkSteps() {
	for _, s := range t.stretches {
		pc := s.first
		if n := len(t.linked); n > 0 {
			pc = max(pc, t.linked[n-1].end)
		}
		for pc < s.end || pc == s.first {
			end := pc
			for t.linkOf(end, end+1, nil, scalar.MostLanes) != nil { // the return cannot be linked
				end++
			}
			if end > pc {
				t.linkRange(pc, end)
			}
			pc = max(end, pc+1)
		}
	}
}

// canLink reports whether a step has what it takes to be part of a program that gives the same bits. Loops have to end by themselves, and to be programs already.
func (s *step) canLink() bool {
	switch s.kind {
	case stepKernel:
		return s.code != nil && !s.differs
	case stepWhile:
		return s.scalar != nil && s.ends()
	case stepCall, stepConditional:
		for _, c := range s.callees {
			for i := range c.steps {
				if c.steps[i].kind != stepReturn && !c.steps[i].canLink() {
					return false
				}
			}
			if !c.hasCode() {
				return false
			}
		}
		return true
	}
	return false
}

// ends reports whether the loops in a step are counted.
func (s *step) ends() bool {
	if s.kind == stepWhile && s.control.TripCount == UnknownTripCount {
		return false
	}
	for _, c := range s.callees {
		for i := range c.steps {
			if !c.steps[i].ends() {
				return false
			}
		}
	}
	return true
}

// calls is about how many calls of loops take as long as a step, whose own loops run once.
func (s *step) calls() int {
	if s.small != nil {
		return len(s.small)
	}
	n := callsOfKernel
	for _, c := range s.callees {
		n += callsOfKernel
		for i := range c.steps {
			n += c.steps[i].calls()
		}
	}
	return n
}

// linkRange links steps that can be linked one by one, in parts if they are too many for one program.
func (t *tensorFunction) linkRange(first, end int) {
	calls := 0
	for pc := first; pc < end; pc++ {
		calls += t.calls(pc)
	}
	if calls < leastCalls && !atOnce.Load() {
		return
	}
	kept := t.readOutside(first, end)
	for _, lanes := range []int{scalar.MostLanes, scalar.FewLanes} {
		l := t.linkOf(first, end, kept, lanes)
		if l == nil {
			continue
		}
		switch p, ok := l.b.Build(); {
		case ok && (p.Cost() <= calls*stepsOfCall || atOnce.Load()):
			l.steps.program, l.steps.consts = p, l.loop.consts
			t.linked = append(t.linked, l.steps)
			return
		case ok && lanes == scalar.FewLanes:
			return
		}
	}
	if half := (first + end) / 2; half > first {
		t.linkRange(first, half)
		t.linkRange(half, end)
	}
}

// linkOf lets steps write a program with arrays of up to so many elements in registers, or returns nil. Those that are kept it writes to memory, too.
func (t *tensorFunction) linkOf(first, end int, kept map[int32]bool, lanes int) *scalarLinker {
	l := newScalarLinker(lanes)
	l.steps = &scalarSteps{first: first, end: end}
	f := &scalarFrame{fn: t, values: make(map[int32]scalar.Operand), memory: make(map[Slot]scalar.Place)}
	for pc := first; pc < end; pc++ {
		s := &t.steps[pc]
		if !s.canLink() {
			return nil
		}
		in, ok := l.all(f, s.in)
		if !ok || l.b.Failed() {
			return nil
		}
		out := l.targets(f, s.out)
		if out, ok = l.step(s, in, out); !ok || l.b.Failed() {
			return nil
		}
		for k, r := range s.out {
			f.values[r] = out[k]
			o := &out[k]
			if o.InMemory && o.Place != l.place(f, r) {
				return nil // it would have to be copied
			}
			if !o.InMemory && kept[r] {
				p := l.place(f, r)
				for i, v := range o.Lanes {
					l.b.Store(o.Width, p, scalar.None, int64(i*o.Width), v)
				}
			}
		}
	}
	return l
}

// readOutside are the registers that something else than some steps reads.
func (t *tensorFunction) readOutside(first, end int) map[int32]bool {
	read := make(map[int32]bool)
	note := func(regs []int32) {
		for _, r := range regs {
			for read[r] = true; ; read[r] = true {
				from, ok := t.same[r]
				if !ok {
					break
				}
				r = from
			}
		}
	}
	note(t.results)
	for pc := range t.steps {
		if pc < first || pc >= end {
			note(t.steps[pc].in)
		}
	}
	return read
}

// fromMemory is a register that no linked step computes.
func (l *scalarLinker) fromMemory(f *scalarFrame, reg int32, o scalar.Operand) (scalar.Operand, bool) {
	if f.fn.regs[reg].Slot.Kind == SlotNone {
		return o, false
	}
	p := l.place(f, reg)
	if o.InMemory {
		o.Place = p
		return o, true
	}
	for k := range o.Lanes {
		o.Lanes[k] = l.b.Load(o.Width, p, scalar.None, int64(k*o.Width))
	}
	return o, true
}

// place is that of a register's memory.
func (l *scalarLinker) place(f *scalarFrame, reg int32) scalar.Place {
	slot := f.fn.regs[reg].Slot
	p, ok := f.memory[slot]
	if !ok {
		p = l.b.Place()
		f.memory[slot] = p
		l.steps.memory = append(l.steps.memory, scalarRegister{p, reg})
	}
	return p
}

// bindLinked is the call of a's program i, on the memory where a's registers are.
func (a *activation) bindLinked(i int) boundCall {
	s, l := a.fn.linked[i], &a.linked[i]
	for _, m := range s.memory {
		l.state.SetPlace(m.place, unsafe.Pointer(unsafe.SliceData(a.regs[m.reg].Data)))
	}
	return boundCall{pc: s.first, loop: l.run}
}
