package collectives

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/async"
)

// Collectives that have been begun already are merged as well, native pairs and chains alike, where that narrows no chain: their starts come after the
// same dones and before the same starts, and so do their dones; and the first start need not wait long for the operands of the others.

// longestWait bounds what a start may be put off by, in seconds: about what beginning one chain less saves.
const longestWait = 20e-6

// chains merges what has been begun in a computation.
func (b *combiner) chains(ctx *pass.Context, e *hlo.Editor, m hlo.Module, c hlo.Computation) error {
	windows := analysis.FindWindows(c)
	if windows == nil || c.IsScheduled() {
		return nil
	}
	var pairs []async.Pair
	for in := range c.Instructions() {
		if p, ok := async.PairOf(m, in); ok && p.Op == b.op {
			pairs = append(pairs, p)
		}
	}
	if len(pairs) < 2 {
		return nil
	}
	group, some := b.group(ctx, m, c, windows, pairs)
	if !some {
		return nil
	}
	sets, err := b.setsOf(ctx, e, m, c, pairs, group)
	if err != nil {
		return err
	}
	for _, set := range sets {
		if !ctx.Spend("combine") {
			return nil
		}
		ce := e.Computation(c.ID())
		var ids []hlo.InstrID
		for _, p := range set {
			id, err := p.Plain(ce, m)
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		one, err := b.merge(ce, ids)
		if err != nil {
			return err
		}
		if err := set[0].Like(ce, one); err != nil {
			return err
		}
		ctx.Passed(set[0].Start, "merged with %d others that can run beside the same work", len(set)-1)
		ctx.Count("combined", int64(len(set)))
	}
	return nil
}

// group numbers the pairs of which each may be merged with the first of its group.
func (b *combiner) group(ctx *pass.Context, m hlo.Module, c hlo.Computation, w *analysis.Windows, pairs []async.Pair) (group []int, some bool) {
	costs := pass.Fact(ctx, m, analysis.FindCosts)
	d := analysis.FindDependencies(c)
	group = make([]int, len(pairs))
	groups := 0
	firsts := make(map[[2]analysis.Window][]int) // by the windows of the start and of the done: those in others are not looked at
	for i, p := range pairs {
		group[i] = -1
		windows := [2]analysis.Window{w.Of(p.Start.ID()), w.Of(p.Done.ID())}
		for _, f := range firsts[windows] {
			first := pairs[f]
			if s := max(putOff(d, costs, first.Start, p.Start), putOff(d, costs, p.Start, first.Start)); s > longestWait {
				ctx.Missed(p.Start, "not merged with %%%s: one of them would begin %.1f µs later, more than %.1f", first.Start.Name(), s*1e6, longestWait*1e6)
				continue
			}
			group[i], some = group[f], true
			break
		}
		if group[i] >= 0 {
			continue
		}
		if i > 0 && len(firsts[windows]) == 0 {
			ctx.Missed(p.Start, "not merged with %%%s: one would wait for a chain that only the other needs", pairs[i-1].Start.Name())
		}
		group[i] = groups
		groups++
		firsts[windows] = append(firsts[windows], i)
	}
	return group, some
}

// putOff is how long a start would wait for what only another one needs, in seconds.
func putOff(d *analysis.Dependencies, costs *analysis.Costs, start, other hlo.Instruction) (seconds float64) {
	needs := func(in hlo.Instruction) []bool {
		seen := make([]bool, len(d.Order))
		for work := slices.Clone(d.Before(d.Position(in.ID()))); len(work) > 0; {
			i := work[len(work)-1]
			work = work[:len(work)-1]
			if !seen[i] {
				seen[i] = true
				work = append(work, d.Before(i)...)
			}
		}
		return seen
	}
	own := needs(start)
	for i, needed := range needs(other) {
		if k := costs.Of(d.Order[i]); needed && !own[i] && !k.IsZero() {
			seconds += k.Seconds(analysis.OneCore)
		}
	}
	return seconds
}

// setsOf chooses what is merged, as if the pairs were plain instructions. It leaves the session as it was.
func (b *combiner) setsOf(ctx *pass.Context, e *hlo.Editor, m hlo.Module, c hlo.Computation, pairs []async.Pair, group []int) (sets [][]async.Pair, err error) {
	try := e.ViewModule().Edit()
	of := make(map[hlo.InstrID]int) // pair of each plain instruction
	for i, p := range pairs {
		id, err := p.Plain(try.Computation(c.ID()), m)
		if err != nil {
			return nil, err
		}
		of[id] = i
	}
	now := try.Freeze()
	own := *b
	own.key = func(m hlo.Module, in hlo.Instruction) (string, bool) {
		key, ok := b.key(m, in)
		return fmt.Sprint(key, "|", group[of[in.ID()]]), ok
	}
	done := make(map[hlo.InstrID]bool)
	view := now.MustComputation(c.ID())
	for in := range view.Instructions() {
		if _, begun := of[in.ID()]; !begun {
			done[in.ID()] = true
		}
	}
	for {
		set := own.next(ctx, now, view, done)
		if len(set) < 2 {
			return sets, nil
		}
		var list []async.Pair
		for _, id := range set {
			list = append(list, pairs[of[id]])
		}
		sets = append(sets, list)
	}
}
