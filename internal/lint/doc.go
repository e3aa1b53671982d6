// Package lint holds the analyzers for halo's own rules. internal/lint/cmd/halolint runs them all; so does go vet -vettool.
//
//	useaftermove   a linear handle (hlo.Owned) is used once and then gone
//	framecapture   a kernel's frame does not outlive the kernel
//	irescape       nodes of the IR stay inside package hlo
//	attrwrite      slices in attributes of instructions are not written to
//	opswitch       lists of opcodes live in the op table, not in passes
//	floors         imports go down
//
// A line comment //halo:allow NAME reason, on the line of a report or the one before, silences it.
package lint

import (
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Reporter returns a function that reports unless a comment allows it.
func Reporter(pass *analysis.Pass) func(pos token.Pos, format string, args ...any) {
	allowed := map[string]map[int]bool{} // file → lines
	for _, f := range pass.Files {
		for _, group := range f.Comments {
			for _, c := range group.List {
				if name, ok := strings.CutPrefix(c.Text, "//halo:allow "); ok && strings.Fields(name)[0] == pass.Analyzer.Name {
					at := pass.Fset.Position(c.Pos())
					if allowed[at.Filename] == nil {
						allowed[at.Filename] = map[int]bool{}
					}
					allowed[at.Filename][at.Line] = true
					allowed[at.Filename][at.Line+1] = true
				}
			}
		}
	}
	return func(pos token.Pos, format string, args ...any) {
		at := pass.Fset.Position(pos)
		if !allowed[at.Filename][at.Line] {
			pass.Reportf(pos, format, args...)
		}
	}
}

// IsTest reports whether a file of the pass is a test.
func IsTest(pass *analysis.Pass, n ast.Node) bool {
	return strings.HasSuffix(pass.Fset.Position(n.Pos()).Filename, "_test.go")
}
