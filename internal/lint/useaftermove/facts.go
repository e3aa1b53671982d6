package useaftermove

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"
)

// consumes is what a function takes over: its receiver, parameters by index.
type consumes struct {
	Receiver bool
	Params   []int
}

// AFact makes it known to packages that import this one.
func (*consumes) AFact() {}

func (c *consumes) String() string { return "consumes" }

// linear marks a type whose comment says //halo:linear.
type linear struct{}

// AFact makes it known to packages that import this one.
func (*linear) AFact() {}

func (*linear) String() string { return "linear" }

// isLinear reports whether a type has a method Move that returns it, or is marked.
func isLinear(pass *analysis.Pass, t types.Type) bool {
	if t == nil {
		return false
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return false
	}
	if pass.ImportObjectFact(named.Origin().Obj(), new(linear)) {
		return true
	}
	for m := range named.Methods() {
		sig := m.Type().(*types.Signature)
		if m.Name() == "Move" && sig.Params().Len() == 0 && sig.Results().Len() == 1 && types.Identical(sig.Results().At(0).Type(), t) {
			return true
		}
	}
	return false
}

// isEditor recognises sessions: pointers to a type Editor with a method Freeze.
func isEditor(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return false
	}
	named, ok := types.Unalias(p.Elem()).(*types.Named)
	if !ok || named.Obj().Name() != "Editor" {
		return false
	}
	for m := range named.Methods() {
		if m.Name() == "Freeze" {
			return true
		}
	}
	return false
}

// consumed is what a call takes over.
func consumed(pass *analysis.Pass, call *ast.CallExpr) (c consumes) {
	fn := typeutil.StaticCallee(pass.TypesInfo, call)
	if fn == nil {
		return c
	}
	pass.ImportObjectFact(fn.Origin(), &c)
	c.Receiver = c.Receiver || consumesReceiver(pass, fn)
	return c
}

func consumesReceiver(pass *analysis.Pass, fn *types.Func) bool {
	var c consumes
	pass.ImportObjectFact(fn.Origin(), &c)
	r := fn.Signature().Recv()
	return r != nil && (c.Receiver || fn.Name() == "Move" && isLinear(pass, r.Type()) || fn.Name() == "Freeze" && isEditor(r.Type()))
}

// infer exports the facts of this package: first what comments say, then, until nothing is new, functions that pass a parameter on.
func infer(pass *analysis.Pass) {
	var decls []*ast.FuncDecl
	for _, f := range pass.Files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				decls = append(decls, d)
			case *ast.GenDecl:
				marked(pass, d)
			}
		}
	}
	for _, d := range decls {
		annotated(pass, d)
	}
	for changed := true; changed; {
		changed = false
		for _, d := range decls {
			if d.Body == nil {
				continue
			}
			ast.Inspect(d.Body, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				for _, v := range consumedVars(pass, call) {
					if !isEditor(v.Type()) && add(pass, d, v) {
						changed = true
					}
				}
				return true
			})
		}
	}
}

// marked exports the facts of types that say //halo:linear.
func marked(pass *analysis.Pass, d *ast.GenDecl) {
	for _, s := range d.Specs {
		t, ok := s.(*ast.TypeSpec)
		if !ok {
			continue
		}
		for _, doc := range []*ast.CommentGroup{d.Doc, t.Doc} {
			if doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return c.Text == "//halo:linear" }) {
				pass.ExportObjectFact(pass.TypesInfo.Defs[t.Name], new(linear))
			}
		}
	}
}

func annotated(pass *analysis.Pass, d *ast.FuncDecl) {
	if d.Doc == nil {
		return
	}
	for _, line := range d.Doc.List {
		name, ok := strings.CutPrefix(line.Text, "//halo:consume ")
		if !ok {
			continue
		}
		found := false
		for _, list := range []*ast.FieldList{d.Recv, d.Type.Params} {
			if list == nil {
				continue
			}
			for _, field := range list.List {
				for _, id := range field.Names {
					if v, ok := pass.TypesInfo.Defs[id].(*types.Var); ok && id.Name == strings.TrimSpace(name) {
						add(pass, d, v)
						found = true
					}
				}
			}
		}
		if !found {
			pass.Reportf(line.Pos(), "%s has no receiver or parameter %q to consume", d.Name.Name, strings.TrimSpace(name))
		}
	}
}

// add notes that function d consumes v, if v is its receiver or a parameter, and reports whether that is new.
func add(pass *analysis.Pass, d *ast.FuncDecl, v *types.Var) bool {
	fn, ok := pass.TypesInfo.Defs[d.Name].(*types.Func)
	if !ok {
		return false
	}
	var c consumes
	pass.ImportObjectFact(fn, &c)
	switch sig := fn.Signature(); {
	case sig.Recv() == v:
		if c.Receiver {
			return false
		}
		c.Receiver = true
	default:
		i := slices.Index(slices.Collect(sig.Params().Variables()), v)
		if i < 0 || slices.Contains(c.Params, i) {
			return false
		}
		c.Params = append(slices.Clone(c.Params), i)
	}
	pass.ExportObjectFact(fn, &c)
	return true
}

// consumedVars are the variables that a call takes over.
func consumedVars(pass *analysis.Pass, call *ast.CallExpr) (vars []*types.Var) {
	c := consumed(pass, call)
	take := func(e ast.Expr) {
		if id, ok := ast.Unparen(e).(*ast.Ident); ok {
			if v, ok := pass.TypesInfo.Uses[id].(*types.Var); ok && !v.IsField() {
				vars = append(vars, v)
			}
		}
	}
	if s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && c.Receiver {
		take(s.X)
	}
	for _, i := range c.Params {
		if i < len(call.Args) {
			take(call.Args[i])
		}
	}
	return vars
}
