package algsimp

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// convRules are about convolution.
var convRules = []*pass.RewriteRule{
	conv(pass.Exact, "H13", "convolution with nothing → 0", func(in hlo.Instruction, _ hlo.ConvolutionAttrs) (pass.Expr, bool) {
		if in.OperandInstr(0).Shape().NumElements() != 0 && in.OperandInstr(1).Shape().NumElements() != 0 || in.Shape().Type().IsComplex() {
			return no()
		}
		return fill(in.Shape(), 0), true
	}),
	over(conv(pass.Exact, "H14", "convolution(pad(x)) → convolution with padding, if x is padded with zeros", convOfPad), []hlo.Opcode{hlo.OpPad}),
	over(conv(pass.NotANumber, "H15", "convolution with a filter that is spread by zeros → convolution with window dilation", convByPad), nil, []hlo.Opcode{hlo.OpPad}),
	conv(pass.Overflow, "H18", "convolution of each feature by itself with a window of one element → product", depthwise),
	conv(pass.Overflow, "H17", "convolution with a window of one element → dot of bitcasts", convToDot),
	loosely(pass.Overflow, rule("B12", "(convolution(x, w) + b)·c → convolution(x, w·c) + b·c, for constants w and c by output feature", scaledConv, hlo.OpMultiply)),
}

// conv is a rule about dense convolutions.
func conv(fp pass.FP, id, doc string, rewrite func(in hlo.Instruction, a hlo.ConvolutionAttrs) (pass.Expr, bool)) *pass.RewriteRule {
	return loosely(fp, rule(id, doc, func(in hlo.Instruction) (pass.Expr, bool) {
		a := hlo.AttrsOf[hlo.ConvolutionAttrs](in)
		if in.NumOperands() != 2 || a.Sparsity != nil || a.DimLabels == nil || len(a.DimLabels.InputUnknown) > 0 {
			return no()
		}
		if a.Window == nil {
			a.Window = &hlo.Window{}
		}
		return rewrite(in, a)
	}, hlo.OpConvolution))
}

// reconv is the convolution with another window.
func reconv(in hlo.Instruction, a hlo.ConvolutionAttrs, w []hlo.WindowDim, x, k pass.Expr) (pass.Expr, bool) {
	a.Window = &hlo.Window{Dims: w}
	return done(shaped(hlo.OpConvolution, in.Shape(), &a, x, k))
}

func convOfPad(in hlo.Instruction, a hlo.ConvolutionAttrs) (pass.Expr, bool) {
	p := in.OperandInstr(0)
	pads := padding(p)
	if !splatIs(p.OperandInstr(1), isAnyZero) || pads[a.DimLabels.InputBatch] != (hlo.PaddingDim{}) || pads[a.DimLabels.InputFeature] != (hlo.PaddingDim{}) {
		return no()
	}
	w := slices.Clone(a.Window.Dims)
	for i, axis := range a.DimLabels.InputSpatial {
		d, q := &w[i], pads[axis]
		edges := q.Low != 0 || q.High != 0
		switch {
		case q.Low < 0 || q.High < 0 || d.PadLow < 0 || d.PadHigh < 0:
			return no()
		case q.Interior != 0 && (d.PadLow != 0 || d.PadHigh != 0 || d.BaseDilation != 1):
			return no()
		case edges && d.BaseDilation != 1:
			return no()
		}
		d.PadLow += q.Low
		d.PadHigh += q.High
		if q.Interior != 0 {
			d.BaseDilation = q.Interior + 1
		}
	}
	return reconv(in, a, w, pass.Use(p.OperandInstr(0)), pass.Use(in.OperandInstr(1)))
}

func convByPad(in hlo.Instruction, a hlo.ConvolutionAttrs) (pass.Expr, bool) {
	p := in.OperandInstr(1)
	pads := padding(p)
	if !splatIs(p.OperandInstr(1), isAnyZero) || pads[a.DimLabels.KernelInput] != (hlo.PaddingDim{}) || pads[a.DimLabels.KernelOutput] != (hlo.PaddingDim{}) {
		return no()
	}
	w := slices.Clone(a.Window.Dims)
	for i, axis := range a.DimLabels.KernelSpatial {
		q := pads[axis]
		if q.Low != 0 || q.High != 0 || q.Interior != 0 && w[i].WindowDilation != 1 {
			return no()
		}
		w[i].Size = p.OperandInstr(0).Shape().Dim(int(axis))
		if q.Interior != 0 {
			w[i].WindowDilation = q.Interior + 1
		}
	}
	return reconv(in, a, w, pass.Use(in.OperandInstr(0)), pass.Use(p.OperandInstr(0)))
}

// pointwise reports whether each result element comes from one place.
func pointwise(w []hlo.WindowDim) bool {
	return !slices.ContainsFunc(w, func(d hlo.WindowDim) bool {
		return d.Size != 1 || d.Stride != 1 || d.PadLow != 0 || d.PadHigh != 0 || d.BaseDilation != 1 || d.WindowDilation != 1
	})
}

// inOrderOf lists, for each axis of the result, the axis of the input (of: batch, feature, spatial) or of the filter that lies along it.
func inOrderOf(d *hlo.ConvDims, batch, feature int64, spatial []int64) []int64 {
	perm := make([]int64, 2+len(spatial))
	perm[d.OutputBatch], perm[d.OutputFeature] = batch, feature
	for i, axis := range d.OutputSpatial {
		perm[axis] = spatial[i]
	}
	return perm
}

func depthwise(in hlo.Instruction, a hlo.ConvolutionAttrs) (pass.Expr, bool) {
	x, k, d := in.OperandInstr(0), in.OperandInstr(1), a.DimLabels
	n := x.Shape().Dim(int(d.InputFeature))
	if !pointwise(a.Window.Dims) || a.BatchGroupCount != 1 || a.FeatureGroupCount != n || k.Shape().Dim(int(d.KernelInput)) != 1 ||
		k.Shape().Dim(int(d.KernelOutput)) != n || x.Shape().Rank() != in.Shape().Rank() {
		return no()
	}
	t := in.Shape().Type()
	// The filter in the order of the result, its input axis along the batch, without axes of size 1.
	filter := transposed(pass.Use(k), inOrderOf(d, d.KernelInput, d.KernelOutput, d.KernelSpatial)...)
	input := transposed(pass.Use(x), inOrderOf(d, d.InputBatch, d.InputFeature, d.InputSpatial)...)
	scale := repeatedTo(reshaped(converted(filter, t), n), in.Shape().Dimensions(), []int64{d.OutputFeature})
	return done(shaped(hlo.OpMultiply, in.Shape(), nil, converted(input, t), scale))
}

// convToDot needs features to be the fastest axis of input and result, the other axes in one order, and the filter to be [input, output] in
// memory.
func convToDot(in hlo.Instruction, a hlo.ConvolutionAttrs) (pass.Expr, bool) {
	x, k, d := in.OperandInstr(0), in.OperandInstr(1), a.DimLabels
	lx, okX := x.Shape().Layout()
	lk, okK := k.Shape().Layout()
	lo, okO := in.Shape().Layout()
	if !pointwise(a.Window.Dims) || a.FeatureGroupCount != 1 || a.BatchGroupCount != 1 || !okX || !okK || !okO ||
		len(lx.Tiles) > 0 || len(lk.Tiles) > 0 || len(lo.Tiles) > 0 || slices.ContainsFunc(a.Window.Dims, func(w hlo.WindowDim) bool { return w.Reversal }) {
		return no()
	}
	if lx.MinorToMajor[0] != d.InputFeature || lo.MinorToMajor[0] != d.OutputFeature {
		return no()
	}
	along := inOrderOf(d, d.InputBatch, d.InputFeature, d.InputSpatial)
	for i, axis := range lo.MinorToMajor {
		if along[axis] != lx.MinorToMajor[i] {
			return no()
		}
	}
	var kept []int64
	for _, axis := range lk.MinorToMajor {
		if axis == d.KernelInput || axis == d.KernelOutput {
			kept = append(kept, axis)
		}
	}
	if kept[0] != d.KernelOutput {
		return no()
	}
	inner := x.Shape().Dim(int(d.InputFeature))
	outer := k.Shape().Dim(int(d.KernelOutput))
	rows := x.Shape().NumElements() / max(inner, 1)
	left := shaped(hlo.OpBitcast, array(x.Shape().Type(), rows, inner), nil, pass.Use(x))
	right := shaped(hlo.OpBitcast, array(k.Shape().Type(), inner, outer), nil, pass.Use(k))
	dot := shaped(hlo.OpDot, array(in.Shape().Type(), rows, outer),
		&hlo.DotAttrs{LHSContracting: []int64{1}, RHSContracting: []int64{0}, Precision: a.Precision, Algorithm: a.Algorithm}, left, right)
	return done(shaped(hlo.OpBitcast, in.Shape(), nil, dot))
}

// scaledConv gives a scale of output features to the filter and to the bias.
func scaledConv(in hlo.Instruction) (pass.Expr, bool) {
	for i := range 2 {
		sum, b := in.OperandInstr(i), in.OperandInstr(1-i)
		if !is(sum, hlo.OpAdd) || !is(b, hlo.OpBroadcast) || !isConstant(b.OperandInstr(0)) || b.OperandInstr(0).Shape().Rank() != 1 || !oneUse(sum) {
			continue
		}
		for k := range 2 {
			c, bias := sum.OperandInstr(k), sum.OperandInstr(1-k)
			if !is(c, hlo.OpConvolution) || !isConstant(c.OperandInstr(1)) || !oneUse(c) {
				continue
			}
			a := hlo.AttrsOf[hlo.ConvolutionAttrs](c)
			if a.DimLabels == nil || broadcastAxes(b)[0] != a.DimLabels.OutputFeature {
				continue
			}
			w := c.OperandInstr(1)
			scale := repeatedTo(pass.Use(b.OperandInstr(0)), w.Shape().Dimensions(), []int64{a.DimLabels.KernelOutput})
			filter := shaped(hlo.OpMultiply, w.Shape(), nil, pass.Use(w), scale)
			again := shaped(hlo.OpConvolution, c.Shape(), c.Attrs(), pass.Use(c.OperandInstr(0)), filter)
			scaled := shaped(hlo.OpMultiply, bias.Shape(), nil, pass.Use(bias), pass.Use(b))
			return done(shaped(hlo.OpAdd, in.Shape(), nil, again, scaled))
		}
	}
	return no()
}
