package async

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

// Unwrapper makes every chain synchronous.
var Unwrapper = &pass.Pass{
	Name:   "async-unwrapper",
	Breaks: []pass.Phase{pass.Async},
	Doc: `replace each asynchronous chain by its op at the done: the inverse of async-wrapper

Chains whose steps lie in one computation are taken apart; others stay. It answers what a program would take without asynchrony.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		return unwrapAll(ctx, m, func(hlo.Computation, asyncChain) (string, bool) { return "every chain is to be", true })
	},
}

// SyncUselessPairs makes chains synchronous that hide nothing.
var SyncUselessPairs = &pass.Pass{
	Name: "sync-useless-pairs",
	Doc: `make chains synchronous that no computation overlaps

In a scheduled computation only instructions that cost nothing may lie between the steps of such a chain; in one without a schedule, nothing may
be independent of the chain but such instructions. Chains that can overlap stay.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		costs := pass.Fact(ctx, m, analysis.FindCosts)
		var of hlo.CompID
		var overlaps *overlaps
		return unwrapAll(ctx, m, func(c hlo.Computation, chain asyncChain) (string, bool) {
			if overlaps == nil || of != c.ID() {
				of, overlaps = c.ID(), findOverlaps(c, costs)
			}
			s := costs.Of(chain.Start).Seconds(analysis.OneCore) * 1e6
			if other := overlaps.beside(chain); !other.IsZero() {
				return fmt.Sprintf("%%%s can run beside its %.1f µs", other.Name(), s), false
			}
			return fmt.Sprintf("nothing can run beside its %.1f µs", s), true
		})
	},
}

func unwrapAll(ctx *pass.Context, m hlo.Module, want func(hlo.Computation, asyncChain) (why string, yes bool)) (hlo.Module, error) {
	e := ctx.Edit(m)
	for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
		for in := range c.Instructions() {
			if in.Opcode() != hlo.OpAsyncDone {
				continue
			}
			chain, ok := chainOf(in)
			if !ok {
				ctx.Missed(in, "stays asynchronous: its steps do not all lie in one computation")
				continue
			}
			why, yes := want(c, chain)
			if !yes {
				ctx.Missed(chain.Start, "stays asynchronous: %s", why)
			}
			if !yes || !ctx.Spend("unwrap") {
				continue
			}
			ctx.Passed(chain.Start, "is computed where it is waited for: %s", why)
			ce := e.Computation(c.ID())
			now, ok := chainOf(ce.At(in.ID()))
			if !ok {
				continue
			}
			if err := unmake(ce, m, now); err != nil {
				return m, err
			}
			ctx.Count("unwrapped", 1)
		}
	}
	return e.Freeze(), nil
}

// overlaps answers what can be done, or is scheduled, while chains of one computation are under way.
type overlaps struct {
	deps        *analysis.Dependencies
	scheduled   bool
	costs       *analysis.Costs
	bottlenecks analysis.Bottlenecks
}

func findOverlaps(c hlo.Computation, costs *analysis.Costs) *overlaps {
	o := &overlaps{deps: analysis.FindDependencies(c), scheduled: c.IsScheduled(), costs: costs}
	if !o.scheduled {
		o.bottlenecks = o.deps.FindBottlenecks(func(in hlo.Instruction) bool { return hlo.IsAsync(in.Opcode()) || !o.free(in) })
	}
	return o
}

// free reports whether an instruction is no work that a chain could hide.
func (o *overlaps) free(in hlo.Instruction) bool {
	return in.Opcode() == hlo.OpParameter || o.costs.Of(in).IsZero() && !hlo.IsAsync(in.Opcode()) || in.Opcode() == hlo.OpAsyncUpdate ||
		in.Opcode() == hlo.OpAsyncDone
}

// beside is the first work that can be done, or is scheduled, while a chain is under way; zero if there is none.
func (o *overlaps) beside(chain asyncChain) (work hlo.Instruction) {
	steps := []hlo.InstrID{chain.Start.ID(), chain.Done.ID()}
	for _, u := range chain.Updates {
		steps = append(steps, u.ID())
	}
	start, done := o.deps.Position(chain.Start.ID()), o.deps.Position(chain.Done.ID())
	if o.scheduled {
		for _, in := range o.deps.Order[start+1 : done] {
			if !slices.Contains(steps, in.ID()) && !o.free(in) {
				return in
			}
		}
		return work
	}
	low, high := o.bottlenecks.Around(start, done)
	ofStart, ofDone := o.deps.RelatedWithin(chain.Start.ID(), low, high), o.deps.RelatedWithin(chain.Done.ID(), low, high)
	for i, in := range o.deps.Order[low:high] {
		between := !ofStart[i] || !ofDone[i]
		if between && !slices.Contains(steps, in.ID()) && !o.free(in) {
			return in
		}
	}
	return work
}
