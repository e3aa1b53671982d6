package expand

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/emit"
)

// NewConvOperandSwapper makes the pass conv-operand-swapper.
func NewConvOperandSwapper(o pass.Options) (*pass.Pass, error) {
	params := []pass.Param{{Name: "fp", Doc: "what it may change: strict, xla or fast; the policy of the run"}}
	if err := o.Known(params[0].Name); err != nil {
		return nil, err
	}
	policy, err := o.FP()
	if err != nil {
		return nil, err
	}
	return &pass.Pass{
		Name: "conv-operand-swapper", Options: o, Params: params, About: []hlo.Opcode{hlo.OpConvolution},
		Doc: `convolution(x, k) → convolution(reverse(k), x), where the window is then smaller

Batch and output features change their roles. Dimensions that are groups, or contracted as a whole, keep their window. Convolutions of groups stay. The zeros beside x meet no element of k then, but those
beside k meet elements of x, so floating-point numbers need a policy that does not ask where an infinity comes to nothing.`,
		Local: func(ctx *pass.Context, m hlo.Module, c hlo.CompEdit) error {
			for _, in := range backward(m.MustComputation(c.ID())) {
				s, ok := newSwapped(in)
				if !ok {
					continue
				}
				class := pass.Exact // integers wrap around, in whatever order they are added
				if !in.Shape().Type().IsInteger() {
					class = pass.NotANumber
				}
				if !ctx.SpendUnder(policy, "swap", class) {
					continue
				}
				if err := emit.Replace(c, in.ID(), s.write(emit.Before(c, in))); err != nil {
					return err
				}
				ctx.Count("swapped", 1)
			}
			return nil
		},
	}, nil
}

// swapped is a convolution with its operands exchanged.
type swapped struct {
	in      hlo.Instruction
	attrs   hlo.ConvolutionAttrs
	reverse []int64 // axes of the kernel
}

// newSwapped is the exchanged convolution, and whether a loop over its window is shorter.
func newSwapped(in hlo.Instruction) (s swapped, ok bool) {
	if in.Opcode() != hlo.OpConvolution || in.NumOperands() != 2 || !staticArrays(in) {
		return s, false
	}
	s = swapped{in: in, attrs: hlo.AttrsOf[hlo.ConvolutionAttrs](in)}
	l := *s.attrs.DimLabels
	if s.attrs.FeatureGroupCount > 1 || s.attrs.BatchGroupCount > 1 || s.attrs.Kind != hlo.ConvUnset || s.attrs.Sparsity != nil || s.attrs.Window == nil || len(l.InputUnknown)+len(l.KernelUnknown)+len(l.OutputUnknown) > 0 {
		return s, false
	}
	w := &hlo.Window{}
	was, is := int64(1), int64(1) // elements of the window
	for i, d := range s.attrs.Window.Dims {
		size := in.OperandInstr(0).Shape().Dim(int(l.InputSpatial[i]))
		if keepsWindow(d, size) {
			w.Dims = append(w.Dims, d)
			continue
		}
		if was *= d.Size; !isSlidOver(d, size) {
			is *= size
		} else {
			is *= d.Size
		}
		if !d.Reversal {
			s.reverse = append(s.reverse, l.KernelSpatial[i])
		}
		spread := (size-1)*d.BaseDilation - (d.Size-1)*d.WindowDilation // of the input, beyond that of the kernel
		w.Dims = append(w.Dims, hlo.WindowDim{Size: size, Stride: d.Stride, PadLow: spread + d.PadLow, PadHigh: spread + d.PadHigh,
			BaseDilation: d.WindowDilation, WindowDilation: d.BaseDilation, Reversal: true})
	}
	if was <= is || is == 0 {
		return s, false
	}
	s.attrs.Window = w
	s.attrs.DimLabels = &hlo.ConvDims{
		InputBatch: l.KernelOutput, InputFeature: l.KernelInput, InputSpatial: l.KernelSpatial,
		KernelOutput: l.InputBatch, KernelInput: l.InputFeature, KernelSpatial: l.InputSpatial,
		OutputBatch: l.OutputFeature, OutputFeature: l.OutputBatch, OutputSpatial: l.OutputSpatial,
	}
	if p := slices.Clone(s.attrs.Precision); len(p) == 2 {
		p[0], p[1] = p[1], p[0]
		s.attrs.Precision = p
	}
	return s, true
}

// keepsWindow reports a dimension in which both operands have the same role: it is contracted as a whole, or each element of one meets the element
// of the other at the same index alone.
func keepsWindow(d hlo.WindowDim, size int64) bool {
	if d.Reversal || d.PadLow != 0 || d.PadHigh != 0 || d.WindowDilation != 1 || d.Size != size {
		return false
	}
	whole := d.BaseDilation == 1 && d.Stride == 1
	group := d.BaseDilation == d.Size && d.Stride == max(d.Size-1, 1)
	return whole || group
}

// isSlidOver reports an input of one element, to which the kernel is only handed on.
func isSlidOver(d hlo.WindowDim, size int64) bool {
	return size == 1 && d.Stride == 1 && d.WindowDilation == 1 && d.PadLow == d.Size-1 && d.PadHigh == d.Size-1
}

func (s swapped) write(at emit.At) hlo.InstrID {
	k := s.in.Operand(1)
	if len(s.reverse) > 0 {
		k = at.OpOf(hlo.OpReverse, at.Shape(k), &hlo.DimensionsAttrs{Dimensions: s.reverse}, k)
	}
	return at.OpOf(hlo.OpConvolution, s.in.Shape(), &s.attrs, k, s.in.Operand(0))
}
