package halo

import (
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels"
)

// workTracer finds the instructions of the kernels that have run.
type workTracer struct {
	program *runtime.Program
	module  hlo.Module
	work    func(in hlo.Instruction, w runtime.Work)

	mu     sync.Mutex
	starts map[hlo.CompID]hlo.Instruction
}

func newWorkTracer(p *runtime.Program, work func(hlo.Instruction, runtime.Work)) *workTracer {
	t := &workTracer{program: p, work: work, starts: map[hlo.CompID]hlo.Instruction{}}
	t.module, _ = kernels.Module(p)
	return t
}

// Work implements runtime.WorkTracer.
func (t *workTracer) Work(w runtime.Work) {
	in, ok := kernels.Instruction(t.program, w)
	if ok && w.Async {
		if start := t.start(in.Computation()); !start.IsZero() {
			in = start
		}
	}
	t.work(in, w)
}

// start is the start that wraps a computation of one instruction; zero for other computations.
func (t *workTracer) start(c hlo.Computation) hlo.Instruction {
	t.mu.Lock()
	defer t.mu.Unlock()
	start, known := t.starts[c.ID()]
	if known {
		return start
	}
	if c.NumInstructions() == c.NumParameters()+1 {
		for comp, id := range t.module.Callers(c.ID()) {
			if in := t.module.MustComputation(comp).MustAt(id); in.Opcode() == hlo.OpAsyncStart {
				start = in
				break
			}
		}
	}
	t.starts[c.ID()] = start
	return start
}

// Begin and End implement runtime.Tracer, for functions that are no part of HLO programs.
func (t *workTracer) Begin(int, string, string) {}

func (t *workTracer) End(int, string, string) {}
