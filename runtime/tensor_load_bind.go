package runtime

import "github.com/gohalo/halo/runtime/bef"

// boundKernel is what the binder of a kernel has chosen.
type boundKernel struct {
	binding *Binding
	bound   Bound
	err     error
}

const (
	// bindersAlone is the number of kernels up to which one worker asks their binders: choosing an implementation takes some microseconds, and waking another
	// worker tens of them, before it finds the code of binders in none of its caches.
	bindersAlone = 64
	// bindersTogether is the number of kernels that a worker takes at once from more.
	bindersTogether = 8
)

// bindAll asks the binders of all kernels of a function, in any order: they know a kernel's operands by their types and places, not by
// what computes them. Kernels without a binder are left out.
func (l *tensorLoader) bindAll(t *tensorFunction) []boundKernel {
	kernels := t.fn.def.Kernels
	all := make([]boundKernel, len(kernels))
	bind := func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if e := l.binder(&kernels[i]); e != nil {
				k := &all[i]
				k.binding = t.binding(&kernels[i])
				k.bound, k.err = callBinder(e, k.binding)
			}
		}
	}
	grain := bindersTogether
	if len(kernels) <= bindersAlone {
		grain = len(kernels)
	}
	l.program.host.Queue().ParallelFor(len(kernels), grain, bind)
	return all
}

// binder is that of a kernel, or nil if it is none of a tensor function, or one that the driver does itself.
func (l *tensorLoader) binder(k *bef.Kernel) TensorBinder {
	if l.isControl[k.Code] {
		return nil
	}
	if e := l.program.resolved[k.Code]; e != nil {
		return e.tensor
	}
	return nil
}

// bind makes a step of what a kernel's binder has chosen. It reports false if there is nothing to run.
func (l *tensorLoader) bind(t *tensorFunction, name string, chosen *boundKernel, s *step) (bool, error) {
	k := &t.fn.def.Kernels[s.kernel]
	fail := func(format string, args ...any) error {
		return l.fail(t.fn, l.program.file.Locations.At(k.Loc), name, format, args...)
	}
	e := l.program.resolved[k.Code]
	if e == nil || e.tensor == nil {
		if e == nil {
			l.program.unknown.add(name, l.program.file.Locations.At(k.Loc))
			return false, nil
		}
		return false, fail("kernel is not for tensor functions")
	}
	bound := &chosen.bound
	switch {
	case chosen.err != nil:
		return false, fail("%w", chosen.err)
	case bound.Scratch < 0 || bound.Scratch > l.program.options.maxBytes():
		return false, fail("kernel asks for %d bytes of scratch", bound.Scratch)
	}
	s.scratch, s.evaluated = bound.Scratch, bound.Evaluated
	switch {
	case bound.Run != nil:
		s.kind, s.run, s.small, s.code, s.differs = stepKernel, bound.Run, bound.Small, bound.Code, bound.CodeDiffers
		s.later, s.prepare = bound.Later, bound.Prepare
	case bound.RunAsync != nil:
		s.kind, s.runAsync = stepAsyncKernel, bound.RunAsync
	default:
		if chosen.binding.InPlace(0, 0) {
			t.same[s.out[0]] = s.in[0]
		}
		return false, nil
	}
	return true, nil
}

// binding describes a kernel of t.
func (t *tensorFunction) binding(k *bef.Kernel) *Binding {
	p := t.fn.program
	b := &Binding{Kernel: p.file.Kernels[k.Code], Location: p.file.Locations.At(k.Loc), attrs: k.Attrs, pool: &p.file.Attrs, consts: p.consts, module: p.module}
	n := len(k.Args)
	types, slots := make([]TensorType, n+len(k.Results)), make([]Slot, n+len(k.Results))
	for i := range types {
		var r bef.RegID
		if i < n {
			r = k.Args[i]
		} else {
			r = k.Results[i-n]
		}
		types[i], slots[i] = t.regs[r].tensorType(), t.regs[r].Slot
	}
	b.In, b.inSlots, b.Out, b.outSlots = types[:n:n], slots[:n:n], types[n:], slots[n:]
	return b
}

func callBinder(bind TensorBinder, b *Binding) (bound Bound, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicStatus(r)
		}
	}()
	return bind(b)
}
