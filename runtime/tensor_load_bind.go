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
				k.binding = t.binding(&step{kernel: int32(i), in: registerList(kernels[i].Args), out: registerList(kernels[i].Results)})
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
	if _, isControl := controlKernels[l.program.file.Kernels[k.Code]]; isControl {
		return nil
	}
	if e := l.program.resolved[k.Code]; e != nil {
		return e.tensor
	}
	return nil
}
