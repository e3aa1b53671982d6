package difftest

import (
	"context"
	"fmt"

	"github.com/gohalo/halo/hlo"
)

// Against compares the evaluator on m with results from elsewhere: of computes them from the leaves of the arguments, and returns one
// literal for each leaf of the result.
func Against(ctx context.Context, m hlo.Module, cfg Config, of func(args []*hlo.Literal) ([]*hlo.Literal, error)) Outcome {
	cfg = cfg.withDefaults()
	args, want, o, err := reference(ctx, m, cfg)
	switch {
	case o.Verdict != "":
		return o
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
