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
	// Options are for both sides; engine, passes and observer are chosen here.
	Options halo.Options
}

func (c *Config) compare(got, want *hlo.Literal) arrays.Difference {
	t := got.Shape().Type()
	rtol := arrays.Tolerance(t)
	atol := rtol
	if c.Tolerance != nil {
		rtol, atol = c.Tolerance(t)
	}
	return arrays.Compare(got, want, rtol, atol)
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
}

// Departure is an instruction whose value differs.
type Departure struct {
	Computation string
	Instruction hlo.Instruction // of B
	Execution   int             // of the instruction, from 1
	Leaf        int             // of a tuple
	Difference  arrays.Difference
	Got, Want   *hlo.Literal // the leaf in B and in A
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

// Find executes both sides on one literal for each parameter and compares them.
func Find(ctx context.Context, a, b Side, args []*hlo.Literal, cfg Config) (*Report, error) {
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = 1 << 30
	}
	ra, err := observe(ctx, a, args, &cfg)
	if err != nil {
		return nil, fmt.Errorf("a: %w", err)
	}
	rb, err := observe(ctx, b, args, &cfg)
	if err != nil {
		return nil, fmt.Errorf("b: %w", err)
	}
	r := &Report{A: ra.result.Leaves(), B: rb.result.Leaves(), NaNA: ra.birth, NaNB: rb.birth, Unseen: ra.unseen + rb.unseen}
	r.First = firstDeparture(ra, rb, &cfg)
	for depth := 0; r.First != nil && b.Engine == halo.BEF && depth < maxOpened; depth++ {
		d, inner, innerArgs := open(ctx, b.Module, args, r.First, &cfg)
		if d == nil {
			break
		}
		r.First, b.Module, args = d, inner, innerArgs
	}
	return r, nil
}

// firstDeparture walks through the values of b in their order.
func firstDeparture(a, b *observation, cfg *Config) *Departure {
	for i := range b.values {
		v := &b.values[i]
		w := a.find(v.key())
		if w == nil || !w.literal.Shape().Compatible(v.literal.Shape()) {
			continue
		}
		got, want := v.literal.Leaves(), w.literal.Leaves()
		for k := range got {
			if !got[k].Shape().IsArray() || got[k].IsElided() || want[k].IsElided() {
				continue
			}
			if d := cfg.compare(got[k], want[k]); d.Bad > 0 {
				return &Departure{Computation: v.in.Computation().Name(), Instruction: v.in, Execution: v.execution, Leaf: k,
					Difference: d, Got: got[k], Want: want[k]}
			}
		}
	}
	return nil
}
