package simplify

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/match"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// foldWindow folds a reduce-window over one repeated value. Every window sees the same, so one is evaluated and the result is repeated, however
// large it is. It reports whether it did.
func (f *folding) foldWindow(ctx *pass.Context, m hlo.Module, ce hlo.CompEdit, in hlo.Instruction) (bool, error) {
	if !sameWindows(in) {
		return false, nil
	}
	pass.Fact(ctx, m, analysis.FindCosts) // of the module as it is before the first edit
	window := hlo.AttrsOf[hlo.WindowAttrs](in).Window
	one := hlo.Window{Dims: make([]hlo.WindowDim, len(window.Dims))}
	span, ones := make([]int64, len(one.Dims)), make([]int64, len(one.Dims))
	for i, w := range window.Dims {
		one.Dims[i] = w
		one.Dims[i].Stride = 1
		span[i], ones[i] = (w.Size-1)*w.WindowDilation+1, 1
	}
	at, id, shape := emit.Before(ce, in), in.ID(), in.Shape() // the first edit ends the view
	spec := emit.Again(in)
	source := in.OperandInstr(0)
	if source.Opcode() == hlo.OpBroadcast {
		source = source.OperandInstr(0)
	}
	spec.Operands[0] = at.Fill(source.ID(), span...)
	spec.Shape, spec.Attrs = hlo.MakeShape(shape.Type(), ones...), &hlo.WindowAttrs{Window: &one}
	small := at.Spec(spec)
	defer pass.Release(ce, small, nil)
	lit, err := f.fold(ctx, m, ce.Editor(), ce.At(small))
	if lit == nil || err != nil {
		return false, err
	}
	if lit, err = hlo.NewLiteral(hlo.MakeShape(shape.Type()), lit.Bytes()); err != nil {
		return false, err
	}
	if !ctx.SpendOn("fold", pass.Cost{Bytes: int64(len(lit.Bytes()))}) {
		return false, nil
	}
	return true, emit.Replace(ce, id, at.OpOf(hlo.OpBroadcast, shape, &hlo.BroadcastAttrs{}, at.Constant(lit)))
}

// sameWindows reports whether all windows of a reduce-window hold the same values: the operand is a scalar constant repeated, and no padding is seen.
func sameWindows(in hlo.Instruction) bool {
	if in.Opcode() != hlo.OpReduceWindow || in.NumOperands() != 2 || !in.Shape().IsStatic() || in.Shape().NumElements() == 0 {
		return false
	}
	source := in.OperandInstr(0)
	if _, ok := match.SplatValue(source); !ok || source.Opcode() != hlo.OpBroadcast || !source.OperandInstr(0).Shape().IsScalar() {
		return false
	}
	for _, w := range hlo.AttrsOf[hlo.WindowAttrs](in).Window.Dims {
		if w.PadLow != 0 || w.PadHigh != 0 || w.BaseDilation != 1 {
			return false
		}
	}
	return true
}
