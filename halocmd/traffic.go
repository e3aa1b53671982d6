package halocmd

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/runtime/devices"
)

// traffic is what collectives move.
type traffic struct {
	Collectives []collectiveTraffic `json:"collectives,omitempty"`
	// Links are the bytes that go from one device to another, where neighbours in a group pass things on in a ring; the busiest first.
	Links []linkTraffic `json:"links,omitempty"`
}

// collectiveTraffic is the collectives of one kind and size of group.
type collectiveTraffic struct {
	Opcode string `json:"opcode"`
	Group  int64  `json:"group"`
	Count  int64  `json:"count"` // all rounds of loops together
	Bytes  int64  `json:"bytes"` // of the larger of operands and results
	Sent   int64  `json:"sent"`  // by each device
}

type linkTraffic struct {
	From  int   `json:"from"`
	To    int   `json:"to"`
	Bytes int64 `json:"bytes"`
}

// maxLinkDevices bounds the devices whose links are counted one by one.
const maxLinkDevices = 64

func trafficOf(m hlo.Module) traffic {
	cfg := m.Config()
	grid := devices.Grid{Replicas: int(max(cfg.ReplicaCount, 1)), Partitions: int(max(cfg.NumPartitions, 1))}
	type kind struct {
		op    hlo.Opcode
		group int64
	}
	kinds := make(map[kind]*collectiveTraffic)
	links := make(map[[2]int]int64)
	for c, rounds := range analysis.Executions(m) {
		for in := range c.Instructions() {
			x, ok := analysis.ExchangeOf(in, int64(grid.NumDevices()))
			if !ok {
				continue
			}
			k := kinds[kind{x.Op, x.Group}]
			if k == nil {
				k = &collectiveTraffic{Opcode: x.Op.String(), Group: x.Group}
				kinds[kind{x.Op, x.Group}] = k
			}
			k.Count += rounds
			k.Bytes += x.Bytes * rounds
			k.Sent += x.Sent() * rounds
			if grid.NumDevices() <= maxLinkDevices {
				addLinks(links, grid, in, x, rounds)
			}
		}
	}
	var t traffic
	for _, k := range kinds {
		t.Collectives = append(t.Collectives, *k)
	}
	slices.SortFunc(t.Collectives, func(a, b collectiveTraffic) int {
		return cmp.Or(cmp.Compare(b.Sent, a.Sent), cmp.Compare(a.Opcode, b.Opcode), cmp.Compare(a.Group, b.Group))
	})
	for l, bytes := range maps.All(links) {
		t.Links = append(t.Links, linkTraffic{l[0], l[1], bytes})
	}
	slices.SortFunc(t.Links, func(a, b linkTraffic) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return t
}

// addLinks counts what an instruction sends from device to device.
func addLinks(links map[[2]int]int64, grid devices.Grid, in hlo.Instruction, x analysis.Exchange, rounds int64) {
	if a, ok := in.Attrs().(*hlo.CollectivePermuteAttrs); ok {
		for i := range grid.NumDevices() {
			to := grid.Device(i)
			for _, p := range a.SourceTargetPairs {
				if len(p) == 2 && p[1] == devices.ID(a, to) && p[0] != p[1] {
					links[[2]int{grid.Number(devices.Source(a, to, p[0])), i}] += x.Bytes * rounds
				}
			}
		}
		return
	}
	for i := range grid.NumDevices() {
		group, err := grid.Members(in, grid.Device(i))
		if err != nil || len(group) < 2 {
			continue
		}
		rank := slices.Index(group, grid.Device(i))
		if x.Op == hlo.OpAllToAll {
			for _, to := range group {
				if grid.Number(to) != i {
					links[[2]int{i, grid.Number(to)}] += x.Bytes / int64(len(group)) * rounds
				}
			}
			continue
		}
		links[[2]int{i, grid.Number(group[(rank+1)%len(group)])}] += x.Sent() * rounds
	}
}

func (t *traffic) print(out io.Writer) {
	if len(t.Collectives) == 0 {
		return
	}
	fmt.Fprint(out, "collectives:\n")
	for _, k := range t.Collectives {
		fmt.Fprintf(out, "%10d  %s among %d: %s, of which each device sends %s\n", k.Count, k.Opcode, k.Group, orNothing(k.Bytes), orNothing(k.Sent))
	}
	for i, l := range t.Links {
		if i == 8 {
			fmt.Fprintf(out, "            and %d more links with no more than that\n", len(t.Links)-i)
			break
		}
		fmt.Fprintf(out, "            from device %d to %d: %s\n", l.From, l.To, orNothing(l.Bytes))
	}
}
