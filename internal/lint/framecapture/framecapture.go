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
	named := functions(pass)
	owner := strings.HasSuffix(pass.Pkg.Path(), "runtime") // uses frames again itself, and so keeps them
	check := func(f ast.Expr, where string) {
		if s, ok := ast.Unparen(f).(*ast.SelectorExpr); ok && pass.TypesInfo.Selections[s] != nil && isFrame(pass.TypesInfo.TypeOf(s.X)) {
			report(f.Pos(), "a method of a frame runs %s: the frame is used again when the kernel has returned", where)
			return
		}
		lit := literal(pass, named, f)
		if lit == nil {
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
			case *ast.AssignStmt:
				for i, e := range n.Lhs {
					if owner || len(n.Lhs) != len(n.Rhs) {
						continue
					}
					_, fresh := n.Rhs[i].(*ast.CallExpr) // a frame made here has one owner
					if !fresh && isFrame(pass.TypesInfo.TypeOf(n.Rhs[i])) && outlives(pass, e) {
						report(n.Rhs[i].Pos(), "a frame is stored away: it is used again when the kernel has returned")
					}
				}
			case *ast.SendStmt:
				if isFrame(pass.TypesInfo.TypeOf(n.Value)) {
					report(n.Value.Pos(), "a frame is sent away: it is used again when the kernel has returned")
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

// functions finds the variables that stand for one function literal.
func functions(pass *analysis.Pass) map[types.Object]*ast.FuncLit {
	named := map[types.Object]*ast.FuncLit{}
	for _, f := range pass.Files {
		ast.Inspect(f, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok || len(a.Lhs) != len(a.Rhs) {
				return true
			}
			for i, e := range a.Rhs {
				lit, isLit := e.(*ast.FuncLit)
				id, isName := a.Lhs[i].(*ast.Ident)
				if isLit && isName {
					named[pass.TypesInfo.ObjectOf(id)] = lit
				}
			}
			return true
		})
	}
	return named
}

// literal is the function literal that an expression is, or names; nil if it is none.
func literal(pass *analysis.Pass, named map[types.Object]*ast.FuncLit, e ast.Expr) *ast.FuncLit {
	switch e := ast.Unparen(e).(type) {
	case *ast.FuncLit:
		return e
	case *ast.Ident:
		return named[pass.TypesInfo.Uses[e]]
	}
	return nil
}

// outlives reports whether what is assigned to e may be found after the function has returned: a variable of the package, an element
// of a map or a slice, a field behind a pointer.
func outlives(pass *analysis.Pass, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		v, ok := pass.TypesInfo.Uses[e].(*types.Var)
		return ok && v.Parent() == pass.Pkg.Scope()
	case *ast.IndexExpr:
		return true
	case *ast.SelectorExpr:
		_, pointer := types.Unalias(pass.TypesInfo.TypeOf(e.X)).(*types.Pointer)
		return pointer
	}
	return false
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
	if t == nil {
		return false
	}
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return false
	}
	return strings.HasSuffix(named.Obj().Name(), "Frame") && ast.IsExported(named.Obj().Name()) && strings.HasSuffix(named.Obj().Pkg().Path(), "runtime")
}
