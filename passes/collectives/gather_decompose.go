package collectives

import (
	"math"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// AllGatherDecomposer gathers by adding.
var AllGatherDecomposer = &pass.Pass{
	Name: "all-gather-decomposer",
	Doc: `all-gather → all-reduce of an array that is zero but for the device's own part

The zeros of floating-point types are negative: they add nothing to any value. pred is reduced with or.`,
	Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range m.Computations() {
			for in := range c.Instructions() {
				if in.Opcode() != hlo.OpAllGather || in.NumOperands() != 1 || !in.Shape().IsArray() || !in.Shape().IsStatic() {
					continue
				}
				f := factsOf(m, in)
				if !ctx.Spend("all-gather") {
					continue
				}
				ce := e.Computation(c.ID())
				x := ce.At(in.ID()).Operand(0)
				at := emit.Before(ce, in)
				part := at.Shape(x)
				dim, t := f.dims[0], in.Shape().Type()
				at = emit.At{C: ce, Before: in.ID(), Common: at.Common, Position: at.Position}
				zero := emit.Zero(t)
				op := hlo.OpAdd
				switch {
				case t == hlo.PRED:
					op = hlo.OpOr
				case t.IsFloat():
					zero = emit.Real(t, math.Copysign(0, -1))
				}
				index := make([]hlo.InstrID, in.Shape().Rank())
				place := placeOf(at, m, f)
				for d := range index {
					if int64(d) == dim {
						index[d] = at.Binary(hlo.OpMultiply, place, at.Int(hlo.U32, part.Dim(d)))
					} else {
						index[d] = at.Int(hlo.U32, 0)
					}
				}
				whole := at.DynamicUpdateSlice(at.Fill(at.Constant(zero), in.Shape().Dimensions()...), x, index...)
				all := at.Spec(hlo.InstrSpec{Opcode: hlo.OpAllReduce, Shape: in.Shape(), Operands: []hlo.InstrID{whole}, Callees: []hlo.CompID{emit.BinaryComputation(e, op, t)},
					Attrs: &hlo.AllReduceAttrs{ReplicaGroups: f.groups, ChannelID: f.channel, UseGlobalDeviceIDs: f.global, ConstrainLayout: f.constrain}})
				if err := emit.Replace(ce, in.ID(), all); err != nil {
					return m, err
				}
				ctx.Count("all-gathers", 1)
			}
		}
		return e.Freeze(), nil
	},
}

// placeOf computes the place of the running device in its group.
func placeOf(at emit.At, m hlo.Module, f facts) hlo.InstrID {
	scalar := hlo.MakeShape(hlo.U32)
	partitionOf := func(replica hlo.InstrID) hlo.InstrID {
		partitions := at.Int(hlo.U32, devicesOf(m).partitions)
		return at.Binary(hlo.OpAdd, at.Binary(hlo.OpMultiply, replica, partitions), at.OpOf(hlo.OpPartitionId, scalar, nil))
	}
	id := at.OpOf(hlo.OpReplicaId, scalar, nil)
	switch {
	case f.global:
		id = partitionOf(id)
	case f.channel.Set: // all partitions of the first replica of the group, then those of the next
		return partitionOf(placeInList(at, f, id))
	}
	return placeInList(at, f, id)
}

// placeInList is the place of an id in the list that holds it.
func placeInList(at emit.At, f facts, id hlo.InstrID) hlo.InstrID {
	lists, ok := f.lists()
	if !ok {
		return id
	}
	var table []int64
	for _, g := range lists {
		for i, device := range g {
			for int64(len(table)) <= device {
				table = append(table, 0)
			}
			table[device] = int64(i)
		}
	}
	inOrder := len(lists) == 1
	for i, v := range table {
		inOrder = inOrder && int64(i) == v
	}
	if inOrder {
		return id
	}
	return at.Reshape(at.DynamicSlice(at.Ints(hlo.U32, table...), []hlo.InstrID{id}, 1))
}
