package dynamic

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/passes/emit"
)

// reduceWindow writes the value that it begins with over the filling, which then is like padding.
func reduceWindow(b *body, in hlo.Instruction) bool {
	k := in.NumOperands() / 2
	w := hlo.AttrsOf[hlo.WindowAttrs](in).Window
	first := b.operand(0)
	var dims []int
	sizes := slices.Clone(first.sizes)
	for d, n := range sizes {
		if w != nil && d < len(w.Dims) && !trivial(w.Dims[d]) {
			dims = append(dims, d)
			if n != hlo.NoInstr {
				sizes[d] = b.windows(n, w.Dims[d])
			}
		}
	}
	operands := make([]hlo.InstrID, 2*k)
	for i := range k {
		operands[k+i] = b.operand(k + i).data
		operands[i] = b.mask(b.operand(i), operands[k+i], dims...)
	}
	return b.kept(sizes, operands...)
}

// selectAndScatter writes over the filling of what is selected from by what is never selected, and over that of what is scattered by what changes nothing.
func selectAndScatter(b *body, in hlo.Instruction) bool {
	w := hlo.AttrsOf[hlo.WindowAttrs](in).Window
	v, u := b.operand(0), b.operand(1)
	var dims []int
	for d := range v.sizes {
		if w != nil && d < len(w.Dims) && !trivial(w.Dims[d]) {
			dims = append(dims, d)
		}
	}
	x, y := v.data, u.data
	if v.masked(dims...) || u.masked(dims...) {
		low, ok := losing(b.m.MustComputation(in.Callee(0)))
		id, known := neutral(b.m.MustComputation(in.Callee(1)))
		if !ok || !known {
			return false
		}
		x, y = b.mask(v, b.at.Constant(low), dims...), b.mask(u, b.at.Constant(id), dims...)
	}
	return b.kept(v.sizes, x, y, b.operand(2).data)
}

// losing is the scalar that a comparison never takes while there is another.
func losing(f hlo.Computation) (*hlo.Literal, bool) {
	root := f.Root()
	if root.Opcode() != hlo.OpCompare || f.NumParameters() != 2 || root.Operand(0) != f.Parameter(0).ID() || root.Operand(1) != f.Parameter(1).ID() {
		return nil, false
	}
	op := hlo.OpMaximum
	switch hlo.AttrsOf[hlo.CompareAttrs](root).Direction {
	case hlo.GE:
	case hlo.LE:
		op = hlo.OpMinimum
	default:
		return nil, false
	}
	return emit.Identity(op, f.Parameter(0).Shape().Type())
}

// convolution writes zero over what is summed.
func convolution(b *body, in hlo.Instruction) bool {
	a := hlo.AttrsOf[hlo.ConvolutionAttrs](in)
	x, k, l := b.operand(0), b.operand(1), a.DimLabels
	if a.Sparsity != nil || len(l.InputUnknown)+len(l.KernelUnknown)+len(l.OutputUnknown) > 0 || k.masked(ints(l.KernelSpatial)...) ||
		a.FeatureGroupCount != 1 && (x.masked(int(l.InputFeature)) || k.masked(int(l.KernelInput), int(l.KernelOutput))) ||
		a.BatchGroupCount != 1 && (x.masked(int(l.InputBatch)) || k.masked(int(l.KernelOutput))) {
		return false
	}
	sizes := noSizes(in.Shape().Rank())
	sizes[l.OutputBatch], sizes[l.OutputFeature] = x.sizes[l.InputBatch], k.sizes[l.KernelOutput]
	summed := []int{int(l.InputFeature)}
	for i, d := range l.InputSpatial {
		w := hlo.DefaultWindowDim(1)
		if a.Window != nil && i < len(a.Window.Dims) {
			w = a.Window.Dims[i]
		}
		if !trivial(w) {
			summed = append(summed, int(d))
		}
		if n := x.sizes[d]; n != hlo.NoInstr {
			sizes[l.OutputSpatial[i]] = b.windows(n, w)
		}
	}
	return b.kept(sizes, b.mask(x, b.at.Constant(emit.Zero(x.shape.Type())), summed...), b.mask(k, b.at.Constant(emit.Zero(k.shape.Type())), int(l.KernelInput)))
}

// dot writes zero over what is summed, on both sides.
func dot(b *body, in hlo.Instruction) bool {
	a := hlo.AttrsOf[hlo.DotAttrs](in)
	if in.NumOperands() != 2 {
		return false
	}
	x, y := b.operand(0), b.operand(1)
	for i, d := range a.LHSContracting { // what one side knows of a size holds for the other
		p, q := &x.sizes[d], &y.sizes[a.RHSContracting[i]]
		switch {
		case *p == *q:
		case *p == hlo.NoInstr:
			x = x.knowing(int(d), *q)
		case *q == hlo.NoInstr:
			y = y.knowing(int(a.RHSContracting[i]), *p)
		}
	}
	var sizes []hlo.InstrID
	for i, d := range a.LHSBatch {
		n := x.sizes[d]
		if n == hlo.NoInstr {
			n = y.sizes[a.RHSBatch[i]]
		}
		sizes = append(sizes, n)
	}
	free := func(v *value, batch, contracting []int64) {
		for d, n := range v.sizes {
			if !slices.Contains(batch, int64(d)) && !slices.Contains(contracting, int64(d)) {
				sizes = append(sizes, n)
			}
		}
	}
	free(x, a.LHSBatch, a.LHSContracting)
	free(y, a.RHSBatch, a.RHSContracting)
	p := b.mask(x, b.at.Constant(emit.Zero(x.shape.Type())), ints(a.LHSContracting)...)
	q := b.mask(y, b.at.Constant(emit.Zero(y.shape.Type())), ints(a.RHSContracting)...)
	return b.kept(sizes, p, q)
}

// knowing is a value of which one more size is known.
func (v *value) knowing(d int, n hlo.InstrID) *value {
	own := *v
	own.sizes = slices.Clone(v.sizes)
	own.sizes[d] = n
	return &own
}
