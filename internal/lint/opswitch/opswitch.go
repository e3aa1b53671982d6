// Package opswitch reports lists of opcodes outside the packages that own what opcodes mean: switches, slices, sets and maps that name many.
//
// Facts about an op are a row of the op table or a trait; a list in a pass is the same list a second time, and the one that is forgotten
// when an op is added. A table of functions indexed by opcode is no such list: it is where a floor keeps what it does for each op.
package opswitch

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/gohalo/halo/internal/lint"
)

// The numbers of opcodes that may be named in one place. A switch does something for each of its cases; a list only says that they are alike,
// which is a trait.
const (
	inSwitch = 6
	inList   = 5
)

// Analyzer is the check.
var Analyzer = &analysis.Analyzer{
	Name: "opswitch",
	Doc:  "report switches, lists and maps that name many opcodes outside the op table",
	Run:  run,
}

// owners are packages whose subject is what each op is or means: the op table, the evaluator and the fast kernels with their tables of
// functions and instructions, the language of rules, and the conversion of another dialect's ops.
var owners = []string{"/hlo", "/hlo/eval", "/hlo/rules", "/hlo/stablehlo", "/runtime/kernels/tile"}

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
			switch n := n.(type) {
			case *ast.SwitchStmt:
				if n.Tag != nil && isOpcode(pass.TypesInfo.TypeOf(n.Tag)) {
					count := 0
					for _, c := range n.Body.List {
						count += len(c.(*ast.CaseClause).List)
					}
					if count > inSwitch {
						report(n.Pos(), "this switch names %d opcodes: ask the op table for a trait, or make it an array of functions indexed by opcode", count)
					}
				}
			case *ast.CompositeLit:
				if count := inLiteral(pass, n); count > inList {
					report(n.Pos(), "this literal lists %d opcodes: that they are alike is a trait of their rows", count)
				}
			case *ast.CallExpr:
				if count := constants(pass, n.Args); count > inList {
					report(n.Pos(), "this call lists %d opcodes: that they are alike is a trait of their rows", count)
				}
			case *ast.BinaryExpr:
				if n.Op != token.LOR && n.Op != token.LAND {
					return true
				}
				if count := compared(pass, n, n.Op); count > inList {
					report(n.Pos(), "this condition compares with %d opcodes: that they are alike is a trait of their rows", count)
				}
				return false // the operands are part of it
			}
			return true
		})
	}
	return nil, nil
}

// inLiteral counts the opcodes in a slice, array or map whose entries are no functions.
func inLiteral(pass *analysis.Pass, lit *ast.CompositeLit) (n int) {
	var elem types.Type
	switch t := pass.TypesInfo.TypeOf(lit).Underlying().(type) {
	case *types.Map:
		elem = t.Elem()
	case *types.Slice:
		elem = t.Elem()
	case *types.Array:
		elem = t.Elem()
	default:
		return 0
	}
	if behaves(elem) {
		return 0
	}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			n += constants(pass, []ast.Expr{kv.Key, kv.Value})
		} else {
			n += constants(pass, []ast.Expr{e})
		}
	}
	return n
}

// behaves reports whether values of t are functions, lists of them, or records that hold one.
func behaves(t types.Type) bool {
	t = t.Underlying()
	switch u := t.(type) {
	case *types.Slice:
		t = u.Elem().Underlying()
	case *types.Pointer:
		t = u.Elem().Underlying()
	}
	if record, ok := t.(*types.Struct); ok {
		for f := range record.Fields() {
			if _, ok := f.Type().Underlying().(*types.Signature); ok {
				return true
			}
		}
		return false
	}
	_, function := t.(*types.Signature)
	return function
}

// constants counts the expressions that are opcodes by name.
func constants(pass *analysis.Pass, list []ast.Expr) (n int) {
	for _, e := range list {
		if tv := pass.TypesInfo.Types[e]; tv.Value != nil && isOpcode(tv.Type) {
			n++
		}
	}
	return n
}

// compared counts the opcodes that the terms of a condition of one operator compare with.
func compared(pass *analysis.Pass, e ast.Expr, op token.Token) int {
	e = ast.Unparen(e)
	b, ok := e.(*ast.BinaryExpr)
	switch {
	case !ok:
		return 0
	case b.Op == op:
		return compared(pass, b.X, op) + compared(pass, b.Y, op)
	case b.Op == token.EQL || b.Op == token.NEQ:
		return constants(pass, []ast.Expr{b.X, b.Y})
	}
	return 0
}

// isOpcode recognises the type Opcode of a package hlo.
func isOpcode(t types.Type) bool {
	if t == nil {
		return false
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return false
	}
	return named.Obj().Name() == "Opcode" && strings.HasSuffix(named.Obj().Pkg().Path(), "hlo")
}
