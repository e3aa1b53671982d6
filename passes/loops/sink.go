package loops

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// ConstantSinking brings constants into the loops that only hand them on.
var ConstantSinking = &pass.Pass{
	Name: "while-loop-constant-sinking",
	Doc: `use scalar constants inside of loops that carry them in their state

A part of the state that is a constant at first, and that the body hands on untouched, is that constant in every round. JAX carries the bounds of its loops
in this way. Body and condition get a copy of the constant, so that other passes see what it is, and the part goes when nobody reads it.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range m.PostOrder() {
			for in := range c.Instructions() {
				if in.Opcode() == hlo.OpWhile && ownsCallees(m, in) {
					sinkInto(ctx, e, m, in)
				}
			}
		}
		return e.Freeze(), nil
	},
}

// sinkInto looks at the parts of the state of one loop.
func sinkInto(ctx *pass.Context, e *hlo.Editor, m hlo.Module, while hlo.Instruction) {
	init := while.OperandInstr(0)
	b, c := e.Computation(body(m, while).ID()), e.Computation(condition(m, while).ID())
	if init.Opcode() != hlo.OpTuple || b.View().Root().Opcode() != hlo.OpTuple || b.View().NumParameters() != 1 || c.View().NumParameters() != 1 {
		return
	}
	for i := range init.NumOperands() {
		k := init.OperandInstr(i)
		if k.Opcode() != hlo.OpConstant || !k.Shape().IsScalar() || k.Literal() == nil || k.Literal().IsElided() || !handsOn(b.View(), i, k.Shape()) {
			continue
		}
		inBody, inCond := elementsOf(b.View(), i), elementsOf(c.View(), i)
		if !readBeside(b.View(), inBody, i) && !readBeside(c.View(), inCond, -1) || !ctx.Spend("sink") {
			continue
		}
		useInstead(b, inBody, k, i)
		useInstead(c, inCond, k, -1)
		ctx.Count("constants", 1)
	}
}

// handsOn reports whether a body returns part i of its state as it got it.
func handsOn(body hlo.Computation, i int, s hlo.Shape) bool {
	back := body.Root().OperandInstr(i)
	return back.Opcode() == hlo.OpGetTupleElement && back.OperandInstr(0).Opcode() == hlo.OpParameter &&
		hlo.AttrsOf[hlo.TupleElementAttrs](back).Index == int64(i) && back.Shape().Equal(s)
}

// elementsOf lists the instructions that take part i out of the parameter.
func elementsOf(c hlo.Computation, i int) (ids []hlo.InstrID) {
	for user := range c.Parameter(0).Users() {
		if user.Opcode() == hlo.OpGetTupleElement && hlo.AttrsOf[hlo.TupleElementAttrs](user).Index == int64(i) && !user.IsRoot() {
			ids = append(ids, user.ID())
		}
	}
	return ids
}

// readBeside reports whether an element is used for anything but operand handed of the root.
func readBeside(c hlo.Computation, elements []hlo.InstrID, handed int) bool {
	for _, id := range elements {
		for user := range c.MustAt(id).Users() {
			for k := range user.NumOperands() {
				if user.Operand(k) == id && !(user.IsRoot() && k == handed) {
					return true
				}
			}
		}
	}
	return false
}

// useInstead replaces the elements by a copy of the constant, but for operand handed of the root.
func useInstead(c hlo.CompEdit, elements []hlo.InstrID, constant hlo.Instruction, handed int) {
	if !readBeside(c.View(), elements, handed) {
		return
	}
	k := c.InsertSpecBefore(elements[0], hlo.InstrSpec{Opcode: hlo.OpConstant, Name: constant.Name(), Shape: constant.Shape(),
		Attrs: constant.Attrs(), Position: constant.Position()}).ID()
	for _, id := range elements {
		for _, user := range slices.Collect(c.Users(id)) {
			in := c.At(user)
			operands := slices.Collect(in.OperandIDs())
			for at, o := range operands {
				if o == id && !(in.IsRoot() && at == handed) {
					operands[at] = k
				}
			}
			c.Instr(user).SetOperands(operands...)
		}
	}
}
