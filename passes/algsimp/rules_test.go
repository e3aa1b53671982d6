package algsimp_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/archives"
	"github.com/gohalo/halo/internal/shadow"
	"github.com/gohalo/halo/passes/algsimp"
	"github.com/gohalo/halo/passes/simplify"
	"github.com/gohalo/halo/passtest"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

var update = flag.Bool("update", false, "write the results of the rules")

// TestRules shows each rule alone, before and after, and holds what it makes to what it replaced: the same bits for an exact rule.
func TestRules(t *testing.T) {
	rules := map[string]*pass.RewriteRule{}
	for _, r := range algsimp.Every() {
		rules[r.ID] = r
	}
	shown := map[string]bool{}
	for path, archive := range archives.All(t, "testdata/*.txtar") {
		for i, f := range archive.Files {
			id, isAfter := strings.CutSuffix(f.Name, ".after")
			if isAfter {
				continue
			}
			t.Run(id, func(t *testing.T) {
				rule := rules[id]
				require.NotNil(t, rule, "there is no such rule")
				shown[id] = true
				require.Equal(t, id+".after", archive.Files[i+1].Name)
				m, err := parser.Parse(id, string(f.Data))
				require.NoError(t, err)
				alone := &pass.Rewriter{Rules: []*pass.RewriteRule{rule}, On: []string{id}}
				p := &pass.Pass{Name: "alone", Doc: "one rule", Local: alone.Local}
				after := passtest.Apply(t, pass.Of("", p, simplify.DCE), m, verifier.Config{})
				require.False(t, after == m, "the rule did not fire")
				if text := printer.String(after); *update {
					archive.Files[i+1].Data = []byte(text)
				} else {
					assert.Equal(t, string(archive.Files[i+1].Data), text)
				}
				cfg := shadow.Config{Rounds: 3, Class: rule.FP}
				if err := shadow.Compare(context.Background(), m, after, cfg); !errors.Is(err, shadow.ErrSkipped) {
					require.NoError(t, err)
				}
			})
		}
		if *update {
			require.NoError(t, os.WriteFile(path, txtar.Format(archive), 0o666))
		}
	}
	for id, r := range rules {
		assert.True(t, shown[id] || r.Words != nil, "rule %s has no case", id) // those of rules that are text are made from it
	}
}
