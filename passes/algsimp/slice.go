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
	over(rule("F02", "slice(pad(x)) → x, a slice of x, or the padding", sliceOfPad, hlo.OpSlice), []hlo.Opcode{hlo.OpPad}),
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
	over(rule("F05", "slice(broadcast(x)) → broadcast(slice(x))", func(in hlo.Instruction) (pass.Expr, bool) {
		b := in.OperandInstr(0)
		var ranges []hlo.SliceDim
		for _, a := range broadcastAxes(b) {
			ranges = append(ranges, cut(in)[a])
		}
		x := pass.Use(b.OperandInstr(0))
		if len(ranges) > 0 {
			x = sliced(x, ranges)
		}
		return done(shaped(hlo.OpBroadcast, in.Shape(), b.Attrs(), x))
	}, hlo.OpSlice), broadcasts),
	over(rule("F07", "slice(concatenate(…)) → a slice of the operands that it reaches", sliceOfConcatenate, hlo.OpSlice), []hlo.Opcode{hlo.OpConcatenate}),
	over(rule("F10", "slice(reshape(x)) along the first axis → reshape(slice(x)), if rows of x are cut whole", sliceOfReshape, hlo.OpSlice), reshapes),
	over(rule("F11", "slice(reverse(x)) → reverse(slice(x))", func(in hlo.Instruction) (pass.Expr, bool) {
		r := in.OperandInstr(0)
		ranges := slices.Clone(cut(in))
		for _, a := range axes(r) {
			n, d := in.Shape().Dim(int(a)), r.Shape().Dim(int(a))
			if n == 0 {
				return no()
			}
			c := ranges[a]
			last := c.Start + (n-1)*c.Stride
			ranges[a] = hlo.SliceDim{Start: d - 1 - last, Limit: d - c.Start, Stride: c.Stride}
		}
		return done(shaped(hlo.OpReverse, in.Shape(), r.Attrs(), makeOp(hlo.OpSlice, &hlo.SliceAttrs{Slice: ranges}, pass.Use(r.OperandInstr(0)))))
	}, hlo.OpSlice), []hlo.Opcode{hlo.OpReverse}),
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

// sliceOfPad is what a slice sees of a padded array: the padding alone, the array alone, or part of it.
func sliceOfPad(in hlo.Instruction) (pass.Expr, bool) {
	p := in.OperandInstr(0)
	x := p.OperandInstr(0)
	if undoes(in, p) {
		return use(x)
	}
	if !unit(in) {
		return no()
	}
	ranges, inside := slices.Clone(cut(in)), true
	for i, r := range ranges {
		dim := padding(p)[i]
		if dim.Interior != 0 {
			return no()
		}
		if r.Limit <= dim.Low || r.Start >= dim.Low+x.Shape().Dim(i) {
			return done(shaped(hlo.OpBroadcast, in.Shape(), &hlo.BroadcastAttrs{}, pass.Use(p.OperandInstr(1)))) // wholly in the padding
		}
		ranges[i] = hlo.SliceDim{Start: r.Start - dim.Low, Limit: r.Limit - dim.Low, Stride: 1}
		inside = inside && ranges[i].Start >= 0 && ranges[i].Limit <= x.Shape().Dim(i)
	}
	if !inside {
		return no()
	}
	if sameShape(x, in) {
		return use(x)
	}
	return slice(in.Shape(), x, ranges)
}

// undoes reports whether a slice takes exactly what was padded.
func undoes(in, p hlo.Instruction) bool {
	if !sameShape(p.OperandInstr(0), in) {
		return false
	}
	for i, r := range cut(in) {
		dim := padding(p)[i]
		n := in.Shape().Dim(i)
		if r.Start != dim.Low || n > 1 && r.Stride != dim.Interior+1 || dim.Low < 0 || dim.High < 0 {
			return false
		}
	}
	return in.Shape().NumElements() > 0
}

// sliceOfConcatenate drops the operands that a slice does not reach.
func sliceOfConcatenate(in hlo.Instruction) (pass.Expr, bool) {
	c := in.OperandInstr(0)
	if in.Shape().NumElements() == 0 {
		return no()
	}
	axis := int(hlo.AttrsOf[hlo.AxisAttrs](c).Dimensions[0])
	r, from := cut(in)[axis], int64(0)
	var kept []pass.Expr
	start := int64(-1)
	for x := range c.Operands() {
		to := from + x.Shape().Dim(axis)
		if r.Start < to && r.Limit > from {
			if start < 0 {
				start = from
			}
			kept = append(kept, pass.Use(x))
		}
		from = to
	}
	if len(kept) == 0 || len(kept) == c.NumOperands() || r.Stride != 1 && len(kept) > 1 {
		return no()
	}
	ranges := slices.Clone(cut(in))
	ranges[axis].Start, ranges[axis].Limit = r.Start-start, r.Limit-start
	whole := kept[0]
	if len(kept) > 1 {
		whole = makeOp(hlo.OpConcatenate, c.Attrs(), kept...)
	}
	return done(sliced(whole, ranges))
}

// sliceOfReshape cuts rows before they are given other dimensions. All rows of the sliced axis must be whole rows of x.
func sliceOfReshape(in hlo.Instruction) (pass.Expr, bool) {
	r := in.OperandInstr(0)
	x := r.OperandInstr(0)
	if in.Shape().Rank() == 0 || x.Shape().Rank() == 0 || !unit(in) || in.Shape().NumElements() == 0 {
		return no()
	}
	for i, c := range cut(in) {
		if i > 0 && (c.Start != 0 || c.Limit != r.Shape().Dim(i)) {
			return no()
		}
	}
	row := int64(1) // elements behind one index of the first axis
	for i := 1; i < r.Shape().Rank(); i++ {
		row *= r.Shape().Dim(i)
	}
	own := int64(1)
	for i := 1; i < x.Shape().Rank(); i++ {
		own *= x.Shape().Dim(i)
	}
	c := cut(in)[0]
	if own == 0 || c.Start*row%own != 0 || c.Limit*row%own != 0 {
		return no()
	}
	ranges := make([]hlo.SliceDim, x.Shape().Rank())
	for i := range ranges {
		ranges[i] = hlo.SliceDim{Limit: x.Shape().Dim(i), Stride: 1}
	}
	ranges[0].Start, ranges[0].Limit = c.Start*row/own, c.Limit*row/own
	return done(shaped(hlo.OpReshape, in.Shape(), nil, makeOp(hlo.OpSlice, &hlo.SliceAttrs{Slice: ranges}, pass.Use(x))))
}
