package spmd

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

// NewPartitioner makes the pass that partitions.
func NewPartitioner(o pass.Options) (*pass.Pass, error) {
	if err := o.Known("latency", "bandwidth", "num-partitions"); err != nil {
		return nil, err
	}
	cost, err := readCost(o)
	if err != nil {
		return nil, err
	}
	n, err := o.Int("num-partitions", 0)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{
		Name:    "spmd-partitioning",
		Options: o,
		Params:  append([]pass.Param{{Name: "num-partitions", Doc: "devices (what the header says)"}}, costParams...),
		Doc: `make the program of one device

Every array becomes the part of it that its sharding gives to a device; collectives bring together what an op needs from other parts. Instructions
without a sharding are computed whole on every device. Where several plans are right, the cheapest by a model of latency and bandwidth is
taken. An op that cannot run on parts is computed whole, which a remark says.`,
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) { return partition(ctx, m, cost, int64(n)) },
	}, nil
}

func partition(ctx *pass.Context, m hlo.Module, cost Cost, n int64) (hlo.Module, error) {
	if n == 0 {
		n = Devices(m)
	}
	if n <= 1 {
		return m, nil
	}
	if IsOneDevices(m) || !saysHow(m) {
		ctx.Remark(m.Entry().Root(), "nothing says how to split: the program is one device's as it is")
		return m, nil
	}
	if !ctx.Spend("partition") {
		return m, nil
	}
	if n > maxDevices {
		return m, fmt.Errorf("%d partitions, at most %d", n, maxDevices)
	}
	p := &partitioner{
		ctx: ctx, m: m, ed: ctx.Edit(m), world: NewWorld(n, shardings(m)), cost: cost, replicas: max(1, m.Config().ReplicaCount),
		binaries: make(map[binaryKey]hlo.CompID), channels: analysis.LargestChannel(m),
	}
	return p.partition()
}

// saysHow reports whether some sharding splits an array, or a region is manual.
func saysHow(m hlo.Module) bool {
	return slices.ContainsFunc(shardings(m), func(s *hlo.Sharding) bool {
		return s.Kind != hlo.ShardingReplicated && s.Kind != hlo.ShardingTuple && s.Kind != hlo.ShardingUnknown
	})
}

// maxDevices bounds what a header may ask for.
const maxDevices = 1 << 20

// Devices is how many devices a program is for: what its header says, else as many as its shardings name.
func Devices(m hlo.Module) int64 {
	n := m.Config().NumPartitions
	if n > 1 {
		return n
	}
	n = 1
	for _, s := range shardings(m) {
		switch {
		case s.Kind == hlo.ShardingTiled:
			n = max(n, product(s.TileDims))
			for _, d := range s.Devices {
				if d < maxDevices {
					n = max(n, d+1)
				}
			}
		case s.Kind == hlo.ShardingMaximal && len(s.Devices) == 1 && s.Devices[0] < maxDevices:
			n = max(n, s.Devices[0]+1)
		case s.Kind == hlo.ShardingNamed && s.Named.Mesh != nil:
			sizes := make([]int64, len(s.Named.Mesh.Axes))
			for i, a := range s.Named.Mesh.Axes {
				sizes[i] = a.Size
			}
			n = max(n, product(sizes))
		}
	}
	return n
}

// shardings lists those of all instructions, leaf by leaf.
func shardings(m hlo.Module) (all []*hlo.Sharding) {
	seen := make(map[*hlo.Sharding]bool)
	var add func(s *hlo.Sharding)
	add = func(s *hlo.Sharding) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		for _, e := range s.Elements {
			add(e)
		}
		if s.Kind == hlo.ShardingNamed && s.Named != nil {
			if t, err := tiledOf(s.Named, s.Reduction, len(s.Named.Dims)); err == nil {
				add(t)
			}
		}
		all = append(all, s)
	}
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if k := in.Common(); k != nil {
				add(k.Sharding)
			}
		}
	}
	return all
}
