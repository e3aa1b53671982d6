package schedule

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

const fencingDoc = `keep the last uses of large values from being scheduled later than they are now

A window is a pair of a start and a done that moves data: a collective or a copy. In a scheduled computation, the last user of each value of at
least size-threshold-bytes gets a control edge to the start of a window: that with the number of windows that are done before the user, and
slack-windows more. So a scheduler that runs afterwards keeps the memory free from there on. Values that the computation returns stay.`

// NewMemoryFencing makes the pass scheduler-memory-fencing.
func NewMemoryFencing(o pass.Options) (*pass.Pass, error) {
	if err := o.Known("size-threshold-bytes", "slack-windows"); err != nil {
		return nil, err
	}
	bytes, err := o.Int("size-threshold-bytes", 1<<20)
	if err != nil {
		return nil, err
	}
	const slackKey = "slack-windows"
	slack, err := o.Int(slackKey, -1)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(o, func(given pass.Option) bool { return given.Key == slackKey }) {
		slack = 1
	}
	return &pass.Pass{Name: "scheduler-memory-fencing", Doc: fencingDoc, Options: o, Params: []pass.Param{
		{Name: "size-threshold-bytes", Doc: "the size from which a value is large; 1048576"},
		{Name: slackKey, Doc: "how many windows later the last use may be; 1, and a negative number for no fences"},
	}, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
			if !c.IsScheduled() || slack < 0 {
				continue
			}
			for _, f := range fences(c, int64(bytes), slack) {
				if !ctx.Spend("fence") {
					break
				}
				e.Computation(c.ID()).Instr(f.start.ID()).AddControlPredecessor(f.user.ID())
				ctx.Passed(f.user, "runs before %%%s, so that %%%s is free from there on", f.start.Name(), f.value.Name())
				ctx.Count("fences", 1)
			}
		}
		return e.Freeze(), nil
	}}, nil
}

// fence says that the last user of a value runs before a start.
type fence struct{ value, user, start hlo.Instruction }

func fences(c hlo.Computation, bytes int64, slack int) (list []fence) {
	order := slices.Collect(c.Instructions())
	at := make(map[hlo.InstrID]int, len(order))
	var starts, dones []int // of windows
	for i, in := range order {
		at[in.ID()] = i
		traits := hlo.Info(in.Opcode()).Traits
		if traits.Has(hlo.TraitAsyncStart) {
			starts = append(starts, i)
		}
		if traits.Has(hlo.TraitAsyncDone) {
			dones = append(dones, i)
		}
	}
	fenced := map[[2]int]bool{}
	for _, in := range order {
		if !in.Shape().IsArray() || in.Shape().ByteSize() < bytes || in.Opcode() == hlo.OpParameter || in.Opcode() == hlo.OpConstant || in.UserCount() == 0 {
			continue
		}
		last, ok := lastUse(in, at)
		if !ok {
			continue
		}
		n, _ := slices.BinarySearch(dones, last)
		if n += slack; n >= len(starts) || starts[n] <= last || fenced[[2]int{last, starts[n]}] {
			continue
		}
		start := order[starts[n]]
		if slices.Contains(slices.Collect(start.ControlPredecessors()), order[last].ID()) {
			continue
		}
		fenced[[2]int{last, starts[n]}] = true
		list = append(list, fence{in, order[last], start})
	}
	return list
}

// lastUse is the place of the last user of a value, seen through what only regroups values; false if the computation returns it.
func lastUse(in hlo.Instruction, at map[hlo.InstrID]int) (last int, ok bool) {
	last = at[in.ID()]
	if in.IsRoot() {
		return 0, false
	}
	for user := range in.Users() {
		last = max(last, at[user.ID()])
		if hlo.Info(user.Opcode()).Traits.Has(hlo.TraitForwards) || user.Opcode() == hlo.OpBitcast {
			n, ok := lastUse(user, at)
			if !ok {
				return 0, false
			}
			last = max(last, n)
		}
	}
	return last, true
}
