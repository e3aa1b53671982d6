package emit

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// HandedOn is what of an instruction's attributes belongs to whatever computes its value: metadata, sharding and frontend attributes.
func HandedOn(c *hlo.Common) *hlo.Common {
	if c == nil || c.Metadata == nil && c.Sharding == nil && c.FrontendAttributes == nil {
		return nil
	}
	return &hlo.Common{Metadata: c.Metadata, Sharding: c.Sharding, FrontendAttributes: c.FrontendAttributes}
}

// Replace makes new, which the pass has just made and which computes the value of old, stand for old, and removes old and what it alone
// used. new gets the shape of old, its layout with it, and its metadata, sharding and frontend attributes.
func Replace(c hlo.CompEdit, old, new hlo.InstrID) error {
	shape, common := c.At(old).Shape(), c.At(old).Common()
	n := c.Instr(new)
	if shape.EqualIgnoringLayout(n.Shape()) && !shape.Equal(n.Shape()) {
		n.SetShape(shape)
	}
	n.SetCommon(merged(n.View().Common(), HandedOn(common)))
	return Forward(c, old, new)
}

// merged adds to own what it lacks.
func merged(own, more *hlo.Common) *hlo.Common {
	if own == nil || more == nil {
		if own == nil {
			return more
		}
		return own
	}
	both := *own
	if both.Sharding == nil {
		both.Sharding = more.Sharding
	}
	if more.Metadata != nil {
		both.Metadata = more.Metadata
	}
	if both.FrontendAttributes == nil {
		both.FrontendAttributes = more.FrontendAttributes
	}
	return &both
}

// Forward makes an existing value stand for old, and removes old and what it alone used.
func Forward(c hlo.CompEdit, old, by hlo.InstrID) error {
	operands := slices.Collect(c.At(old).OperandIDs())
	if err := c.ReplaceInstruction(old, by); err != nil {
		return err
	}
	for _, id := range operands {
		pass.Release(c, id, nil)
	}
	return nil
}

// KeepsResultSharding reports whether a value may be the result in place of the root of a computation that something calls: a conditional holds the
// shardings of its branches against each other.
func KeepsResultSharding(root, by hlo.Instruction) bool {
	c := by.Common()
	return c == nil || c.Sharding == nil || root.Common() != nil && root.Common().Sharding != nil && hlo.EqualAttr(root.Common().Sharding, c.Sharding)
}

// Redirect makes some users of a value use another one.
func Redirect(c hlo.CompEdit, users []hlo.InstrID, old, by hlo.InstrID) {
	for _, u := range users {
		operands := slices.Collect(c.At(u).OperandIDs())
		for i, o := range operands {
			if o == old {
				operands[i] = by
			}
		}
		c.Instr(u).SetOperands(operands...)
	}
}

// Retuple gives an instruction another tuple shape. Sharding, replication and origins are those of the old parts, and go.
func Retuple(in hlo.InstrEdit, s hlo.Shape) {
	common := in.View().Common()
	in.SetShape(s)
	if common != nil {
		own := *common
		own.Sharding, own.Origin, own.ParameterReplication = nil, nil, nil
		in.SetCommon(&own)
	}
}

// Again describes in, so that it can be made again, perhaps with other operands. Unlike in, the description outlives edits.
func Again(in hlo.Instruction) hlo.InstrSpec {
	return hlo.InstrSpec{Opcode: in.Opcode(), Name: in.Name(), Shape: in.Shape(), Operands: slices.Collect(in.OperandIDs()), Attrs: in.Attrs(), Common: in.Common(),
		Callees: slices.Collect(in.Callees()), Control: slices.Collect(in.ControlPredecessors()), Position: in.Position()}
}

// With is a description with other operands.
func With(spec hlo.InstrSpec, operands ...hlo.InstrID) hlo.InstrSpec {
	spec.Operands = operands
	return spec
}

// BinaryComputation adds a computation that applies op to two scalars of a type. In a module with a schedule it has one, too.
func BinaryComputation(e *hlo.Editor, op hlo.Opcode, t hlo.PrimitiveType) hlo.CompID {
	s := hlo.MakeShape(t).WithDefaultLayout()
	b := e.NewComputation(op.String())
	b.SetScheduled(e.Config().IsScheduled)
	x := b.Append(hlo.InstrSpec{Opcode: hlo.OpParameter, Name: "x", Shape: s, Attrs: &hlo.ParameterAttrs{Number: 0}})
	y := b.Append(hlo.InstrSpec{Opcode: hlo.OpParameter, Name: "y", Shape: s, Attrs: &hlo.ParameterAttrs{Number: 1}})
	return b.Finish(b.Append(hlo.InstrSpec{Opcode: op, Shape: s, Operands: []hlo.InstrID{x, y}}))
}

// Computation adds a computation with parameters of the given shapes; body makes it and returns its root.
func Computation(e *hlo.Editor, name string, params []hlo.Shape, body func(at At, params []hlo.InstrID) hlo.InstrID) hlo.CompID {
	c := e.AddComputation(name)
	c.SetScheduled(e.Config().IsScheduled)
	at := End(c)
	ids := make([]hlo.InstrID, len(params))
	for i, s := range params {
		ids[i] = at.Spec(hlo.InstrSpec{Opcode: hlo.OpParameter, Name: "param_" + string(rune('0'+i%10)), Shape: s, Attrs: &hlo.ParameterAttrs{Number: int64(i)}})
	}
	c.SetRoot(body(at, ids))
	return c.ID()
}
