package expand

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

// ConvolutionCanonicalization brings the dimensions of convolutions into one order.
var ConvolutionCanonicalization = expander("convolution-canonicalization", `bring the dimensions of convolutions into the order [batch, spatial, features] * [spatial, in, out] → [batch, spatial, features]

The operands are transposed, and so is the result: what libraries for processors take.`,
	func(in hlo.Instruction) bool {
		if in.Opcode() != hlo.OpConvolution || !staticArrays(in) {
			return false
		}
		l := hlo.AttrsOf[hlo.ConvolutionAttrs](in).DimLabels
		input, kernel, output := conventional(l)
		return len(l.InputUnknown)+len(l.KernelUnknown)+len(l.OutputUnknown) == 0 && hlo.AttrsOf[hlo.ConvolutionAttrs](in).Sparsity == nil &&
			!(slices.IsSorted(input) && slices.IsSorted(kernel) && slices.IsSorted(output))
	},
	func(at emit.At, in hlo.Instruction) hlo.InstrID {
		a := hlo.AttrsOf[hlo.ConvolutionAttrs](in)
		input, kernel, output := conventional(a.DimLabels)
		n := int64(len(a.DimLabels.InputSpatial))
		var spatial, window, dims, back []int64
		for i := range n {
			spatial, window = append(spatial, i+1), append(window, i)
		}
		for i, d := range output {
			dims = append(dims, in.Shape().Dim(int(d)))
			back = append(back, int64(slices.Index(output, int64(i))))
		}
		a.DimLabels = &hlo.ConvDims{InputFeature: n + 1, InputSpatial: spatial, KernelInput: n, KernelOutput: n + 1, KernelSpatial: window, OutputFeature: n + 1, OutputSpatial: spatial}
		plain := at.Spec(hlo.InstrSpec{Opcode: hlo.OpConvolution, Shape: hlo.MakeShape(in.Shape().Type(), dims...), Attrs: &a,
			Operands: []hlo.InstrID{at.Transpose(in.Operand(0), input...), at.Transpose(in.Operand(1), kernel...)}})
		return at.Transpose(plain, back...)
	})

// conventional are the dimensions of input, kernel and output in the order that libraries take.
func conventional(l *hlo.ConvDims) (input, kernel, output []int64) {
	return slices.Concat([]int64{l.InputBatch}, l.InputSpatial, []int64{l.InputFeature}), slices.Concat(l.KernelSpatial, []int64{l.KernelInput, l.KernelOutput}),
		slices.Concat([]int64{l.OutputBatch}, l.OutputSpatial, []int64{l.OutputFeature})
}
