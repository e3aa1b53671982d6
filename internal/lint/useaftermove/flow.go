package useaftermove

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/cfg"
)

// moved maps a variable to where it was moved.
type moved map[*types.Var]token.Pos

// flow is the data flow through one function.
type flow struct {
	pass     *analysis.Pass
	report   func(pos token.Pos, format string, args ...any)
	loud     bool // the last round reports
	reported map[ast.Node]bool
	defers   []*ast.DeferStmt
}

// run finds the moves that may reach each block, and then reports:
//
//  1. every block is walked with what its predecessors leave, until nothing is new;
//  2. the blocks are walked once more, with reports;
//  3. deferred calls are looked at with what the exits leave.
func (f *flow) run(g *cfg.CFG) {
	in := make([]moved, len(g.Blocks))
	for i := range in {
		in[i] = moved{}
	}
	for changed := true; changed; {
		changed = false
		for _, b := range g.Blocks {
			if !b.Live {
				continue
			}
			out := f.block(b, in[b.Index])
			for _, s := range b.Succs {
				for v, pos := range out {
					if _, known := in[s.Index][v]; !known {
						in[s.Index][v] = pos
						changed = true
					}
				}
			}
		}
	}
	f.loud = true
	atExit := moved{}
	for _, b := range g.Blocks {
		if b.Live {
			if out := f.block(b, in[b.Index]); len(b.Succs) == 0 {
				maps.Copy(atExit, out)
			}
		}
	}
	for _, d := range f.defers {
		f.uses(d.Call.Fun, atExit, "by a deferred call ")
	}
}

func (f *flow) block(b *cfg.Block, in moved) moved {
	state := maps.Clone(in)
	if r, ok := b.Stmt.(*ast.RangeStmt); ok && b.Kind == cfg.KindRangeBody { // each round assigns them
		for _, e := range []ast.Expr{r.Key, r.Value} {
			if v := f.variable(e); v != nil {
				delete(state, v)
			}
		}
	}
	for _, n := range b.Nodes {
		f.node(n, state)
	}
	return state
}

// node applies a statement or expression to the state.
func (f *flow) node(n ast.Node, state moved) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, e := range n.Rhs {
			f.value(e, state)
			if len(n.Lhs) == len(n.Rhs) && isBlank(n.Lhs[i]) {
				f.thrownAway(e)
			}
		}
		for _, e := range n.Lhs {
			if v := f.variable(e); v != nil {
				delete(state, v)
			} else {
				f.expression(e, state)
			}
		}
	case *ast.Ident: // alone, it is a variable of a range clause, on the way into the loop
		if v := f.variable(n); v != nil {
			delete(state, v)
		}
	case *ast.SendStmt:
		f.expression(n.Chan, state)
		f.value(n.Value, state)
	case *ast.DeclStmt:
		ast.Inspect(n, func(n ast.Node) bool {
			if s, ok := n.(*ast.ValueSpec); ok {
				f.node(s, state)
				return false
			}
			return true
		})
	case *ast.ValueSpec:
		for _, e := range n.Values {
			f.value(e, state)
		}
		for _, id := range n.Names {
			if v := f.variable(id); v != nil {
				delete(state, v)
			}
		}
	case *ast.DeferStmt:
		if f.loud {
			f.defers = append(f.defers, n)
		}
		for _, a := range n.Call.Args { // evaluated now; what the call consumes goes at the exit
			f.uses(a, state, "")
		}
	case *ast.ExprStmt:
		f.thrownAway(n.X)
		f.expression(n.X, state)
	default:
		f.expression(n, state)
	}
}

// thrownAway reports a consuming call whose linear result is dropped.
func (f *flow) thrownAway(e ast.Expr) {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if ok && f.loud && len(consumedVars(f.pass, call)) > 0 && isLinear(f.pass, f.pass.TypesInfo.TypeOf(call)) {
		f.say(call, "the result of this call is the only handle left, and it is thrown away")
	}
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// value is an expression whose value gets another name: a plain linear variable is moved by that.
func (f *flow) value(e ast.Expr, state moved) {
	f.expression(e, state)
	if v := f.variable(ast.Unparen(e)); v != nil && isLinear(f.pass, v.Type()) {
		state[v] = e.Pos()
	}
}

// expression looks for uses, and then moves what its calls consume, inner calls first.
func (f *flow) expression(n ast.Node, state moved) {
	switch n := n.(type) {
	case *ast.FuncLit:
		f.uses(n.Body, state, "by a function made ")
		f.captures(n, state)
		return
	case *ast.CompositeLit:
		for _, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				if _, field := kv.Key.(*ast.Ident); !field {
					f.expression(kv.Key, state)
				}
				e = kv.Value
			}
			f.value(e, state)
		}
		return
	case *ast.CallExpr:
		if s, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok {
			if s.Sel.Name == "Stats" { // an ended session may still be asked what it cost
				return
			}
			f.expression(s.X, state)
		} else {
			f.expression(n.Fun, state)
		}
		conversion := f.pass.TypesInfo.Types[n.Fun].IsType()
		for _, a := range n.Args {
			if conversion {
				f.value(a, state)
			} else {
				f.expression(a, state)
			}
		}
		for _, v := range consumedVars(f.pass, n) {
			state[v] = n.Pos()
		}
		return
	case *ast.UnaryExpr:
		if v := f.variable(ast.Unparen(n.X)); n.Op == token.AND && v != nil && isLinear(f.pass, v.Type()) {
			f.say(n, "the address of linear variable %s is taken: its moves can no longer be followed", v.Name())
		}
	case *ast.SelectorExpr:
		f.expression(n.X, state)
		if v := f.variable(ast.Unparen(n.X)); v != nil && f.pass.TypesInfo.Selections[n] != nil {
			// A method as a value takes its receiver along.
			if m, ok := f.pass.TypesInfo.Selections[n].Obj().(*types.Func); ok && isLinear(f.pass, v.Type()) && consumesReceiver(f.pass, m) {
				state[v] = n.Pos()
			}
		}
		return
	case *ast.Ident:
		f.use(n, state, "")
		return
	}
	ast.Inspect(n, func(child ast.Node) bool {
		if child == n || child == nil {
			return true
		}
		f.expression(child, state)
		return false
	})
}

// captures moves the variables that a function literal takes from the function around it and consumes, unless it assigns them again.
func (f *flow) captures(lit *ast.FuncLit, state moved) {
	taken, assigned := map[*types.Var]bool{}, map[*types.Var]bool{}
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			for _, v := range consumedVars(f.pass, n) {
				taken[v] = v.Pos() < lit.Pos() || v.Pos() > lit.End()
			}
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if v := f.variable(e); v != nil {
					assigned[v] = true
				}
			}
		}
		return true
	})
	for v, outer := range taken {
		if outer && !assigned[v] && isLinear(f.pass, v.Type()) {
			state[v] = lit.Pos()
		}
	}
}

// uses reports every use below n.
func (f *flow) uses(n ast.Node, state moved, how string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			f.use(id, state, how)
		}
		return true
	})
}

func (f *flow) use(id *ast.Ident, state moved, how string) {
	v, ok := f.pass.TypesInfo.Uses[id].(*types.Var)
	if !ok {
		return
	}
	if pos, is := state[v]; is {
		f.say(id, "%s is used %safter it was moved at line %d", id.Name, how, f.pass.Fset.Position(pos).Line)
	}
}

func (f *flow) say(n ast.Node, format string, args ...any) {
	if f.loud && !f.reported[n] {
		f.reported[n] = true
		f.report(n.Pos(), format, args...)
	}
}

// variable is the local variable or parameter that an expression names, of a type that is followed.
func (f *flow) variable(e ast.Expr) *types.Var {
	id, ok := e.(*ast.Ident)
	if !ok {
		return nil
	}
	v, ok := f.pass.TypesInfo.ObjectOf(id).(*types.Var)
	if !ok || v.IsField() || !isLinear(f.pass, v.Type()) && !isEditor(v.Type()) {
		return nil
	}
	return v
}
