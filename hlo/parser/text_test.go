package parser_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/archives"
	"github.com/gohalo/halo/printer"
)

var update = flag.Bool("update", false, "rewrite the wanted texts of testdata")

// TestText reads the cases of testdata/*.txtar: each is a text and, in the section NAME.want after it, what it prints as in the long
// form without sugar, warnings first, or the errors.
func TestText(t *testing.T) {
	for path, a := range archives.All(t, "testdata/*.txtar") {
		wants := make(map[string]string)
		for _, f := range a.Files {
			if name, ok := strings.CutSuffix(f.Name, ".want"); ok {
				wants[name] = string(f.Data)
			}
		}
		out := &txtar.Archive{Comment: a.Comment}
		for _, f := range a.Files {
			if strings.HasSuffix(f.Name, ".want") {
				continue
			}
			got := read(f.Name, string(f.Data))
			if !*update {
				t.Run(filepath.Base(path)+"/"+f.Name, func(t *testing.T) {
					assert.Equal(t, wants[f.Name], got)
				})
			}
			out.Files = append(out.Files, f, txtar.File{Name: f.Name + ".want", Data: []byte(got)})
		}
		if *update {
			require.NoError(t, os.WriteFile(path, txtar.Format(out), 0o644))
		}
	}
}

// read is what a case prints as. Names that begin with "lenient" and "strict" choose the configuration.
func read(name, text string) string {
	var b strings.Builder
	c := parser.Config{
		Lenient: strings.HasPrefix(name, "lenient"), Strict: strings.HasPrefix(name, "strict"),
		Warn: func(e *parser.Error) { b.WriteString(e.Error() + "\n") },
	}
	m, err := c.Parse("", text)
	if err != nil {
		return b.String() + err.Error() + "\n"
	}
	style, _ := printer.StyleByName("long")
	style.Sugar = printer.SugarOff
	out, err := printer.Append(nil, m, style)
	if err != nil {
		return b.String() + err.Error() + "\n"
	}
	return b.String() + strings.TrimRight(string(out), "\n") + "\n"
}
