package collectives

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// ReduceScatterDecomposer reduces everything and takes a part.
var ReduceScatterDecomposer = &pass.Pass{
	Name: "reduce-scatter-decomposer",
	Doc: `reduce-scatter → all-reduce, of which each device takes its part

Reduce-scatters of several arrays stay.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range m.Computations() {
			for in := range c.Instructions() {
				if in.Opcode() != hlo.OpReduceScatter || in.NumOperands() != 1 || !in.Shape().IsArray() || !in.Shape().IsStatic() {
					continue
				}
				f := factsOf(m, in)
				if !ctx.Spend("reduce-scatter") {
					continue
				}
				ce := e.Computation(c.ID())
				at, x, dim := emit.Before(ce, ce.At(in.ID())), ce.At(in.ID()).Operand(0), f.dims[0]
				all := at.Spec(hlo.InstrSpec{Opcode: hlo.OpAllReduce, Shape: at.Shape(x), Operands: []hlo.InstrID{x}, Callees: []hlo.CompID{in.Callee(0)},
					Attrs: &hlo.AllReduceAttrs{ReplicaGroups: f.groups, ChannelID: f.channel, UseGlobalDeviceIDs: f.global, ConstrainLayout: f.constrain}})
				index := make([]hlo.InstrID, in.Shape().Rank())
				for d := range index {
					if int64(d) == dim {
						index[d] = at.Binary(hlo.OpMultiply, placeOf(at, m, f), at.Int(hlo.U32, in.Shape().Dim(d)))
					} else {
						index[d] = at.Int(hlo.U32, 0)
					}
				}
				if err := emit.Replace(ce, in.ID(), at.DynamicSlice(all, index, in.Shape().Dimensions()...)); err != nil {
					return m, err
				}
				ctx.Count("reduce-scatters", 1)
			}
		}
		return e.Freeze(), nil
	},
}
