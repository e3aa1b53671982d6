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
		return unwrapAll(ctx, m, func(hlo.Computation, Chain) (string, bool) { return "every chain is to be", true })
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
		return unwrapAll(ctx, m, func(c hlo.Computation, chain Chain) (string, bool) {
			s := costs.Of(chain.Start).Seconds(analysis.OneCore) * 1e6
			if other := hidden(c, chain, costs); !other.IsZero() {
				return fmt.Sprintf("%%%s can run beside its %.1f µs", other.Name(), s), false
			}
			return fmt.Sprintf("nothing can run beside its %.1f µs", s), true
		})
	},
}

func unwrapAll(ctx *pass.Context, m hlo.Module, want func(hlo.Computation, Chain) (why string, yes bool)) (hlo.Module, error) {
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

// hidden is the first work that can be done, or is scheduled, while a chain is under way; zero if there is none.
func hidden(c hlo.Computation, chain Chain, costs *analysis.Costs) (work hlo.Instruction) {
	free := func(in hlo.Instruction) bool {
		return in.Opcode() == hlo.OpParameter || costs.Of(in).IsZero() && !hlo.IsAsync(in.Opcode()) || in.Opcode() == hlo.OpAsyncUpdate ||
			in.Opcode() == hlo.OpAsyncDone
	}
	steps := []hlo.InstrID{chain.Start.ID(), chain.Done.ID()}
	for _, u := range chain.Updates {
		steps = append(steps, u.ID())
	}
	if c.IsScheduled() {
		for in := range c.Instructions() {
			if c.Less(chain.Start.ID(), in.ID()) && c.Less(in.ID(), chain.Done.ID()) && !slices.Contains(steps, in.ID()) && !free(in) {
				return in
			}
		}
		return work
	}
	d := analysis.FindDependencies(c)
	related := make([]bool, len(d.Order))
	for i, r := range d.Related(chain.Start.ID()) { // what the start needs, or what the done is needed for
		related[i] = r
	}
	doneRelated := d.Related(chain.Done.ID())
	for i, in := range d.Order {
		between := !related[i] || !doneRelated[i]
		if between && !slices.Contains(steps, in.ID()) && !free(in) {
			return in
		}
	}
	return work
}
