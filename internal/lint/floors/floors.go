// Package floors reports imports that go up, sideways or across in the house: every package stands on a floor, and imports packages of
// lower floors of its own wing. The table is the list; the root's deps_test.go holds the whole module to it, this analyzer reports at the
// import.
package floors

import (
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/gohalo/halo/internal/lint"
)

// Analyzer is the check.
var Analyzer = &analysis.Analyzer{
	Name: "floors",
	Doc:  "report imports between packages of the module that do not go down",
	Run:  run,
}

// Module is the module whose packages have floors.
const Module = "github.com/gohalo/halo"

func run(pass *analysis.Pass) (any, error) {
	from, ours := inModule(pass.Pkg.Path())
	if !ours {
		return nil, nil
	}
	report := lint.Reporter(pass)
	for _, f := range pass.Files {
		if lint.IsTest(pass, f) { // a test may import any floor
			continue
		}
		for _, spec := range f.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue
			}
			if to, ours := inModule(path); ours {
				if why := Forbidden(from, to); why != "" {
					report(spec.Pos(), "%s imports %s: %s", orRoot(from), orRoot(to), why)
				}
			}
		}
	}
	return nil, nil
}

// inModule is the path of a package within the module, "" for its root.
func inModule(path string) (rel string, ours bool) {
	rel, ours = strings.CutPrefix(path, Module)
	return strings.TrimPrefix(rel, "/"), ours && (rel == "" || rel[0] == '/')
}

func orRoot(rel string) string {
	if rel == "" {
		return "the root package"
	}
	return rel
}

// Forbidden says why package from must not import package to, both relative to the module; "" if it may.
func Forbidden(from, to string) string {
	f, g := place(from), place(to)
	switch {
	case f == nil:
		return "no floor is known for " + orRoot(from) + ": add it to the table of package floors"
	case g == nil:
		return "no floor is known for " + orRoot(to) + ": add it to the table of package floors"
	}
	for _, p := range f.Also {
		if to == p || strings.HasSuffix(p, "/") && strings.HasPrefix(to, p) {
			return ""
		}
	}
	switch {
	case g.Floor >= f.Floor:
		return "imports go down, never sideways or up"
	case f.Wing != "" && g.Wing != "" && f.Wing != g.Wing:
		return "the wings meet in lower and runtime/kernels only"
	}
	return ""
}

// place finds the row of a package: the one with the longest prefix.
func place(pkg string) *Row {
	var best *Row
	for i := range table {
		r := &table[i]
		match := pkg == r.Prefix || r.Prefix != "" && strings.HasPrefix(pkg, strings.TrimSuffix(r.Prefix, "/")+"/")
		if match && (best == nil || len(r.Prefix) > len(best.Prefix)) {
			best = r
		}
	}
	return best
}
