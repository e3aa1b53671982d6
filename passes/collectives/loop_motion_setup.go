package collectives

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// ReorderReduceTranspose transposes before it scatters.
var ReorderReduceTranspose = &pass.Pass{
	Name: "reorder-reduce-transpose",
	Doc: `transpose of a reduce-scatter, in the body of a loop → reduce-scatter of the transpose

Conversions may stand between; they then come first as well.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range m.Computations() {
			if !isBody(m, c.ID()) {
				continue
			}
			for in := range c.Instructions() {
				if in.Opcode() != hlo.OpTranspose || in.NumControlPredecessors() > 0 {
					continue
				}
				ce := e.Computation(c.ID())
				v := ce.At(in.ID()).OperandInstr(0)
				var converts []hlo.PrimitiveType
				for v.Opcode() == hlo.OpConvert && v.UserCount() == 1 {
					converts = append(converts, v.Shape().Type())
					v = v.OperandInstr(0)
				}
				if v.Opcode() != hlo.OpReduceScatter || v.NumOperands() != 1 || v.UserCount() != 1 || v.NumControlPredecessors() > 0 || !ctx.Spend("transpose") {
					continue
				}
				perm := hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions
				attrs := *v.Attrs().(*hlo.ReduceScatterAttrs)
				attrs.Dimensions = []int64{int64(slices.Index(perm, attrs.Dimensions[0]))}
				at, spec := emit.Before(ce, in), emit.Again(v)
				gone := v.ID()
				spec.Operands[0] = at.Transpose(spec.Operands[0], perm...)
				spec.Attrs, spec.Shape = &attrs, hlo.MakeShape(spec.Shape.Type(), in.Shape().Dimensions()...).WithDefaultLayout()
				x := at.Spec(spec)
				slices.Reverse(converts)
				for _, t := range converts {
					x = at.Convert(x, t)
				}
				if err := ce.ReplaceInstruction(in.ID(), x); err != nil {
					return m, err
				}
				if err := removeChain(ce, c, in.Operand(0), gone); err != nil {
					return m, err
				}
				ctx.Count("transposes", 1)
			}
		}
		return e.Freeze(), nil
	},
}

// removeChain removes instructions without users from top down to last.
func removeChain(ce hlo.CompEdit, c hlo.Computation, top, last hlo.InstrID) error {
	for id := top; ; {
		next := ce.At(id).Operand(0)
		if err := ce.Remove(id); err != nil || id == last {
			return err
		}
		id = next
	}
}

// isBody reports whether only loops run a computation, as their body.
func isBody(m hlo.Module, id hlo.CompID) bool {
	n := 0
	for comp, in := range m.Callers(id) {
		w := m.MustComputation(comp).MustAt(in)
		if w.Opcode() != hlo.OpWhile || w.Callee(0) != id {
			return false
		}
		n++
	}
	return n > 0
}

// NewReorderConvertReduceAdd makes the pass reorder-convert-reduce-add.
func NewReorderConvertReduceAdd(o pass.Options) (*pass.Pass, error) {
	if err := o.Known("enable-reduce-scatter"); err != nil {
		return nil, err
	}
	scatter, err := o.Bool("enable-reduce-scatter")
	if err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "reorder-convert-reduce-add", Options: o, Params: []pass.Param{{Name: "enable-reduce-scatter", Doc: "also for reduce-scatters; false"}},
		Doc: `in the body of a loop, reduce in the type in which the result is added up

add(convert(all-reduce(x)), y) becomes add(all-reduce(convert(x)), y). Sums in another type round otherwise: policy xla or fast.`,
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) { return reorderConverts(ctx, m, scatter) }}, nil
}

func reorderConverts(ctx *pass.Context, m hlo.Module, scatter bool) (hlo.Module, error) {
	e := ctx.Edit(m)
	for c := range m.Computations() {
		if !isBody(m, c.ID()) || ctx.FP() < pass.Rounding {
			continue
		}
		for in := range c.Instructions() {
			if in.Opcode() != hlo.OpConvert || in.NumControlPredecessors() > 0 {
				continue
			}
			u, ok := soleUser(in)
			v := in.OperandInstr(0)
			if !ok || u.Opcode() != hlo.OpAdd || v.Opcode() != hlo.OpAllReduce && (v.Opcode() != hlo.OpReduceScatter || !scatter) || v.NumOperands() != 1 ||
				v.UserCount() != 1 || v.NumControlPredecessors() > 0 {
				continue
			}
			r := factsOf(m, v).reducer
			if !r.ok || r.op != hlo.OpAdd || !ctx.Spend("convert") {
				continue
			}
			ce := e.Computation(c.ID())
			at, spec := emit.Before(ce, in), emit.Again(ce.At(v.ID()))
			t := in.Shape().Type()
			spec.Operands[0] = at.Convert(spec.Operands[0], t)
			spec.Shape = in.Shape()
			spec.Callees = []hlo.CompID{emit.BinaryComputation(e, r.op, t)}
			if err := ce.ReplaceInstruction(in.ID(), at.Spec(spec)); err != nil {
				return m, err
			}
			if err := ce.Remove(v.ID()); err != nil {
				return m, err
			}
			ctx.Count("converts", 1)
		}
	}
	return e.Freeze(), nil
}
