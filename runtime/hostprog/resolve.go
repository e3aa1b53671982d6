package hostprog

import (
	"slices"
	"strconv"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/gohalo/halo/runtime/bef"
)

// From the parse tree to a Program, in these steps:
//
//  1. Aliases are collected; they may stand anywhere in the file.
//  2. Ops are made in the order of the text. A value must be defined before it
//     is used, in its own region or, unless the region's op is isolated, in one
//     around it.
//  3. Types that a custom form leaves out come from the op's row.
//  4. Names of functions are left as they are; Verify looks for them.
type resolver struct {
	src     string
	aliases map[string]*attrNode
	busy    map[string]bool // aliases on the way of being resolved
	scope   *scope
}

// scope is the names that a region defines.
type scope struct {
	outer    *scope
	isolated bool
	names    map[string]pack
}

// pack is what a name stands for: the results of one op, or one value. A key
// such as %3#1 is that of a region's argument written with an operand's name.
type pack []*Value

func (r *resolver) push(isolated bool) {
	r.scope = &scope{outer: r.scope, isolated: isolated, names: make(map[string]pack)}
}

func (r *resolver) pop() { r.scope = r.scope.outer }

func (r *resolver) find(key string) (pack, bool) {
	for s := r.scope; s != nil; s = s.outer {
		if p, ok := s.names[key]; ok {
			return p, true
		}
		if s.isolated {
			break
		}
	}
	return nil, false
}

func (r *resolver) define(pos lexer.Position, name string, p pack) {
	if _, ok := r.find(name); ok {
		fail(position(pos), "redefinition of SSA value '%s'", name)
	}
	r.scope.names[name] = p
}

// use finds the value that a use means.
func (r *resolver) use(n *useNode) *Value {
	pos := position(n.Pos)
	if p, ok := r.find(useKey(n)); ok && n.Number != "" {
		return p[0]
	}
	p, ok := r.find(n.Name)
	if !ok {
		fail(pos, "use of undeclared SSA value name")
	}
	if n.Number == "" {
		if len(p) != 1 {
			fail(pos, "use of '%s', a pack of %d values, without a number", n.Name, len(p))
		}
		return p[0]
	}
	i, err := strconv.Atoi(n.Number)
	if err != nil || i >= len(p) {
		fail(pos, "reference to invalid result number")
	}
	return p[i]
}

// useKey is the text of a use.
func useKey(n *useNode) string {
	if n.Number == "" {
		return n.Name
	}
	return n.Name + "#" + n.Number
}

// operand adds an operand; want is its type by the op's form, or "".
func (r *resolver) operand(op *Op, n *useNode, want Type) {
	v := r.use(n)
	if want != "" && want != AnyType && v.Type != want {
		fail(position(n.Pos), "use of value '%s' expects different type than prior uses: '%s' vs '%s'", useKey(n), want, v.Type)
	}
	op.addOperand(v)
}

func (r *resolver) file(f *fileNode, name string) *Program {
	var ops []*opNode
	for _, it := range f.Items {
		if it.Alias == nil {
			ops = append(ops, it.Op)
			continue
		}
		if r.aliases[it.Alias.Name] != nil {
			fail(position(it.Alias.Pos), "redefinition of alias '%s'", it.Alias.Name)
		}
		r.aliases[it.Alias.Name] = it.Alias.Attr
	}
	p := &Program{File: name, src: r.src}
	r.push(true)
	if len(ops) == 1 && ops[0].Module != nil && !ops[0].Module.Compiled {
		p.Module = r.module(ops[0].Module)
		r.loc(p.Module, ops[0].Loc)
		return p
	}
	if len(ops) == 1 && ops[0].Generic != nil && unquote(ops[0].Generic.Name) == moduleOp {
		p.Module = r.op(ops[0])
		if p.Module.Text == "" && p.Module.Body() != nil {
			return p
		}
		fail(p.Module.Pos, "'builtin.module' op requires one region")
	}
	p.Module = &Op{Name: moduleOp, Pos: Position{File: name, Line: 1, Column: 1}}
	body := p.Module.addRegion()
	for _, n := range ops {
		r.addTo(body, n)
	}
	return p
}

// addTo makes an op and what has to stand before it, and adds them.
func (r *resolver) addTo(to *Region, n *opNode) {
	if n.Custom != nil && n.Custom.def.seed != nil {
		before := n.Custom.def.seed(r, n)
		for _, op := range before {
			to.add(op)
		}
	}
	op := r.op(n)
	to.add(op)
	if isBlock(op) && !to.declare(op) {
		fail(op.Pos, "redefinition of symbol named '%s'", op.SymName())
	}
}

func (r *resolver) op(n *opNode) *Op {
	var op *Op
	switch {
	case n.Generic != nil:
		op = r.generic(n.Generic)
	case n.Module != nil:
		op = r.module(n.Module)
	case n.Func != nil:
		op = r.function(n.Func)
	default:
		op = r.custom(n.Custom)
	}
	r.loc(op, n.Loc)
	r.results(op, n.Results)
	return op
}

func (r *resolver) loc(op *Op, n *locNode) {
	if n != nil {
		l := r.location(n)
		op.Loc = &l
	}
}

// results binds names to an op's results. None need to be named.
func (r *resolver) results(op *Op, names []*resultNode) {
	if len(names) == 0 {
		return
	}
	total := 0
	counts := make([]int, len(names))
	for i, n := range names {
		counts[i] = 1
		if n.Count != "" {
			c, err := strconv.Atoi(n.Count)
			if err != nil || c < 1 {
				fail(position(n.Pos), "expected named operation to have at least 1 result")
			}
			counts[i] = c
		}
		total += min(counts[i], 1<<20)
	}
	if total != len(op.Results) {
		if len(op.Results) == 0 {
			fail(op.Pos, "cannot name an operation with no results")
		}
		fail(op.Pos, "operation defines %d results but was provided %d to bind", len(op.Results), total)
	}
	at := 0
	for i, n := range names {
		r.define(n.Pos, n.Name, op.Results[at:at+counts[i]])
		at += counts[i]
	}
}

func (r *resolver) generic(n *genericNode) *Op {
	name := unquote(n.Name)
	if to, ok := renamedOps[name]; ok {
		name = to
	}
	op := &Op{Name: name, Pos: position(n.Pos)}
	if len(n.Blocks) > 0 {
		fail(op.Pos, "an op with successors cannot be emitted to BEF files")
	}
	in, out := r.resultList(n.Type.Params), r.resultList(n.Type.Results)
	if len(in) != len(n.Operands) {
		fail(op.Pos, "expected %d operand types but had %d", len(n.Operands), len(in))
	}
	for i, u := range n.Operands {
		r.operand(op, u, in[i])
	}
	for _, d := range []*dictNode{n.Props, n.Attrs} {
		for _, e := range r.dict(d) {
			if op.Attrs.Has(e.Name) {
				fail(op.Pos, "attribute '%s' occurs more than once in the attribute list", e.Name)
			}
			op.Attrs.Set(e.Name, e.Attr)
		}
	}
	def := standard().Lookup(name)
	isolated := name == funcOp || name == moduleOp || def != nil && def.regions > 0
	for _, rn := range n.Regions {
		r.push(isolated)
		r.region(op.addRegion(), rn, nil)
		r.pop()
	}
	for _, t := range out {
		op.addResult(t)
	}
	if name == moduleOp && len(op.Regions) != 1 {
		fail(op.Pos, "'builtin.module' op requires one region")
	}
	if name == funcOp {
		r.checkGenericFunc(op)
	}
	return op
}

// checkGenericFunc makes sure of what the rest of the package takes for granted.
func (r *resolver) checkGenericFunc(op *Op) {
	t, _ := op.Attrs.Get(attrFuncType)
	switch {
	case op.SymName() == "":
		fail(op.Pos, "'func.func' op requires attribute 'sym_name'")
	case t.Kind != TypeAttr || len(t.Type) == 0 || t.Type[0] != '(':
		fail(op.Pos, "'func.func' op requires attribute 'function_type'")
	case len(op.Regions) > 1:
		fail(op.Pos, "'func.func' op expects at most one region")
	}
	if len(op.Regions) == 1 && len(op.Regions[0].Ops) == 0 && len(op.Regions[0].Args) == 0 {
		op.Regions = nil // how a declaration is printed
	}
	if body := op.Body(); body != nil {
		if len(body.Ops) == 0 {
			fail(op.Pos, "expected non-empty function body")
		}
		ok := len(body.Args) == len(t.In)
		for i := 0; ok && i < len(t.In); i++ {
			ok = body.Args[i].Type == t.In[i]
		}
		if !ok {
			fail(op.Pos, "'func.func' op type signature of the entry block does not match the function's")
		}
	}
}

// region reads a region's block. With params given, these are the arguments
// that a custom form gives it, and there is no label.
func (r *resolver) region(to *Region, n *regionNode, params []*useNode) {
	ops := n.Ops
	switch {
	case len(n.Blocks) > 1 || len(n.Blocks) == 1 && len(n.Ops) > 0:
		fail(to.parent.Pos, "multi-block regions cannot be emitted to BEF files")
	case len(n.Blocks) == 1:
		b := n.Blocks[0]
		ops = b.Ops
		if len(to.Args) > 0 && len(b.Params) > 0 {
			fail(position(b.Pos), "entry block arguments were already defined")
		}
		for _, p := range b.Params {
			if p.Name == "" {
				fail(position(p.Pos), "expected SSA identifier")
			}
			r.define(p.Pos, p.Name, pack{to.addArg(r.typ(p.Type))})
		}
	}
	for i, u := range params {
		// Of two operands of one name the later counts.
		r.scope.names[useKey(u)] = pack{to.Args[i]}
	}
	for _, o := range ops {
		r.addTo(to, o)
	}
}

// location reads a location, through aliases.
func (r *resolver) location(n *locNode) bef.Location {
	switch {
	case n.Unknown:
		return bef.Location{Kind: bef.UnknownLocation}
	case n.Call != nil:
		return bef.Location{Kind: bef.CallSiteLocation, Parts: []bef.Location{r.location(n.Call.Callee), r.location(n.Call.Caller)}}
	case n.Fused != nil:
		l := bef.Location{Kind: bef.FusedLocation}
		for _, p := range n.Fused.Parts {
			l.Parts = append(l.Parts, r.location(p))
		}
		return l
	case n.Alias != "":
		a := r.alias(n.Pos, n.Alias, r.attr)
		if a.Kind != LocAttr {
			fail(position(n.Pos), "expected location, but found '%s'", n.Alias)
		}
		return *a.Loc
	case n.Line != "":
		line, err := strconv.ParseUint(n.Line, 10, 32)
		column, err2 := strconv.ParseUint(n.Column, 10, 32)
		if err != nil || err2 != nil {
			fail(position(n.Pos), "expected integer line and column number in FileLineColLoc")
		}
		return bef.At(r.text(n.Pos, n.Name), int(line), int(column))
	}
	l := bef.Named(r.text(n.Pos, n.Name))
	l.Parts = []bef.Location{{Kind: bef.UnknownLocation}}
	if n.Child != nil {
		l.Parts[0] = r.location(n.Child)
	}
	return l
}

// text is a string that goes to a table of NUL-terminated ones.
func (r *resolver) text(pos lexer.Position, lit string) string {
	s := unquote(lit)
	if slices.Contains([]byte(s), 0) {
		fail(position(pos), "a name cannot hold a NUL")
	}
	return s
}

// alias resolves a name by what the file says of it.
func (r *resolver) alias(pos lexer.Position, name string, read func(*attrNode) Attr) Attr {
	n := r.aliases[name]
	if n == nil {
		fail(position(pos), "undefined symbol alias id '%s'", name[1:])
	}
	if r.busy[name] {
		fail(position(pos), "alias '%s' is defined by itself", name)
	}
	r.busy[name] = true
	defer delete(r.busy, name)
	return read(n)
}
