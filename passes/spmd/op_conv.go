package spmd

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

func init() {
	factorsOfOp[hlo.OpConvolution] = convolutionFactors
	handlers[hlo.OpConvolution] = convolution
	factorsOfOp[hlo.OpReduceWindow] = windowFactors
	factorsOfOp[hlo.OpSelectAndScatter] = scatteredFactors
	handlers[hlo.OpReduceWindow] = reduceWindow
	handlers[hlo.OpSelectAndScatter] = func(s *scope, in hlo.Instruction, want []*Tiling) ([]*value, error) {
		nothing := func(int) hlo.Value { return s.d.scalar(in.Shape().Type(), 0) } // windows lie inside of their tiles
		return s.general(in, want, &details{fill: nothing})
	}
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
		from, to := int(d.InputSpatial[i]), int(d.OutputSpatial[i])
		if isBatchWindow(in, &a, i) {
			all = append(all, along(2, passFactor, to, [2]int{0, from}, [2]int{1, int(d.KernelSpatial[i])}))
			continue
		}
		if isFreeWindow(in, &a, i) {
			all = append(all, along(2, passFactor, to, [2]int{1, int(d.KernelSpatial[i])}))
			continue
		}
		spatial := along(2, wholeFactor, to, [2]int{0, from})
		if a.Window != nil && i < len(a.Window.Dims) {
			spatial = sliding(2, to, []slide{windowSlide(a.Window.Dims[i], in.OperandInstr(0).Shape().Dim(from), in.Shape().Dim(to))}, [2]int{0, from})
		}
		kernel := along(2, wholeFactor, -1, [2]int{1, int(d.KernelSpatial[i])})
		if spatial.kind == slideFactor && !a.Window.Dims[i].Reversal && a.Window.Dims[i].BaseDilation == 1 {
			// A split kernel reads of the input what its part lies on, for every result.
			w := a.Window.Dims[i]
			kernel = sliding(2, -1, []slide{{in: in.OperandInstr(0).Shape().Dim(from), out: w.Size, low: w.PadLow, stride: w.WindowDilation,
				reach: (in.Shape().Dim(to)-1)*w.Stride + 1}, {}}, [2]int{0, from}, [2]int{1, int(d.KernelSpatial[i])})
			kernel.combines = true
		}
		all = append(all, spatial, kernel)
	}
	return all
}

// isBatchWindow reports whether a spatial dimension is a batch dimension of a dot that XLA wrote as a convolution: the input is spread so far that
// element j of the result meets element j of the input and of the kernel, and no other.
func isBatchWindow(in hlo.Instruction, a *hlo.ConvolutionAttrs, i int) bool {
	if a.Window == nil || i >= len(a.Window.Dims) {
		return false
	}
	n := in.OperandInstr(0).Shape().Dim(int(a.DimLabels.InputSpatial[i]))
	return n > 1 && a.Window.Dims[i] == batchWindow(n) && in.OperandInstr(1).Shape().Dim(int(a.DimLabels.KernelSpatial[i])) == n &&
		in.Shape().Dim(int(a.DimLabels.OutputSpatial[i])) == n
}

// batchWindow is the window of a batch dimension of size n.
func batchWindow(n int64) hlo.WindowDim {
	w := hlo.DefaultWindowDim(n)
	w.Stride, w.BaseDilation = max(1, n-1), n
	return w
}

// isFreeWindow reports whether a spatial dimension is a dimension of the kernel alone in such a dot: the only element of the input meets each of the
// kernel, which goes backward over it.
func isFreeWindow(in hlo.Instruction, a *hlo.ConvolutionAttrs, i int) bool {
	if a.Window == nil || i >= len(a.Window.Dims) {
		return false
	}
	n := in.OperandInstr(1).Shape().Dim(int(a.DimLabels.KernelSpatial[i]))
	return n > 1 && a.Window.Dims[i] == freeWindow(n) && in.OperandInstr(0).Shape().Dim(int(a.DimLabels.InputSpatial[i])) == 1
}

// freeWindow is the window of a dimension of size n that the kernel alone has.
func freeWindow(n int64) hlo.WindowDim {
	w := hlo.DefaultWindowDim(n)
	w.PadLow, w.PadHigh, w.Reversal = n-1, n-1, true
	return w
}

// isSmall reports whether a convolution's kernel is smaller than the result, so that tiles of the input and of the result lie alike.
func isSmall(in hlo.Instruction) bool {
	a := hlo.AttrsOf[hlo.ConvolutionAttrs](in)
	d := a.DimLabels
	kernel, result := int64(1), int64(1)
	for i := range d.InputSpatial {
		if isBatchWindow(in, &a, i) || isFreeWindow(in, &a, i) {
			continue
		}
		k, r := in.OperandInstr(1).Shape().Dim(int(d.KernelSpatial[i])), in.Shape().Dim(int(d.OutputSpatial[i]))
		kernel, result = kernel*k, result*r
		if k >= r && (i < 2 || k > 3 || kernel >= result) {
			return false
		}
	}
	return true
}

func convolution(s *scope, in hlo.Instruction, want []*Tiling) ([]*value, error) {
	zero := func(i int) hlo.Value { return s.d.scalar(in.OperandInstr(i).Shape().Type(), 0) }
	f := convolutionFactors(in)
	whole, _ := in.Attrs().(*hlo.ConvolutionAttrs)
	d := &details{mask: zero, fill: zero, attrs: func(in hlo.Instruction, p *plan, operands []*value) hlo.OpAttrs {
		a := hlo.AttrsOf[hlo.ConvolutionAttrs](in)
		a.Window = unpadded(a.Window, func(i int) bool {
			return p.slides(f, int(a.DimLabels.OutputSpatial[i])) || len(p.operands[1].Dims[a.DimLabels.KernelSpatial[i]]) > 0
		})
		if a.Window != nil {
			for i := range a.Window.Dims {
				n := operands[1].v.Shape().Dim(int(a.DimLabels.KernelSpatial[i]))
				from, to := int(a.DimLabels.InputSpatial[i]), int(a.DimLabels.OutputSpatial[i])
				if w := &a.Window.Dims[i]; w.BaseDilation > 1 && p.slides(f, to) {
					h := windowSlide(whole.Window.Dims[i], in.OperandInstr(0).Shape().Dim(from), in.Shape().Dim(to)).halo(p.result.tiles(to))
					w.PadLow, w.PadHigh = h.before, h.behind
				}
				if a.Window.Dims[i].Size = n; isBatchWindow(in, whole, i) {
					a.Window.Dims[i] = batchWindow(n)
				} else if isFreeWindow(in, whole, i) {
					a.Window.Dims[i] = freeWindow(n)
				}
			}
		}
		return &a
	}}
	if _, ok := emit.Identity(hlo.OpAdd, in.Shape().Type()); ok {
		d.combine = by(s.p.binary(hlo.OpAdd, in.Shape().Type()))
	}
	return s.general(in, want, d)
}

// windowFactors: dimensions over which no window moves pass.
func windowFactors(in hlo.Instruction) (all []factor) {
	w := hlo.AttrsOf[hlo.WindowAttrs](in).Window
	for k := range leafRank(in.Shape()) {
		still := w == nil || w.Dims[k] == hlo.DefaultWindowDim(1)
		f := factor{kind: kindIf(!still), operands: dimOfEach(in, k, func(i int) bool { return in.OperandInstr(i).Shape().Rank() > k }), result: k}
		if !still && in.Opcode() == hlo.OpReduceWindow && w.Dims[k].BaseDilation == 1 {
			f.kind, f.slides = slideFactor, make([]slide, in.NumOperands())
			for i := range f.slides {
				if f.operands[i] >= 0 {
					f.slides[i] = windowSlide(w.Dims[k], in.OperandInstr(i).Shape().Dim(k), leafDim(in.Shape(), k))
				}
			}
		}
		all = append(all, f)
	}
	return all
}

// scatteredFactors are those of select-and-scatter. Windows that lie side by side and fill the operand are split between two of them.
func scatteredFactors(in hlo.Instruction) []factor {
	all := windowFactors(in)
	w := hlo.AttrsOf[hlo.WindowAttrs](in).Window
	for k := range all {
		if all[k].kind != wholeFactor {
			continue
		}
		beside := hlo.DefaultWindowDim(w.Dims[k].Size)
		beside.Stride = beside.Size
		if w.Dims[k] == beside && in.Shape().Dim(k) == beside.Size*in.OperandInstr(1).Shape().Dim(k) {
			all[k].kind, all[k].slides = slideFactor, make([]slide, in.NumOperands())
		}
	}
	return all
}

// leafDim is a dimension of an array, or of the arrays of a tuple.
func leafDim(s hlo.Shape, k int) int64 {
	for s.IsTuple() {
		s = s.Elem(0)
	}
	return s.Dim(k)
}

// windowSlide is what a window reads.
func windowSlide(w hlo.WindowDim, in, out int64) slide {
	return slide{in: in, out: out, low: w.PadLow, stride: w.Stride, reach: (w.Size-1)*w.WindowDilation + 1, base: w.BaseDilation}
}

// unpadded is a window without padding in some dimensions.
func unpadded(w *hlo.Window, split func(i int) bool) *hlo.Window {
	if w == nil {
		return nil
	}
	u := &hlo.Window{Dims: slices.Clone(w.Dims)}
	for i := range u.Dims {
		if split(i) {
			u.Dims[i].PadLow, u.Dims[i].PadHigh = 0, 0
		}
	}
	return u
}

// reduceWindow fetches the parts of neighbours that windows read. Elements outside of the array take no part in a window, so they become the identity of the
// reducer; without one, a padded window is not split.
func reduceWindow(s *scope, in hlo.Instruction, want []*Tiling) ([]*value, error) {
	f := windowFactors(in)
	n := in.NumOperands() / 2
	d := &details{
		attrs: func(in hlo.Instruction, p *plan, _ []*value) hlo.OpAttrs {
			a := hlo.AttrsOf[hlo.WindowAttrs](in)
			a.Window = unpadded(a.Window, func(k int) bool { return p.slides(f, k) })
			return &a
		},
	}
	if ids, ok := neutrals(s.p.m.MustComputation(in.Callee(0)), n); ok {
		d.fill = func(i int) hlo.Value { return s.d.b.Constant(ids[i]) }
	} else if w := hlo.AttrsOf[hlo.WindowAttrs](in).Window; w != nil && !slices.ContainsFunc(w.Dims, func(d hlo.WindowDim) bool { return d.PadLow != 0 || d.PadHigh != 0 }) {
		d.fill = func(i int) hlo.Value { // of windows beyond the end of the result, which are padding too
			init := s.values[in.Operand(n+i)][0]
			return s.d.reshard(init, replicatedLike(init.t, 0)).v
		}
	}
	return s.general(in, want, d)
}
