package algsimp

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

var sliceRules = []*pass.RewriteRule{
	rule("F01", "slice of everything → operand", func(in hlo.Instruction) (pass.Expr, bool) {
		if unit(in) {
			return use(in.OperandInstr(0))
		}
		return no()
	}, hlo.OpSlice),
	rule("F02", "slice(pad(x)) → x, a slice of x, or the padding", sliceOfPad, hlo.OpSlice),
	rule("F03", "slice(slice(x)) → slice(x), unit strides", func(in hlo.Instruction) (pass.Expr, bool) {
		s := in.OperandInstr(0)
		if s.Opcode() != hlo.OpSlice || !unit(in) || !unit(s) {
			return no()
		}
		ranges := slices.Clone(cut(in))
		for i := range ranges {
			ranges[i].Start += cut(s)[i].Start
			ranges[i].Limit += cut(s)[i].Start
		}
		return slice(in.Shape(), s.OperandInstr(0), ranges)
	}, hlo.OpSlice),
	rule("F04", "slice(broadcast(x)) along repeated axes → broadcast(x)", func(in hlo.Instruction) (pass.Expr, bool) {
		b := in.OperandInstr(0)
		if b.Opcode() != hlo.OpBroadcast {
			return no()
		}
		for i, d := range broadcastAxes(b) {
			if in.Shape().Dim(int(d)) != b.OperandInstr(0).Shape().Dim(i) {
				return no()
			}
		}
		if !unit(in) {
			return no()
		}
		return broadcast(pass.Use(b.OperandInstr(0)), in.Shape(), broadcastAxes(b))
	}, hlo.OpSlice),
	rule("F07", "slice(concatenate(…)) → the operand it lies in, or a slice of that", sliceOfConcatenate, hlo.OpSlice),
	rule("F12", "a stride that selects one element → stride 1", func(in hlo.Instruction) (pass.Expr, bool) {
		ranges, changed := slices.Clone(cut(in)), false
		for i, r := range ranges {
			if r.Stride > 1 && in.Shape().Dim(i) == 1 {
				ranges[i], changed = hlo.SliceDim{Start: r.Start, Limit: r.Start + 1, Stride: 1}, true
			}
		}
		if !changed {
			return no()
		}
		return slice(in.Shape(), in.OperandInstr(0), ranges)
	}, hlo.OpSlice),
	rule("F13", "dynamic-slice of everything → operand", toOperand, hlo.OpDynamicSlice),
	rule("F18", "dynamic-slice at constant indices → slice", func(in hlo.Instruction) (pass.Expr, bool) {
		x := in.OperandInstr(0)
		if isConstant(x) || in.NumOperands() != 1+in.Shape().Rank() {
			return no()
		}
		var ranges []hlo.SliceDim
		for i := range in.Shape().Rank() {
			l, ok := splat(in.OperandInstr(1 + i))
			if !ok {
				return no()
			}
			at, ok := l.ScalarInt()
			if !ok || at < 0 {
				return no()
			}
			at = min(at, x.Shape().Dim(i)-in.Shape().Dim(i))
			ranges = append(ranges, hlo.SliceDim{Start: at, Limit: at + in.Shape().Dim(i), Stride: 1})
		}
		return slice(in.Shape(), x, ranges)
	}, hlo.OpDynamicSlice),
	rule("F22", "dynamic-update-slice of everything → update", func(in hlo.Instruction) (pass.Expr, bool) { return use(in.OperandInstr(1)) }, hlo.OpDynamicUpdateSlice),
	rule("F24", "dynamic-update-slice by nothing → operand", func(in hlo.Instruction) (pass.Expr, bool) {
		if u := in.OperandInstr(1); static(u) && u.Shape().NumElements() == 0 {
			return use(in.OperandInstr(0))
		}
		return no()
	}, hlo.OpDynamicUpdateSlice),
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
		var kept []pass.Expr
		axis := int(hlo.AttrsOf[hlo.DimensionAttrs](in).Dimensions[0])
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
}

func cut(in hlo.Instruction) []hlo.SliceDim { return hlo.AttrsOf[hlo.SliceAttrs](in).Slice }

func padding(in hlo.Instruction) []hlo.PaddingDim { return hlo.AttrsOf[hlo.PadAttrs](in).Padding }

// unit reports whether all strides of a slice are 1.
func unit(in hlo.Instruction) bool {
	return !slices.ContainsFunc(cut(in), func(d hlo.SliceDim) bool { return d.Stride != 1 })
}

func slice(s hlo.Shape, x hlo.Instruction, ranges []hlo.SliceDim) (pass.Expr, bool) {
	return pass.New(hlo.OpSlice, s, &hlo.SliceAttrs{Slice: ranges}, pass.Use(x)), true
}

func sliceOfPad(in hlo.Instruction) (pass.Expr, bool) {
	p := in.OperandInstr(0)
	if p.Opcode() != hlo.OpPad || !unit(in) || !static(in, p, p.OperandInstr(0)) {
		return no()
	}
	x, ranges, inside := p.OperandInstr(0), slices.Clone(cut(in)), true
	for i, r := range ranges {
		dim := padding(p)[i]
		if dim.Interior != 0 {
			return no()
		}
		if r.Limit <= dim.Low || r.Start >= dim.Low+x.Shape().Dim(i) {
			return broadcast(pass.Use(p.OperandInstr(1)), in.Shape(), nil) // wholly in the padding
		}
		ranges[i] = hlo.SliceDim{Start: r.Start - dim.Low, Limit: r.Limit - dim.Low, Stride: 1}
		inside = inside && ranges[i].Start >= 0 && ranges[i].Limit <= x.Shape().Dim(i)
	}
	switch {
	case !inside:
		return no()
	case sameShape(x, in):
		return use(x)
	}
	return slice(in.Shape(), x, ranges)
}

func sliceOfConcatenate(in hlo.Instruction) (pass.Expr, bool) {
	c := in.OperandInstr(0)
	if c.Opcode() != hlo.OpConcatenate || !static(in, c) || in.Shape().NumElements() == 0 {
		return no()
	}
	axis := int(hlo.AttrsOf[hlo.DimensionAttrs](c).Dimensions[0])
	r, from := cut(in)[axis], int64(0)
	for x := range c.Operands() {
		to := from + x.Shape().Dim(axis)
		if r.Stride == 1 && r.Start >= from && r.Limit <= to {
			if sameShape(x, in) && unit(in) {
				return use(x)
			}
			ranges := slices.Clone(cut(in))
			ranges[axis] = hlo.SliceDim{Start: r.Start - from, Limit: r.Limit - from, Stride: 1}
			return slice(in.Shape(), x, ranges)
		}
		from = to
	}
	return no()
}

func concatenateOfSlices(in hlo.Instruction) (pass.Expr, bool) {
	axis := int(hlo.AttrsOf[hlo.DimensionAttrs](in).Dimensions[0])
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
