// Package attrwrite reports writes into slices that belong to attributes of instructions.
//
// An attribute struct is a copy, but its slices are the instruction's own, which a frozen module shares with every version of it:
//
//	hlo.AttrsOf[hlo.DotAttrs](in).LHSContracting[0] = 1   // changes a module that cannot change
//
// A pass that wants other values makes a slice: a.LHSContracting = slices.Clone(a.LHSContracting) first.
package attrwrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"

	"golang.org/x/tools/go/analysis"

	"github.com/gohalo/halo/internal/lint"
)

// Analyzer is the check.
var Analyzer = &analysis.Analyzer{
	Name: "attrwrite",
	Doc:  "report writes into slices that attributes of instructions share",
	Run:  run,
}

func run(pass *analysis.Pass) (any, error) {
	if path.Base(pass.Pkg.Path()) == "hlo" {
		return nil, nil // who makes attributes may fill them
	}
	report := lint.Reporter(pass)
	for _, file := range pass.Files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil || lint.IsTest(pass, f.Name) {
				continue
			}
			c := &checker{info: pass.TypesInfo, from: map[types.Object]ast.Expr{}, own: map[field]bool{}}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					for i, to := range n.Lhs {
						if c.writesShared(to) {
							report(to.Pos(), "writes into a slice that belongs to an instruction's attributes: clone it first")
						}
						if len(n.Lhs) == len(n.Rhs) {
							c.assigned(to, n.Rhs[i], n.Tok)
						}
					}
				case *ast.CallExpr:
					if c.changesShared(n) {
						report(n.Pos(), "writes into a slice that belongs to an instruction's attributes: clone it first")
					}
				case *ast.IncDecStmt:
					if c.writesShared(n.X) {
						report(n.Pos(), "writes into a slice that belongs to an instruction's attributes: clone it first")
					}
				}
				return true
			})
		}
	}
	return nil, nil
}

// field is a field of a variable.
type field struct {
	of   types.Object
	name string
}

// checker follows the variables of one function, in the order of its text.
type checker struct {
	info *types.Info
	from map[types.Object]ast.Expr // of variables: what they were set to last
	own  map[field]bool            // fields that have been given slices of their own
}

func (c *checker) assigned(to, value ast.Expr, tok token.Token) {
	switch to := ast.Unparen(to).(type) {
	case *ast.Ident:
		if obj := c.info.ObjectOf(to); obj != nil {
			c.from[obj] = value
		}
	case *ast.SelectorExpr:
		if id, ok := ast.Unparen(to.X).(*ast.Ident); ok && tok == token.ASSIGN {
			c.own[field{c.info.ObjectOf(id), to.Sel.Name}] = true
		}
	}
}

// writesShared reports whether an assignment to e changes an element of a slice that attributes share.
func (c *checker) writesShared(e ast.Expr) bool {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.IndexExpr:
			if _, is := c.info.TypeOf(x.X).Underlying().(*types.Slice); is && c.isShared(x.X, 0) {
				return true
			}
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		default:
			return false
		}
	}
}

// changers are the functions of the standard library that change the elements of their first argument.
var changers = map[string]bool{
	"slices.Sort": true, "slices.SortFunc": true, "slices.SortStableFunc": true, "slices.Reverse": true, "slices.Insert": true, "slices.Delete": true,
	"slices.DeleteFunc": true, "slices.Compact": true, "slices.CompactFunc": true, "slices.Replace": true,
	"sort.Ints": true, "sort.Strings": true, "sort.Slice": true, "sort.SliceStable": true, "sort.Sort": true,
}

// changesShared reports whether a call changes elements of a slice that attributes share: a changer, copy, clear, or append to the front part of
// one, whose rest it overwrites.
func (c *checker) changesShared(call *ast.CallExpr) bool {
	if len(call.Args) == 0 {
		return false
	}
	fun := ast.Unparen(call.Fun)
	if x, ok := fun.(*ast.IndexExpr); ok {
		fun = x.X
	}
	arg := ast.Unparen(call.Args[0])
	switch fun := fun.(type) {
	case *ast.Ident:
		if _, builtin := c.info.ObjectOf(fun).(*types.Builtin); !builtin {
			return false
		}
		part, isPart := arg.(*ast.SliceExpr)
		return (fun.Name == "copy" || fun.Name == "clear" || fun.Name == "append" && isPart && part.High != nil && !part.Slice3) && c.isShared(arg, 0)
	case *ast.SelectorExpr:
		f, ok := c.info.ObjectOf(fun.Sel).(*types.Func)
		return ok && f.Pkg() != nil && changers[f.Pkg().Path()+"."+f.Name()] && c.isShared(arg, 0)
	}
	return false
}

// isShared reports whether e is, or is a part of, the attributes of an instruction. Depth bounds the variables that are followed.
func (c *checker) isShared(e ast.Expr, depth int) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		return c.givesAttributes(x.Fun)
	case *ast.SelectorExpr:
		if id, ok := ast.Unparen(x.X).(*ast.Ident); ok && c.own[field{c.info.ObjectOf(id), x.Sel.Name}] {
			return false
		}
		return c.isShared(x.X, depth)
	case *ast.IndexExpr:
		return c.isShared(x.X, depth)
	case *ast.SliceExpr:
		return c.isShared(x.X, depth)
	case *ast.StarExpr:
		return c.isShared(x.X, depth)
	case *ast.TypeAssertExpr:
		return c.isShared(x.X, depth)
	case *ast.Ident:
		const followed = 8
		value, ok := c.from[c.info.ObjectOf(x)]
		return ok && depth < followed && c.isShared(value, depth+1)
	}
	return false
}

// givesAttributes reports whether a function is hlo.AttrsOf, or method Attrs or Common of an instruction.
func (c *checker) givesAttributes(fun ast.Expr) bool {
	switch x := ast.Unparen(fun).(type) {
	case *ast.IndexExpr:
		fun = x.X
	case *ast.IndexListExpr:
		fun = x.X
	}
	sel, ok := ast.Unparen(fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	obj, ok := c.info.ObjectOf(sel.Sel).(*types.Func)
	if !ok || obj.Pkg() == nil || path.Base(obj.Pkg().Path()) != "hlo" {
		return false
	}
	return obj.Name() == "AttrsOf" || obj.Name() == "Attrs" || obj.Name() == "Common"
}
