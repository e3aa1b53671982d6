package floors_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/gohalo/halo/internal/lint/floors"
)

func TestCases(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), floors.Analyzer, floors.Module+"/hlo/parser", floors.Module+"/hlo", floors.Module+"/printer")
}

func TestForbidden(t *testing.T) {
	for _, tc := range []struct{ from, to, why string }{
		{"hlo/parser", "hlo", ""},
		{"hlo", "hlo/parser", "imports go down"},
		{"printer", "verifier", "imports go down"},
		{"hlo/proto", "hlo/parser", ""}, // allowed by name
		{"passes/algsimp", "passes/simplify", ""},
		{"hlo/eval", "runtime/async", "the wings meet"},
		{"lower", "runtime/bef", ""},
		{"cmd/halo", "", ""},
		{"", "cmd/halo", "imports go down"},
		{"elsewhere", "hlo", "no floor is known for elsewhere"},
		{"hlo", "elsewhere/deep", "no floor is known for elsewhere/deep"},
		{"hlox", "hlo", "no floor is known for hlox"},
	} {
		got := floors.Forbidden(tc.from, tc.to)
		if tc.why == "" {
			assert.Empty(t, got, tc.from+" "+tc.to)
		} else {
			assert.Contains(t, got, tc.why, tc.from+" "+tc.to)
		}
	}
}
