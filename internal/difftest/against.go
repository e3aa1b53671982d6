package difftest

import (
	"context"
	"errors"
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/internal/shadow"
)

// Against compares the evaluator on m with results from elsewhere: of computes them from the leaves of the arguments, and returns one
// literal for each leaf of the result.
func Against(ctx context.Context, m hlo.Module, cfg Config, of func(args []*hlo.Literal) ([]*hlo.Literal, error)) Outcome {
	cfg = cfg.withDefaults()
	if Bytes(m) > cfg.MaxBytes {
		return Outcome{Verdict: TooLarge, Err: fmt.Errorf("more than %d bytes", cfg.MaxBytes)}
	}
	if drawsRandom(m) {
		return Outcome{Verdict: Random}
	}
	args, err := shadow.Inputs(m, cfg.Fill, cfg.Seed)
	if err != nil {
		return Outcome{Verdict: NoInputs, Err: err}
	}
	want, err := evaluate(ctx, m, args, cfg)
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, eval.ErrBudget):
		return Outcome{Verdict: EvalSlow, Err: err}
	case err != nil:
		return Outcome{Verdict: EvalRefuses, Err: err}
	}
	got, err := of(leaves(args))
	if err != nil {
		return Outcome{Verdict: RunFails, Err: err}
	}
	if len(got) != len(want) {
		return Outcome{Verdict: Differ, Err: fmt.Errorf("%d result leaves, want %d", len(got), len(want))}
	}
	return compare(ctx, m, args, got, want, cfg)
}
