package kernels

import (
	"slices"
	"sync"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// rowPasses runs a fusion of reductions along rows and of what is computed from their results for each element: a softmax or a normalisation. A few rows
// at a time, which stay in a cache near the processor, are passed over as often as reductions follow from each other:
//
// 1. What belongs to each row, as its mean, is computed from the reductions of the passes before.
// 2. All elements of the rows that follow from that are computed. They are folded, or stored if they are results.
//
// What is expensive and needed in a later pass again is kept where a result will be, if there is one of its type; all else is computed again.
type rowPasses struct {
	rows, block int
	passes      []rowPass
	inputs      int
	outputs     int
	held        []section // of each row's values, as registers hold them
	kept        []int     // outputs that are read
	buffers     sync.Pool
	loop        *parallelLoop
}

// rowPass computes values of rows, and then elements; either may be nil.
type rowPass struct{ values, elements *tile.Program }

// rowBytes is what the rows of a block take of the nearest caches.
const rowBytes = 1 << 18

// fusedRows serves fusions whose body is reductions along the rows of one space, and ops on its elements and on its rows.
func fusedRows(s *site) (runtime.Bound, bool) {
	c, ok := s.m.Computation(s.in.Callee(0))
	if !ok {
		return runtime.Bound{}, false
	}
	p, ok := newRowPlanner(s, c)
	if !ok {
		return runtime.Bound{}, false
	}
	r := &rowPasses{rows: p.rows, inputs: len(s.b.In), outputs: len(s.b.Out)}
	if !p.plan(r) {
		return runtime.Bound{}, false
	}
	var scratch scratchPlan
	for range p.held {
		r.held = append(r.held, scratch.take(int64(8*p.rows)))
	}
	bytes, weight := 0, 1
	for _, in := range append(slices.Clone(s.b.In), s.b.Out...) {
		bytes += int(in.Bytes) / p.rows
	}
	for _, pass := range r.passes {
		if pass.elements != nil {
			weight += pass.elements.Weight()
		}
	}
	r.block = max(1, rowBytes/(1+bytes))
	r.buffers.New = func() any { return &rowBuffers{r: r} }
	r.loop = newParallelLoop(r.run)
	grain := max(1, (1<<17)/(weight*p.run))
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		r.loop.run(f, r.rows, grain)
		return nil
	}, Scratch: scratch.size}, true
}

// run computes rows [lo, hi).
func (r *rowPasses) run(f *runtime.TensorFrame, lo, hi int) {
	b := r.buffers.Get().(*rowBuffers)
	b.f = f //halo:allow framecapture it is forgotten below
	for ; lo < hi; lo += r.block {
		end := min(lo+r.block, hi)
		for i := range r.passes {
			p := &r.passes[i]
			if p.values != nil {
				p.values.Run(lo, end, b)
			}
			if p.elements != nil {
				p.elements.RunRows(lo, end, b)
			}
		}
	}
	b.f = nil
	r.buffers.Put(b)
}

// rowBuffers is a frame as the programs of a [rowPasses] see it: behind the inputs, and behind the outputs, are what is held of rows; and behind the former then
// the outputs that are read.
type rowBuffers struct {
	r *rowPasses
	f *runtime.TensorFrame
}

func (b *rowBuffers) In(i int) []byte {
	switch r := b.r; {
	case i < r.inputs:
		return b.f.In(i).Data
	case i < r.inputs+len(r.held):
		return r.held[i-r.inputs].of(b.f)
	default:
		return b.f.Out(r.kept[i-r.inputs-len(r.held)]).Data
	}
}

func (b *rowBuffers) Out(i int) []byte {
	if i < b.r.outputs {
		return b.f.Out(i).Data
	}
	return b.r.held[i-b.r.outputs].of(b.f)
}
