package kernels

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/runtime"
)

// rngGetAndUpdateState has its states for as long as the program lives, so that every execution and every iteration of a loop sees another one.
func rngGetAndUpdateState(s *site) (runtime.Bound, bool) {
	if s.in.Shape().Type() != hlo.U64 || s.in.Shape().NumElements() != 2 {
		return runtime.Bound{}, false
	}
	states, delta := new(eval.RngStates), uint64(hlo.AttrsOf[hlo.RngStateAttrs](s.in).Delta)
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		words := elems[uint64](f.Out(0).Data)
		words[0], words[1] = states.Next(s.in, deviceOf(f).Device, delta)
		return nil
	}}, true
}
