package filecheck_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/internal/filecheck"
)

var prefixFlag = regexp.MustCompile(`FileCheck.*?--?check-prefix(?:es)?[= ]([A-Z0-9_,-]+)`)

// TestCorpus reads the directives of every test in XLA's and TFRT's trees, which the
// original tool accepts.
func TestCorpus(t *testing.T) {
	root := filepath.Join("..", "..", "..", "shared", "corpus")
	if _, err := os.Stat(root); err != nil {
		t.Skip("no corpus beside the repository")
	}
	parsed := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{".hlo", ".mlir"}, filepath.Ext(path)) {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), "FileCheck") {
			return err
		}
		options := filecheck.Options{CheckName: path, Prefixes: []string{"CHECK"}, AllowUnusedPrefixes: true}
		for _, m := range prefixFlag.FindAllStringSubmatch(string(text), -1) {
			options.Prefixes = append(options.Prefixes, strings.Split(m[1], ",")...)
		}
		if strings.HasSuffix(path, "_test_input.hlo") {
			return nil // input of a generator of checks, wrong on purpose
		}
		_, err = filecheck.Parse(text, options)
		if err != nil && strings.Contains(err.Error(), "no check strings found") {
			return nil // prefixes that the test runner fills in
		}
		if !assert.NoError(t, err) {
			return nil
		}
		parsed++
		return nil
	})
	require.NoError(t, err)
	t.Logf("%d files with directives", parsed)
}
