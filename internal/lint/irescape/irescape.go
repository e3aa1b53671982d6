// Package irescape reports pointers to nodes of the IR that leave the package that owns them.
//
// Nodes are written in place by the session that made them, so no other code may hold one. A node type is an unexported struct with a
// field epoch or stamp; it escapes through the signature of an exported function or method, an exported variable, or an exported field.
package irescape

import (
	"cmp"
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
				if n := node(v.Type(), 0); n != "" {
					report(id.Pos(), "%s hands out a pointer to an IR node, %s: return a value that wraps it", id.Name, n)
				}
			}
			for v := range sig.Params().Variables() {
				if f, ok := v.Type().Underlying().(*types.Signature); ok {
					if n := inFunction(f.Params(), 0); n != "" {
						report(id.Pos(), "%s shows its callback a pointer to an IR node, %s", id.Name, n)
					}
				}
			}
		case *types.Var:
			if obj.Parent() != pass.Pkg.Scope() && !obj.IsField() {
				continue
			}
			if n := node(obj.Type(), 0); n != "" {
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

// node is the name of the node type that a pointer, or what is made of pointers, leads to without an unexported field in between: by
// elements, by what functions show or return, by type arguments.
func node(t types.Type, depth int) string {
	if depth > 8 { // recursive types
		return ""
	}
	depth++
	switch t := types.Unalias(t).(type) {
	case *types.Pointer:
		if named, ok := types.Unalias(t.Elem()).(*types.Named); ok && isNode(named) {
			return named.Obj().Name()
		}
		return node(t.Elem(), depth)
	case *types.Slice:
		return node(t.Elem(), depth)
	case *types.Array:
		return node(t.Elem(), depth)
	case *types.Map:
		return cmp.Or(node(t.Key(), depth), node(t.Elem(), depth))
	case *types.Chan:
		return node(t.Elem(), depth)
	case *types.Signature:
		return cmp.Or(inFunction(t.Params(), depth), inFunction(t.Results(), depth))
	case *types.Named:
		switch t.Underlying().(type) {
		case *types.Struct, *types.Interface: // what they let out is said by their own fields and methods
			return ""
		}
		return node(t.Underlying(), depth)
	}
	return ""
}

func inFunction(vars *types.Tuple, depth int) string {
	for v := range vars.Variables() {
		t := v.Type()
		if f, ok := t.Underlying().(*types.Signature); ok { // a callback of the function: it is shown what it is called with
			if n := inFunction(f.Params(), depth+1); n != "" && depth < 8 {
				return n
			}
			continue
		}
		if n := node(t, depth); n != "" {
			return n
		}
	}
	return ""
}

func isNode(named *types.Named) bool {
	s, ok := named.Underlying().(*types.Struct)
	if !ok || ast.IsExported(named.Obj().Name()) {
		return false
	}
	for f := range s.Fields() {
		if f.Name() == "epoch" || f.Name() == "stamp" {
			return true
		}
	}
	return false
}
