package halo_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOpIsKnownInOnePlacePerFloor holds what adding an op may cost: its constant and its row in hlo, its meaning in hlo/eval, and, if it is to be fast, its line in a
// table of runtime/kernels. Reader, printer, verifier, passes, lowering and command do not know it by name.
func TestOpIsKnownInOnePlacePerFloor(t *testing.T) {
	for op, want := range map[string][]string{
		"OpCbrt":   {"hlo/eval/floatops.go", "hlo/op_elementwise.go", "hlo/opcode.go", "runtime/kernels/tile/float.go"},
		"OpPopcnt": {"hlo/eval/intops.go", "hlo/op_elementwise.go", "hlo/opcode.go", "runtime/kernels/tile/integer.go"},
	} {
		name := regexp.MustCompile(`\b` + op + `\b`)
		var files []string
		require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && path == "internal" { // tests and their generators choose ops
				return filepath.SkipDir
			}
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err == nil && name.Match(text) {
				files = append(files, filepath.ToSlash(path))
			}
			return err
		}))
		assert.Equal(t, want, files, op)
	}
}
