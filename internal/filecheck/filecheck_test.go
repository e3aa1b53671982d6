package filecheck_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/gohalo/halo/internal/archives"
	"github.com/gohalo/halo/internal/filecheck"
)

var update = flag.Bool("update", false, "rewrite the expected errors in testdata")

// TestCases runs testdata/*.txtar. A case is three sections, NAME.checks, NAME.output and, when the two
// do not agree, NAME.error; options are words in a line above the checks that begins with "options:".
func TestCases(t *testing.T) {
	for file, archive := range archives.All(t, "testdata/*.txtar") {
		sections := map[string]string{}
		for _, f := range archive.Files {
			require.NotContains(t, sections, f.Name, "%s: section twice", file)
			sections[f.Name] = string(f.Data)
		}
		rewritten := &txtar.Archive{Comment: archive.Comment}
		for _, f := range archive.Files {
			name, isChecks := strings.CutSuffix(f.Name, ".checks")
			if !strings.HasSuffix(f.Name, ".error") {
				rewritten.Files = append(rewritten.Files, f)
			}
			if !isChecks {
				if got, ok := strings.CutSuffix(f.Name, ".output"); ok && *update {
					if text := run(sections[got+".checks"], sections[f.Name]); text != "" {
						rewritten.Files = append(rewritten.Files, txtar.File{Name: got + ".error", Data: []byte(text)})
					}
				}
				continue
			}
			if !*update {
				t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+name, func(t *testing.T) {
					assert.Equal(t, sections[name+".error"], run(sections[f.Name], sections[name+".output"]))
				})
			}
		}
		if *update {
			require.NoError(t, os.WriteFile(file, txtar.Format(rewritten), 0o644))
		}
	}
}

// run returns the text of the error with a line feed, or nothing.
func run(checks, output string) string {
	var o filecheck.Options
	first, _, _ := strings.Cut(checks, "\n")
	if words, ok := strings.CutPrefix(first, "options:"); ok {
		for _, word := range strings.Fields(words) {
			name, value, _ := strings.Cut(word, "=")
			switch name {
			case "prefixes":
				o.Prefixes = strings.Split(value, ",")
			case "strict":
				o.StrictWhitespace = true
			case "full":
				o.MatchFullLines = true
			case "ignore-case":
				o.IgnoreCase = true
			case "allow-empty":
				o.AllowEmpty = true
			case "allow-unused":
				o.AllowUnusedPrefixes = true
			case "scope":
				o.VarScope = true
			case "define":
				o.Define = map[string]string{"DEFINED": value}
			default:
				panic("unknown option " + word)
			}
		}
	}
	if err := filecheck.Check([]byte(checks), []byte(output), o); err != nil {
		return err.Error() + "\n"
	}
	return ""
}

func TestErrorIsStructured(t *testing.T) {
	err := filecheck.Check([]byte("// CHECK: a\n// CHECK-NEXT: [[#1]]b\n"), []byte("a\n\n"), filecheck.Options{CheckName: "x.hlo", OutputName: "-"})
	var e *filecheck.Error
	require.True(t, errors.As(err, &e))
	assert.Equal(t, filecheck.Position{File: "x.hlo", Line: 2, Column: 16}, e.At)
	assert.Equal(t, "CHECK-NEXT", e.Directive)
	require.NotEmpty(t, e.Notes)
	assert.Equal(t, "-:1:2", e.Notes[0].At.String())
}

func TestChecksAreReusable(t *testing.T) {
	c, err := filecheck.Parse([]byte("CHECK: [[X:[0-9]+]]\nCHECK: [[X]]"), filecheck.Options{})
	require.NoError(t, err)
	for range 2 {
		assert.NoError(t, c.Match([]byte("1 1")))
		assert.Error(t, c.Match([]byte("1 2")))
	}
}

// TestHopeless holds what would take forever by trying all ways.
func TestHopeless(t *testing.T) {
	output := []byte(strings.Repeat("a", 4000))
	err := filecheck.Check([]byte("CHECK: {{(a*)*(a*)*}}[[X:a*]]b[[X]]"), output, filecheck.Options{})
	assert.ErrorContains(t, err, "too many ways")
	err = filecheck.Check([]byte("CHECK: {{((a*)*)*b}}"), output, filecheck.Options{})
	assert.ErrorContains(t, err, "not found")
}

func FuzzCheck(f *testing.F) {
	for _, archive := range archives.All(f, "testdata/*.txtar") {
		for i, section := range archive.Files[:len(archive.Files)-1] {
			f.Add(string(section.Data), string(archive.Files[i+1].Data))
		}
	}
	f.Fuzz(func(t *testing.T, checks, output string) {
		if len(checks) > 1000 || len(output) > 1000 {
			return
		}
		_ = run(strings.TrimPrefix(checks, "options:"), output)
	})
}

func BenchmarkCheck(b *testing.B) {
	var checks, output strings.Builder
	for i := range 200 {
		fmt.Fprintf(&checks, "// CHECK-NEXT: %%[[V%d:[^ ]+]] = f32[%d]{0} add(%%[[V%d]], {{.*}})\n", i+1, i, i)
		fmt.Fprintf(&output, "  %%add.%d = f32[%d]{0} add(%%add.%d, %%p)\n", i+1, i, i)
	}
	text := "// CHECK: %[[V0:.*]] = x\n" + checks.String()
	out := []byte("%add.0 = x\n" + output.String())
	b.ReportAllocs()
	for b.Loop() {
		if err := filecheck.Check([]byte(text), out, filecheck.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
