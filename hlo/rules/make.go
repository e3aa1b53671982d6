package rules

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/match"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/scalar"
)

// node is a term of the right side.
type node struct {
	slot   int // of the value it is, -1 if it is none
	number *float64

	op     hlo.Opcode
	opSlot int  // of the op it has, -1 if it is stated
	fold   bool // on the numbers that constants repeat
	now    bool // computed when the rule fires
	args   []*node
	attrOf attrKind
	axes   func(*bindings) ([]int64, bool)
	dir    func(*bindings) hlo.Direction
	like   int // slot of the value whose type a conversion is to
}

// node checks a term of the right side.
func (c *checker) node(t *term) *node {
	n := &node{slot: -1, opSlot: -1, like: -1}
	switch {
	case t.Name != "":
		c.fail(t.Pos.Line, t.Pos.Column, "names are given on the left")
		return nil
	case t.Number != "":
		x, ok := number(t.Number)
		if !ok {
			c.fail(t.Pos.Line, t.Pos.Column, "%s is no number", t.Number)
			return nil
		}
		n.number = &x
	case t.Call == nil:
		at, ok := c.names.value.at(t.Word)
		if !ok {
			c.fail(t.Pos.Line, t.Pos.Column, "nothing on the left is called %s", t.Word)
			return nil
		}
		n.slot = at
	default:
		return c.opNode(n, t.Call)
	}
	return n
}

func (c *checker) opNode(n *node, k *call) *node {
	word, args := k.Op, k.Args
	if word == "fold" || word == "eval" {
		if len(args) == 0 || args[0].Word == "" {
			c.fail(k.Pos.Line, k.Pos.Column, "%s needs an op and constants: (%s add c1 c2)", word, word)
			return nil
		}
		n.fold, n.now, word, args = true, word == "eval", args[0].Word, args[1:]
		if at, ok := c.names.value.at(word); ok && len(args) == 0 {
			n.slot = at
			return n
		}
	}
	if k.Of != nil || k.Or != nil {
		c.fail(k.Pos.Line, k.Pos.Column, "several ops stand on the left only: name them there")
		return nil
	}
	if at, ok := c.names.op.at(word); ok {
		n.opSlot = at
	} else if op, ok := hlo.OpcodeByName(word); ok {
		n.op = op
		if !hlo.Info(op).Arity.Accepts(len(args)) {
			c.fail(k.Pos.Line, k.Pos.Column, "%s takes %v operands, here are %d", word, hlo.Info(op).Arity, len(args))
			return nil
		}
	} else {
		c.fail(k.Pos.Line, k.Pos.Column, "there is no op %q%s", word, nearest(word, opNames()))
		return nil
	}
	for _, a := range args {
		arg := c.node(a)
		if arg == nil {
			return nil
		}
		n.args = append(n.args, arg)
	}
	if !c.attrNode(n, k) {
		return nil
	}
	return n
}

// attrNode checks the attribute of an op that is made: what has one must be given it.
func (c *checker) attrNode(n *node, k *call) bool {
	ops := []hlo.Opcode{n.op}
	if n.opSlot >= 0 {
		ops = c.names.mayBe(k.Op)
	}
	n.attrOf = attrKindOf(ops)
	if n.attrOf == noAttr {
		for _, op := range ops {
			if hlo.Info(op).NewAttrs != nil || len(hlo.Info(op).Callees) > 0 {
				c.fail(k.Pos.Line, k.Pos.Column, "rules cannot make %v: they know nothing of its attributes", op)
				return false
			}
		}
	}
	a := k.Attr
	switch {
	case a == nil && (n.attrOf == noAttr || n.attrOf == typeAttr):
		return true // a conversion is to the type that is replaced
	case a == nil:
		c.fail(k.Pos.Line, k.Pos.Column, "%s needs its attribute in brackets", k.Op)
		return false
	case n.attrOf == noAttr:
		c.fail(a.Pos.Line, a.Pos.Column, "%s has no attribute that rules know", k.Op)
		return false
	}
	switch n.attrOf {
	case axesAttr:
		n.axes = c.axes(a)
		return n.axes != nil
	case directionAttr:
		n.dir = c.direction(a)
		return n.dir != nil
	}
	if a.Call == nil || a.Call.Name != "type" || len(a.Call.Args) != 1 {
		c.fail(a.Pos.Line, a.Pos.Column, "a conversion needs a type: [type(x)]")
		return false
	}
	at, ok := c.names.value.at(a.Call.Args[0].Name)
	if !ok {
		c.fail(a.Pos.Line, a.Pos.Column, "nothing on the left is called %s", a.Call.Args[0].Name)
		return false
	}
	n.like = at
	return true
}

func (c *checker) axes(a *attr) func(*bindings) ([]int64, bool) {
	if a.Call == nil {
		stated := axesOf(a.Axes)
		return func(*bindings) ([]int64, bool) { return stated, true }
	}
	return c.axesCall(a.Call)
}

func (c *checker) axesCall(k *attrCall) func(*bindings) ([]int64, bool) {
	if k.Args == nil {
		at, ok := c.names.axes.at(k.Name)
		if !ok {
			c.fail(k.Pos.Line, k.Pos.Column, "no list of axes is called %s", k.Name)
			return nil
		}
		return func(b *bindings) ([]int64, bool) { return b.axes[at], true }
	}
	i := slices.IndexFunc(axesFunctions, func(f axesFunction) bool { return f.Name == k.Name })
	if i < 0 || axesFunctions[i].args != len(k.Args) {
		c.fail(k.Pos.Line, k.Pos.Column, "there is no %s of %d lists of axes", k.Name, len(k.Args))
		return nil
	}
	args := make([]func(*bindings) ([]int64, bool), len(k.Args))
	for j, a := range k.Args {
		if args[j] = c.axesCall(a); args[j] == nil {
			return nil
		}
	}
	return func(b *bindings) ([]int64, bool) {
		lists := make([][]int64, len(args))
		for j, a := range args {
			var ok bool
			if lists[j], ok = a(b); !ok {
				return nil, false
			}
		}
		return axesFunctions[i].compute(lists)
	}
}

func (c *checker) direction(a *attr) func(*bindings) hlo.Direction {
	if a.Call == nil {
		c.fail(a.Pos.Line, a.Pos.Column, "compare needs a direction")
		return nil
	}
	k := a.Call
	if k.Args == nil {
		if d, ok := directionOf(k.Name); ok {
			return func(*bindings) hlo.Direction { return d }
		}
		if at, ok := c.names.direction.at(k.Name); ok {
			return func(b *bindings) hlo.Direction { return b.directions[at] }
		}
	}
	if f := directionFunctions[k.Name]; f != nil && len(k.Args) == 1 {
		if at, ok := c.names.direction.at(k.Args[0].Name); ok {
			return func(b *bindings) hlo.Direction { return f(b.directions[at]) }
		}
	}
	c.fail(k.Pos.Line, k.Pos.Column, "%v is no direction\x00EQ, NE, LT, LE, GT, GE, a name from the left, swap(d) or opposite(d)", k)
	return nil
}

// whole is what stands in the place of in.
func (n *node) whole(in hlo.Instruction, b *bindings) (pass.Expr, bool) {
	return n.make(in.Shape(), b, true)
}

// make builds a node. want is the shape that its place asks for, exact if it is the outermost.
func (n *node) make(want hlo.Shape, b *bindings, exact bool) (pass.Expr, bool) {
	switch {
	case n.slot >= 0 && !n.fold:
		return pass.Use(b.values[n.slot]), true
	case n.number != nil:
		l, ok := scalar.Of(want.Type(), *n.number)
		if !ok {
			return pass.Expr{}, false
		}
		return pass.Fill(want, l), true
	case n.now:
		l, ok := n.literal(want.Type(), b)
		if !ok {
			return pass.Expr{}, false
		}
		return pass.Fill(want.WithType(l.Shape().Type()), l), true
	case n.fold:
		e, ok := n.scalar(want.Type(), b)
		if !ok || want.Rank() == 0 {
			return e, ok
		}
		return pass.New(hlo.OpBroadcast, want.WithType(e.Shape().Type()), &hlo.BroadcastAttrs{}, e), true
	}
	args, ok := n.operands(want, b)
	if !ok {
		return pass.Expr{}, false
	}
	op := n.opcode(b)
	attrs, ok := n.attrs(op, b)
	if !ok {
		return pass.Expr{}, false
	}
	ctx := hlo.ShapeContext{Op: op, Attrs: attrs}
	for _, a := range args {
		ctx.Operands = append(ctx.Operands, a.Shape())
	}
	switch {
	case exact:
		ctx.Stated = want
	case n.like >= 0:
		ctx.Stated = args[0].Shape().WithType(b.values[n.like].Shape().Type())
	case op == hlo.OpBroadcast:
		ctx.Stated = want.WithType(args[0].Shape().Type())
	}
	s, err := hlo.InferShape(&ctx)
	if err != nil || exact && !s.EqualIgnoringLayout(want) {
		return pass.Expr{}, false
	}
	if exact {
		return pass.New(op, want, attrs, args...), true
	}
	return pass.New(op, laidOut(s, args), attrs, args...), true
}

// laidOut is an inferred shape with the layout of the first operand of its rank.
func laidOut(s hlo.Shape, args []pass.Expr) hlo.Shape {
	for _, a := range args {
		if l, ok := a.Shape().Layout(); ok && a.Shape().Rank() == s.Rank() {
			return s.WithLayout(l)
		}
	}
	return s.WithDefaultLayout()
}

func (n *node) opcode(b *bindings) hlo.Opcode {
	if n.opSlot >= 0 {
		return b.ops[n.opSlot]
	}
	return n.op
}

func (n *node) attrs(op hlo.Opcode, b *bindings) (hlo.OpAttrs, bool) {
	switch {
	case n.axes != nil:
		axes, ok := n.axes(b)
		if !ok {
			return nil, false
		}
		attrs := attrsOfAxes(op, axes)
		return attrs, attrs != nil
	case n.dir != nil:
		return &hlo.CompareAttrs{Direction: n.dir(b)}, true
	}
	return nil, true
}

// operands builds the operands. Numbers and folded constants take the shape of one that is neither, or else the one that is wanted of the op.
func (n *node) operands(want hlo.Shape, b *bindings) ([]pass.Expr, bool) {
	args := make([]pass.Expr, len(n.args))
	like, known := want, false
	first := 0
	if n.opcode(b) == hlo.OpSelect {
		first = 1 // the predicate is of another type
	}
	for i, a := range n.args {
		if a.number != nil || a.fold {
			continue
		}
		var ok bool
		if args[i], ok = a.make(want, b, false); !ok {
			return nil, false
		}
		if !known && (i >= first || len(n.args) == 1) && !args[i].Shape().IsScalar() || !known && i >= first {
			like, known = args[i].Shape(), true
		}
	}
	if first == 1 && !known && args[0].Shape().IsValid() && !args[0].Shape().IsScalar() {
		like = args[0].Shape().WithType(want.Type())
	}
	for i, a := range n.args {
		if a.number != nil || a.fold {
			var ok bool
			if args[i], ok = a.make(like, b, false); !ok {
				return nil, false
			}
		}
	}
	return args, true
}

// scalar builds a folded node: its constants are the numbers that they repeat.
func (n *node) scalar(t hlo.PrimitiveType, b *bindings) (pass.Expr, bool) {
	switch {
	case n.slot >= 0:
		in := b.values[n.slot]
		if in.Opcode() == hlo.OpConstant && in.Shape().IsScalar() {
			return pass.Use(in), true
		}
		if in.Opcode() == hlo.OpBroadcast && in.OperandInstr(0).Shape().IsScalar() {
			return pass.Use(in.OperandInstr(0)), true
		}
		l, ok := match.SplatValue(in)
		if !ok {
			return pass.Expr{}, false
		}
		return pass.Constant(l), true
	case n.number != nil:
		l, ok := scalar.Of(t, *n.number)
		if !ok {
			return pass.Expr{}, false
		}
		return pass.Constant(l), true
	}
	ctx := hlo.ShapeContext{Op: n.opcode(b)}
	args := make([]pass.Expr, len(n.args))
	for _, numbers := range []bool{false, true} { // numbers take the type of their neighbours
		for i, a := range n.args {
			if (a.number != nil) != numbers {
				continue
			}
			var ok bool
			if args[i], ok = a.scalar(t, b); !ok {
				return pass.Expr{}, false
			}
			t = args[i].Shape().Type()
		}
	}
	for _, a := range args {
		ctx.Operands = append(ctx.Operands, a.Shape())
	}
	attrs, ok := n.attrs(ctx.Op, b)
	ctx.Attrs = attrs
	if n.like >= 0 {
		ctx.Stated = args[0].Shape().WithType(b.values[n.like].Shape().Type())
	}
	s, err := hlo.InferShape(&ctx)
	if err != nil || !ok {
		return pass.Expr{}, false
	}
	return pass.New(ctx.Op, s.WithDefaultLayout(), attrs, args...), true
}

// keepsSizes reports whether the node makes only values as large as their operands.
func (n *node) keepsSizes() bool {
	if n.slot >= 0 || n.number != nil || n.fold {
		return true
	}
	if n.opSlot < 0 && !sizeKeeping(n.op) {
		return false
	}
	return !slices.ContainsFunc(n.args, func(a *node) bool { return !a.keepsSizes() })
}
