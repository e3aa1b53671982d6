package floors_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/gohalo/halo/internal/lint/floors"
)

func TestCases(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), floors.Analyzer, floors.Module+"/hlo/parser", floors.Module+"/hlo", floors.Module+"/printer")
}

// TestLoadingReadsNoText keeps the reader and the printer of HLO text out of the packages that load files.
func TestLoadingReadsNoText(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", floors.Module+"/runtime/bef", floors.Module+"/runtime", floors.Module+"/runtime/kernels").CombinedOutput()
	require.NoError(t, err, string(out))
	needed := strings.Fields(string(out))
	assert.Contains(t, needed, floors.Module+"/hlo/proto")
	for _, text := range []string{floors.Module + "/hlo/parser", floors.Module + "/printer", "github.com/alecthomas/participle/v2"} {
		assert.NotContains(t, needed, text)
	}
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
