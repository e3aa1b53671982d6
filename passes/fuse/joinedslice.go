package fuse

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// JoinedSliceFusion makes one kernel of a concatenation and the dynamic-slice that reads it.
var JoinedSliceFusion = &pass.Pass{
	Name:  "joined-slice-fusion",
	Makes: []pass.Phase{pass.Fused},
	Doc: `make fusions of a dynamic-slice and the concatenation that it alone reads

The kernel of such a fusion copies what the slice takes of each operand to its place, and the concatenation is never written: a rotation by an amount that is not known before the program
runs (jax.numpy.roll) is two copies. The slice is cut along the axis of the concatenation only, and of an array that is not small.`,
	About: []hlo.Opcode{hlo.OpDynamicSlice},
	Lent:  true, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		e := ctx.Edit(m)
		for c := range m.Computations() {
			if c.IsScheduled() {
				continue
			}
			ce := e.Computation(c.ID())
			for in := range pass.EachOf(ce, hlo.OpDynamicSlice) {
				if !slicesJoined(in) || !ctx.Spend("fuse") {
					continue
				}
				if err := fuseJoinedSlice(ce, in); err != nil {
					return m, err
				}
				ctx.Count("fusions", 1)
			}
		}
		return e.Freeze(), nil
	},
}

// leastJoinedSlice is the size in bytes of a slice from which on the kernel is worth it: short ones are moved by parts of programs over scalars.
const leastJoinedSlice = 2048

// slicesJoined reports whether in cuts a concatenation that nothing else needs along its axis.
func slicesJoined(in hlo.Instruction) bool {
	joined := in.OperandInstr(0)
	if joined.Opcode() != hlo.OpConcatenate || joined.UserCount() != 1 || joined.IsRoot() || !in.Shape().IsStatic() || !joined.Shape().IsStatic() ||
		in.Shape().ByteSize() < leastJoinedSlice || analysis.IsSharded(in) || analysis.IsSharded(joined) {
		return false
	}
	for _, x := range []hlo.Instruction{in, joined} {
		if x.NumControlPredecessors()+x.NumControlSuccessors() > 0 {
			return false
		}
	}
	for o := range joined.Operands() {
		if !o.Shape().IsStatic() {
			return false
		}
	}
	for axis, n := range in.Shape().Dimensions() {
		if int64(axis) != hlo.AttrsOf[hlo.AxisAttrs](joined).Dimensions[0] && n != joined.Shape().Dim(axis) {
			return false
		}
	}
	return true
}

// fuseJoinedSlice puts the fusion where the slice is. An operand that stands there several times, as in a rotation, is one of the fusion's.
func fuseJoinedSlice(c hlo.CompEdit, in hlo.Instruction) error {
	joined, slice := emit.Again(in.OperandInstr(0)), emit.Again(in)
	var outside []hlo.InstrID
	var shapes []hlo.Shape
	number := map[hlo.InstrID]int{}
	for _, id := range append(append([]hlo.InstrID(nil), joined.Operands...), slice.Operands[1:]...) {
		if _, ok := number[id]; !ok {
			number[id] = len(outside)
			outside, shapes = append(outside, id), append(shapes, c.At(id).Shape())
		}
	}
	callee := emit.Computation(c.Editor(), "fused_joined_slice", shapes, func(at emit.At, params []hlo.InstrID) hlo.InstrID {
		given := func(ids []hlo.InstrID) (inside []hlo.InstrID) {
			for _, id := range ids {
				inside = append(inside, params[number[id]])
			}
			return inside
		}
		whole := at.Spec(emit.With(joined, given(joined.Operands)...))
		return at.Spec(emit.With(slice, append([]hlo.InstrID{whole}, given(slice.Operands[1:])...)...))
	})
	fusion := emit.Before(c, in).Spec(hlo.InstrSpec{Opcode: hlo.OpFusion, Name: in.Name() + "_fusion", Shape: slice.Shape, Operands: outside,
		Attrs: &hlo.FusionAttrs{Kind: hlo.FusionCustom}, Callees: []hlo.CompID{callee}, Common: emit.HandedOn(slice.Common), Position: slice.Position})
	return emit.Forward(c, in.ID(), fusion)
}
