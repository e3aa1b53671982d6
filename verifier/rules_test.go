package verifier_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/verifier"
)

var ruleID = regexp.MustCompile(`"((?:MOD|STR|NAME|GEN|ELT|SHP|IOTA|CST|DYN|R?S?DOT|CNV|LIN|RED|RNG|CALL|WHL|CND|FUS|CC|TUP|BAR|THR|TOK|COLL|REPL|CPERM|LAY|MEM|SHD|BUF|ENT|ALI|DON|MISC|ASYNC|PAIR|CHAN|SCH|DEAD|HALO)-[A-Z0-9]+)"`)

// The rule table has every id that the code reports, and no id that nothing can report.
func TestRuleTableIsComplete(t *testing.T) {
	used := make(map[string]bool)
	for _, pattern := range []string{"*.go", "../hlo/shape*.go", "../hlo/op_*.go", "../hlo/parser/*.go", "../hlo/proto/*.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, f := range files {
			if f == "rules.go" || strings.HasSuffix(f, "_test.go") {
				continue
			}
			data, err := os.ReadFile(f)
			require.NoError(t, err)
			for _, m := range ruleID.FindAllSubmatch(data, -1) {
				used[string(m[1])] = true
			}
		}
	}
	seen := make(map[string]bool)
	for _, r := range verifier.Rules() {
		assert.False(t, seen[r.ID], "%s is there twice", r.ID)
		seen[r.ID] = true
		switch r.Kind {
		case verifier.Checked, verifier.ByReader, verifier.ByDecoder:
			assert.True(t, used[r.ID], "nothing reports %s", r.ID)
		case verifier.Covered:
			_, ok := verifier.RuleByID(r.As)
			assert.True(t, ok, "%s is reported as %q", r.ID, r.As)
		}
		assert.Equal(t, r.Kind == verifier.Covered, r.As != "", r.ID)
		assert.NotZero(t, r.Level(), r.ID)
	}
	for id := range used {
		assert.True(t, seen[id], "%s is not in the table", id)
	}
}
