package layout

import (
	"maps"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// Remover writes what layouts mean as ops, and takes the layouts away.
var Remover = &pass.Pass{
	Name: "layout-remover",
	Doc: `give every array the row-major layout, and write bitcasts as the transposes and reshapes that they are in other layouts

Values stay as they are: a layout says where elements lie, and only a bitcast looks at that. What a module says of the layouts of its parameters and results stays, too. Modules with a
bitcast of an array with tiles or dynamic sizes, or to elements of another width, are left alone.`,
	Lent: true, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		found := map[hlo.CompID][]hlo.InstrID{}
		for c := range m.Computations() {
			for in := range c.Instructions() {
				other := hasOtherLayout(in.Shape())
				if in.Opcode() == hlo.OpBitcast {
					spelt := isTransposed(in)
					if (other || hasOtherLayout(in.OperandInstr(0).Shape())) && !spelt {
						ctx.Missed(in, "layouts stay: this bitcast looks at bytes")
						return m, nil
					}
					other = other || spelt
				}
				if other {
					found[c.ID()] = append(found[c.ID()], in.ID())
				}
			}
		}
		if len(found) == 0 || !ctx.Spend("layouts") {
			return m, nil
		}
		e := ctx.Edit(m)
		for _, id := range slices.Sorted(maps.Keys(found)) {
			c := e.Computation(id)
			for _, id := range slices.Backward(found[id]) { // operands of bitcasts have their layouts still
				if in := c.At(id); in.Opcode() != hlo.OpBitcast || !isTransposed(in) {
					c.Instr(id).SetShape(inRowMajor(in.Shape()))
				} else if err := spellOut(c, in); err != nil {
					return m, err
				}
			}
		}
		ctx.Count("modules", 1)
		return e.Freeze(), nil
	},
}

// hasOtherLayout reports whether an array is in a layout that can be taken away.
func hasOtherLayout(s hlo.Shape) bool {
	for _, l := range s.Leaves {
		if o, ok := orderOf(l); ok && !o.isRowMajor() {
			return true
		}
	}
	return false
}

func inRowMajor(s hlo.Shape) hlo.Shape {
	return s.Map(func(a hlo.Shape) hlo.Shape {
		if o, ok := orderOf(a); ok && !o.isRowMajor() {
			return normal(a, order(axesOf(a)))
		}
		return a
	})
}

func axesOf(s hlo.Shape) []int64 {
	all := make([]int64, s.Rank())
	for i := range all {
		all[i] = int64(i)
	}
	return all
}

// isTransposed reports whether a bitcast is a transpose, a reshape and a transpose of what it looks at.
func isTransposed(in hlo.Instruction) bool {
	x := in.OperandInstr(0).Shape()
	_, okFrom := orderOf(x)
	_, okTo := orderOf(in.Shape())
	return okFrom && okTo && x.Type().Bits() == in.Shape().Type().Bits() && (x.Type() == in.Shape().Type() || x.Type() != hlo.PRED && in.Shape().Type() != hlo.PRED) &&
		x.NumElements() == in.Shape().NumElements() && in.NumControlPredecessors()+in.NumControlSuccessors() == 0
}

// spellOut puts the axes into the order of memory, where the bitcast divides them anew, and puts the new ones into their order.
func spellOut(c hlo.CompEdit, in hlo.Instruction) error {
	at, id, shape, operand := emit.Before(c, in), in.ID(), in.Shape(), in.Operand(0)
	x := in.OperandInstr(0).Shape()
	from, _ := orderOf(x)
	to, _ := orderOf(shape)
	v := operand
	if x.Type() != shape.Type() {
		v = at.OpOf(hlo.OpBitcastConvert, inRowMajor(x.WithType(shape.Type())), nil, v)
	}
	v = at.Transpose(v, from...)
	v = at.Reshape(v, to.of(shape.Dimensions())...)
	v = at.Transpose(v, to.places()...)
	if v == operand {
		return emit.Forward(c, id, v)
	}
	if err := emit.Replace(c, id, v); err != nil {
		return err
	}
	c.Instr(v).SetShape(inRowMajor(shape))
	return nil
}
