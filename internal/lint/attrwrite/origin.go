package attrwrite

import (
	"go/ast"
	"go/types"
	"path"
)

// origin is where a value comes from.
type origin struct {
	shared bool // attributes of an instruction
	params []int
	copied bool // it is the address of a variable: a copy, with the slices of what it was copied from
}

// itself is the origin of what a pointer leads to.
func (o origin) itself() origin {
	if o.copied {
		return origin{}
	}
	return o
}

// origin is what e is a part of. Depth bounds the variables that are followed.
func (c *checker) origin(e ast.Expr, depth int) origin {
	const followed = 12
	if depth > followed || e == nil {
		return origin{}
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		return c.given(x, depth)
	case *ast.SelectorExpr:
		if id, ok := ast.Unparen(x.X).(*ast.Ident); ok {
			if value, set := c.fields[field{c.info.ObjectOf(id), x.Sel.Name}]; set {
				return c.origin(value, depth+1)
			}
			if lit, ok := c.literal(id); ok {
				for _, elt := range lit.Elts {
					if kv, ok := elt.(*ast.KeyValueExpr); ok {
						if key, ok := kv.Key.(*ast.Ident); ok && key.Name == x.Sel.Name {
							return c.origin(kv.Value, depth+1)
						}
					}
				}
				return origin{}
			}
		}
		return c.part(x.X, depth)
	case *ast.IndexExpr:
		return c.part(x.X, depth)
	case *ast.SliceExpr:
		return c.origin(x.X, depth)
	case *ast.StarExpr:
		return c.part(x.X, depth)
	case *ast.UnaryExpr:
		o := c.origin(x.X, depth)
		_, o.copied = ast.Unparen(x.X).(*ast.Ident)
		return o
	case *ast.TypeAssertExpr:
		return c.origin(x.X, depth)
	case *ast.Ident:
		obj := c.info.ObjectOf(x)
		if value, ok := c.from[obj]; ok {
			return c.origin(value, depth+1)
		}
		if i, ok := c.params[obj]; ok {
			return origin{params: []int{i}}
		}
	}
	return origin{}
}

// part is the origin of a part of e.
func (c *checker) part(e ast.Expr, depth int) origin {
	o := c.origin(e, depth)
	o.copied = false
	return o
}

// literal is the struct that a variable was set to, as it is written.
func (c *checker) literal(id *ast.Ident) (*ast.CompositeLit, bool) {
	value := c.from[c.info.ObjectOf(id)]
	if u, ok := value.(*ast.UnaryExpr); ok {
		value = u.X
	}
	lit, ok := value.(*ast.CompositeLit)
	return lit, ok
}

// given is where the result of a call comes from: conversions and append give their first argument.
func (c *checker) given(call *ast.CallExpr, depth int) (o origin) {
	if c.givesAttributes(call.Fun) {
		return origin{shared: true}
	}
	if tv, ok := c.info.Types[call.Fun]; ok && tv.IsType() && len(call.Args) == 1 {
		return c.origin(call.Args[0], depth)
	}
	f := c.callee(call)
	if f == nil {
		if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok && id.Name == "append" && len(call.Args) > 0 {
			if part, ok := ast.Unparen(call.Args[0]).(*ast.SliceExpr); ok && part.Slice3 {
				return origin{} // without room: a new array
			}
			return c.origin(call.Args[0], depth)
		}
		return origin{}
	}
	s := c.summaryOf(f)
	o.shared = s.Shares
	for _, arg := range c.argsOf(call, s.Gives) {
		from := c.origin(arg, depth+1)
		o.shared = o.shared || from.shared
		o.params = append(o.params, from.params...)
	}
	return o
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
