package runtime

import (
	"math"
	"sync"
	"unsafe"

	"github.com/gohalo/halo/runtime/scalar"
)

// A loop whose condition and body do nothing but arithmetic on a few numbers, reading and writing elements of arrays, is one program of
// package scalar: its kernels, and the functions, loops and branches in it, write what they do into the same program. Values of a few
// elements never are in memory then, but for the loop's state before and after it.

// scalarLoop is a loop as a program.
type scalarLoop struct {
	builder *scalar.Builder // until the program is built
	once    sync.Once
	built   *scalar.Program
	weight  int            // see [scalar.Builder.Weight]
	state   []scalar.Place // of the leaves of the state, or -1
	consts  []scalarConst
}

// program is the loop as code, or nil if it is too large. It is built when it is first needed: a loop within another one's program is executed by itself
// only where somebody calls its function alone, or where the other one is not a program after all.
func (l *scalarLoop) program() *scalar.Program {
	l.once.Do(func() {
		l.built, _ = l.builder.Build()
		l.builder = nil
	})
	return l.built
}

// buildLoops builds the programs of the loops that executions of functions begin which no other function calls.
func (l *tensorLoader) buildLoops() {
	called, seen := make(map[*tensorFunction]bool), make(map[*tensorFunction]bool)
	for _, t := range l.done {
		for i := range t.steps {
			for _, c := range t.steps[i].callees {
				called[c] = true
			}
		}
	}
	for _, t := range l.done {
		if !called[t] {
			t.buildLoops(seen)
		}
	}
}

// buildLoops builds the programs of the loops that an execution of t begins.
func (t *tensorFunction) buildLoops(seen map[*tensorFunction]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	for i := range t.steps {
		s := &t.steps[i]
		if s.scalar != nil {
			if s.scalar.program() != nil {
				continue
			}
			s.scalar = nil
		}
		for _, c := range s.callees {
			c.buildLoops(seen)
		}
	}
}

// scalarConst is an array among the program's constants.
type scalarConst struct {
	place scalar.Place
	data  []byte
}

// scalarLoop runs a loop, whose initial state is in place, to its end.
func (f *fiber) scalarLoop(a *activation, s *step) outcome {
	loop, site := s.scalar, &a.sites[s.site]
	program := loop.program()
	if site.scalar == nil {
		site.scalar = program.NewState()
		for _, c := range loop.consts {
			site.scalar.SetPlace(c.place, unsafe.Pointer(&c.data[0]))
		}
	}
	for i, p := range loop.state {
		if p >= 0 {
			site.scalar.SetPlace(p, unsafe.Pointer(&a.regs[s.out[i]].Data[0]))
		}
	}
	site.scalar.Begin()
	for done := false; !done; done = program.Run(site.scalar) {
		if f.run.cancelled.Load() {
			return ended
		}
		if f.breaks() {
			f.run.markUnfinished(a, s.out)
			break
		}
	}
	for _, p := range loop.state { // the memory is the caller's
		if p >= 0 {
			site.scalar.SetPlace(p, nil)
		}
	}
	return a.finishLoop()
}

// newScalarLoop links a loop's functions to one program, or returns nil. Arrays of more than a few elements are in registers only where the
// loop is no program otherwise, and only if that pays.
func newScalarLoop(t *tensorFunction, s *step) *scalarLoop {
	if t.events || !s.callees[0].hasCode() || !s.callees[1].hasCode() {
		return nil
	}
	if l := linkLoop(t, s, scalar.FewLanes, math.MaxInt); l != nil || !s.hasLongRows() {
		return l
	}
	most := s.weight()
	if atOnce.Load() {
		most = math.MaxInt
	}
	return linkLoop(t, s, scalar.MostLanes, most)
}

// hasLongRows reports whether arrays in the functions of a step are in registers only if a linker is for most lanes.
func (s *step) hasLongRows() bool {
	for _, c := range s.callees {
		for i := range c.regs {
			if n := numElements(c.regs[i].Dims); n > scalar.FewLanes && n <= scalar.MostLanes {
				return true
			}
		}
		for i := range c.steps {
			if c.steps[i].hasLongRows() {
				return true
			}
		}
	}
	return false
}

// weight is about how many values of a program take as long as a step, with the loops in it as [scalar.Builder.Weight] has them.
func (s *step) weight() int {
	if s.kind == stepWhile && s.scalar != nil {
		return s.scalar.weight
	}
	w := callsOfKernel
	if s.small != nil {
		w = len(s.small)
	}
	if s.later != nil {
		w = min(w, callsOfLater)
	}
	w *= valuesOfCall
	for _, c := range s.callees {
		inner := 0
		for i := range c.steps {
			inner += c.steps[i].weight()
		}
		if s.kind == stepWhile {
			inner *= scalar.RoundsOfLoop
		}
		w += inner
	}
	return w
}

// linkLoop links a loop's functions to one program with arrays of up to so many elements in registers, or returns nil, also if the program would be too large, or weigh
// more than most.
func linkLoop(t *tensorFunction, s *step, lanes, most int) *scalarLoop {
	l := newScalarLinker(lanes)
	state := make([]scalar.Operand, len(s.out))
	for i, r := range s.out {
		state[i] = l.empty(&t.regs[r])
		if t.regs[r].Bytes == 0 {
			l.loop.state = append(l.loop.state, -1)
			continue
		}
		p := l.b.Place()
		l.loop.state = append(l.loop.state, p)
		state[i].Place = p
		for k := range state[i].Lanes {
			state[i].Lanes[k] = l.b.Load(state[i].Width, p, scalar.None, int64(k*state[i].Width))
		}
	}
	last, ok := l.while(s, state)
	if !ok {
		return nil
	}
	for i, o := range last {
		for k, v := range o.Lanes {
			if v != state[i].Lanes[k] {
				l.b.Store(o.Width, l.loop.state[i], scalar.None, int64(k*o.Width), v)
			}
		}
	}
	if l.loop.weight = l.b.Weight(); l.b.Failed() || l.loop.weight > most {
		return nil
	}
	l.loop.builder = l.b
	return l.loop
}

// hasCode reports whether every kernel of a function, and of those it calls, can be part of a program over scalars.
func (t *tensorFunction) hasCode() bool {
	if t.events || t.lateFrom > 0 {
		return false
	}
	for i := range t.steps {
		s := &t.steps[i]
		switch s.kind {
		case stepKernel:
			if s.code == nil {
				return false
			}
		case stepCall, stepWhile, stepConditional:
			for _, c := range s.callees {
				if !c.hasCode() {
					return false
				}
			}
		case stepReturn:
		default:
			return false
		}
	}
	return true
}
