package parser_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gohalo/halo/hlo/parser"
)

// TestPlainWindow reads windows without their grammar: the same ones, and with the same meaning.
func TestPlainWindow(t *testing.T) {
	for _, text := range []string{
		"{}", "{ }", "{size=3}", "{size=3x3}", "{size=3x3 stride=2x2 pad=1_1x1_1 lhs_dilate=1x2 rhs_dilate=2x1 rhs_reversal=0x1}", "{ size=3x3  pad=-1_2x0_-3 }",
		"{size=1_1_0}", "{unknown=3}", "{size=3 size=3}", "{size=3x3/*a comment*/ stride=1x1}",
		"", "{", "}", "{size}", "{size=}", "{size=3", "{size=3}}", "{size=3}{}", "{size=3x}", "{size=3,stride=2}", "{size=b01f}", "{size=2.5}", `{size="3"}`, "{3}", "{size=?}",
		"{size=99999999999999999999}", "{size=-}", "{size=@}", `{"}`, "{{size=3}}",
	} {
		whole, plain := parser.Window(text)
		assert.Equal(t, whole, plain, "%s", text)
	}
}
