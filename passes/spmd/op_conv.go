package spmd

import "github.com/gohalo/halo/hlo"

func init() {
	factorsOfOp[hlo.OpConvolution] = convolutionFactors
	handlers[hlo.OpConvolution] = convolution
	factorsOfOp[hlo.OpReduceWindow] = windowFactors
	factorsOfOp[hlo.OpSelectAndScatter] = windowFactors
}

func convolutionFactors(in hlo.Instruction) (all []factor) {
	a := hlo.AttrsOf[hlo.ConvolutionAttrs](in)
	d := a.DimLabels
	if a.BatchGroupCount <= 1 {
		all = append(all, along(2, passFactor, int(d.OutputBatch), [2]int{0, int(d.InputBatch)}))
	}
	if a.FeatureGroupCount <= 1 && a.BatchGroupCount <= 1 {
		all = append(all,
			along(2, passFactor, int(d.OutputFeature), [2]int{1, int(d.KernelOutput)}),
			along(2, reduceFactor, -1, [2]int{0, int(d.InputFeature)}, [2]int{1, int(d.KernelInput)}))
	}
	for i := range d.InputSpatial {
		all = append(all,
			along(2, wholeFactor, int(d.OutputSpatial[i]), [2]int{0, int(d.InputSpatial[i])}),
			along(2, wholeFactor, -1, [2]int{1, int(d.KernelSpatial[i])}))
	}
	return all
}

func convolution(s *scope, in hlo.Instruction, want []*Tiling) ([]*value, error) {
	d := &details{mask: func(i int) hlo.Value { return s.d.scalar(in.OperandInstr(i).Shape().Type(), 0) }}
	if _, ok := identity(hlo.OpAdd, in.Shape().Type()); ok {
		d.combine = s.p.binary(hlo.OpAdd, in.Shape().Type())
	}
	return s.general(in, want, d)
}

// windowFactors: dimensions over which no window moves pass.
func windowFactors(in hlo.Instruction) (all []factor) {
	w := hlo.AttrsOf[hlo.WindowAttrs](in).Window
	for k := range leafRank(in.Shape()) {
		still := w == nil || w.Dims[k] == hlo.DefaultWindowDim(1)
		all = append(all, factor{kindIf(!still), dimOfEach(in, k, func(i int) bool { return in.OperandInstr(i).Shape().Rank() > k }), k})
	}
	return all
}
