package kernels

import (
	"math/bits"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
)

// firstRngState is where XLA:CPU starts the state of each rng-get-and-update-state.
const firstRngState = 0x7012395

// rngStates is the states of one rng-get-and-update-state, one for each device. They live as long as the program, so that every execution
// and every iteration of a loop sees another one.
type rngStates struct {
	mu    sync.Mutex
	delta uint64
	of    map[rngDevice]rngState
}

type rngDevice struct{ replica, partition int }

type rngState struct{ lo, hi uint64 }

// next returns the state of a device and adds delta to it.
func (r *rngStates) next(d rngDevice) rngState {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, ok := r.of[d]
	if !ok {
		now = rngState{lo: firstRngState}
	}
	lo, carry := bits.Add64(now.lo, r.delta, 0)
	r.of[d] = rngState{lo, now.hi + carry}
	return now
}

func rngGetAndUpdateState(s *site) (runtime.Bound, bool) {
	if s.in.Shape().Type() != hlo.U64 || s.in.Shape().NumElements() != 2 {
		return runtime.Bound{}, false
	}
	states := &rngStates{delta: uint64(hlo.AttrsOf[hlo.RngStateAttrs](s.in).Delta), of: make(map[rngDevice]rngState)}
	return runtime.Bound{Run: func(f *runtime.TensorFrame) error {
		now := states.next(rngDevice{f.Ctx().Replica, f.Ctx().Partition})
		words := elems[uint64](f.Out(0).Data)
		words[0], words[1] = now.lo, now.hi
		return nil
	}}, true
}
