package kernels

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// Collectives that reduce fold what the members bring in the order of their ranks, element by element, in the element type of the operand: the
// bits do not depend on how many threads or processes share the work.

// deviceFold folds arrays of devices into one.
type deviceFold struct {
	program *tile.Program // of the reducer, over foldBlock lanes
	slow    *eval.Prepared
}

// foldBlock is how many elements are folded at a time: they stay in the nearest cache.
const foldBlock = 2048

func newDeviceFold(s *site) (*deviceFold, error) {
	c, ok := s.m.Computation(s.in.Callee(0))
	if !ok {
		return nil, fmt.Errorf("there is no reducer")
	}
	if c.NumParameters() == 2 && c.Parameter(0).Shape().Type() == c.Root().Shape().Type() && hasType(s, c.Root().Shape().Type()) {
		if p, ok := compileLanes(s.m, c, foldBlock); ok {
			return &deviceFold{program: p}, nil
		}
	}
	return &deviceFold{slow: eval.Prepare(s.m, s.in)}, nil
}

// hasType reports whether all operands are of a type.
func hasType(s *site, t hlo.PrimitiveType) bool {
	for i := range s.in.NumOperands() {
		if s.shape(i).Type() != t {
			return false
		}
	}
	return true
}

// foldBuffers is a block of the accumulator and of what is folded into it, as a program sees them.
type foldBuffers struct{ acc, x, out []byte }

func (b *foldBuffers) In(i int) []byte { return [...][]byte{b.acc, b.x}[i] }
func (b *foldBuffers) Out(int) []byte  { return b.out }

// into folds arrays of elements of a type, one of each member, into out.
func (d *deviceFold) into(out []byte, of hlo.PrimitiveType, x [][]byte, f *runtime.TensorFrame) error {
	if d.slow != nil {
		return d.slowly(out, of, x, f)
	}
	width := of.ByteSize()
	n := len(out) / width
	// The last step writes to the result, unless that is the memory of an operand: the reducer may read there what it has written.
	apart := !slices.ContainsFunc(x, func(b []byte) bool { return unsafe.SliceData(b) == unsafe.SliceData(out) })
	f.ParallelFor((n+foldBlock-1)/foldBlock, 8, func(lo, hi int) {
		var memory [2][]byte
		for b := lo; b < hi; b++ {
			from, to := b*foldBlock*width, min(n, (b+1)*foldBlock)*width
			acc := x[0][from:to]
			for rank := 1; rank < len(x); rank++ {
				w := foldBuffers{acc: acc, x: x[rank][from:to]}
				if m := &memory[rank%2]; apart && rank == len(x)-1 {
					w.out = out[from:to]
				} else {
					if *m == nil {
						*m = make([]byte, foldBlock*width)
					}
					w.out = (*m)[:to-from]
				}
				d.program.Run(0, (to-from)/width, &w)
				acc = w.out
			}
			if !apart || len(x) == 1 {
				copy(out[from:to], acc)
			}
		}
	})
	return nil
}

// slowly folds with the evaluator.
func (d *deviceFold) slowly(out []byte, of hlo.PrimitiveType, x [][]byte, f *runtime.TensorFrame) error {
	flat := hlo.MakeShape(of, int64(len(out)/of.ByteSize()))
	brought := make([][]*hlo.Literal, len(x))
	for rank := range x {
		l, err := hlo.NewLiteral(flat, x[rank])
		if err != nil {
			return err
		}
		brought[rank] = []*hlo.Literal{l}
	}
	all, err := d.slow.Fold(f.Ctx().Context(), deviceOf(f), brought, 0)
	if err != nil {
		return err
	}
	copy(out, all.Bytes())
	return nil
}

func allReduce(s *site) (*collective, error) {
	d, err := newDeviceFold(s)
	if err != nil {
		return nil, err
	}
	n := s.in.Shape().NumLeaves()
	of := func(i int) hlo.PrimitiveType { return s.shape(i).Type() }
	return &collective{
		common: true,
		visit: func(t *gathering, _ int, f *runtime.TensorFrame) error {
			for i := range n {
				x := make([][]byte, len(t.group))
				for rank := range x {
					x[rank] = t.operand(rank, i).Bytes()
				}
				if err := d.into(f.Out(i).Data, of(i), x, f); err != nil {
					return err
				}
			}
			return nil
		},
		fold: func(f *runtime.TensorFrame, i int, brought [][]byte, out []byte) error {
			return d.into(out, of(i), brought, f)
		},
	}, nil
}

// reduceScatter folds only the part of each operand that the device gets.
func reduceScatter(s *site) (*collective, error) {
	d, err := newDeviceFold(s)
	if err != nil {
		return nil, err
	}
	axis := int(hlo.AttrsOf[hlo.ReduceScatterAttrs](s.in).Dimensions[0])
	out := leafShapes(s.in.Shape())
	return &collective{visit: func(t *gathering, rank int, f *runtime.TensorFrame) error {
		for i, shape := range out {
			part := make([][]byte, len(t.group))
			n := shape.Dim(axis)
			for r := range t.group {
				x := t.operand(r, i)
				part[r] = make([]byte, shape.ByteSize())
				if err := copySlab(part[r], slab{shape, axis, 0, n}, x.Bytes(), slab{x.Shape(), axis, int64(rank) * n, n}); err != nil {
					return err
				}
			}
			if err := d.into(f.Out(i).Data, shape.Type(), part, f); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}
