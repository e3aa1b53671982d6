// Package diverge finds where two executions of a program part: the first instruction whose value differs, and where a NaN is born.
//
//	r, err := diverge.Find(ctx, diverge.Side{Module: m, Engine: halo.Eval}, diverge.Side{Module: optimised, Engine: halo.BEF}, args, diverge.Config{})
//
// Values of the two sides belong together if their instructions have the same name and shape, execution by execution: passes keep the
// names of what they do not replace. The reference evaluator shows every value. A compiled program is made to show those of one
// computation, by returning them all; where an instruction that calls others departs, the search goes on in what it calls, with the
// operands that the evaluator had.
package diverge

import (
	"context"
	"fmt"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
)

// Side is one of two executions. On BEF the module has been through the passes that lowering needs.
type Side struct {
	Module hlo.Module
	Engine halo.Engine
}

// Config says what counts as a difference. The zero value has the tolerances of [arrays.Tolerance].
type Config struct {
	// Tolerance is the relative and absolute tolerance for a type.
	Tolerance func(hlo.PrimitiveType) (rtol, atol float64)
	// MaxBytes bounds the values that are kept of each side; those beyond are not compared. 0 is 1 GB.
	MaxBytes int64
	// Exactness says what of zeros, NaNs and infinities counts.
	Exactness arrays.Exactness
	// Pair says that the sides are two programs: their instructions are paired as halo diff pairs them, and values may be of different types.
	Pair bool
	// Seen, when set, is called with each value that the evaluator shows of a side, "a" or "b", and the number of those so far.
	Seen func(side string, in hlo.Instruction, n int)
	// Options are for both sides; engine, passes and observer are chosen here.
	Options halo.Options

	names map[string]string // of instructions of b, in a; nil where names are the same
	side  string            // that is being executed, "" while something else is
}

// Report is what was found.
type Report struct {
	A, B []*hlo.Literal // the leaves of the results
	// First is the first value of B that departs from its counterpart in A; nil if none does.
	First *Departure
	// NaNA and NaNB are where each side makes a NaN of numbers for the first time; nil if it makes none.
	NaNA, NaNB *Birth
	// Unseen counts values that were too many to be kept.
	Unseen int
	// Cut says that the context ended before the executions did: there are no results, and First is among the values that both had by then.
	Cut *Cut
}

// Cut is how far executions got that were cut short.
type Cut struct {
	A, B int             // values of each side
	Last hlo.Instruction // that was computed; the zero Instruction if none was
}

// Departure is an instruction whose value differs.
type Departure struct {
	Computation string
	Instruction hlo.Instruction // of B
	Partner     string          // its counterpart in A
	Execution   int             // of the instruction, from 1
	Leaf        int             // of a tuple
	Difference  arrays.Difference
	Got, Want   *hlo.Literal // the leaf in B and in A
	// Local is the difference that is there even if the instruction gets the operands that A has; nil where that was not tried.
	Local *arrays.Difference
	// Inherited says that no instruction departs by itself: small differences have built up.
	Inherited bool
	// Operands are those that A has, in B's types; nil if A lacks some, which Unpaired names.
	Operands []*hlo.Literal
	Unpaired []string
	// Within is the way in: the callers that were opened, outermost first.
	Within []string
}

// Birth is an instruction that makes a NaN of operands that have none.
type Birth struct {
	Computation string
	Instruction hlo.Instruction
	Execution   int
	Leaf        int
	Element     int // flat row-major
	// Parameter says that the instruction is a parameter of the program: the NaN was given.
	Parameter bool
	// Operands are those of the instruction at the same element, where they are arrays of its dimensions or scalars; else "".
	Operands []string
}

// Find executes both sides on one literal for each parameter and compares them. If the context ends before that, the report is of what was seen, with
// the error.
func Find(ctx context.Context, a, b Side, args []*hlo.Literal, cfg Config) (*Report, error) {
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = 1 << 30
	}
	cfg.side = "a"
	ra, err := observe(ctx, a, args, &cfg)
	if err != nil {
		return cut(ctx, ra, nil, &cfg), fmt.Errorf("a: %w", err)
	}
	if cfg.Pair {
		cfg.names = pairNames(a.Module, b.Module)
		if args, err = argumentsFor(ctx, b.Module, args); err != nil {
			return nil, err
		}
	}
	cfg.side = "b"
	rb, err := observe(ctx, b, args, &cfg)
	if err != nil {
		return cut(ctx, ra, rb, &cfg), fmt.Errorf("b: %w", err)
	}
	cfg.side = ""
	r := &Report{A: ra.result.Leaves(), B: rb.result.Leaves(), NaNA: ra.birth, NaNB: rb.birth, Unseen: ra.unseen + rb.unseen}
	r.First = firstDeparture(ra, rb, &cfg)
	if r.First != nil && cfg.Pair && b.Engine == halo.Eval {
		r.First = blame(ctx, ra, rb, b.Module, r.First, &cfg)
	}
	for depth := 0; r.First != nil && b.Engine == halo.BEF && depth < maxOpened; depth++ {
		d, inner, innerArgs := open(ctx, b.Module, args, r.First, &cfg)
		if d == nil {
			break
		}
		r.First, b.Module, args = d, inner, innerArgs
	}
	return r, nil
}

// cut is the report of executions of which the last one was cut short; nil if it was not the context that ended it.
func cut(ctx context.Context, a, b *observation, cfg *Config) *Report {
	if ctx.Err() == nil {
		return nil
	}
	r := &Report{NaNA: a.birth, Unseen: a.unseen, Cut: &Cut{A: len(a.values)}}
	last := a
	if b != nil {
		last, r.Cut.B, r.NaNB = b, len(b.values), b.birth
		r.Unseen += b.unseen
		r.First = firstDeparture(a, b, cfg)
	}
	if n := len(last.values); n > 0 {
		r.Cut.Last = last.values[n-1].in
	}
	return r
}

// firstDeparture walks through the values of b in their order.
func firstDeparture(a, b *observation, cfg *Config) *Departure {
	for i := range b.values {
		if d := departure(a, &b.values[i], cfg); d != nil {
			return d
		}
	}
	return nil
}

// departure is how a value of b departs from its counterpart; nil if it does not, or has none.
func departure(a *observation, v *value, cfg *Config) *Departure {
	name, ok := cfg.partner(v.in.Name())
	if !ok {
		return nil
	}
	w := a.find(valueKey{name, v.execution})
	if w == nil || cfg.names == nil && !w.literal.Shape().Compatible(v.literal.Shape()) {
		return nil
	}
	got, want := v.literal.Leaves(), w.literal.Leaves()
	for k := range min(len(got), len(want)) {
		if !got[k].Shape().IsArray() || got[k].IsElided() || want[k].IsElided() || !cfg.comparable(got[k].Shape(), want[k].Shape()) {
			continue
		}
		if d := cfg.compare(got[k], want[k]); d.Bad > 0 {
			return &Departure{Computation: v.in.Computation().Name(), Instruction: v.in, Partner: name, Execution: v.execution, Leaf: k,
				Difference: d, Got: got[k], Want: want[k]}
		}
	}
	return nil
}
