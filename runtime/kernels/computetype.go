package kernels

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// convertedIO are the operands and the result of a kernel that computes in type t: where they are of another type they are converted to and
// from scratch memory.
type convertedIO struct {
	t       hlo.PrimitiveType
	in      []place
	out     place
	scratch scratchPlan

	inConv  []*conversion
	outConv *conversion
}

// plan looks at the array operands and the array result of a site.
func (e *convertedIO) plan(s *site) bool { return e.planFirst(s, s.in.NumOperands()) }

// planFirst is plan for the first n operands only; others stay as they are.
func (e *convertedIO) planFirst(s *site, n int) bool {
	size := int64(e.t.ByteSize())
	for i := range n {
		at := place{kind: inInput, index: i}
		if from := s.shape(i).Type(); from != e.t {
			n := s.shape(i).NumElements()
			to := place{kind: inScratch, section: e.scratch.take(n * size)}
			c, ok := newConversion(at, to, from, e.t, n)
			if !ok {
				return false
			}
			e.inConv = append(e.inConv, c)
			at = to
		}
		e.in = append(e.in, at)
	}
	return e.planResult(s)
}

// planResult is the part of plan about the result.
func (e *convertedIO) planResult(s *site) bool {
	size := int64(e.t.ByteSize())
	e.out = place{kind: inOutput}
	if to := s.in.Shape().Type(); to != e.t {
		n := s.in.Shape().NumElements()
		from := place{kind: inScratch, section: e.scratch.take(n * size)}
		c, ok := newConversion(from, e.out, e.t, to, n)
		if !ok {
			return false
		}
		e.outConv, e.out = c, from
	}
	return true
}

func (e *convertedIO) before(f *runtime.TensorFrame) {
	for _, c := range e.inConv {
		c.run(f)
	}
}

func (e *convertedIO) after(f *runtime.TensorFrame) { e.outConv.run(f) }
