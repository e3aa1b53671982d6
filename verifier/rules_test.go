package verifier_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/verifier"
)

// Every example breaks its rule and no other, and is legal when mended.
func TestExamples(t *testing.T) {
	n := 0
	for _, r := range verifier.Rules() {
		e, ok := verifier.ExampleOf(r.ID)
		if !ok {
			continue
		}
		n++
		cfg := verifier.Config{Profile: e.Profile}
		for _, name := range e.Options {
			i := slices.IndexFunc(verifier.Options(), func(o verifier.Option) bool { return o.Name == name })
			require.GreaterOrEqual(t, i, 0, "option %s", name)
			require.NoError(t, verifier.Options()[i].Set(&cfg, ""))
		}
		found, refused := verdict(e.Breaks, cfg)
		if refused != nil {
			assert.Equal(t, r.ID, refusedBy(refused), "%s\n%v", e.Breaks, refused)
		} else {
			assert.Equal(t, []string{r.ID}, rulesOf(found), "%s\n%v", e.Breaks, found)
		}
		found, refused = verdict(e.Mended, cfg)
		assert.NoError(t, refused, e.Mended)
		assert.Empty(t, found, "%s\n%v", e.Mended, found)
		text, ok := verifier.Explain(r.ID)
		assert.True(t, ok)
		assert.Contains(t, text, r.What)
	}
	t.Logf("%d examples", n)
	_, ok := verifier.Explain("NOPE-1")
	assert.False(t, ok)
}

var ruleID = regexp.MustCompile(`"((?:MOD|STR|NAME|GEN|ELT|SHP|IOTA|CST|DYN|R?S?DOT|CNV|LIN|RED|RNG|CALL|WHL|CND|FUS|CC|TUP|BAR|THR|TOK|COLL|REPL|CPERM|LAY|MEM|SHD|BUF|ENT|ALI|DON|MISC|ASYNC|PAIR|CHAN|SCH|DEAD|HALO)-[A-Z0-9]+)"`)

// The rule table has every id that the code reports, and no id that nothing can report.
func TestRuleTableIsComplete(t *testing.T) {
	used := make(map[string]bool)
	for _, pattern := range []string{"*.go", "../hlo/shape*.go", "../hlo/parser/*.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, f := range files {
			if f == "rules.go" || f == "rules_test.go" || f == "corpus_test.go" {
				continue
			}
			data, err := os.ReadFile(f)
			require.NoError(t, err)
			for _, m := range ruleID.FindAllSubmatch(data, -1) {
				used[string(m[1])] = true
			}
		}
	}
	elsewhere := regexp.MustCompile(`permission|definition|reported as|finds it first|find it first`)
	seen := make(map[string]bool)
	for _, r := range verifier.Rules() {
		assert.False(t, seen[r.ID], "%s is there twice", r.ID)
		seen[r.ID] = true
		if !used[r.ID] && r.Kind == verifier.Checked {
			assert.Regexp(t, elsewhere, r.What, r.ID)
		}
	}
	for id := range used {
		assert.True(t, seen[id], "%s is not in the table", id)
	}
}

func FuzzVerify(f *testing.F) {
	for _, r := range verifier.Rules() {
		if e, ok := verifier.ExampleOf(r.ID); ok {
			f.Add(e.Breaks)
			f.Add(e.Mended)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, cfg := range []verifier.Config{{}, {Profile: verifier.XLA, LayoutSensitive: true, MixedPrecision: true, ReshapeIsBitcast: true, NoCollectiveDeadlocks: true}} {
			verdict(text, cfg) // must not panic, nor run away
		}
	})
}
