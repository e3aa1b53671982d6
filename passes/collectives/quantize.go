package collectives

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// Quantizer sends narrow values.
var Quantizer = &pass.Pass{
	Name: "collective-quantizer",
	Doc: `send values in the narrower of two types

	convert(clamp(collective(x) / scale)) → collective(convert(clamp(x / scale)))
	collective(convert(x) · scale)        → convert(collective(x)) · scale

The scale is one number, the same on all devices that exchange values: a constant, a replicated parameter, or a reduction between the same
devices. Ops that only move elements may stand between. No value changes.`,
	Lent: true, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
			var ids []hlo.InstrID
			for in := range c.PostOrder() {
				ids = append(ids, in.ID())
			}
			ce := e.Computation(c.ID())
			for _, id := range ids {
				if !quantizable(ce, id) {
					continue
				}
				q := &quantizing{callee: e.View, c: ce, collective: emit.Again(ce.At(id)), id: id, f: factsFrom(e.View, ce.At(id))}
				if q.dequantized() && ctx.Spend("dequantize") {
					if err := q.sendBefore(); err != nil {
						return m, err
					}
					ctx.Count("dequantized", 1)
				} else if q.quantized() && ctx.Spend("quantize") {
					if err := q.sendAfter(); err != nil {
						return m, err
					}
					ctx.Count("quantized", 1)
				}
			}
		}
		return e.Freeze(), nil
	},
}

// quantizable reports whether an instruction moves one array between devices.
func quantizable(c hlo.CompEdit, id hlo.InstrID) bool {
	if !c.Has(id) {
		return false
	}
	in := c.At(id)
	switch in.Opcode() {
	case hlo.OpAllGather, hlo.OpAllToAll, hlo.OpCollectiveBroadcast, hlo.OpCollectivePermute:
		return in.NumOperands() == 1 && in.Shape().IsArray() && in.NumControlPredecessors() == 0 && in.NumControlSuccessors() == 0
	}
	return false
}

// quantizing is what stands around one collective.
type quantizing struct {
	callee     func(hlo.CompID) hlo.Computation
	c          hlo.CompEdit
	id         hlo.InstrID
	collective hlo.InstrSpec
	f          facts

	moves   []hlo.InstrSpec // ops that only move elements, from the value on
	scale   *hlo.InstrSpec  // multiply or divide
	value   int             // operand of scale that is the value
	factor  hlo.InstrID     // the scalar
	clamp   *hlo.InstrSpec
	bounds  [2]hlo.InstrID
	convert hlo.InstrSpec
	source  hlo.InstrID // what is narrow before dequantization
	last    hlo.InstrID // the convert that quantizes
}

// movesOnly reports ops whose result has the elements of the operand.
func movesOnly(in hlo.Instruction) bool {
	switch in.Opcode() {
	case hlo.OpReshape, hlo.OpSlice, hlo.OpCopy, hlo.OpTranspose:
		return true
	}
	return in.Opcode() == hlo.OpBitcast && in.Shape().Type() == in.OperandInstr(0).Shape().Type()
}

// dequantized looks before the collective: moves and a multiplication on a conversion from a narrower type.
func (q *quantizing) dequantized() bool {
	v, user := q.c.At(q.id).OperandInstr(0), q.id
	for {
		if u, ok := soleUser(v); !ok || u.ID() != user || v.NumControlPredecessors() > 0 {
			return false
		}
		user = v.ID()
		switch {
		case v.Opcode() == hlo.OpConvert:
			q.convert, q.source = emit.Again(v), v.Operand(0)
			return v.OperandInstr(0).Shape().Type().Bits() < v.Shape().Type().Bits()
		case movesOnly(v):
			q.moves = append([]hlo.InstrSpec{emit.Again(v)}, q.moves...)
			v = v.OperandInstr(0)
		case q.scale == nil && (v.Opcode() == hlo.OpMultiply || v.Opcode() == hlo.OpDivide):
			k, ok := q.scaled(v)
			if !ok {
				return false
			}
			v = v.OperandInstr(k)
		default:
			return false
		}
	}
}

// scaled finds the operand of a product or quotient that is the value; the other is a number that is the same on all devices.
func (q *quantizing) scaled(in hlo.Instruction) (int, bool) {
	for k := range 2 {
		b := in.OperandInstr(1 - k)
		if k == 1 && in.Opcode() == hlo.OpDivide || b.Opcode() != hlo.OpBroadcast || !b.OperandInstr(0).Shape().IsScalar() || !q.same(b.OperandInstr(0), nil) {
			continue
		}
		spec := emit.Again(in)
		q.scale, q.value, q.factor = &spec, k, b.Operand(0)
		return k, true
	}
	return 0, false
}

// same reports whether a scalar is the same on all devices that exchange values. args are what a call hands to the computation of in.
func (q *quantizing) same(in hlo.Instruction, args []hlo.Instruction) bool {
	//halo:allow opswitch each of these keeps a scalar the same in its own way
	switch in.Opcode() {
	case hlo.OpConstant:
		return true
	case hlo.OpParameter:
		if args != nil {
			n, _ := in.ParameterNumber()
			return int(n) < len(args) && q.same(args[n], nil)
		}
		c := in.Common()
		return c != nil && c.Sharding != nil && c.Sharding.Kind == hlo.ShardingReplicated
	case hlo.OpReshape, hlo.OpConvert, hlo.OpBitcast, hlo.OpCopy:
		return q.same(in.OperandInstr(0), args)
	case hlo.OpAllReduce:
		f := factsFrom(q.callee, in)
		return len(q.f.pairs) == 0 && in.NumOperands() == 1 && hlo.EqualAttr(f.groups, q.f.groups) && f.channel.Set == q.f.channel.Set
	case hlo.OpCall:
		return q.same(q.callee(in.Callee(0)).Root(), slices.Collect(in.Operands()))
	}
	return false
}

// sendBefore sends the narrow value, and converts and scales what arrives.
func (q *quantizing) sendBefore() error {
	at := emit.Before(q.c, q.c.At(q.id))
	x := q.source
	narrow := at.Shape(x).Type()
	for _, s := range q.moves {
		s.Shape, s.Operands = s.Shape.WithType(narrow), []hlo.InstrID{x}
		x = at.Spec(s)
	}
	spec := emit.With(q.collective, x)
	spec.Shape = spec.Shape.WithType(narrow)
	x = at.Convert(at.Spec(spec), q.collective.Shape.Type())
	if q.scale != nil {
		x = q.rescale(at, x, q.collective.Shape)
	}
	return emit.Replace(q.c, q.id, x)
}

// rescale multiplies or divides a value of a shape.
func (q *quantizing) rescale(at emit.At, x hlo.InstrID, s hlo.Shape) hlo.InstrID {
	operands := []hlo.InstrID{x, at.Fill(q.factor, s.Dimensions()...)}
	if q.value == 1 {
		slices.Reverse(operands)
	}
	return at.OpOf(q.scale.Opcode, s, nil, operands...)
}

// quantized looks behind the collective: moves, a scaling, a clamp and a conversion to a narrower type.
func (q *quantizing) quantized() bool {
	q.moves, q.scale, q.clamp = nil, nil, nil
	v := q.c.At(q.id)
	wide := v.Shape().Type()
	for {
		u, ok := soleUser(v)
		if !ok || u.NumControlPredecessors() > 0 {
			return false
		}
		switch {
		case u.Opcode() == hlo.OpConvert:
			q.convert, q.last = emit.Again(u), u.ID()
			return u.Shape().Type().Bits() < wide.Bits()
		case movesOnly(u):
			q.moves = append(q.moves, emit.Again(u))
		case q.scale == nil && q.clamp == nil && (u.Opcode() == hlo.OpMultiply || u.Opcode() == hlo.OpDivide):
			k, ok := q.scaled(u)
			if !ok || u.Operand(k) != v.ID() {
				return false
			}
		case q.clamp == nil && u.Opcode() == hlo.OpClamp && u.Operand(1) == v.ID():
			for i, k := range []int{0, 2} {
				b := u.OperandInstr(k)
				if b.Opcode() == hlo.OpBroadcast {
					b = b.OperandInstr(0)
				}
				if !b.Shape().IsScalar() || !q.same(b, nil) {
					return false
				}
				q.bounds[i] = b.ID()
			}
			spec := emit.Again(u)
			q.clamp = &spec
		default:
			return false
		}
		v = u
	}
}

// sendAfter scales, clamps and converts first, and sends what is narrow then.
func (q *quantizing) sendAfter() error {
	at := emit.Before(q.c, q.c.At(q.last))
	x := q.collective.Operands[0]
	s, narrow := at.Shape(x), q.convert.Shape.Type()
	if q.scale != nil {
		x = q.rescale(at, x, s)
	}
	if q.clamp != nil {
		x = at.OpOf(hlo.OpClamp, s, nil, at.Fill(q.bounds[0], s.Dimensions()...), x, at.Fill(q.bounds[1], s.Dimensions()...))
	}
	spec := emit.With(q.collective, at.Convert(x, narrow))
	spec.Shape = spec.Shape.WithType(narrow)
	x = at.Spec(spec)
	for _, m := range q.moves {
		m.Shape, m.Operands = m.Shape.WithType(narrow), []hlo.InstrID{x}
		x = at.Spec(m)
	}
	if err := emit.Replace(q.c, q.last, x); err != nil {
		return err
	}
	if q.c.Has(q.id) && q.c.UserCount(q.id) == 0 {
		operand := q.c.At(q.id).Operand(0)
		if err := q.c.Remove(q.id); err != nil {
			return err
		}
		pass.Release(q.c, operand, nil)
	}
	return nil
}
