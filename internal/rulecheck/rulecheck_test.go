package rulecheck_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/rules"
	"github.com/gohalo/halo/internal/rulecheck"
	"github.com/gohalo/halo/passes/algsimp"
)

// TestBuiltInRules proves every rule of the simplifier that is text.
func TestBuiltInRules(t *testing.T) {
	var all rulecheck.Report
	for file, list := range algsimp.Text() {
		for _, r := range list {
			report := rulecheck.Check(t.Context(), r)
			if report.Wrong != nil {
				t.Errorf("%s:%d: %s: %v", file, r.Line, r.ID, report.Wrong)
			}
			all.Add(report)
		}
	}
	t.Log(all.String())
	for i, n := range all.Made {
		assert.NotZero(t, n, "surrounding %d", i)
	}
}

// TestWrongAround plants a rule that is right by itself, but not where its operand is made by something else, and wants that found.
func TestWrongAround(t *testing.T) {
	m, err := parser.Parse("m", "HloModule m\nENTRY e {\n x = f32[4] parameter(0)\n n = f32[4] negate(x)\n ROOT r = f32[4] negate(n)\n}\n")
	require.NoError(t, err)
	for by, want := range map[hlo.Opcode]string{
		hlo.OpParameter:       "result 0 is 1 at element 0, and the rule makes it -1",
		hlo.OpGetTupleElement: "out of a tuple",
		hlo.OpAddDependency:   "wait for a token",
		hlo.OpCustomCall:      "calls with side effects",
		hlo.OpAsyncDone:       "chains in flight",
		hlo.OpInvalid:         "",
	} {
		rule := &pass.RewriteRule{ID: "W", Doc: "-(-x) → x", Root: []hlo.Opcode{hlo.OpNegate}, Rewrite: func(in hlo.Instruction) (pass.Expr, bool) {
			n := in.OperandInstr(0)
			if n.Opcode() != hlo.OpNegate {
				return pass.Expr{}, false
			}
			if x := n.OperandInstr(0); x.Opcode() != by {
				return pass.Use(x), true
			}
			return pass.New(hlo.OpNegate, in.Shape(), nil, pass.Use(n.OperandInstr(0))), true
		}}
		switch w := rulecheck.CheckPrograms(t.Context(), rule, m).Wrong; {
		case want == "":
			assert.Nil(t, w)
		case assert.NotNil(t, w, want):
			assert.Contains(t, w.Error(), want)
		}
	}
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
