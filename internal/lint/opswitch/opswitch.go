// Package opswitch reports switches that name many opcodes outside the packages that own what opcodes mean.
//
// What is true of an op is a row of the op table or a trait; a switch over opcodes in a pass is the same list a second time, and the one
// that is forgotten when an op is added.
package opswitch

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/gohalo/halo/internal/lint"
)

// Limit is the number of opcodes that a switch may name.
const Limit = 6

// Analyzer is the check.
var Analyzer = &analysis.Analyzer{
	Name: "opswitch",
	Doc:  "report switches that name more than six opcodes outside the packages that own what opcodes mean",
	Run:  run,
}

// owners are packages whose subject is what each op is, means or must obey: the op table, the evaluator and the fast kernels beside it,
// the verifier's rules.
var owners = []string{"/hlo", "/hlo/eval", "/runtime/kernels", "/runtime/kernels/tile", "/verifier"}

func run(pass *analysis.Pass) (any, error) {
	for _, o := range owners {
		if strings.HasSuffix("/"+pass.Pkg.Path(), o) {
			return nil, nil
		}
	}
	report := lint.Reporter(pass)
	for _, f := range pass.Files {
		if lint.IsTest(pass, f) {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SwitchStmt)
			if !ok || s.Tag == nil || !isOpcode(pass.TypesInfo.TypeOf(s.Tag)) {
				return true
			}
			count := 0
			for _, c := range s.Body.List {
				count += len(c.(*ast.CaseClause).List)
			}
			if count > Limit {
				report(s.Pos(), "this switch names %d opcodes: ask the op table for a trait, or make it an array indexed by opcode", count)
			}
			return true
		})
	}
	return nil, nil
}

// isOpcode recognises the type Opcode of a package hlo.
func isOpcode(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return false
	}
	return named.Obj().Name() == "Opcode" && strings.HasSuffix(named.Obj().Pkg().Path(), "hlo")
}
