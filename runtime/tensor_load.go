package runtime

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gohalo/halo/runtime/async"
	"github.com/gohalo/halo/runtime/bef"
)

// Loading a tensor function:
//
//  1. its plan is checked against its body and the constants, register by register;
//  2. callees are loaded first (HLO has no recursion; a cycle is an error);
//  3. every kernel becomes a step: control kernels by name, all others through their binder;
//  4. sizes of instances are summed up and held against the limits.
//
// After it the driver indexes without looking.

// tensorLoader turns the functions of a buffer plan into tensorFunctions.
type tensorLoader struct {
	program *Program
	plans   map[int]*FunctionPlan
	done    map[tensorKey]*tensorFunction
	loading map[tensorKey]bool
	// isControl says which kernels of the file, by code, the driver does itself.
	isControl []bool
	errs      []error
}

// tensorKey names a variant of a function: see tensorFunction.lateFrom.
type tensorKey struct{ fn, lateFrom int }

func (l *tensorLoader) fail(fn *Function, loc bef.Location, kernel, format string, args ...any) error {
	st := async.Errorf(async.InvalidArgument, "function %q: "+format, append([]any{fn.name}, args...)...)
	return st.At(kernel, statusLocation(loc))
}

func (l *tensorLoader) load(key tensorKey) (*tensorFunction, error) {
	if t := l.done[key]; t != nil {
		return t, nil
	}
	fn := l.program.functions[key.fn]
	if l.loading[key] {
		return nil, l.fail(fn, fn.Location(), "", "calls itself")
	}
	plan := l.plans[key.fn]
	if plan == nil {
		return nil, l.fail(fn, fn.Location(), "", "is called by a tensor function but has no buffer plan")
	}
	l.loading[key] = true
	defer delete(l.loading, key)

	t := &tensorFunction{fn: fn, regs: plan.Registers, numArgs: len(fn.def.Args), frame: plan.FrameBytes, lateFrom: key.lateFrom, same: make(map[int32]int32)}
	t.results = registerList(fn.def.ResultRegs)
	if err := l.checkRegisters(t, plan); err != nil {
		return nil, err
	}
	if err := l.steps(t, plan); err != nil {
		return nil, err
	}
	if err := l.size(t); err != nil {
		return nil, err
	}
	l.done[key] = t
	return t, nil
}

// checkRegisters checks that every slot exists and has the register's size, and collects the slots of the caller.
func (l *tensorLoader) checkRegisters(t *tensorFunction, plan *FunctionPlan) error {
	fn, consts := t.fn, int64(len(l.program.consts))
	bad := func(format string, args ...any) error {
		return l.fail(fn, fn.Location(), "", "buffer plan: "+format, args...)
	}
	if len(t.regs) != len(fn.def.Registers) {
		return bad("%d registers, the function has %d", len(t.regs), len(fn.def.Registers))
	}
	if t.frame < 0 || t.frame > l.program.options.maxBytes() {
		return bad("frame of %d bytes, the limit is %d", t.frame, l.program.options.maxBytes())
	}
	t.argRegs = make([][]int32, t.numArgs)
	t.outRegs = make([][]int32, len(t.results))
	for i := range t.regs {
		r := &t.regs[i]
		n, err := checkedElements(r.Dims)
		if err != nil {
			return bad("register %d: %v", i, err)
		}
		switch {
		case r.Bytes < 0, n == 0 && r.Bytes != 0, n != 0 && r.Bytes%n != 0:
			return bad("register %d: %d bytes for %d elements", i, r.Bytes, n)
		case r.Slot.Kind == SlotNone && r.Bytes != 0:
			return bad("register %d: %d bytes but no slot", i, r.Bytes)
		}
		s := r.Slot
		if i < t.numArgs && s.Kind != SlotNone && s != ArgSlot(i) {
			return bad("register %d is argument %d but lives in %v", i, i, s)
		}
		switch s.Kind {
		case SlotNone:
			t.events = true
		case SlotArg:
			if s.Index < 0 || s.Index >= int64(t.numArgs) || r.Bytes != t.regs[s.Index].Bytes {
				return bad("register %d of %d bytes in %v", i, r.Bytes, s)
			}
			t.argRegs[s.Index] = append(t.argRegs[s.Index], int32(i))
		case SlotOut:
			if s.Index < 0 || s.Index >= int64(len(t.results)) || r.Bytes != t.regs[t.results[s.Index]].Bytes {
				return bad("register %d of %d bytes in %v", i, r.Bytes, s)
			}
			t.outRegs[s.Index] = append(t.outRegs[s.Index], int32(i))
		case SlotArena:
			if s.Index < 0 || s.Index%BufferAlign != 0 || s.Index > t.frame || r.Bytes > t.frame-s.Index {
				return bad("register %d of %d bytes in %v of a frame of %d", i, r.Bytes, s, t.frame)
			}
		case SlotConst:
			if s.Index < 0 || s.Index%ConstantAlign != 0 || s.Index > consts || r.Bytes > consts-s.Index {
				return bad("register %d of %d bytes in %v of %d bytes of constants", i, r.Bytes, s, consts)
			}
		default:
			return bad("register %d in %v", i, s)
		}
	}
	for i, r := range t.results {
		if t.regs[r].Slot != OutSlot(i) {
			t.copies = append(t.copies, resultCopy{i, r})
		}
	}
	return nil
}

// steps translates the kernels in their order, which must define every register before it is used.
func (l *tensorLoader) steps(t *tensorFunction, plan *FunctionPlan) error {
	def := t.fn.def
	defined := make([]bool, len(t.regs))
	for i := range t.numArgs {
		defined[i] = true
	}
	controls := plan.Controls
	late := lateArguments{t: t}
	segments, err := newSegmentLoader(t, plan.Segments, len(def.Kernels))
	if err != nil {
		return l.fail(t.fn, t.fn.Location(), "", "buffer plan: %w", err)
	}
	if segments != nil {
		segments.beforeReturn = func() { late.before(&step{in: t.results}) }
	}
	bound := l.bindAll(t)
	t.steps = make([]step, 0, len(def.Kernels)+1)
	writer := make([]int, len(t.regs)) // kernel of each register
	const anywhere = -1
	for i := range def.Kernels {
		segments.reach(i)
		k := &def.Kernels[i]
		name := l.program.file.Kernels[k.Code]
		bad := func(format string, args ...any) error {
			return l.fail(t.fn, l.program.file.Locations.At(k.Loc), name, "kernel %d: "+format, append([]any{i}, args...)...)
		}
		s := step{kernel: int32(i), site: -1, in: registerList(k.Args), out: registerList(k.Results)}
		for _, r := range s.in {
			if !defined[r] || int(r) >= t.numArgs && writer[r] != anywhere && !segments.sees(i, writer[r]) {
				return bad("reads register %d before it is written", r)
			}
		}
		for _, r := range s.out {
			defined[r], writer[r] = true, i
		}
		var control *Control
		if l.isControl[k.Code] && len(controls) > 0 && controls[0].Kernel == i {
			control, controls = &controls[0], controls[1:]
		}
		if name == kernelConstant {
			if err := checkConstant(t, &s); err != nil {
				return bad("%v", err)
			}
			for _, r := range s.out {
				writer[r] = anywhere
			}
			continue
		}
		late.segment(segments)
		late.before(&s)
		if !l.isControl[k.Code] {
			runs, err := l.bind(t, name, &bound[i], &s)
			if err != nil {
				l.errs = append(l.errs, err)
				continue
			}
			if !runs {
				continue
			}
		} else {
			kind := controlKernels[name]
			s.kind = kind
			if control == nil && kind != stepAsyncUpdate && kind != stepAsyncDone {
				return bad("the buffer plan has no entry for this control kernel")
			}
			s.control = control
			if err := l.control(t, k, &s); err != nil {
				var st *async.Status
				if errors.As(err, &st) && st.Location.IsKnown() {
					return err
				}
				return bad("%w", err)
			}
		}
		for i, r := range s.out {
			if kind := t.regs[r].Slot.Kind; (kind == SlotConst || kind == SlotArg) && !handsOn(t, &s, i) {
				return bad("writes register %d, which lives in %v", r, t.regs[r].Slot)
			}
		}
		t.steps = append(t.steps, s)
	}
	if len(controls) > 0 {
		return l.fail(t.fn, t.fn.Location(), "", "buffer plan: control entry for kernel %d, which is not a control kernel or is out of order", controls[0].Kernel)
	}
	for _, r := range t.results {
		if !defined[r] {
			return l.fail(t.fn, t.fn.Location(), "", "returns register %d, which nothing writes", r)
		}
	}
	if segments == nil {
		late.before(&step{in: t.results})
		t.steps = append(t.steps, step{kind: stepReturn, kernel: -1, site: -1})
	} else {
		segments.reach(len(def.Kernels))
		segments.finish()
		if l.program.host.queue.ParallelismLevel() == 1 && !t.events && !t.hasToWait() {
			t.straighten()
			segments = nil
		}
	}
	t.loader, t.waits = segments, t.hasToWait()
	if !t.returnsEvents() && segments == nil {
		t.runs = straightKernels(t.steps)
	}
	t.stretches = findStretches(t.steps)
	return nil
}

// returnsEvents reports whether the driver has to move events to the caller when t returns. Without kernels that make some, t may still
// hand on those that it was given.
func (t *tensorFunction) returnsEvents() bool {
	return slices.ContainsFunc(t.results, func(r int32) bool { return t.regs[r].Slot.Kind == SlotNone })
}

// handsOn reports whether result i of a step is the operand where it lies, untouched: a part of a loop's state that the
// body returns as it got it. Such a part may be read-only memory.
func handsOn(t *tensorFunction, s *step, i int) bool {
	if s.kind != stepWhile || t.regs[s.in[i]].Slot != t.regs[s.out[i]].Slot {
		return false
	}
	return s.callees[1].handsOn(i)
}

func registerList(regs []bef.RegID) []int32 {
	if len(regs) == 0 {
		return nil
	}
	list := make([]int32, len(regs))
	for i, r := range regs {
		list[i] = int32(r)
	}
	return list
}

func checkConstant(t *tensorFunction, s *step) error {
	if len(s.in) != 0 {
		return fmt.Errorf("a constant has %d operands", len(s.in))
	}
	for _, r := range s.out {
		if slot := t.regs[r].Slot; slot.Kind != SlotConst && t.regs[r].Bytes != 0 {
			return fmt.Errorf("constant register %d lives in %v", r, slot)
		}
	}
	return nil
}

// lateArguments inserts a wait before the first use of every argument that may be bound after the start.
type lateArguments struct {
	t     *tensorFunction
	known []bool
	of    int // segment
}

// segment forgets what has been waited for when another segment begins: the waits of one are not the other's.
func (a *lateArguments) segment(s *segmentLoader) {
	if s != nil && s.current != a.of {
		a.of, a.known = s.current, nil
	}
}

func (a *lateArguments) before(s *step) {
	t := a.t
	if t.lateFrom == 0 {
		return
	}
	if a.known == nil {
		a.known = make([]bool, t.numArgs)
		for i := range t.lateFrom - 1 {
			a.known[i] = true
		}
	}
	for _, r := range slices.Concat(s.in, s.out) {
		arg := int64(r)
		if slot := t.regs[r].Slot; slot.Kind == SlotArg {
			arg = slot.Index
		}
		if arg < int64(t.numArgs) && !a.known[arg] {
			a.known[arg] = true
			t.steps = append(t.steps, step{kind: stepAwaitArgument, kernel: -1, site: -1, argument: int32(arg)})
		}
	}
}
