package expand

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

// ConvolutionPred computes convolutions of predicates with numbers.
var ConvolutionPred = expander("convolution-pred-expander", "compute convolutions of predicates in f16", func(in hlo.Instruction) bool {
	return in.Opcode() == hlo.OpConvolution && in.Shape().Type() == hlo.PRED && in.OperandInstr(0).Shape().Type() == hlo.PRED && in.OperandInstr(1).Shape().Type() == hlo.PRED
}, func(at emit.At, in hlo.Instruction) hlo.InstrID {
	spec := emit.With(emit.Again(in), at.Convert(in.Operand(0), hlo.F16), at.Convert(in.Operand(1), hlo.F16))
	spec.Shape, spec.Name = in.Shape().WithType(hlo.F16), ""
	return at.Convert(at.Spec(spec), hlo.PRED)
})

// Logistic writes logistic as a quotient.
var Logistic = expander("logistic-expander", "write logistic(x) as 1 / (1 + exp(-x))", func(in hlo.Instruction) bool {
	return in.Opcode() == hlo.OpLogistic && in.Shape().Type().IsFloat()
}, func(at emit.At, in hlo.Instruction) hlo.InstrID {
	one := at.Fill(at.Float(in.Shape().Type(), 1), in.Shape().Dimensions()...)
	with := func(op hlo.Opcode, x hlo.InstrID) hlo.InstrID { // of a dynamic size if x is
		return at.Spec(hlo.InstrSpec{Opcode: op, Shape: at.Shape(x), Operands: []hlo.InstrID{one, x}})
	}
	return with(hlo.OpDivide, with(hlo.OpAdd, at.Unary(hlo.OpExponential, at.Unary(hlo.OpNegate, in.Operand(0)))))
})

// Convolution4D drops spatial dimensions that are of size 1 everywhere.
var Convolution4D = expander("convolution-4d-expander", `drop spatial dimensions of size 1 from convolutions that have four

Operand, kernel and result have size 1 there, and nothing is padded.`, func(in hlo.Instruction) bool {
	return in.Opcode() == hlo.OpConvolution && staticArrays(in) && len(hlo.AttrsOf[hlo.ConvolutionAttrs](in).DimLabels.InputSpatial) == 4 && len(trivialSpatial(in)) > 0
}, func(at emit.At, in hlo.Instruction) hlo.InstrID {
	spec, gone := emit.Again(in), trivialSpatial(in)
	a := hlo.AttrsOf[hlo.ConvolutionAttrs](in)
	labels := *a.DimLabels
	window := &hlo.Window{}
	for i, d := range a.Window.Dims {
		if !slices.Contains(gone, i) {
			window.Dims = append(window.Dims, d)
		}
	}
	var inputDims, kernelDims, outputDims []int64
	inputDims, labels.InputSpatial, labels.InputBatch, labels.InputFeature = without(labels.InputSpatial, gone, labels.InputBatch, labels.InputFeature)
	kernelDims, labels.KernelSpatial, labels.KernelInput, labels.KernelOutput = without(labels.KernelSpatial, gone, labels.KernelInput, labels.KernelOutput)
	outputDims, labels.OutputSpatial, labels.OutputBatch, labels.OutputFeature = without(labels.OutputSpatial, gone, labels.OutputBatch, labels.OutputFeature)
	spec.Operands = []hlo.InstrID{at.Reshape(in.Operand(0), rest(in.OperandInstr(0).Shape(), inputDims)...), at.Reshape(in.Operand(1), rest(in.OperandInstr(1).Shape(), kernelDims)...)}
	spec.Shape = hlo.MakeShape(in.Shape().Type(), rest(in.Shape(), outputDims)...)
	if a.Window = window; len(window.Dims) == 0 {
		a.Window = nil
	}
	a.DimLabels, spec.Attrs, spec.Name = &labels, &a, ""
	return at.Reshape(at.Spec(spec), in.Shape().Dimensions()...)
})

// trivialSpatial lists the spatial dimensions in which a convolution does nothing.
func trivialSpatial(in hlo.Instruction) (dims []int) {
	a := hlo.AttrsOf[hlo.ConvolutionAttrs](in)
	if a.Window == nil || len(a.DimLabels.InputUnknown) > 0 || a.Sparsity != nil {
		return nil
	}
	for i, w := range a.Window.Dims {
		if in.OperandInstr(0).Shape().Dim(int(a.DimLabels.InputSpatial[i])) == 1 && w.Size == 1 && w.PadLow == 0 && w.PadHigh == 0 && in.Shape().Dim(int(a.DimLabels.OutputSpatial[i])) == 1 {
			dims = append(dims, i)
		}
	}
	return dims
}

// without renumbers dimensions as they are when some of the spatial ones are gone, and lists those.
func without(spatial []int64, gone []int, first, second int64) (dropped, kept []int64, a, b int64) {
	for _, i := range gone {
		dropped = append(dropped, spatial[i])
	}
	roles := hlo.AxesWithout([]int64{first, second}, dropped)
	return dropped, hlo.AxesWithout(spatial, dropped), roles[0], roles[1]
}

// rest is the dimensions of a shape without some.
func rest(s hlo.Shape, dropped []int64) (dims []int64) {
	for d, size := range s.Dimensions() {
		if !slices.Contains(dropped, int64(d)) {
			dims = append(dims, size)
		}
	}
	return dims
}
