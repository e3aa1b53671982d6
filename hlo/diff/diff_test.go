package diff_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/diff"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/archives"
)

var update = flag.Bool("update", false, "rewrite the archives' reports")

// TestFind reads archives of two modules, a.hlo and b.hlo, the options of compiling them, if there are any, and the report of how they differ, want.
func TestFind(t *testing.T) {
	for file, archive := range archives.All(t, "testdata/*.txtar") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			parts := map[string]string{}
			for _, f := range archive.Files {
				parts[f.Name] = string(f.Data)
			}
			module := func(name string) hlo.Module {
				m, err := parser.Parse(name, parts[name])
				require.NoError(t, err)
				return m
			}
			a, b := module("a.hlo"), module("b.hlo")
			r := diff.Find(a, b)
			if parts["a.options"] != "" || parts["b.options"] != "" {
				r.CompareOptions(parts["a.options"], parts["b.options"])
			}
			var out bytes.Buffer
			require.NoError(t, r.WriteText(&out, a, b, diff.TextOptions{}))
			if *update {
				last := &archive.Files[len(archive.Files)-1]
				require.Equal(t, "want", last.Name)
				last.Data = out.Bytes()
				require.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o666))
				return
			}
			assert.Equal(t, parts["want"], out.String())
			same := diff.Find(a, a)
			assert.True(t, same.Equal, "a module is equal to itself")
			assert.Empty(t, same.Why)
		})
	}
}
