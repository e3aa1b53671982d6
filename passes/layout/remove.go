package layout

import (
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
		var found []laidOut
		for c := range m.Computations() {
			for in := range c.Instructions() {
				x := laidOut{c: c.ID(), id: in.ID(), to: in.Shape()}
				other := hasOtherLayout(x.to)
				if in.Opcode() == hlo.OpBitcast {
					x.from, x.isTransposed = in.OperandInstr(0).Shape(), isTransposed(in)
					if (other || hasOtherLayout(x.from)) && !x.isTransposed {
						ctx.Missed(in, "layouts stay: this bitcast looks at bytes")
						return m, nil
					}
				}
				if other || x.isTransposed {
					found = append(found, x)
				}
			}
		}
		if len(found) == 0 || !ctx.Spend("layouts") {
			return m, nil
		}
		e := ctx.Edit(m)
		for _, x := range found {
			e.Computation(x.c).Instr(x.id).SetShape(inRowMajor(x.to))
		}
		for _, x := range found {
			if x.isTransposed {
				if err := x.spellOut(e.Computation(x.c)); err != nil {
					return m, err
				}
			}
		}
		ctx.Count("modules", 1)
		return e.Freeze(), nil
	},
}

// laidOut is an instruction whose layout is taken away, with its shape as it was; of a bitcast also that of the operand, and whether ops say the same.
type laidOut struct {
	c            hlo.CompID
	id           hlo.InstrID
	from, to     hlo.Shape
	isTransposed bool
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
func (x laidOut) spellOut(c hlo.CompEdit) error {
	in := c.At(x.id)
	at, operand := emit.Before(c, in), in.Operand(0)
	from, _ := orderOf(x.from)
	to, _ := orderOf(x.to)
	v := operand
	if t := x.to.Type(); x.from.Type() != t {
		v = at.OpOf(hlo.OpBitcastConvert, inRowMajor(x.from.WithType(t)), nil, v)
	}
	v = at.Transpose(v, from...)
	v = at.Reshape(v, to.of(x.to.Dimensions())...)
	v = at.Transpose(v, to.places()...)
	if v == operand {
		return emit.Forward(c, x.id, v)
	}
	return emit.Replace(c, x.id, v)
}
