package runtime

import (
	"slices"
	"unsafe"

	"github.com/gohalo/halo/runtime/scalar"
)

// scalarLinker lets the kernels of some functions write one program. An array is its elements' values, if it is small, or a place in
// memory. Where the plan puts small arrays does not matter: a register of a function is what its kernel computes. Large arrays are never
// made, only handed on, read, and written in place.
type scalarLinker struct {
	b      *scalar.Builder
	consts map[*byte]scalar.Place
	loop   *scalarLoop
	steps  *scalarSteps // or nil
}

// scalarFrame is one use of a function.
type scalarFrame struct {
	fn     *tensorFunction
	values map[int32]scalar.Operand // of registers
	outs   []scalar.Operand         // where large results go
	memory map[Slot]scalar.Place    // if the function is linked in part, where its registers are
}

// newScalarLinker is a linker for arrays of up to so many elements in registers.
func newScalarLinker(lanes int) *scalarLinker {
	l := &scalarLinker{b: scalar.NewBuilder(), consts: make(map[*byte]scalar.Place), loop: &scalarLoop{}}
	l.b.Lanes = lanes
	return l
}

// empty is an array of a register's type, without contents.
func (l *scalarLinker) empty(r *Register) scalar.Operand {
	return l.b.Empty(int(numElements(r.Dims)), int(r.Bytes))
}

// value is what a register holds.
func (l *scalarLinker) value(f *scalarFrame, reg int32) (scalar.Operand, bool) {
	if o, ok := f.values[reg]; ok {
		return o, true
	}
	r := &f.fn.regs[reg]
	o := l.empty(r)
	switch from, ok := f.fn.same[reg]; {
	case r.Bytes == 0:
	case ok:
		v, ok := l.value(f, from)
		if !ok || v.InMemory != o.InMemory || !v.InMemory && v.Width != o.Width {
			return o, false
		}
		o.Lanes, o.Place = v.Lanes, v.Place
	case r.Slot.Kind == SlotConst:
		data := f.fn.fn.program.consts[r.Slot.Index : r.Slot.Index+r.Bytes]
		for k := range o.Lanes {
			o.Lanes[k] = l.b.ConstBytes(data[k*o.Width : (k+1)*o.Width])
		}
		if o.InMemory {
			o.Place = l.constant(data)
		}
	case f.memory != nil:
		if o, ok = l.fromMemory(f, reg, o); !ok {
			return o, false
		}
	default:
		return o, false
	}
	f.values[reg] = o
	return o, true
}

func (l *scalarLinker) constant(data []byte) scalar.Place {
	at := unsafe.SliceData(data)
	p, ok := l.consts[at]
	if !ok {
		p = l.b.Place()
		l.consts[at] = p
		l.loop.consts = append(l.loop.consts, scalarConst{p, data})
	}
	return p
}

func (l *scalarLinker) all(f *scalarFrame, regs []int32) ([]scalar.Operand, bool) {
	list := make([]scalar.Operand, len(regs))
	for i, r := range regs {
		var ok bool
		if list[i], ok = l.value(f, r); !ok {
			return nil, false
		}
	}
	return list, true
}

// target is where a register that a step writes goes: a large one has to be where the plan has put another large one.
func (l *scalarLinker) target(f *scalarFrame, reg int32) scalar.Operand {
	r := &f.fn.regs[reg]
	o := l.empty(r)
	if !o.InMemory {
		return o
	}
	switch {
	case f.memory != nil:
		o.Place = l.place(f, reg)
	case r.Slot.Kind == SlotArg:
		o.Place = f.values[int32(r.Slot.Index)].Place
	case r.Slot.Kind == SlotOut:
		o.Place = f.outs[r.Slot.Index].Place
	}
	return o
}

func (l *scalarLinker) targets(f *scalarFrame, regs []int32) []scalar.Operand {
	list := make([]scalar.Operand, len(regs))
	for i, r := range regs {
		list[i] = l.target(f, r)
	}
	return list
}

// function links the steps of fn and returns its results.
func (l *scalarLinker) function(fn *tensorFunction, args, outs []scalar.Operand) ([]scalar.Operand, bool) {
	f := &scalarFrame{fn: fn, values: make(map[int32]scalar.Operand, len(fn.regs)), outs: outs}
	for i, a := range args {
		f.values[int32(i)] = a
	}
	for i := range fn.steps {
		s := &fn.steps[i]
		if s.kind == stepReturn {
			break
		}
		in, ok := l.all(f, s.in)
		if !ok || l.b.Failed() {
			return nil, false
		}
		out := l.targets(f, s.out)
		if out, ok = l.step(s, in, out); !ok {
			return nil, false
		}
		for k, r := range s.out {
			f.values[r] = out[k]
		}
	}
	return l.all(f, fn.results)
}

// step links a step whose results go to out.
func (l *scalarLinker) step(s *step, in, out []scalar.Operand) ([]scalar.Operand, bool) {
	switch s.kind {
	case stepKernel:
		return out, s.code(&scalar.Site{Builder: l.b, In: in, Out: out})
	case stepCall:
		return l.call(s.callees[0], in, out)
	case stepConditional:
		return l.conditional(s, in, out)
	case stepWhile:
		return l.nested(s, in, out)
	}
	return nil, false
}

// call links a function that leaves its large results where the caller wants them: none may have to be copied there.
func (l *scalarLinker) call(fn *tensorFunction, in, out []scalar.Operand) ([]scalar.Operand, bool) {
	results, ok := l.function(fn, in, out)
	for k, o := range results {
		ok = ok && (!o.InMemory || o.Place == out[k].Place)
	}
	return results, ok
}

// nested links a loop within the program. What it begins with has to lie in the state's place, or to be constant.
func (l *scalarLinker) nested(s *step, in, out []scalar.Operand) ([]scalar.Operand, bool) {
	for i := range in {
		if in[i].InMemory && in[i].Place != out[i].Place && !(l.isConstant(in[i].Place) && s.callees[1].returnsArg(i)) {
			return nil, false
		}
	}
	return l.while(s, in)
}

func (l *scalarLinker) isConstant(p scalar.Place) bool {
	return slices.ContainsFunc(l.loop.consts, func(c scalarConst) bool { return c.place == p })
}

// returnsArg reports whether result i of a function is argument i.
func (t *tensorFunction) returnsArg(i int) bool {
	r := t.results[i]
	for r != int32(i) {
		from, ok := t.same[r]
		if !ok {
			return false
		}
		r = from
	}
	return true
}

// while links a loop on a state that begins with init, and returns the last one.
func (l *scalarLinker) while(s *step, init []scalar.Operand) ([]scalar.Operand, bool) {
	cond, body := s.callees[0], s.callees[1]
	var first []scalar.Value
	for i, o := range init {
		if !body.returnsArg(i) {
			first = append(first, o.Lanes...)
		}
	}
	state := func(vars []scalar.Value) []scalar.Operand {
		now := make([]scalar.Operand, len(init))
		for i, o := range init {
			now[i] = o
			if n := len(o.Lanes); n > 0 && !body.returnsArg(i) {
				now[i].Lanes, vars = vars[:n:n], vars[n:]
			}
		}
		return now
	}
	fine := true
	last := l.b.While(first, func(vars []scalar.Value) scalar.Value {
		r, ok := l.function(cond, state(vars), make([]scalar.Operand, 1))
		if fine = fine && ok && len(r[0].Lanes) == 1; !fine {
			return l.b.Const(1, 0)
		}
		return r[0].Lanes[0]
	}, func(vars []scalar.Value) []scalar.Value {
		now := state(vars)
		r, ok := l.function(body, now, now)
		if fine = fine && ok; !fine {
			return vars
		}
		var next []scalar.Value
		for i, o := range r {
			if o.InMemory && o.Place != now[i].Place {
				fine = false
			}
			if !body.returnsArg(i) {
				next = append(next, o.Lanes...)
			}
		}
		return next
	})
	return state(last), fine
}

// conditional links the branches, of which the last one is for all that is out of range; a predicate's first is for true.
func (l *scalarLinker) conditional(s *step, in, out []scalar.Operand) ([]scalar.Operand, bool) {
	if len(in[0].Lanes) != 1 {
		return nil, false
	}
	selector := in[0].Lanes[0]
	var widths []int
	for _, o := range out {
		for range o.Lanes {
			widths = append(widths, o.Width)
		}
	}
	fine := true
	var from func(i, at int) []scalar.Value
	side := func(i, at int) []scalar.Value {
		r, ok := l.call(s.callees[i], in[at:at+s.control.Counts[i]], out)
		if fine = fine && ok; !fine {
			return make([]scalar.Value, len(widths))
		}
		var gives []scalar.Value
		for _, o := range r {
			gives = append(gives, o.Lanes...)
		}
		return gives
	}
	from = func(i, at int) []scalar.Value {
		if i == len(s.callees)-1 {
			return side(i, at)
		}
		test := selector
		if in[0].Width != 1 {
			test, _ = l.b.Named(scalar.Name{Op: "eq", Type: scalar.S32}, selector, l.b.Const(4, uint64(i)))
		}
		return l.b.If(test, widths, func() []scalar.Value { return side(i, at) },
			func() []scalar.Value { return from(i+1, at+s.control.Counts[i]) })
	}
	values := from(0, 1)
	for k := range out {
		n := len(out[k].Lanes)
		out[k].Lanes, values = values[:n:n], values[n:]
	}
	return out, fine
}
