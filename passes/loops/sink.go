package loops

import (
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/control"
	"github.com/gohalo/halo/passes/emit"
)

const sinkDoc = `use constants inside of loops that carry them in their state

A part of the state that is a constant at first, and that the body hands on untouched, is that constant in every round. JAX carries the bounds of its loops
in this way. Body and condition get a copy of the constant, so that other passes see what it is, and the part goes when it is unused. Loops that share a body or a
condition get their own first.`

var sinkParams = []pass.Param{
	{Name: "sink-broadcast-of-constants", Doc: "also broadcasts of constants; false"},
	{Name: "sink-only-scalar-constants", Doc: "no other constants than scalars; false"},
}

// sinker is the pass with its options.
type sinker struct{ broadcasts, scalars bool }

// NewConstantSinking makes the pass while-loop-constant-sinking.
func NewConstantSinking(o pass.Options) (*pass.Pass, error) {
	k := &sinker{}
	if err := o.Known(sinkParams[0].Name, sinkParams[1].Name); err != nil {
		return nil, err
	}
	var err error
	if k.broadcasts, err = o.Bool(sinkParams[0].Name); err != nil {
		return nil, err
	}
	if k.scalars, err = o.Bool(sinkParams[1].Name); err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "while-loop-constant-sinking", About: []hlo.Opcode{hlo.OpWhile}, Doc: sinkDoc, Options: o, Params: sinkParams, Lent: true, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range m.PostOrder() {
			ce := e.Computation(c.ID())
			for in := range pass.EachOf(ce, hlo.OpWhile) {
				if in.Callee(0) != in.Callee(1) {
					k.sinkInto(ctx, e, m, ce, in)
				}
			}
		}
		return e.Freeze(), nil
	}}, nil
}

// sinkInto looks at the parts of the state of one loop.
func (k *sinker) sinkInto(ctx *pass.Context, e *hlo.Editor, m hlo.Module, ce hlo.CompEdit, while hlo.Instruction) {
	init := while.OperandInstr(0)
	bv, cv := e.View(while.Callee(calleeNamed("body"))), e.View(while.Callee(calleeNamed("condition")))
	if init.Opcode() != hlo.OpTuple || bv.Root().Opcode() != hlo.OpTuple || bv.NumParameters() != 1 || cv.NumParameters() != 1 || bv.Parameter(0).IsRoot() || cv.Parameter(0).IsRoot() {
		return
	}
	type found struct {
		part       int
		value, of  hlo.InstrSpec // of is its operand, if it is a broadcast
		body, cond bool
	}
	var all []found
	for i := range init.NumOperands() {
		v := init.OperandInstr(i)
		if !k.sinks(v) || !handsOn(bv, i, v.Shape()) {
			continue
		}
		f := found{part: i, value: plainCopy(v), body: bv.Root().OperandInstr(i).UserCount() > 1}
		for _, id := range elementsOf(cv, i) {
			f.cond = f.cond || cv.MustAt(id).UserCount() > 0
		}
		if v.Opcode() == hlo.OpBroadcast {
			f.of = plainCopy(v.OperandInstr(0))
		}
		if (f.body || f.cond) && ctx.Spend("sink") {
			all = append(all, f)
		}
	}
	if len(all) == 0 {
		return
	}
	var b, c hlo.CompEdit
	if slices.ContainsFunc(all, func(f found) bool { return f.body }) {
		b = ownCallee(e, m, ce, while.ID(), calleeNamed("body"), bv)
	}
	if slices.ContainsFunc(all, func(f found) bool { return f.cond }) {
		c = ownCallee(e, m, ce, while.ID(), calleeNamed("condition"), cv)
	}
	for _, f := range all { // a clone has other ids: its elements are found again
		if f.body {
			useInstead(b, []hlo.InstrID{b.At(b.Root()).Operand(f.part)}, f.value, f.of, f.part)
		}
		if f.cond {
			useInstead(c, elementsOf(c.View(), f.part), f.value, f.of, -1)
		}
		ctx.Count("constants", 1)
	}
}

// sinks reports whether a value is a constant of the kind to sink.
func (k *sinker) sinks(in hlo.Instruction) bool {
	if in.Opcode() == hlo.OpBroadcast && k.broadcasts {
		in = in.OperandInstr(0)
	}
	return in.Opcode() == hlo.OpConstant && in.Literal() != nil && !in.Literal().IsElided() && (!k.scalars || in.Shape().IsScalar()) && in.NumControlPredecessors() == 0
}

// ownCallee gives a loop a body or condition of its own, named as XLA names it.
func ownCallee(e *hlo.Editor, m hlo.Module, ce hlo.CompEdit, while hlo.InstrID, which int, v hlo.Computation) hlo.CompEdit {
	id, name := v.ID(), v.Name()
	n := 0
	for range m.Callers(id) {
		n++
	}
	if n > 1 {
		id = control.CloneComputation(e, id)
		ce.Instr(while).SetCallee(which, id)
	}
	if !strings.HasSuffix(name, ".sunk") {
		e.Computation(id).SetName(name + ".sunk")
	}
	return e.Computation(id)
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

// useInstead replaces the elements by a copy of the constant, or of the broadcast of one, but for operand handed of the root.
func useInstead(c hlo.CompEdit, elements []hlo.InstrID, constant, of hlo.InstrSpec, handed int) {
	at := emit.Before(c, c.At(elements[0]))
	if constant.Opcode == hlo.OpBroadcast {
		constant = emit.With(constant, at.Spec(of))
	}
	k := at.Spec(constant)
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

// plainCopy is an instruction without what ties it to its place.
func plainCopy(in hlo.Instruction) hlo.InstrSpec {
	return hlo.InstrSpec{Opcode: in.Opcode(), Name: in.Name(), Shape: in.Shape(), Attrs: in.Attrs(), Position: in.Position()}
}
