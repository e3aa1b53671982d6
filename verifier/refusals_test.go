package verifier_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// executors are the packages whose errors end an execution.
var executors = []string{"../hlo/eval", "../runtime/kernels"}

// TestRefusalsHaveReasons holds testdata/refusals.txt to be the table of all errors with which the evaluator and the kernels can refuse, each below
// the reason why no verified module meets it, or why no rule of the verifier can forbid what causes it. A new error needs a row; a row whose
// error is gone has to go.
func TestRefusalsHaveReasons(t *testing.T) {
	data, err := os.ReadFile("testdata/refusals.txt")
	require.NoError(t, err)
	listed, reason := make(map[string]string), ""
	for line := range strings.Lines(string(data)) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "#"):
			reason = line
		case line != "":
			text, err := strconv.Unquote(line)
			require.NoError(t, err, line)
			require.NotEmpty(t, reason, line)
			require.NotContains(t, listed, text, "listed twice")
			listed[text] = reason
		}
	}
	found := make(map[string]bool)
	for _, dir := range executors {
		files, err := filepath.Glob(dir + "/*.go")
		require.NoError(t, err)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, text := range refusalsOf(t, file) {
				found[text] = true
				if _, ok := listed[text]; !ok {
					t.Errorf("%s refuses for a reason that testdata/refusals.txt does not have: add the row %q", file, text)
				}
			}
		}
	}
	for text := range listed {
		assert.True(t, found[text], "nothing refuses with %q", text)
	}
	assert.Greater(t, len(found), 100)
}

// refusalsOf are the texts of the errors that a file makes.
func refusalsOf(t *testing.T, file string) (texts []string) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	makers := []string{"fmt.Errorf", "errors.New"}
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		of, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, ok := of.X.(*ast.Ident)
		if !ok || !slices.Contains(makers, pkg.Name+"."+of.Sel.Name) {
			return true
		}
		text, ok := call.Args[0].(*ast.BasicLit)
		if !assert.True(t, ok, "%s makes an error of no literal text", file) {
			return true
		}
		s, err := strconv.Unquote(text.Value)
		require.NoError(t, err)
		texts = append(texts, s)
		return true
	})
	return texts
}
