package algsimp

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// padRules are about pad and concatenate.
var padRules = []*pass.RewriteRule{
	rule("F26", "pad of nothing → broadcast of the padding", func(in hlo.Instruction) (pass.Expr, bool) {
		if x := in.OperandInstr(0); !static(in, x) || x.Shape().NumElements() != 0 {
			return no()
		}
		return broadcast(pass.Use(in.OperandInstr(1)), in.Shape(), nil)
	}, hlo.OpPad),
	rule("F28", "pad by nothing → operand", func(in hlo.Instruction) (pass.Expr, bool) {
		for _, p := range padding(in) {
			if p != (hlo.PaddingDim{}) {
				return no()
			}
		}
		return use(in.OperandInstr(0))
	}, hlo.OpPad),
	rule("F31", "concatenate(x) → x", func(in hlo.Instruction) (pass.Expr, bool) {
		if in.NumOperands() == 1 {
			return use(in.OperandInstr(0))
		}
		return no()
	}, hlo.OpConcatenate),
	rule("F32", "operands of concatenate without elements go", func(in hlo.Instruction) (pass.Expr, bool) {
		axis := int(hlo.AttrsOf[hlo.AxisAttrs](in).Dimensions[0])
		if !slices.ContainsFunc(axisRange(in.NumOperands()), func(i int64) bool { return in.OperandInstr(int(i)).Shape().Dim(axis) == 0 }) {
			return no()
		}
		var kept []pass.Expr
		for x := range in.Operands() {
			if x.Shape().Dim(axis) != 0 {
				kept = append(kept, pass.Use(x))
			}
		}
		if len(kept) == 0 || len(kept) == in.NumOperands() {
			return no()
		}
		return pass.New(hlo.OpConcatenate, in.Shape(), in.Attrs(), kept...), true
	}, hlo.OpConcatenate),
	rule("F33", "concatenate(…, concatenate(…), …) along the same axis → one", func(in hlo.Instruction) (pass.Expr, bool) {
		if !slices.ContainsFunc(axisRange(in.NumOperands()), func(i int64) bool { return is(in.OperandInstr(int(i)), hlo.OpConcatenate) }) {
			return no()
		}
		var flat []pass.Expr
		for x := range in.Operands() {
			if x.Opcode() == hlo.OpConcatenate && hlo.EqualAttrs(x.Attrs(), in.Attrs()) && x.UserCount() == 1 {
				for y := range x.Operands() {
					flat = append(flat, pass.Use(y))
				}
				continue
			}
			flat = append(flat, pass.Use(x))
		}
		if len(flat) <= in.NumOperands() {
			return no()
		}
		return pass.New(hlo.OpConcatenate, in.Shape(), in.Attrs(), flat...), true
	}, hlo.OpConcatenate),
	rule("F34", "concatenate of adjacent slices of one operand → one slice", concatenateOfSlices, hlo.OpConcatenate),
	rule("F27", "interior padding between the elements of an axis of size 1 → none", func(in hlo.Instruction) (pass.Expr, bool) {
		pads, changed := slices.Clone(padding(in)), false
		for i, p := range pads {
			if p.Interior != 0 && in.OperandInstr(0).Shape().Dim(i) == 1 {
				pads[i].Interior, changed = 0, true
			}
		}
		return pass.New(hlo.OpPad, in.Shape(), &hlo.PadAttrs{Padding: pads}, pass.Use(in.OperandInstr(0)), pass.Use(in.OperandInstr(1))), changed
	}, hlo.OpPad),
	over(rule("F29", "pad(broadcast(x)) → broadcast(pad(broadcast(x))), if an axis is repeated and not padded", padOfBroadcast, hlo.OpPad), broadcasts),
	rule("F30", "negative padding → slice", negativePadding, hlo.OpPad),
	rule("F30s", "negative padding → slice, if nothing is padded or sizes are not known", func(in hlo.Instruction) (pass.Expr, bool) {
		adds := func(p hlo.PaddingDim) bool { return p.Low > 0 || p.High > 0 || p.Interior != 0 }
		if static(in, in.OperandInstr(0)) && slices.ContainsFunc(padding(in), adds) {
			return no() // in one go, pad moves less
		}
		return negativePadding(in)
	}, hlo.OpPad),
	rule("F35", "concatenate(repeated scalar, x), or the other way round → pad", func(in hlo.Instruction) (pass.Expr, bool) {
		if in.NumOperands() != 2 {
			return no()
		}
		axis := int(hlo.AttrsOf[hlo.AxisAttrs](in).Dimensions[0])
		for i := range 2 {
			b, x := in.OperandInstr(i), in.OperandInstr(1-i)
			if !is(b, hlo.OpBroadcast) || !b.OperandInstr(0).Shape().IsScalar() || is(x, hlo.OpBroadcast) && i == 0 && x.OperandInstr(0).ID() == b.OperandInstr(0).ID() {
				continue
			}
			pads := make([]hlo.PaddingDim, in.Shape().Rank())
			if i == 0 {
				pads[axis].Low = b.Shape().Dim(axis)
			} else {
				pads[axis].High = b.Shape().Dim(axis)
			}
			return done(shaped(hlo.OpPad, in.Shape(), &hlo.PadAttrs{Padding: pads}, pass.Use(x), pass.Use(b.OperandInstr(0))))
		}
		return no()
	}, hlo.OpConcatenate),
	rule("F36", "concatenate(x, x, …) along an axis of size 1 → broadcast(reshape(x))", func(in hlo.Instruction) (pass.Expr, bool) {
		axis := hlo.AttrsOf[hlo.AxisAttrs](in).Dimensions[0]
		x := in.OperandInstr(0)
		for i := range in.NumOperands() {
			if in.Operand(i) != x.ID() {
				return no()
			}
		}
		if in.NumOperands() < 2 || x.Shape().Dim(int(axis)) != 1 {
			return no()
		}
		dims := slices.Delete(slices.Clone(x.Shape().Dimensions()), int(axis), int(axis)+1)
		at := slices.DeleteFunc(axisRange(in.Shape().Rank()), func(a int64) bool { return a == axis })
		return done(shaped(hlo.OpBroadcast, in.Shape(), &hlo.BroadcastAttrs{Dimensions: at}, reshaped(pass.Use(x), dims...)))
	}, hlo.OpConcatenate),
}

// padOfBroadcast pads before it repeats: axes that are repeated and not padded can wait.
func padOfBroadcast(in hlo.Instruction) (pass.Expr, bool) {
	b := in.OperandInstr(0)
	x := b.OperandInstr(0)
	if !oneUse(b) {
		return no()
	}
	var kept, dims, at []int64
	var pads []hlo.PaddingDim
	for i, p := range padding(in) {
		from := slices.Index(broadcastAxes(b), int64(i))
		if from < 0 && p == (hlo.PaddingDim{}) {
			continue
		}
		if from >= 0 {
			at = append(at, int64(len(kept)))
		}
		kept, dims, pads = append(kept, int64(i)), append(dims, b.Shape().Dim(i)), append(pads, p)
	}
	if len(kept) == in.Shape().Rank() || !slices.IsSorted(broadcastAxes(b)) || len(pads) == 0 {
		return no()
	}
	small := repeatedTo(pass.Use(x), dims, at)
	padded := makeOp(hlo.OpPad, &hlo.PadAttrs{Padding: pads}, small, pass.Use(in.OperandInstr(1)))
	return done(shaped(hlo.OpBroadcast, in.Shape(), &hlo.BroadcastAttrs{Dimensions: kept}, padded))
}

// negativePadding takes away after padding.
func negativePadding(in hlo.Instruction) (pass.Expr, bool) {
	pads := slices.Clone(padding(in))
	ranges := make([]hlo.SliceDim, len(pads))
	negative, positive := false, false
	for i, p := range pads {
		ranges[i] = hlo.SliceDim{Stride: 1}
		if p.Low < 0 {
			ranges[i].Start, pads[i].Low, negative = -p.Low, 0, true
		}
		if p.High < 0 {
			pads[i].High, negative = 0, true
		}
		ranges[i].Limit = ranges[i].Start + in.Shape().Dim(i)
		positive = positive || pads[i] != (hlo.PaddingDim{})
	}
	if !negative {
		return no()
	}
	x := pass.Use(in.OperandInstr(0))
	if positive {
		x = makeOp(hlo.OpPad, &hlo.PadAttrs{Padding: pads}, x, pass.Use(in.OperandInstr(1)))
		if valid(x) {
			x = x.WithShape(laidOut(x.Shape().WithType(in.Shape().Type()), pass.Use(in)))
		}
	}
	return done(shaped(hlo.OpSlice, in.Shape(), &hlo.SliceAttrs{Slice: ranges}, x))
}

func concatenateOfSlices(in hlo.Instruction) (pass.Expr, bool) {
	axis := int(hlo.AttrsOf[hlo.AxisAttrs](in).Dimensions[0])
	first := in.OperandInstr(0)
	if in.NumOperands() < 2 || first.Opcode() != hlo.OpSlice {
		return no()
	}
	ranges := slices.Clone(cut(first))
	for i := range in.NumOperands() {
		s := in.OperandInstr(i)
		if s.Opcode() != hlo.OpSlice || !unit(s) || s.Operand(0) != first.Operand(0) || i > 0 && cut(s)[axis].Start != ranges[axis].Limit {
			return no()
		}
		for k := range ranges {
			if k != axis && cut(s)[k] != ranges[k] {
				return no()
			}
		}
		ranges[axis].Limit = cut(s)[axis].Limit
	}
	return slice(in.Shape(), first.OperandInstr(0), ranges)
}
