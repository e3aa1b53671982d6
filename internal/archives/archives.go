// Package archives reads the txtar archives of tests.
package archives

import (
	"iter"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
)

// All returns the archives whose paths match a pattern, each with its path. The test fails when there are none.
func All(t testing.TB, pattern string) iter.Seq2[string, *txtar.Archive] {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, paths, pattern)
	return func(yield func(string, *txtar.Archive) bool) {
		for _, path := range paths {
			archive, err := txtar.ParseFile(path)
			require.NoError(t, err)
			if !yield(path, archive) {
				return
			}
		}
	}
}
