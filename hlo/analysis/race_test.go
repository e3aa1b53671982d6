package analysis_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/parser"
)

// TestRaces finds in each program the races that its comments tell, and no others.
func TestRaces(t *testing.T) {
	files, err := filepath.Glob("../../testdata/races/*.hlo")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".hlo"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			m, err := parser.Parse(path, string(text))
			require.NoError(t, err)
			var want, got []string
			for line := range strings.Lines(string(text)) {
				if race, ok := strings.CutPrefix(line, "// race: "); ok {
					want = append(want, strings.TrimSpace(race))
				}
			}
			for _, r := range analysis.FindRaces(m) {
				got = append(got, r.String())
			}
			require.ElementsMatch(t, want, got)
		})
	}
}
