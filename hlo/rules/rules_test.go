package rules_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/rules"
)

// TestMistakes wants a place and a reason for whatever cannot be a rule.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"A (add x 0) => x":                                     "1:17: error: unexpected token \"<EOF>\" (expected <reason>)",
		"A (add x 0) => x --":                                  "1:1: error: rule A gives no reason",
		"A (add x 0) => y -- y":                                "1:16: error: nothing on the left is called y",
		"A (add x) => x -- y":                                  "1:4: error: add takes 2 operands, here are 1",
		"A (addd x y) => x -- y":                               "1:4: error: there is no op \"addd\"",
		"A x => x -- y":                                        "1:3: error: the left side must be an op with operands",
		"A (add x y) => (dot x y) -- y":                        "1:17: error: rules cannot make dot: they know nothing of its attributes",
		"A (add x y) => (compare x y) -- y":                    "1:17: error: compare needs its attribute in brackets",
		"A (compare[XX|YY] x y) => x -- y":                     "1:12: error: XX is no direction",
		"A (compare[LT] x y) => (compare[after(LT)] x y) -- y": "1:33: error: after(LT) is no direction",
		"A (transpose[p] x) => (transpose[turn(p)] x) -- y":    "1:34: error: there is no turn of 1 lists of axes",
		"A (add x y) => x if integral(x) -- y":                 "1:21: error: there is no condition \"integral\"",
		"A (add x y) => x if less(x) -- y":                     "1:21: error: less asks about (c1, c2), here are 1",
		"A (add x y) => x if integer(z) -- y":                  "1:29: error: nothing on the left is called z",
		"A [loose] (add x y) => x -- y":                        "1:1: error: there is no class \"loose\"",
		"A (add x y) => (fold) -- y":                           "1:17: error: fold needs an op and constants",
		"A (add x y) => (add z:x y) -- y":                      "1:21: error: names are given on the left",
		"A (add (add (add a a) (add b b)) (add (add c d) (add e (add f g)))) => a -- y": "1:1: error: rule A has more than 5 ops that commute",
		"A (add x 0) => x -- y\nA (add x 1) => x -- y":                                  "2:1: error: rule A is there already, in line 1",
		"A (subtract (subtract a b) (subtract c (subtract d (subtract e (subtract f (subtract g (subtract h (subtract i (subtract j (subtract k (subtract l m))))))))))) => a -- y": "1:1: error: rule A has too many names",
	} {
		_, err := rules.Parse("f.rules", text)
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), "f.rules:"+want, text)
	}
}

// TestText holds a rule to its formula, and to its text, which is read again.
func TestText(t *testing.T) {
	for text, formula := range map[string]string{
		"A (subtract x (add x y)) => (negate y) if signed(x) -- x cancels":                                 "x - (x + y) → -y, if signed(x)",
		"A [overflow] (divide (divide a b) (divide c d)) => (divide (multiply a d) (multiply b c)) -- one": "a / b / (c / d) → a·d / (b·c)",
		"A (multiply (negate x) (negate y)) => (multiply x y) -- signs":                                    "(-x)·(-y) → x·y",
		"A (f:maximum|minimum! m:(f! x y) y) => m -- twice":                                                "maximum|minimum(f(x, y), y) → m",
		"A (compare[LT|LE] x x) => false if not float(x), rank(x, 2) -- never":                             "compare[LT|LE](x, x) → false, if not float(x), rank(x, 2)",
		"A (transpose[q] (transpose[p] x)) => (transpose[compose(p,q)] x) -- once":                         "transpose[q](transpose[p](x)) → transpose[compose(p,q)](x)",
		"A (multiply x c:const) => (multiply x (eval divide 1 c)) -- no":                                   "x·c → x·(1 / c)",
	} {
		list, err := rules.Parse("f.rules", text)
		require.NoError(t, err, text)
		doc, _ := list[0].Words()
		assert.Equal(t, formula, doc)
		assert.Equal(t, text, list[0].Source())
	}
}

// TestForms counts the orders in which operands that commute are tried.
func TestForms(t *testing.T) {
	for text, want := range map[string]int{
		"A (subtract x y) => x -- y":                      1,
		"A (add x y) => x -- y":                           2,
		"A (add x x) => x -- y":                           1,
		"A (add! x y) => x -- y":                          1,
		"A (add (multiply x 2) c:const) => x -- y":        4,
		"A (f:maximum|minimum m:(f x y) y) => m -- y":     4,
		"A (subtract (add x 0) (multiply y 1)) => x -- y": 4,
	} {
		list, err := rules.Parse("f.rules", text)
		require.NoError(t, err, text)
		assert.Len(t, list[0].Forms, want, text)
		assert.NotEqual(t, []hlo.Opcode(nil), list[0].Root)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("A [fast] (add! x:(compare[LT|GE] y -0) c:const) => (fold add c 1) if not less(x, c) -- why")
	f.Add("B (transpose[0,1] (reverse[-] x)) => (broadcast[either(p,q)] x) -- why")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := rules.Parse("f.rules", text)
		if err != nil {
			return
		}
		for _, r := range list {
			again, err := rules.Parse("f.rules", r.Source())
			require.NoError(t, err, r.Source())
			require.Equal(t, r.Source(), again[0].Source())
		}
	})
}
