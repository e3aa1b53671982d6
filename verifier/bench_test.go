package verifier_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/verifier"
)

// BenchmarkVerify verifies the large model dumps, with their parse beside it: verification must not cost more.
func BenchmarkVerify(b *testing.B) {
	root := filepath.Join("..", "..", "shared", "corpus", "hlo", "tools", "benchmarks")
	if _, err := os.Stat(root); err != nil {
		b.Skip("no shared tree beside the repository")
	}
	require.NoError(b, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".hlo" {
			return err
		}
		data, err := os.ReadFile(path)
		require.NoError(b, err)
		text := string(data)
		name := strings.TrimSuffix(filepath.Base(path), ".hlo")
		b.Run("parse/"+name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				_, err := parser.Parse(path, text)
				require.NoError(b, err)
			}
		})
		b.Run("verify/"+name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				b.StopTimer() // a fresh module each time: what the IR remembers of the last run must not count
				m, err := parser.Parse(path, text)
				require.NoError(b, err)
				b.StartTimer()
				require.NoError(b, verifier.Verify(m, verifier.Config{Profile: verifier.XLA, MixedPrecision: true}).Err())
			}
		})
		return nil
	}))
}
