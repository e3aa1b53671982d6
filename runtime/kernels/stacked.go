package kernels

import (
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// A fusion that ends in a stack of arrays is a loop over the dimensions of one of them, which computes all of them, each as an output that is a part of the fusion's result.

// stackedBuffers are those of a frame as a program sees them whose output i is part i of output 0.
type stackedBuffers struct {
	in    [][]byte
	out   []byte
	bytes int // of a part
	first int // the part that output 0 is
}

func (b *stackedBuffers) In(i int) []byte { return b.in[i] }

func (b *stackedBuffers) Out(i int) []byte {
	at := (b.first + i) * b.bytes
	return b.out[at : at+b.bytes]
}

var stackedPool = sync.Pool{New: func() any { return new(stackedBuffers) }}

// fusedStack serves fusions that end in a stack.
func fusedStack(s *site) (runtime.Bound, bool) {
	c, ok := s.m.Computation(s.in.Callee(0))
	if !ok || !analysis.IsStack(c.Root()) {
		return runtime.Bound{}, false
	}
	var parts []hlo.Instruction
	for o := range c.Root().Operands() {
		parts = append(parts, o)
	}
	p, ok := compileRoots(s.m, parts, arrayParameters)
	if !ok || p.Len() == 0 {
		return runtime.Bound{}, false
	}
	bytes, inputs := int(parts[0].Shape().ByteSize()), s.in.NumOperands()
	programs := []*tile.Program{p}
	if !p.Computes() { // each part by itself goes to its place without a tile in between
		programs = programs[:0]
		for i := range parts {
			one, ok := compileRoots(s.m, parts[i:i+1], arrayParameters)
			if !ok {
				return runtime.Bound{}, false
			}
			programs = append(programs, one)
		}
	}
	run := func(f *runtime.TensorFrame, lo, hi int) {
		b := stackedPool.Get().(*stackedBuffers)
		b.in, b.out, b.bytes = b.in[:0], f.Out(0).Data, bytes
		for i := range inputs {
			b.in = append(b.in, f.In(i).Data)
		}
		for b.first = range programs {
			programs[b.first].Run(lo, hi, b)
		}
		clear(b.in)
		b.out = nil
		stackedPool.Put(b)
	}
	bound := newParallelLoop(run).bound(p.Len(), p.Grain())
	if p.Len() <= p.Grain() {
		bound.Small, bound.Scratch = smallProgram(p)
		inParts(bound.Small, bytes)
		if later := laterProgram(p); later != nil {
			bound.Later = func() runtime.LaterCalls {
				l := later()
				inParts(l.Calls, bytes)
				return l
			}
		}
	}
	return bound, true
}

// inParts has calls write to parts of output 0 in place of outputs.
func inParts(calls []runtime.SmallCall, bytes int) {
	move := func(p *runtime.Place) {
		if p.Kind == runtime.InOutput {
			p.Index, p.Offset = 0, p.Offset+p.Index*bytes
		}
	}
	for i := range calls {
		c := &calls[i]
		for _, p := range [...]*runtime.Place{&c.D, &c.A, &c.B, &c.C} {
			move(p)
			for k := range p.Table {
				move(&p.Table[k])
			}
		}
	}
}

var _ tile.Buffers = (*stackedBuffers)(nil)
