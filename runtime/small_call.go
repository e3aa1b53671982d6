package runtime

import "unsafe"

// A kernel on a few hundred elements or less costs less than the way to it: its frame, its slices and their bounds. Such a kernel can say what it
// does as a list of calls of inner loops. Where the driver runs the same kernels on the same memory again and again, as in the body
// of a loop, it looks up the addresses once and makes nothing but these calls.

// Loop is an inner loop: n elements at d are computed from those at a, b and c. Operands that it has no use for are not touched. It cannot
// fail, and does not keep the pointers.
type Loop func(n int, d, a, b, c unsafe.Pointer)

// SmallCall is one call of a loop.
type SmallCall struct {
	Loop       Loop
	N          int
	D, A, B, C Place
}

// Place is an address in the frame of a call. The zero Place is none.
type Place struct {
	Kind   PlaceKind
	Index  int     // of the input or output
	Offset int     // in bytes
	Const  []byte  // of InConst
	Table  []Place // of InTable: there are their addresses, one behind the other
}

// PlaceKind says what a Place is relative to.
type PlaceKind uint8

const (
	Nowhere PlaceKind = iota
	InInput
	InOutput
	InScratch
	InConst
	InRoom  // of [LaterCalls]
	InTable // only there
)

func (p *Place) in(f *TensorFrame) unsafe.Pointer {
	var data []byte
	switch p.Kind {
	case Nowhere:
		return nil
	case InInput:
		data = f.in[p.Index].Data
	case InOutput:
		data = f.out[p.Index].Data
	case InScratch:
		data = f.scratch
	case InConst:
		data = p.Const
	}
	return unsafe.Pointer(&data[p.Offset])
}

// RunSmall makes the calls on a frame. It is for tests and for calling a kernel by hand.
func RunSmall(calls []SmallCall, f *TensorFrame) {
	for i := range calls {
		c := &calls[i]
		c.Loop(c.N, c.D.in(f), c.A.in(f), c.B.in(f), c.C.in(f))
	}
}

// stretch is a series of plain kernels of which some have small calls or can be linked, or nothing in front of a step that does not plainly run but
// can be linked.
type stretch struct {
	first, end int // steps
}

// boundStretch is a stretch as an activation runs it: linked steps may begin in it that end behind it.
type boundStretch struct {
	calls []boundCall
	end   int
}

// boundCall is a call of a loop, or of a kernel that has none.
type boundCall struct {
	loop       Loop
	n          int
	d, a, b, c unsafe.Pointer
	pc         int
}

// findStretches numbers the stretches among steps.
func findStretches(steps []step) []stretch {
	var found []stretch
	for i := 0; i < len(steps); {
		if steps[i].kind != stepKernel {
			if steps[i].canLink() {
				found = append(found, stretch{i, i})
				steps[i].stretch = len(found)
			}
			i++
			continue
		}
		first, small := i, false
		for ; steps[i].kind == stepKernel; i++ { // a return ends every function
			small = small || steps[i].small != nil || steps[i].later != nil || steps[i].canLink()
		}
		if small {
			found = append(found, stretch{first, i})
			steps[first].stretch = len(found)
		}
	}
	return found
}

// bindStretches finds out where the loops of a's stretches work, if that has changed.
func (a *activation) bindStretches() {
	if !a.moved {
		return
	}
	a.moved = false
	if a.stretches == nil {
		a.stretches = make([]boundStretch, len(a.fn.stretches))
	}
	next, later, pc := 0, 0, 0 // of a.linked and a.later, and behind the last stretch
	for i, s := range a.fn.stretches {
		calls := a.stretches[i].calls[:0]
		if s.first < pc {
			continue // in another one
		}
		for pc = s.first; ; pc++ {
			if next < len(a.linked) && a.fn.linked[next].first == pc {
				calls = append(calls, a.bindLinked(next))
				pc = a.fn.linked[next].end - 1
				next++
				continue
			}
			if a.fn.steps[pc].kind != stepKernel { // the return at the latest
				break
			}
			for later < len(a.later) && a.fn.later[later].pc < pc {
				later++
			}
			if later < len(a.later) && a.fn.later[later].pc == pc {
				calls = a.later[later].bind(calls, &a.fn.later[later], &a.frames[pc])
				continue
			}
			small := a.fn.steps[pc].small
			if small == nil {
				calls = append(calls, boundCall{pc: pc})
			}
			f := &a.frames[pc]
			for k := range small {
				c := &small[k]
				calls = append(calls, boundCall{loop: c.Loop, n: c.N, d: c.D.in(f), a: c.A.in(f), b: c.B.in(f), c: c.C.in(f), pc: pc})
			}
		}
		a.stretches[i] = boundStretch{calls, pc}
	}
	a.moves = a.moves[:0]
	for _, c := range a.fn.copies {
		if src, dst := a.regs[c.reg].Data, a.outs[c.result]; len(src) > 0 && !sameMemory(src, dst) {
			a.moves = append(a.moves, boundCall{loop: CopyLoop(len(src)), n: len(src), d: unsafe.Pointer(&dst[0]), a: unsafe.Pointer(&src[0])})
		}
	}
}

// finish is copyResults for a function whose stretches are bound.
func (a *activation) finish() {
	for i := range a.moves {
		c := &a.moves[i]
		c.loop(c.n, c.d, c.a, nil, nil)
	}
}

// stretch runs stretch i of a, which is bound. It reports false if the run has failed; a.pc is then the place.
func (f *fiber) stretch(a *activation, i int) bool {
	if a.rounds < linkAfter {
		a.countRuns()
	}
	stop := &f.run.stop
	a.pc = a.fn.stretches[i].first
	if stop.Load() != nil {
		return false
	}
	calls := a.stretches[i].calls
	for i := range calls {
		c := &calls[i]
		if c.loop != nil {
			c.loop(c.n, c.d, c.a, c.b, c.c)
			continue
		}
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
	return true
}

// CopyLoop is a loop that moves so many bytes from a to d; it is called with that number. They are not aligned as numbers of that size
// need be.
func CopyLoop(bytes int) Loop {
	switch bytes {
	case 1:
		return copyOne[[1]byte]
	case 4:
		return copyOne[[4]byte]
	case 8:
		return copyOne[[8]byte]
	case 12:
		return copyOne[[12]byte]
	case 16:
		return copyOne[[16]byte]
	}
	return copyMany
}

func copyOne[T any](_ int, d, a, _, _ unsafe.Pointer) { *(*T)(d) = *(*T)(a) }

func copyMany(n int, d, a, _, _ unsafe.Pointer) {
	copy(unsafe.Slice((*byte)(d), n), unsafe.Slice((*byte)(a), n))
}
