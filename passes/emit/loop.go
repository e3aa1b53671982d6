package emit

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Loop is a while loop whose body and condition nothing else runs.
type Loop struct {
	C          hlo.CompEdit // where it is
	While      hlo.InstrID
	Body, Cond hlo.CompEdit
}

// Grow adds parts to the end of the state of a loop, in place: the loop keeps its id and name. init are the first values; next makes the values
// after a round, at a place in the body, from those before it. It returns the number of the first new part.
//
// Users of the loop, of its state in the body, and in the condition, see the parts that there were. init must stand before the tuple that the loop
// begins with, or the caller calls [Reorder].
func (l Loop) Grow(init []hlo.InstrID, next func(at At, parts []hlo.InstrID) []hlo.InstrID) int {
	c, while, body, cond := l.C, l.While, l.Body, l.Cond
	narrow := c.At(while).Shape()
	n := narrow.NumElems()
	shapes := narrow.Elems()
	for _, id := range init {
		shapes = append(shapes, c.At(id).Shape())
	}
	state := hlo.MakeTuple(shapes...)
	added := shapes[n:]

	c.Instr(while).SetOperand(0, GrownTuple(c, c.At(while), 0, init))
	keepNarrow(c, while, narrow)
	grow(c.Instr(while), state, added)

	param := body.View().Parameters()[0]
	GrowParameter(body, param, added)
	at := End(body)
	parts := make([]hlo.InstrID, len(init))
	for i := range parts {
		parts[i] = at.Element(param, n+i)
	}
	GrowRoot(body, next(at, parts))
	GrowParameter(cond, cond.View().Parameters()[0], added)
	return n
}

// GrowParameter adds parts to the end of a parameter that is a tuple. Its users see those that there were.
func GrowParameter(c hlo.CompEdit, param hlo.InstrID, added []hlo.Shape) {
	narrow := c.At(param).Shape()
	keepNarrow(c, param, narrow)
	grow(c.Instr(param), hlo.MakeTuple(append(narrow.Elems(), added...)...), added)
}

// GrowRoot adds parts to the end of the tuple that a computation returns.
func GrowRoot(c hlo.CompEdit, more []hlo.InstrID) {
	root := c.Root()
	narrow := c.At(root).Shape()
	if c.At(root).Opcode() != hlo.OpTuple || c.UserCount(root) > 0 || len(slices.Collect(c.ControlSuccessors(root))) > 0 {
		end := End(c)
		root = end.OpOf(hlo.OpTuple, narrow, nil, Elements(end, root)...)
		c.SetRoot(root)
	}
	growTuple(c, root, more)
	Reorder(c)
}

// GrowResult adds parts to the end of the tuple that an instruction returns. Its users see those that there were.
func GrowResult(c hlo.CompEdit, id hlo.InstrID, added []hlo.Shape) {
	GrowParameter(c, id, added)
}

// GrownTuple is operand i of an instruction, a tuple, with more parts: the operand itself where nothing else uses it and it is made of parts.
func GrownTuple(c hlo.CompEdit, user hlo.Instruction, i int, more []hlo.InstrID) hlo.InstrID {
	id, at := user.Operand(i), Before(c, user)
	uses := 0
	for o := range user.OperandIDs() {
		if o == id {
			uses++
		}
	}
	if c.At(id).Opcode() == hlo.OpTuple && c.UserCount(id) == 1 && uses == 1 && c.Root() != id && c.At(id).NumControlPredecessors()+len(slices.Collect(c.ControlSuccessors(id))) == 0 {
		growTuple(c, id, more)
		return id
	}
	var added, shapes []hlo.Shape
	for _, m := range more {
		added = append(added, at.Shape(m))
	}
	common := grown(c.At(id).Common(), added)
	shapes = append(at.Shape(id).Elems(), added...)
	grownOne := at.OpOf(hlo.OpTuple, hlo.MakeTuple(shapes...), nil, append(Elements(at, id), more...)...)
	c.Instr(grownOne).SetCommon(common)
	return grownOne
}

// growTuple adds operands to a tuple.
func growTuple(c hlo.CompEdit, id hlo.InstrID, more []hlo.InstrID) {
	shapes := c.At(id).Shape().Elems()
	n := len(shapes)
	for _, m := range more {
		shapes = append(shapes, c.At(m).Shape())
	}
	operands := append(slices.Collect(c.At(id).OperandIDs()), more...)
	grow(c.Instr(id).SetOperands(operands...), hlo.MakeTuple(shapes...), shapes[n:])
}

// Elements are the parts of a tuple, each as an instruction.
func Elements(at At, tuple hlo.InstrID) []hlo.InstrID {
	parts := make([]hlo.InstrID, at.Shape(tuple).NumElems())
	for i := range parts {
		parts[i] = at.Element(tuple, i)
	}
	return parts
}

// keepNarrow gives users of a tuple that is about to grow, other than those that take one part out, a tuple of the parts that it has now.
func keepNarrow(c hlo.CompEdit, id hlo.InstrID, narrow hlo.Shape) {
	var users []hlo.InstrID
	for u := range c.Users(id) {
		if c.At(u).Opcode() != hlo.OpGetTupleElement {
			users = append(users, u)
		}
	}
	if len(users) == 0 && c.Root() != id {
		return
	}
	at := End(c)
	if len(users) > 0 { // in front of the first of them
		v := c.View()
		at.Before = slices.MinFunc(users, func(a, b hlo.InstrID) int {
			if v.Less(a, b) {
				return -1
			}
			return 1
		})
	}
	tuple := at.OpOf(hlo.OpTuple, narrow, nil, Elements(at, id)...)
	Redirect(c, users, id, tuple)
	if c.Root() == id {
		c.SetRoot(tuple)
	}
}

// grow gives an instruction a tuple shape of more parts at the end.
func grow(in hlo.InstrEdit, s hlo.Shape, added []hlo.Shape) {
	common := grown(in.View().Common(), added)
	in.SetShape(s).SetCommon(common)
}

// grown is the attributes of a tuple with more parts at the end: their origins are unknown, and every device has them.
func grown(c *hlo.Common, added []hlo.Shape) *hlo.Common {
	c = WiderOrigin(c, make([]*hlo.Origin, len(added)))
	leaves := 0
	for _, s := range added {
		leaves += s.NumLeaves()
	}
	if c == nil || c.Sharding == nil && c.ParameterReplication == nil {
		return c
	}
	own := *c
	if s := own.Sharding; s != nil && s.Kind == hlo.ShardingTuple {
		wide := *s
		wide.Elements = slices.Clone(s.Elements)
		for range leaves {
			wide.Elements = append(wide.Elements, &hlo.Sharding{Kind: hlo.ShardingReplicated})
		}
		own.Sharding = &wide
	}
	if own.ParameterReplication != nil {
		own.ParameterReplication = append(slices.Clone(own.ParameterReplication), make([]bool, leaves)...)
	}
	return &own
}
