package kernels

import (
	"unsafe"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// direct calls the loop of a program that is one op over whole buffers, without a program around it. In loops over scalars and short rows
// the way to the loop costs more than the loop.
func direct(p *tile.Program) (runtime.TensorKernel, bool) {
	s, ok := p.Single()
	if !ok || p.Len() == 0 || p.Len() > p.Grain() {
		return nil, false
	}
	n, loop := p.Len(), s.Loop
	a, at := s.Args[0], s.Offsets[0]
	b, bt := s.Args[1], s.Offsets[1]
	if s.Arity == 1 {
		return func(f *runtime.TensorFrame) error {
			x := unsafe.Pointer(&f.In(a).Data[at])
			loop(n, unsafe.Pointer(&f.Out(0).Data[0]), x, x, x)
			return nil
		}, true
	}
	if s.Arity == 2 {
		return func(f *runtime.TensorFrame) error {
			x := unsafe.Pointer(&f.In(a).Data[at])
			loop(n, unsafe.Pointer(&f.Out(0).Data[0]), x, unsafe.Pointer(&f.In(b).Data[bt]), x)
			return nil
		}, true
	}
	c, ct := s.Args[2], s.Offsets[2]
	return func(f *runtime.TensorFrame) error {
		loop(n, unsafe.Pointer(&f.Out(0).Data[0]), unsafe.Pointer(&f.In(a).Data[at]), unsafe.Pointer(&f.In(b).Data[bt]), unsafe.Pointer(&f.In(c).Data[ct]))
		return nil
	}, true
}
