// Package hlotest is a generator of random modules, and what tests need of developers' data.
//
//	Random    a verified module that evaluates, made from a seed
//	Shared    a folder of developers' data beside the repository; the test is skipped without it
package hlotest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Text is a module of the corpus of real programs, as text.
type Text struct{ ID, Text string }

// moduleMark separates the modules of a file.
var moduleMark = regexp.MustCompile(`(?m)^// -----.*$`)

// XLATests is every module in XLA's own tests; not all of them are meant to be correct. The test is skipped where there is no corpus
// beside the repository, up folders above the package under test.
func XLATests(t testing.TB, up int) (all []Text) {
	f, err := os.Open(Shared(t, up, "corpus", "xla_tests", "modules.jsonl"))
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var row Text
		require.NoError(t, json.Unmarshal(lines.Bytes(), &row))
		all = append(all, row)
	}
	require.NoError(t, lines.Err())
	return all
}

// Files is every module of the .hlo files below a folder of the corpus.
func Files(t testing.TB, up int, folder ...string) (all []Text) {
	base := Shared(t, up, append([]string{"corpus"}, folder...)...)
	require.NoError(t, filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".hlo") {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(base, path)
		for i, part := range moduleMark.Split(string(data), -1) {
			all = append(all, Text{fmt.Sprintf("%s#%d", filepath.ToSlash(rel), i), part})
		}
		return err
	}))
	return all
}

// Shared is the path of a folder beside the repository, up folders above the package under test. Without it the test is skipped.
func Shared(t testing.TB, up int, elements ...string) string {
	t.Helper()
	path := filepath.Join(strings.Repeat("../", up+1)+"shared", filepath.Join(elements...))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not beside the repository", filepath.Join(elements...))
	}
	return path
}
