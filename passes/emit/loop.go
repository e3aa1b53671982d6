package emit

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// GrowState adds parts to the end of the state of a loop, in place: the loop keeps its id and name. Body and condition must be the loop's
// own. init are the first values; next makes the values after a round, at a place in the body, from those before it. It returns the number of
// the first new part.
//
// Users of the loop, of its state in the body, and in the condition, see the parts that there were.
func GrowState(c hlo.CompEdit, while hlo.InstrID, body, cond hlo.CompEdit, init []hlo.InstrID, next func(at At, parts []hlo.InstrID) []hlo.InstrID) int {
	narrow := c.At(while).Shape()
	n := narrow.NumElems()
	shapes := narrow.Elems()
	for _, id := range init {
		shapes = append(shapes, c.At(id).Shape())
	}
	state := hlo.MakeTuple(shapes...)
	added := shapes[n:]

	at := Before(c, c.At(while))
	before := c.At(while).Operand(0)
	all := Elements(at, before)
	first := at.OpOf(hlo.OpTuple, state, nil, append(all, init...)...)
	c.Instr(first).SetCommon(grown(c.At(before).Common(), added))
	keepNarrow(c, while, narrow)
	grow(c.Instr(while).SetOperand(0, first), state, added)
	Reorder(c)

	param := body.View().Parameters()[0]
	root := body.Root()
	if body.At(root).Opcode() != hlo.OpTuple || body.UserCount(root) > 0 || len(slices.Collect(body.ControlSuccessors(root))) > 0 {
		end := End(body)
		root = end.OpOf(hlo.OpTuple, narrow, nil, Elements(end, root)...)
		body.SetRoot(root)
	}
	keepNarrow(body, param, narrow)
	grow(body.Instr(param), state, added)
	at = At{C: body, Before: root}
	parts := make([]hlo.InstrID, len(init))
	for i := range parts {
		parts[i] = at.Element(param, n+i)
	}
	results := append(slices.Collect(body.At(root).OperandIDs()), next(at, parts)...)
	grow(body.Instr(root).SetOperands(results...), state, added)
	Reorder(body)

	param = cond.View().Parameters()[0]
	keepNarrow(cond, param, narrow)
	grow(cond.Instr(param), state, added)
	Reorder(cond)
	return n
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
	end := End(c)
	tuple := end.OpOf(hlo.OpTuple, narrow, nil, Elements(end, id)...)
	for _, u := range users {
		operands := slices.Collect(c.At(u).OperandIDs())
		for i, o := range operands {
			if o == id {
				operands[i] = tuple
			}
		}
		c.Instr(u).SetOperands(operands...)
	}
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
