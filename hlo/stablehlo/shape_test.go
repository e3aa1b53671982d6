package stablehlo_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/stablehlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// TestShapes converts programs with operations of shapes, and holds them to the HLO or the error beside them.
func TestShapes(t *testing.T) {
	const path = "testdata/shape.txtar"
	archive, err := txtar.ParseFile(path)
	require.NoError(t, err)
	want := make(map[string]string)
	for _, f := range archive.Files {
		want[f.Name] = string(f.Data)
	}
	var files []txtar.File
	for _, f := range archive.Files {
		name, ok := strings.CutSuffix(f.Name, ".mlir")
		if !ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			suffix, got := ".hlo", ""
			m, err := convertText(f.Name, string(f.Data))
			if err != nil {
				suffix, got = ".error", firstError(t, err)
			} else {
				require.NoError(t, verifier.Verify(m, verifier.Config{Profile: verifier.XLA}).Err())
				out, err := printer.Append(nil, m, printer.Long)
				require.NoError(t, err)
				got = strings.TrimSpace(string(out)) + "\n"
			}
			files = append(files, f, txtar.File{Name: name + suffix, Data: []byte(got)})
			if !*update {
				require.Contains(t, want, name+suffix, got)
				require.Equal(t, want[name+suffix], got)
			}
		})
	}
	if *update {
		archive.Files = files
		require.NoError(t, os.WriteFile(path, txtar.Format(archive), 0o644))
	}
}

// convertText converts a program. The comment "// shapes:" at its end has the shapes of the arguments.
func convertText(name, text string) (hlo.Module, error) {
	p, err := mlir.Parse(name, text)
	if err != nil {
		return hlo.Module{}, err
	}
	var o stablehlo.Options
	if _, list, ok := strings.Cut(text, "// shapes: "); ok {
		for s := range strings.SplitSeq(strings.TrimSpace(list), ", ") {
			shape, err := parser.ParseShape(s)
			if err != nil {
				return hlo.Module{}, err
			}
			o.Shapes = append(o.Shapes, shape)
		}
	}
	return stablehlo.Convert(p, o)
}

// firstError is the text of an error, whose place must be in the program.
func firstError(t *testing.T, err error) string {
	t.Helper()
	var list parser.ErrorList
	require.True(t, errors.As(err, &list), "%v", err)
	require.Positive(t, list[0].Line)
	require.Positive(t, list[0].Col)
	return strings.TrimSpace(err.Error()) + "\n"
}
