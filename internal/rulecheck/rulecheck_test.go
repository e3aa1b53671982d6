package rulecheck_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/rules"
	"github.com/gohalo/halo/internal/rulecheck"
	"github.com/gohalo/halo/passes/algsimp"
)

// TestBuiltInRules proves every rule of the simplifier that is text.
func TestBuiltInRules(t *testing.T) {
	fired, misses, dynamic, around := 0, 0, 0, 0
	for file, list := range algsimp.Text() {
		for _, r := range list {
			report := rulecheck.Check(t.Context(), r)
			if report.Wrong != nil {
				t.Errorf("%s:%d: %s: %v", file, r.Line, r.ID, report.Wrong)
			}
			fired, misses, dynamic, around = fired+report.Fired, misses+report.Misses, dynamic+report.Dynamic, around+report.Around
		}
	}
	t.Logf("fired on %d instances, %d of them of dynamic size, and on %d in other surroundings; %d departures", fired, dynamic, around, misses)
}

// TestWrongRules plants mistakes of ten kinds, and wants each found, with the input that shows it.
func TestWrongRules(t *testing.T) {
	for text, want := range map[string]string{
		`W1 (add x 0) => x -- forgets minus zero`:                                                             "f32: with x = -0 the left side is 0, and the rule makes it -0",
		`W2 (multiply x z:0) => z -- forgets infinities`:                                                      "f32: with x = -1 the left side is -0, and the rule makes it 0",
		`W3 (subtract x y) => (subtract y x) -- exchanges operands`:                                           "f32: with x = 0, y = 1 the left side is -1, and the rule makes it 1",
		`W4 (compare[LT] x y) => (compare[LE] x y) -- another relation`:                                       "pred: with x = 1, y = 1 the left side is false, and the rule makes it true",
		`W5 (select p x y) => (select p y x) -- exchanges branches`:                                           "f32: with p = true, x = 0, y = 1 the left side is 0, and the rule makes it 1",
		`W6 (divide (multiply x c:const) c) => x if integer(x) -- forgets overflow`:                           "s32: ",
		`W7 (abs x) => x if signed(x), nonnegative(y:x) -- a condition that is none`:                          "",
		`W8 (divide a c:const) => (multiply a (eval divide 1 c)) if float(a), finite(c) -- reciprocals round`: "f32: with a = ",
		`W9 (transpose[q] (transpose[p] x)) => (transpose[compose(q,p)] x) -- composes the wrong way round`:   "f32: ",
		`W10 (maximum x (minimum x y)) => x if not float(x) -- is right, so that something passes`:            "right",
		`W11 (compare[GE] x x) => true -- forgets NaN`:                                                        "pred: with x = NaN the left side is false, and the rule makes it true",
		`W12 (convert (convert x)) => x -- forgets what the type between loses`:                               "f32: with x = -0 the left side is 0",
	} {
		list, err := rules.Parse("wrong.rules", text)
		if want == "" {
			require.Error(t, err, text)
			continue
		}
		require.NoError(t, err, text)
		report := rulecheck.Check(t.Context(), list[0])
		if want == "right" {
			assert.Nil(t, report.Wrong, "%s: %v", text, report.Wrong)
			continue
		}
		if assert.NotNil(t, report.Wrong, text) {
			assert.Contains(t, report.Wrong.Error(), want, text)
		}
	}
}
