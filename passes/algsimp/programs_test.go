package algsimp_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/archives"
	"github.com/gohalo/halo/internal/rulecheck"
	"github.com/gohalo/halo/passes/algsimp"
)

// TestRulesOnEveryType tries the rules that are Go on what is made of their cases: other element types, dynamic sizes, other surroundings.
func TestRulesOnEveryType(t *testing.T) {
	if testing.Short() {
		t.Skip("evaluates thousands of programs")
	}
	programs := map[string][]hlo.Module{}
	for _, archive := range archives.All(t, "testdata/*.txtar") {
		for _, f := range archive.Files {
			if !strings.HasSuffix(f.Name, ".after") {
				m, err := parser.Parse(f.Name, string(f.Data))
				require.NoError(t, err)
				programs[f.Name] = append(programs[f.Name], m)
			}
		}
	}
	var all rulecheck.Report
	for _, rule := range algsimp.Every() {
		if rule.Words != nil {
			continue // proven from its text
		}
		report := rulecheck.CheckPrograms(t.Context(), rule, programs[rule.ID]...)
		if report.Wrong != nil {
			t.Errorf("%s: %v", rule.ID, report.Wrong)
		}
		all.Add(report)
	}
	t.Log(all.String())
}
