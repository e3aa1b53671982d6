package runtime

import (
	"math/bits"
	"sync"
	"time"

	"github.com/gohalo/halo/runtime/bef"
)

// Work is one execution of a kernel of a tensor function.
type Work struct {
	Function string
	Kernel   string
	// Instr is what the kernel's first attribute says: in lowered programs the id of the instruction that it is, else -1.
	Instr int64
	// Replica and Partition are the device that ran it.
	Replica, Partition int
	// Worker numbers those that compute for this run at the same time, from 0.
	Worker int
	// Waits says that the kernel held no worker until its results were there.
	Waits bool
	// Async says that an asynchronous start began it.
	Async      bool
	Begin, End time.Time
}

// WorkTracer is a tracer that is called after each kernel. Begin and End are not called then, of kernels of tensor functions.
type WorkTracer interface {
	Tracer
	Work(w Work)
}

// workers numbers the goroutines that work for a run at the same time.
type workers struct {
	mu   sync.Mutex
	busy []uint64 // a bit for each number
}

func (w *workers) take() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, b := range w.busy {
		if free := bits.TrailingZeros64(^b); free < 64 {
			w.busy[i] |= 1 << free
			return 64*i + free
		}
	}
	w.busy = append(w.busy, 1)
	return 64 * (len(w.busy) - 1)
}

func (w *workers) release(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy[n/64] &^= 1 << (n % 64)
}

// work describes the step at pc of a, which began at a time.
func (f *fiber) work(a *activation, s *step, began time.Time) Work {
	run := f.run
	w := Work{Function: a.fn.fn.name, Instr: -1, Replica: run.ctx.Replica, Partition: run.ctx.Partition, Worker: f.worker, Async: f.op != nil, Begin: began}
	w.Kernel, _ = a.fn.kernelName(s)
	w.Instr = a.fn.fn.KernelInstr(int(s.kernel))
	return w
}

// KernelInstr returns the first attribute of kernel i of a function: in lowered programs the id of the instruction that it is, else -1. It is
// -1, too, for an i below 0, which stands for steps that only the plan knows of.
func (f *Function) KernelInstr(i int) int64 {
	if i < 0 {
		return -1
	}
	k := &f.def.Kernels[i]
	if len(k.Attrs) == 0 || k.Attrs[0].Type != bef.I64 {
		return -1
	}
	id, err := f.program.file.Attrs.Bits(k.Attrs[0].Offset, bef.I64)
	if err != nil {
		return -1
	}
	return int64(id)
}
