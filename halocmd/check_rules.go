package halocmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/gohalo/halo/hlo/rules"
	"github.com/gohalo/halo/internal/rulecheck"
)

// isRules reports whether a file holds rules.
func isRules(name string) bool { return strings.HasSuffix(name, ".rules") }

// checkRules proves the rules of a file, each by itself.
func (c *checkCmd) checkRules(ctx context.Context, e *env, in *input, r *record) error {
	list, err := rules.Parse(in.name, string(in.data))
	if err != nil {
		return err
	}
	var failed several
	fired := 0
	for i, rule := range list {
		e.progress.at(fmt.Sprintf("rule %d of %d", i+1, len(list)))
		report := rulecheck.Check(ctx, rule)
		if ctx.Err() != nil {
			return append(failed, fmt.Errorf("%s: error: %w after %d of %d rules", in.name, context.Cause(ctx), i, len(list)))
		}
		fired += report.Fired
		if w := report.Wrong; w != nil {
			failed = append(failed, fmt.Errorf("%s:%d:1: error: rule %s is wrong: %w", in.name, rule.Line, rule.ID, w))
			continue
		}
		if !c.JSON {
			fmt.Fprintf(e.stdout, "%s: %s holds on %d instances of %s; %d departures left alone\n", in.name, rule.ID, report.Fired,
				strings.Join(report.Types, ", "), report.Misses)
		}
	}
	r.add("rules", len(list))
	r.add("instances", fired)
	if len(failed) > 0 {
		return failed
	}
	return nil
}
