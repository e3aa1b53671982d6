package distributed

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/devices"
)

// plan is the contexts and tags of a program's exchanges. All processes make the same one, from the module alone, before anything runs: making
// contexts takes all of them.
type plan struct {
	module    hlo.Module
	grid      devices.Grid
	perRank   int // devices of a process
	exchanges map[exchangeKey]exchange
	channels  map[int64]int // numbers of the channels of sends and receives
	letters   int           // the context of letters
	free      pool
}

// exchangeKey is a collective among a group, which its first device names.
type exchangeKey struct {
	site  devices.Site
	first devices.Device
}

// exchange is where the messages of a collective among a group travel: in a context of the processes concerned, with two tags that nothing
// else in the context has.
type exchange struct{ context, tag int }

// newPlan makes the plan of a module.
func (j *Job) newPlan(ctx context.Context, m hlo.Module, g devices.Grid) (*plan, error) {
	n := g.NumDevices()
	p := &plan{module: m, grid: g, perRank: n / j.size, exchanges: make(map[exchangeKey]exchange), channels: make(map[int64]int)}
	tags := firstTag
	for c := range m.Computations() {
		for in := range c.Instructions() {
			traits := hlo.Info(in.Opcode()).Traits
			a, letter := in.Attrs().(*hlo.SendRecvAttrs)
			switch {
			case letter && !a.IsHostTransfer:
				if _, ok := p.channels[a.ChannelID.Value]; !ok {
					p.channels[a.ChannelID.Value] = len(p.channels)
				}
			case letter || !traits.Has(hlo.TraitCollective) || traits.Has(hlo.TraitAsyncDone):
			default:
				var err error
				if tags, err = j.planCollective(ctx, p, in, tags); err != nil {
					return nil, err
				}
			}
		}
	}
	if len(p.channels) > 0 {
		all := make([]int, j.size)
		var err error
		if p.letters, err = j.contextOf(ctx, "letters", all); err != nil {
			return nil, err
		}
	}
	if limit := j.wire.MaxTag(); tags > limit || len(p.channels)*p.perRank*p.perRank > limit {
		return nil, fmt.Errorf("%d exchanges and %d channels are more than message tags (%d) can name", tags/2, len(p.channels), limit)
	}
	return p, nil
}

// planCollective plans a collective among each of its groups that are in several processes. Groups without a common process share a context.
func (j *Job) planCollective(ctx context.Context, p *plan, in hlo.Instruction, tags int) (int, error) {
	covered := make([]bool, p.grid.NumDevices())
	var colors []int // of the processes in a context that is being filled; nil before the first group
	next := 0
	var mine []exchangeKey
	var tag []int
	flush := func() error {
		if colors == nil {
			return nil
		}
		c, err := j.contextOf(ctx, "", colors)
		for i, key := range mine {
			p.exchanges[key] = exchange{c, tag[i]}
		}
		colors, next, mine, tag = nil, 0, nil, nil
		return err
	}
	for i := range covered {
		if covered[i] {
			continue
		}
		covered[i] = true
		group, err := p.grid.Members(in, p.grid.Device(i))
		if err != nil {
			return tags, nil // executing it will say so
		}
		for _, d := range group {
			covered[p.grid.Number(d)] = true
		}
		ranks := p.ranks(group)
		if len(ranks) < 2 {
			continue
		}
		tags += 2
		color := -1 // of a context of just these processes
		if colors != nil && colors[ranks[0]] >= 0 && slices.Equal(ranks, colored(colors, colors[ranks[0]])) {
			color = colors[ranks[0]]
		}
		if color < 0 {
			if colors != nil && slices.ContainsFunc(ranks, func(r int) bool { return colors[r] >= 0 }) {
				if err := flush(); err != nil {
					return tags, err
				}
			}
			if colors == nil {
				colors = slices.Repeat([]int{-1}, j.size)
			}
			color, next = next, next+1
			for _, r := range ranks {
				colors[r] = color
			}
		}
		if slices.Contains(ranks, j.rank) {
			mine = append(mine, exchangeKey{devices.SiteOf(in), group[0]})
			tag = append(tag, tags-2)
		}
	}
	return tags, flush()
}

// colored is the processes of a color.
func colored(colors []int, color int) (ranks []int) {
	for r, c := range colors {
		if c == color {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

// rank is the process of a device: each has consecutive ones.
func (p *plan) rank(d devices.Device) int { return p.grid.Number(d) / p.perRank }

// ranks lists the processes of devices, in ascending order.
func (p *plan) ranks(group []devices.Device) []int {
	var all []int
	for _, d := range group {
		all = append(all, p.rank(d))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// maxContexts bounds how many contexts a job makes. Further exchanges share the world's: tags tell them apart.
const maxContexts = 512

// contextOf makes a context, or finds the one that was made for the same colors and kind.
func (j *Job) contextOf(ctx context.Context, kind string, colors []int) (int, error) {
	key := fmt.Sprint(kind, colors)
	if c, ok := j.split[key]; ok {
		return c, nil
	}
	if len(j.split) >= maxContexts && kind == "" {
		return worldContext, nil
	}
	b := newBatch(newTask("making a communicator", 0))
	b.colors = colors
	stuck := time.AfterFunc(j.options.Silence, func() { // the loop waits in the library: it can neither ask nor end the job
		j.options.Log(fmt.Sprintf("error: making a communicator: some process takes no part for %v", j.options.Silence))
		os.Exit(1)
	})
	defer stuck.Stop()
	if err := j.do(ctx, b); err != nil {
		return 0, err
	}
	j.split[key] = j.lastSplit
	return j.lastSplit, nil
}
