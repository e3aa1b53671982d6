package parser_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gohalo/halo/hlo/parser"
)

// TestDepth nests every construct that can nest, up to and beyond the limit, with much text at the bottom.
func TestDepth(t *testing.T) {
	nest := func(n int, open, core, close string) string {
		return strings.Repeat(open, n) + core + strings.Repeat(close, n)
	}
	wrap := func(rest string) string {
		return "HloModule m\nENTRY e {\n  a = f32[] parameter(0)\n  " + rest + "\n}\n"
	}
	wide := strings.Repeat("f32[7], ", 20000) + "f32[7]"
	texts := map[string]func(n int) string{
		"operands": func(n int) string { return wrap("ROOT r = f32[] " + nest(n, "negate(", "a", ")")) },
		"shape":    func(n int) string { return wrap("ROOT r = " + nest(n, "(", wide, ")") + " parameter(1)") },
		"literal": func(n int) string {
			return wrap("ROOT r = " + nest(n, "(", "f32[]", ")") + " constant(" + nest(n, "(", "1", ")") + ")")
		},
		"custom": func(n int) string {
			return wrap(`ROOT r = f32[] custom-call(), custom_call_target="x", literal=` + nest(n, "(", "f32[] 1", ")"))
		},
		"computations": func(n int) string {
			return wrap("ROOT r = " + nest(n, "f32[] call(), to_apply={ r = ", "f32[] constant(1)", " }"))
		},
		"origin": func(n int) string { return wrap("ROOT r = f32[] negate(a), origin={" + nest(n, "(", "{}", ")") + "}") },
		"braces": func(n int) string { return wrap("ROOT r = f32[2] constant(" + nest(n, "{", "1", "}") + ")") },
		"open":   func(n int) string { return wrap("ROOT r = f32[] negate" + strings.Repeat("(", n)) },
		"metadata": func(n int) string {
			return wrap("ROOT r = f32[] negate(a), metadata=" + nest(n, "{op_name=", "1", "}"))
		},
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			_, err := parser.Parse("", text(50))
			if name == "operands" || name == "shape" || name == "literal" || name == "custom" || name == "computations" {
				assert.NoError(t, err)
			}
			_, err = parser.Parse("", text(20000))
			assert.Error(t, err)
			if name == "operands" || name == "shape" || name == "literal" || name == "computations" {
				assert.ErrorContains(t, err, "maximum recursion depth exceeded")
			}
			assert.Less(t, len(err.Error()), 20000)
		})
	}
}

// TestMillionLevels nests deeper than the outline of a text is followed.
func TestMillionLevels(t *testing.T) {
	const n = 1_000_000
	for name, part := range map[string]string{
		"operands": "ROOT r = f32[] " + strings.Repeat("abs(", n) + "a" + strings.Repeat(")", n),
		"shape":    "ROOT r = " + strings.Repeat("(", n) + strings.Repeat(")", n) + " parameter(1)",
		"literal":  "ROOT r = f32[1] constant(" + strings.Repeat("{", n) + strings.Repeat("}", n) + ")",
		"sharding": "ROOT r = f32[] negate(a), sharding=" + strings.Repeat("{", n) + strings.Repeat("}", n),
		"groups":   "ROOT r = f32[] all-reduce(a), replica_groups=" + strings.Repeat("{", n) + strings.Repeat("}", n),
		"origin":   "ROOT r = f32[] negate(a), origin={" + strings.Repeat("(", n) + strings.Repeat(")", n) + "}",
		"buffer":   "ROOT r = " + strings.Repeat("b(", n) + "f32[]" + strings.Repeat(")", n) + " parameter(1)",
		"physical": "ROOT r = f32[1]{0:P(" + strings.Repeat("f32[]{:P(", n) + strings.Repeat(")}", n) + ")} parameter(1)",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parser.Parse("", "HloModule m ENTRY e { a = f32[] parameter(0) "+part+" }")
			assert.ErrorContains(t, err, "maximum recursion depth exceeded")
			assert.Less(t, len(err.Error()), 1000)
		})
	}
}

// TestLongLines reads texts whose size comes from one thing only. Nothing may take time by the square of it: that would be longer than a test
// may take.
func TestLongLines(t *testing.T) {
	const n = 2_000_000
	wrap := func(rest string) string {
		return "HloModule m\nENTRY e {\n  a = f32[] parameter(0)\n  " + rest + "\n}\n"
	}
	for name, text := range map[string]string{
		"spaces":     wrap("ROOT r = f32[] negate(" + strings.Repeat(" ", n) + "a)"),
		"comments":   wrap("ROOT r = f32[] negate(" + strings.Repeat("/**/", n) + "a)"),
		"operands":   wrap("ROOT r = tuple(" + strings.Repeat("a,", n) + "a)"),
		"statements": wrap(strings.Repeat("b = f32[] negate(zz) ", 200_000)),
		"attributes": wrap("ROOT r = f32[] negate(a)" + strings.Repeat(", x=1", n)),
		"equals":     wrap("ROOT r = f32[] negate(a), backend_config=" + strings.Repeat("={", n)),
		"frontend":   wrap("ROOT r = f32[] negate(a), frontend_attributes={" + strings.Repeat("k={x},", n) + "k={}}"),
		"sharding":   wrap("ROOT r = f32[] negate(a), sharding={" + strings.Repeat("{replicated},", 200_000) + "{replicated}}"),
		"elements":   wrap("ROOT r = f32[] negate(a" + strings.Repeat("#0", n) + ")"),
		"computes":   "HloModule m\n" + strings.Repeat("f { ROOT a = f32[] parameter(0) }\n", 200_000),
		"values":     wrap("ROOT r = s32[" + "2000001" + "] constant({" + strings.Repeat("1,", n) + "1})"),
		"quotes":     wrap("ROOT r = f32[] negate(a), metadata={op_name=\"" + strings.Repeat("\\\"", n) + "\"}"),
		"braces":     wrap(strings.Repeat("}", n)),
		"header":     "HloModule m" + strings.Repeat(", a=1", n),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parser.Parse("", text)
			if err != nil {
				assert.Less(t, len(err.Error()), 100000)
			}
		})
	}
}
