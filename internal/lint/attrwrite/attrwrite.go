// Package attrwrite reports writes into slices that belong to attributes of instructions.
//
// An attribute struct is a copy, but its slices are the instruction's own, which a frozen module shares with every version of it:
//
//	hlo.AttrsOf[hlo.DotAttrs](in).LHSContracting[0] = 1   // changes a module that cannot change
//
// A pass that wants other values makes a slice: a.LHSContracting = slices.Clone(a.LHSContracting) first.
package attrwrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"

	"golang.org/x/tools/go/analysis"

	"github.com/gohalo/halo/internal/lint"
)

// Analyzer is the check.
var Analyzer = &analysis.Analyzer{
	Name:      "attrwrite",
	Doc:       "report writes into slices, maps and structs that attributes of instructions share",
	FactTypes: []analysis.Fact{new(summary)},
	Run:       run,
}

// summary is what callers must know of a function: which parameters it writes into (the receiver is -1), and which it gives back a part of.
type summary struct {
	Writes, Gives []int
	Shares        bool // it gives out attributes of an instruction
}

func (*summary) AFact() {}

func (s *summary) String() string {
	return fmt.Sprint("writes ", s.Writes, ", gives ", s.Gives, s.Shares)
}

const message = "writes into a slice that belongs to an instruction's attributes: clone it first"

func run(pass *analysis.Pass) (any, error) {
	if path.Base(pass.Pkg.Path()) == "hlo" {
		return nil, nil // who makes attributes may fill them
	}
	var all []*checker
	for _, file := range pass.Files {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && !lint.IsTest(pass, f.Name) {
				all = append(all, newChecker(pass, f))
			}
		}
	}
	// What functions do to their arguments follows from what those do that they call.
	for changed := true; changed; {
		changed = false
		for _, c := range all {
			c.look(func(token.Pos) {})
			if c.learnt {
				pass.ExportObjectFact(c.fun, &c.found)
				changed, c.learnt = true, false
			}
		}
	}
	report := lint.Reporter(pass)
	for _, c := range all {
		c.look(func(at token.Pos) { report(at, message) })
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
	pass   *analysis.Pass
	info   *types.Info
	decl   *ast.FuncDecl
	fun    *types.Func
	params map[types.Object]int
	from   map[types.Object]ast.Expr // of variables: what they were set to last
	fields map[field]ast.Expr        // likewise of their fields
	found  summary
	learnt bool // since it was last exported
}

func newChecker(pass *analysis.Pass, f *ast.FuncDecl) *checker {
	c := &checker{pass: pass, info: pass.TypesInfo, decl: f, params: map[types.Object]int{}}
	c.fun, _ = pass.TypesInfo.Defs[f.Name].(*types.Func)
	sig := c.fun.Signature()
	for i := range sig.Params().Len() {
		c.params[sig.Params().At(i)] = i
	}
	if sig.Recv() != nil {
		c.params[sig.Recv()] = -1
	}
	return c
}

// look goes through the function, and calls report for what it writes that instructions share.
func (c *checker) look(report func(token.Pos)) {
	c.from, c.fields = map[types.Object]ast.Expr{}, map[field]ast.Expr{}
	var literals []ast.Node // whose returns are not the function's
	ast.Inspect(c.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			literals = append(literals, n)
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				c.written(c.writes(to), to.Pos(), report)
				switch {
				case len(n.Lhs) == len(n.Rhs):
					c.assigned(to, n.Rhs[i])
				case i == 0: // of a value and whether there is one
					c.assigned(to, n.Rhs[0])
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if len(n.Values) > i {
					c.assigned(name, n.Values[i])
				}
			}
		case *ast.RangeStmt:
			if n.Value != nil {
				c.assigned(n.Value, n.X)
			}
		case *ast.TypeSwitchStmt:
			if a, ok := n.Assign.(*ast.AssignStmt); ok {
				for _, clause := range n.Body.List {
					if obj := c.info.Implicits[clause]; obj != nil {
						c.from[obj] = a.Rhs[0]
					}
				}
			}
		case *ast.CallExpr:
			for _, arg := range c.changedBy(n) {
				c.written(c.origin(arg, 0), n.Pos(), report)
			}
		case *ast.IncDecStmt:
			c.written(c.writes(n.X), n.Pos(), report)
		case *ast.ReturnStmt:
			inner := slices.ContainsFunc(literals, func(l ast.Node) bool { return l.Pos() <= n.Pos() && n.End() <= l.End() })
			if len(n.Results) > 0 && !inner {
				c.gave(c.origin(n.Results[0], 0).itself())
			}
		}
		return true
	})
}

func (c *checker) written(o origin, at token.Pos, report func(token.Pos)) {
	if o.shared {
		report(at)
	}
	for _, i := range o.params {
		if !slices.Contains(c.found.Writes, i) {
			c.found.Writes, c.learnt = append(c.found.Writes, i), true
		}
	}
}

func (c *checker) gave(o origin) {
	if o.shared && !c.found.Shares {
		c.found.Shares, c.learnt = true, true
	}
	for _, i := range o.params {
		if !slices.Contains(c.found.Gives, i) {
			c.found.Gives, c.learnt = append(c.found.Gives, i), true
		}
	}
}

func (c *checker) assigned(to, value ast.Expr) {
	switch to := ast.Unparen(to).(type) {
	case *ast.Ident:
		if obj := c.info.ObjectOf(to); obj != nil {
			c.from[obj] = value
		}
	case *ast.SelectorExpr:
		if id, ok := ast.Unparen(to.X).(*ast.Ident); ok {
			c.fields[field{c.info.ObjectOf(id), to.Sel.Name}] = value
		}
	}
}

// writes is whose memory an assignment to e changes, if not that of variables alone: an element of a slice or a map, or what a pointer leads to.
func (c *checker) writes(e ast.Expr) origin {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.IndexExpr:
			switch c.info.TypeOf(x.X).Underlying().(type) {
			case *types.Slice, *types.Map, *types.Pointer:
				return c.origin(x.X, 0)
			}
			e = x.X
		case *ast.SelectorExpr:
			if t := c.info.TypeOf(x.X); t != nil {
				if _, is := t.Underlying().(*types.Pointer); is {
					return c.origin(x.X, 0).itself()
				}
			}
			e = x.X
		case *ast.StarExpr:
			return c.origin(x.X, 0).itself()
		case *ast.SliceExpr:
			e = x.X
		default:
			return origin{}
		}
	}
}

// changers are the functions of the standard library that change the elements of their first argument.
var changers = map[string]bool{
	"slices.Sort": true, "slices.SortFunc": true, "slices.SortStableFunc": true, "slices.Reverse": true, "slices.Insert": true, "slices.Delete": true,
	"slices.DeleteFunc": true, "slices.Compact": true, "slices.CompactFunc": true, "slices.Replace": true,
	"sort.Ints": true, "sort.Strings": true, "sort.Slice": true, "sort.SliceStable": true, "sort.Sort": true,
}

// changedBy lists the arguments whose elements a call changes: those of changers, copy, clear and delete, of append to the front part of a slice, whose rest it
// overwrites, and of functions that write into parameters.
func (c *checker) changedBy(call *ast.CallExpr) (args []ast.Expr) {
	if f := c.callee(call); f != nil {
		if f.Pkg() != nil && changers[f.Pkg().Path()+"."+f.Name()] && len(call.Args) > 0 {
			return call.Args[:1]
		}
		return c.argsOf(call, c.summaryOf(f).Writes)
	}
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok || len(call.Args) == 0 {
		return nil
	}
	if _, builtin := c.info.ObjectOf(id).(*types.Builtin); !builtin {
		return nil
	}
	part, isPart := ast.Unparen(call.Args[0]).(*ast.SliceExpr)
	switch {
	case id.Name == "copy" || id.Name == "clear" || id.Name == "delete", id.Name == "append" && isPart && part.High != nil && !part.Slice3:
		return call.Args[:1]
	}
	return nil
}

// callee is the function that a call names, if it does.
func (c *checker) callee(call *ast.CallExpr) *types.Func {
	fun := ast.Unparen(call.Fun)
	switch x := fun.(type) {
	case *ast.IndexExpr:
		fun = ast.Unparen(x.X)
	case *ast.IndexListExpr:
		fun = ast.Unparen(x.X)
	}
	var obj types.Object
	switch x := fun.(type) {
	case *ast.Ident:
		obj = c.info.ObjectOf(x)
	case *ast.SelectorExpr:
		obj = c.info.ObjectOf(x.Sel)
	}
	if f, ok := obj.(*types.Func); ok {
		return f.Origin()
	}
	return nil
}

func (c *checker) summaryOf(f *types.Func) (s summary) {
	c.pass.ImportObjectFact(f, &s)
	return s
}

// argsOf are arguments by number; the receiver is -1, and the last parameter of a variadic function a slice only where it is given one.
func (c *checker) argsOf(call *ast.CallExpr, numbers []int) (args []ast.Expr) {
	variadic := false
	if sig, ok := c.info.TypeOf(call.Fun).(*types.Signature); ok {
		variadic = sig.Variadic() && !call.Ellipsis.IsValid()
	}
	for _, i := range numbers {
		if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && i < 0 {
			args = append(args, sel.X)
		} else if i >= 0 && i < len(call.Args) && !(variadic && i == c.lastParam(call)) {
			args = append(args, call.Args[i])
		}
	}
	return args
}

func (c *checker) lastParam(call *ast.CallExpr) int {
	return c.info.TypeOf(call.Fun).(*types.Signature).Params().Len() - 1
}
