// Package irescape reports pointers to nodes of the IR that leave the package that owns them.
//
// Nodes are written in place by the session that made them, so nobody else may hold one. A node type is an unexported struct with a
// field epoch; it escapes through the signature of an exported function or method, an exported variable, or an exported field.
package irescape

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/gohalo/halo/internal/lint"
)

// Analyzer is the check.
var Analyzer = &analysis.Analyzer{
	Name: "irescape",
	Doc:  "report exported functions, variables and fields that hand out pointers to IR nodes",
	Run:  run,
}

func run(pass *analysis.Pass) (any, error) {
	report := lint.Reporter(pass)
	for id, obj := range pass.TypesInfo.Defs {
		if obj == nil || !id.IsExported() || lint.IsTest(pass, id) {
			continue
		}
		switch obj := obj.(type) {
		case *types.Func:
			sig := obj.Type().(*types.Signature)
			if r := sig.Recv(); r != nil && !exportedReceiver(r.Type()) {
				continue
			}
			for v := range sig.Results().Variables() {
				if n := node(v.Type(), nil); n != "" {
					report(id.Pos(), "%s hands out a pointer to an IR node, %s: return a value that wraps it", id.Name, n)
				}
			}
			for v := range sig.Params().Variables() {
				if f, ok := v.Type().Underlying().(*types.Signature); ok {
					for p := range f.Params().Variables() {
						if n := node(p.Type(), nil); n != "" {
							report(id.Pos(), "%s shows its callback a pointer to an IR node, %s", id.Name, n)
						}
					}
				}
			}
		case *types.Var:
			if obj.Parent() != pass.Pkg.Scope() && !obj.IsField() {
				continue
			}
			if n := node(obj.Type(), nil); n != "" {
				report(id.Pos(), "%s is a way to an IR node, %s, from outside", id.Name, n)
			}
		}
	}
	return nil, nil
}

func exportedReceiver(t types.Type) bool {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	return ok && ast.IsExported(named.Obj().Name())
}

// node is the name of the node type that a pointer, or what is made of pointers, leads to without an unexported field in between.
func node(t types.Type, seen map[types.Type]bool) string {
	switch t := types.Unalias(t).(type) {
	case *types.Pointer:
		if named, ok := types.Unalias(t.Elem()).(*types.Named); ok && isNode(named) {
			return named.Obj().Name()
		}
	case *types.Slice:
		return node(t.Elem(), seen)
	case *types.Array:
		return node(t.Elem(), seen)
	case *types.Map:
		if n := node(t.Key(), seen); n != "" {
			return n
		}
		return node(t.Elem(), seen)
	case *types.Chan:
		return node(t.Elem(), seen)
	}
	return ""
}

func isNode(named *types.Named) bool {
	s, ok := named.Underlying().(*types.Struct)
	if !ok || ast.IsExported(named.Obj().Name()) {
		return false
	}
	for f := range s.Fields() {
		if f.Name() == "epoch" {
			return true
		}
	}
	return false
}
