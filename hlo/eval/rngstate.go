package eval

import (
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/devices"
)

// firstRngState is where XLA:CPU starts each state.
const firstRngState = 0x7012395

// RngStates counts the random numbers that the instructions of a program have drawn: rng and rng-get-and-update-state. Each instruction has a
// state for each device, so that every iteration of a loop draws others. The zero value is the start of a program. It is safe for concurrent
// use.
type RngStates struct {
	mu sync.Mutex
	of map[rngPlace]counter
}

type rngPlace struct {
	site   devices.Site
	device Device
}

// Next returns the state of an instruction on a device, low word first, and adds delta to it.
func (r *RngStates) Next(in hlo.Instruction, d Device, delta uint64) (lo, hi uint64) {
	at := rngPlace{devices.SiteOf(in), d}
	r.mu.Lock()
	defer r.mu.Unlock()
	now, ok := r.of[at]
	if !ok {
		now = counter{lo: firstRngState}
	}
	if r.of == nil {
		r.of = make(map[rngPlace]counter)
	}
	r.of[at] = now.plus(delta)
	return now.lo, now.hi
}

// advance returns the state of the instruction and adds delta to it.
func (c *Call) advance(delta uint64) counter {
	lo, hi := c.e.rng.Next(c.In, Device{Replica: c.e.o.Replica, Partition: c.e.o.Partition}, delta)
	return counter{lo, hi}
}

func rngGetAndUpdateState(c *Call) (*hlo.Literal, error) {
	now := c.advance(uint64(hlo.AttrsOf[hlo.RngStateAttrs](c.In).Delta))
	return packInts(c.In.Shape(), []int64{int64(now.lo), int64(now.hi)})
}
