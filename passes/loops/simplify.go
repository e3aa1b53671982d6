package loops

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/control"
	"github.com/gohalo/halo/passes/directive"
)

// NewSimplifier makes the pass while-loop-simplifier.
func NewSimplifier(o pass.Options) (*pass.Pass, error) {
	if err := o.Known("simplify-compare-instrs", "merge-counters"); err != nil {
		return nil, err
	}
	merge, err := o.BoolOr("merge-counters", true)
	if err != nil {
		return nil, err
	}
	compares, err := o.Bool("simplify-compare-instrs")
	if err != nil {
		return nil, err
	}
	return &pass.Pass{
		Name:    "while-loop-simplifier",
		Options: o,
		Params: []pass.Param{
			{Name: "simplify-compare-instrs", Doc: "comparisons of a loop's counter that come out the same in every round are constants; false"},
			{Name: "merge-counters", Doc: "parts of the state to which each round adds a constant are computed from one that counts the rounds; true"},
		},
		About: []hlo.Opcode{hlo.OpWhile},
		Doc:   simplifierDoc,
		Lent:  true,
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			return simplifyLoops(ctx, m, compares, merge)
		},
	}, nil
}

const simplifierDoc = `remove loops that run once or never, and parts of the state that nothing depends on

A loop whose condition is false at once is its input; one of a single round is its body. A part of the state is dead if nothing looks at it after the
loop, and if neither the condition nor any other part depends on it. What is looked at after the loop of a part that no round changes is its first value; of
parts that are the same value in every round, and of those that are the same constant, one is enough, or none. What no round changes of a first state that is a scalar
constant is that constant wherever body and condition read it. Of several parts to which each round adds a constant,
one that counts the rounds is enough. Tuples in the state are taken apart. Loops that hand asynchronous work from
round to round stay, and those of one round that communicate.`

// simplifyLoops removes loops, and parts of their state.
func simplifyLoops(ctx *pass.Context, m hlo.Module, compares, merge bool) (hlo.Module, error) {
	effects := pass.Fact(ctx, m, analysis.FindSideEffects)
	e := ctx.Edit(m)
	now := analysis.Now(e)
	for c := range m.PostOrder() {
		ce := e.Computation(c.ID())
		for in := range pass.EachOf(ce, hlo.OpWhile) {
			if !ownsCallees(m, in) || effects.OfComputation(condition(m, in).ID()) {
				continue
			}
			if isNested(now, in, c.ID() == m.Entry().ID()) && ctx.Spend("flatten") {
				if err := flatten(e, ce, in); err != nil {
					return m, err
				}
				ctx.Count("flat", 1)
				continue
			}
			if handsOnWork(in) {
				continue
			}
			l, ok := analysis.FindLoop(now, in)
			if ok && compares {
				if err := decideCompares(ctx, e.Computation(body(now, in).ID()), l); err != nil {
					return m, err
				}
			}
			if ok && l.Trip <= 1 && !(l.Trip == 1 && directive.Set(in, directive.KeepOneRound)) && !communicates(now, in) && ctx.SpendOn("few-rounds", pass.Cost{}) {
				if err := unloop(ce, in, body(now, in), l.Trip); err != nil {
					return m, err
				}
				ctx.Count("loops", 1)
				continue
			}
			before := body(now, in)
			if err := dropDead(ctx, e, m, ce, in, effects); err != nil {
				return m, err
			}
			if !ce.Has(in.ID()) || e.View(before.ID()) != before { // one after the other: what is there is read as it was
				continue
			}
			propagateScalars(ctx, e, ce.At(in.ID()))
			if !merge || e.View(before.ID()) != before {
				continue
			}
			if err := mergeCounters(ctx, e, ce, ce.At(in.ID())); err != nil {
				return m, err
			}
		}
	}
	return e.Freeze(), nil
}

// communicates reports whether a loop has steps of asynchronous work, or tokens, in its body or in its state.
func communicates(m analysis.Computations, while hlo.Instruction) (found bool) {
	if while.Shape().HasToken() {
		return true
	}
	for in := range body(m, while).Instructions() {
		const steps = hlo.TraitAsyncStart | hlo.TraitAsyncDone | hlo.TraitTokens
		found = found || hlo.IsAsync(in.Opcode()) || hlo.Info(in.Opcode()).Traits&steps != 0
	}
	return found
}

// handsOnWork reports whether tokens or asynchronous work go from round to round.
func handsOnWork(while hlo.Instruction) (found bool) {
	for _, leaf := range while.Shape().Leaves {
		found = found || !leaf.IsArray()
		if found {
			break
		}
	}
	return found || while.Shape().IsTuple() && while.Shape().NumParts() != while.Shape().NumLeaves() // there are tuples in it
}

// body and condition are the callees of a loop.
func body(m analysis.Computations, while hlo.Instruction) hlo.Computation {
	return m.MustComputation(while.Callee(calleeNamed("body")))
}

func condition(m analysis.Computations, while hlo.Instruction) hlo.Computation {
	return m.MustComputation(while.Callee(calleeNamed("condition")))
}

func calleeNamed(role string) int {
	return slices.IndexFunc(hlo.Info(hlo.OpWhile).Callees, func(r hlo.CalleeRole) bool { return r.Name == role })
}

// unloop replaces a loop of no round by its input, and one of one round by its body.
func unloop(ce hlo.CompEdit, while hlo.Instruction, body hlo.Computation, trips int64) error {
	to, shape := while.Operand(0), while.Shape()
	if trips == 1 {
		to = control.InlineBefore(ce, while.ID(), body, []hlo.InstrID{to})
	}
	if !ce.At(to).Shape().Equal(shape) {
		return nil
	}
	return ce.ReplaceInstruction(while.ID(), to)
}

// removeWithUsers removes dead code that reads what is no longer there.
func removeWithUsers(c hlo.CompEdit, id hlo.InstrID) {
	for user := range c.Users(id) {
		removeWithUsers(c, user)
	}
	if c.Has(id) {
		_ = c.Remove(id) // what cannot go is live, and then so is the part
	}
}

// isDecorated reports attributes that describe each part of a tuple.
func isDecorated(in hlo.Instruction) bool {
	c := in.Common()
	return c != nil && (c.Sharding != nil || c.Origin != nil)
}
