package hostprog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/lower"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/runtime/bef"
	"github.com/gohalo/halo/verifier"
)

// TestLoweredPrograms takes files that were lowered from HLO, with their plans and constants, through their exact text.
func TestLoweredPrograms(t *testing.T) {
	var files []string
	for _, root := range []string{"../../testdata/run", "../../../shared/corpus/hlo"} {
		_ = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".hlo") {
				if info, err := d.Info(); err == nil && info.Size() < 100_000 {
					files = append(files, path)
				}
			}
			return nil
		})
	}
	lowered := 0
	for _, path := range files {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		m, err := parser.Parse(path, string(data))
		if err != nil || verifier.Verify(m, verifier.Config{Profile: verifier.XLA, MixedPrecision: true}).Err() != nil {
			continue
		}
		pipeline, err := passes.Parse("cpu")
		require.NoError(t, err)
		if m, err = (&pass.Runner{}).Run(t.Context(), pipeline, m); err != nil {
			continue
		}
		f, err := lower.Module(t.Context(), m)
		if err != nil {
			continue
		}
		lowered++
		b, err := bef.Marshal(f, bef.EncodeOptions{Extensions: true})
		require.NoError(t, err)
		if len(b) < 1<<20 {
			checkExact(t, b)
		}
	}
	t.Logf("%d of %d programs lower", lowered, len(files))
	require.Positive(t, lowered)
}
