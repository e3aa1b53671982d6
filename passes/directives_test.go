package passes_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/passes/directive"
)

// TestDirectives holds the table of directives against the sources: every frontend attribute that somebody asks for is in it, what has readers
// occurs in the sources, and readers exist.
func TestDirectives(t *testing.T) {
	read, words := frontendReads(t), sourceWords(t)
	inTable := map[string]directive.Directive{}
	for _, d := range directive.Table {
		assert.NotContains(t, inTable, d.Name, "twice in the table")
		inTable[d.Name] = d
		for _, reader := range d.Readers {
			if !slices.Contains([]string{"verifier", "lower", "analysis"}, reader) {
				_, err := passes.Parse(reader)
				assert.NoError(t, err, "%s: reader of %s", reader, d.Name)
			}
		}
		if len(d.Readers) > 0 {
			assert.True(t, slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, d.Name) }), "%s has readers, but is nowhere in the sources", d.Name)
		}
		assert.NotEmpty(t, d.Doc, d.Name)
	}
	require.Greater(t, len(read), 10)
	for key, where := range read {
		d, ok := inTable[key]
		if assert.True(t, ok, "%s: the frontend attribute %q is not in passes/directive", where, key) {
			assert.NotEmpty(t, d.Readers, "%s reads %q, which the table lists as unread", where, key)
		}
	}
}

// TestDirectivesOfCorpus: what programs say in attributes that begin as XLA's do is in the table.
func TestDirectivesOfCorpus(t *testing.T) {
	if _, err := os.Stat("../../shared/corpus"); err != nil {
		t.Skip("needs ../shared")
	}
	known := map[string]bool{}
	for _, d := range directive.Table {
		known[d.Name] = true
	}
	attributes := regexp.MustCompile(`frontend_attributes=\{[^\n]*`)
	keys := regexp.MustCompile(`[{,]\s*(_?xla[\w.]*)=`)
	require.NoError(t, filepath.WalkDir("../../shared/corpus/hlo", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, text := range attributes.FindAll(data, -1) {
			for _, key := range keys.FindAllSubmatch(text, -1) {
				if name := string(key[1]); !known[name] {
					t.Errorf("%s: %q is not in passes/directive", path, name)
					known[name] = true
				}
			}
		}
		return err
	}))
}

// sources calls visit with the parsed files of the packages that act on programs.
func sources(t *testing.T, visit func(dir string, f *ast.File, set *token.FileSet)) {
	for _, root := range []string{".", "../verifier", "../lower", "../hlo/analysis"} {
		require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "directive") {
				return err
			}
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, path, nil, 0)
			if err == nil {
				visit(filepath.Dir(path), f, set)
			}
			return err
		}))
	}
}

// frontendReads finds the keys that are asked of frontend attributes, and where.
func frontendReads(t *testing.T) map[string]string {
	constants := map[string]map[string]string{} // by folder
	sources(t, func(dir string, f *ast.File, _ *token.FileSet) {
		ast.Inspect(f, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok {
				for i, name := range v.Names {
					if i < len(v.Values) {
						if s, ok := literal(v.Values[i]); ok {
							if constants[dir] == nil {
								constants[dir] = map[string]string{}
							}
							constants[dir][name.Name] = s
						}
					}
				}
			}
			return true
		})
	})
	read := map[string]string{}
	sources(t, func(dir string, f *ast.File, set *token.FileSet) {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			get, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || get.Sel.Name != "Get" {
				return true
			}
			if of, ok := get.X.(*ast.SelectorExpr); !ok || of.Sel.Name != "FrontendAttributes" {
				return true
			}
			key, ok := literal(call.Args[0])
			if name, isName := call.Args[0].(*ast.Ident); isName {
				key, ok = constants[dir][name.Name]
			}
			if ok {
				read[key] = set.Position(call.Pos()).String()
			}
			return true
		})
	})
	return read
}

// sourceWords are the string literals of the sources, and names of constants of package directive.
func sourceWords(t *testing.T) (words []string) {
	named := map[string]string{"NoHoisting": directive.NoHoisting, "KeepOneRound": directive.KeepOneRound}
	sources(t, func(_ string, f *ast.File, _ *token.FileSet) {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if s, ok := literal(n); ok {
					words = append(words, s)
				}
			case *ast.SelectorExpr:
				if s := named[n.Sel.Name]; s != "" {
					words = append(words, s)
				}
			}
			return true
		})
	})
	return words
}

func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}
