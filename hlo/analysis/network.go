package analysis

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// Link is what connects devices: the time that a message takes at least, and how many bytes a second go over it.
type Link struct {
	Latency   float64 // seconds
	Bandwidth float64 // bytes per second
}

// ParseLink reads a latency and a bandwidth: "10us,25GB/s".
func ParseLink(text string) (Link, error) {
	latency, bandwidth, ok := strings.Cut(text, ",")
	fail := func() (Link, error) {
		return Link{}, fmt.Errorf("link %q: want a latency and a bandwidth, as 10us,25GB/s", text)
	}
	if !ok {
		return fail()
	}
	unit := func(s string, units map[string]float64) (float64, bool) {
		s = strings.TrimSpace(s)
		i := strings.LastIndexAny(s, "0123456789") + 1
		v, err := strconv.ParseFloat(s[:i], 64)
		f, known := units[s[i:]]
		return v * f, err == nil && known && v > 0
	}
	l, ok1 := unit(latency, map[string]float64{"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1})
	b, ok2 := unit(bandwidth, map[string]float64{"B/s": 1, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12})
	if !ok1 || !ok2 {
		return fail()
	}
	return Link{l, b}, nil
}

// Exchange is what a collective moves, for each device that takes part.
type Exchange struct {
	Op    hlo.Opcode
	Group int64 // devices that take part together
	Bytes int64 // of the larger of operands and results
}

// ExchangeOf reads what a collective moves; ok is false for other instructions and for the ends of asynchronous pairs. devices is how many
// there are, for groups that are not written.
func ExchangeOf(in hlo.Instruction, devices int64) (x Exchange, ok bool) {
	traits := hlo.Info(in.Opcode()).Traits
	if !traits.Has(hlo.TraitCollective) || traits.Has(hlo.TraitAsyncDone) {
		return x, false
	}
	x.Op, x.Group = in.Opcode(), devices
	if v, ok := in.Attr("replica_groups"); ok {
		if g, _ := v.(*hlo.ReplicaGroups); g != nil {
			switch {
			case g.GroupSize > 0:
				x.Group = g.GroupSize
			case len(g.Lists) > 0:
				x.Group = int64(len(g.Lists[0]))
			case g.Mesh != nil:
				if l := g.Listed(); len(l.Lists) > 0 {
					x.Group = int64(len(l.Lists[0]))
				}
			}
		}
	}
	if _, ok := in.Attr("source_target_pairs"); ok {
		x.Group = 2
	}
	size := func(s hlo.Shape) (n int64) {
		for _, leaf := range s.Leaves {
			if leaf.IsArray() {
				n += leaf.ByteSize()
			}
		}
		return n
	}
	operands := int64(0)
	for o := range in.Operands() {
		operands += size(o.Shape())
	}
	x.Bytes = operands
	if !traits.Has(hlo.TraitAsyncStart) {
		x.Bytes = max(operands, size(in.Shape()))
	}
	return x, true
}

// Sent is how many bytes each device sends, with algorithms that send least: rings and their kin.
func (x Exchange) Sent() int64 {
	if x.Group <= 1 {
		return 0
	}
	part := x.Bytes * (x.Group - 1) / x.Group
	switch x.Op {
	case hlo.OpAllReduce, hlo.OpAllReduceStart:
		return 2 * x.Bytes * (x.Group - 1) / x.Group
	case hlo.OpCollectivePermute, hlo.OpCollectivePermuteStart, hlo.OpCollectiveBroadcast:
		return x.Bytes
	}
	return part
}

// Seconds is what the exchange takes over a link that every device has to itself: recursive halving and doubling where devices combine or
// collect, so that the number of messages grows with the logarithm of the group; one message to each where everybody sends everybody
// something else.
func (x Exchange) Seconds(l Link) float64 {
	if x.Group <= 1 {
		return 0
	}
	rounds := math.Ceil(math.Log2(float64(x.Group)))
	sent := float64(x.Sent()) / l.Bandwidth
	switch x.Op {
	case hlo.OpAllReduce, hlo.OpAllReduceStart:
		return 2*rounds*l.Latency + sent
	case hlo.OpCollectivePermute, hlo.OpCollectivePermuteStart:
		return l.Latency + sent
	case hlo.OpAllToAll, hlo.OpRaggedAllToAll:
		direct := float64(x.Group-1)*l.Latency + sent
		return min(direct, rounds*l.Latency+float64(x.Bytes)/2*rounds/l.Bandwidth) // or in rounds, with everything sent log times half
	}
	return rounds*l.Latency + sent
}
