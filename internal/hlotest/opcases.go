package hlotest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gohalo/halo/internal/archives"
)

// OpCases is the modules of testdata/ops, without the lines that say what comes out. The repository is up folders above the package
// under test.
func OpCases(t testing.TB, up int) (texts []string) {
	t.Helper()
	for _, archive := range archives.All(t, filepath.Join(strings.Repeat("../", up), "testdata", "ops", "*.txtar")) {
		for _, c := range archive.Files {
			text := "HloModule m\n"
			for line := range strings.Lines(string(c.Data)) {
				if !strings.HasPrefix(line, "= ") && !strings.HasPrefix(line, "! ") {
					text += line
				}
			}
			texts = append(texts, text)
		}
	}
	return texts
}
