package spmd

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// Cost is the model by which the partitioner chooses between plans: a collective takes Latency, and Byte for each byte that a device receives.
type Cost struct {
	Latency float64 // microseconds for each collective
	Byte    float64 // microseconds for each byte
}

// DefaultCost weighs a message like 1 kB: plans with few bytes win over those with few messages, as long as arrays are not tiny.
var DefaultCost = Cost{Latency: 1, Byte: 1e-3}

// costParams document the options of the model.
var costParams = []pass.Param{
	{Name: "latency", Doc: "microseconds that a collective takes at least (1)"},
	{Name: "bandwidth", Doc: "bytes per second that a device receives, in GB/s (1)"},
}

// readCost reads the options of the model.
func readCost(o pass.Options) (Cost, error) {
	c := DefaultCost
	latency, err := o.Int("latency", 1)
	if err != nil {
		return c, err
	}
	bandwidth, err := o.Int("bandwidth", 1)
	if err != nil {
		return c, err
	}
	if latency < 0 || bandwidth < 1 {
		return c, fmt.Errorf("latency=%d, bandwidth=%d: want a latency of 0 or more and a bandwidth of 1 or more", latency, bandwidth)
	}
	return Cost{Latency: float64(latency), Byte: 1e-3 / float64(bandwidth)}, nil
}

// of is what a step costs each device.
func (c Cost) of(s *step) float64 {
	if s.received < 0 {
		return 0
	}
	return c.Latency + c.Byte*float64(s.received)
}

// bytes is the size of an array of some shape on a device that has a tile of it.
func (t *Tiling) bytes(s hlo.Shape) int64 { return t.shard(s).ByteSize() }
