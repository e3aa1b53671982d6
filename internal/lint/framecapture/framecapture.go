// Package framecapture reports kernel frames that outlive their kernel: one that is captured by a function given to a queue or to the
// go statement, or that is stored away.
//
// The frame, and the slots it shows, are used again as soon as the kernel returns. What later work needs is taken out first: arguments
// and results into variables of their own.
package framecapture

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/gohalo/halo/internal/lint"
)

// Analyzer is the check.
var Analyzer = &analysis.Analyzer{
	Name: "framecapture",
	Doc:  "report kernel frames captured by goroutines and by functions that run later",
	Run:  run,
}

// later are the names of functions and methods that run their function argument after they return.
var later = map[string]bool{"AndThen": true, "AddTask": true, "AddBlockingTask": true, "Enqueue": true, "EnqueueWork": true, "AfterFunc": true}

func run(pass *analysis.Pass) (any, error) {
	report := lint.Reporter(pass)
	check := func(f ast.Expr, where string) {
		lit, ok := f.(*ast.FuncLit)
		if !ok {
			return
		}
		ast.Inspect(lit.Body, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			v, ok := pass.TypesInfo.Uses[id].(*types.Var)
			if ok && isFrame(v.Type()) && !v.IsField() && (v.Pos() < lit.Pos() || v.Pos() > lit.End()) {
				report(id.Pos(), "frame %s is captured by a function that runs %s: it is used again when the kernel has returned", id.Name, where)
			}
			return true
		})
	}
	for _, f := range pass.Files {
		if lint.IsTest(pass, f) {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				check(n.Call.Fun, "in a goroutine")
				for _, a := range n.Call.Args {
					check(a, "in a goroutine")
					if t := pass.TypesInfo.TypeOf(a); t != nil && isFrame(t) {
						report(a.Pos(), "a frame is handed to a goroutine: it is used again when the kernel has returned")
					}
				}
			case *ast.CallExpr:
				if name := calledName(n); later[name] {
					for _, a := range n.Args {
						check(a, "later, by "+name)
					}
				}
			}
			return true
		})
	}
	return nil, nil
}

func calledName(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.Ident:
		return f.Name
	}
	return ""
}

// isFrame recognises *Frame, *SyncFrame and *TensorFrame of a package runtime.
func isFrame(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return false
	}
	return strings.HasSuffix(named.Obj().Name(), "Frame") && ast.IsExported(named.Obj().Name()) && strings.HasSuffix(named.Obj().Pkg().Path(), "runtime")
}
