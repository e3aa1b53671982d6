package hlo

import "math"

// Windows: arithmetic and the shape rules of convolution, reduce-window and select-and-scatter (shape-inference sections 5.4 and 6).

// dims returns the dimensions of a window that may be absent.
func (w *Window) dims() []WindowDim {
	if w == nil {
		return nil
	}
	return w.Dims
}

// OutputSize is the number of positions of the window along a dimension of size n, [UnboundedSize] when n is. It fails when a number that
// must be positive is not, or when the sizes do not fit.
func (d WindowDim) OutputSize(n int64) (int64, string) {
	switch {
	case d.Size < 1:
		return 0, "has a non-positive dimension"
	case d.Stride < 1:
		return 0, "has a non-positive stride"
	case d.BaseDilation < 1:
		return 0, "has a non-positive base area dilation factor"
	case d.WindowDilation < 1:
		return 0, "has a non-positive window dilation factor"
	case n == UnboundedSize:
		return UnboundedSize, ""
	}
	base, ok := dilate(n, d.BaseDilation)
	if ok {
		base, ok = addChecked(base, d.PadLow)
	}
	if ok {
		base, ok = addChecked(base, d.PadHigh)
	}
	size, fits := dilate(d.Size, d.WindowDilation)
	switch {
	case !ok || !fits:
		return 0, "is too large"
	case base < 0:
		return 0, "lies on a padded window base that is negative"
	case base == 0 || size > base:
		return 0, ""
	}
	return (base-size)/d.Stride + 1, ""
}

// dilate is the extent of n elements with d-1 holes between neighbours.
func dilate(n, d int64) (int64, bool) {
	if n == 0 {
		return 0, true
	}
	return mulAdd(n-1, d, 1)
}

// windowed gives the dimensions of x under a window.
func (c *ShapeContext) windowed(x Shape, w []WindowDim, rule string) ([]dim, error) {
	if len(w) != x.Rank() {
		return nil, c.attr("window", rule, "Window has dimension %d but base shape has dimension %d: %v", len(w), x.Rank(), x)
	}
	dims := make([]dim, len(w))
	for i, d := range w {
		n := dimOf(x, i)
		size, why := d.OutputSize(n.size)
		if why != "" {
			return nil, c.attr("window", rule, "Window %s in dimension %d", why, i)
		}
		dims[i] = dim{size, n.dyn}
	}
	return dims, nil
}

func convolutionShape(c *ShapeContext) (Shape, error) {
	const rule = "CNV-01"
	a := attrsAs[ConvolutionAttrs](c)
	lhs, rhs := c.Operands[0], c.Operands[1]
	if !lhs.IsArray() || !rhs.IsArray() {
		return Shape{}, c.errorf(rule, "Expected array argument for convolution, got %v and %v", lhs, rhs)
	}
	l, w, groups, batches := a.DimLabels, a.Window.dims(), a.FeatureGroupCount, a.BatchGroupCount
	switch {
	case l == nil:
		return Shape{}, c.attr("dim_labels", rule, "convolution has no dimension labels")
	case groups < 1:
		return Shape{}, c.attr("feature_group_count", rule, "feature_group_count must be a positive number, got %d", groups)
	case batches < 1:
		return Shape{}, c.attr("batch_group_count", rule, "batch_group_count must be a positive number, got %d", batches)
	case groups > 1 && batches > 1:
		return Shape{}, c.attr("feature_group_count", rule, "both batch_group_count %d and feature_group_count %d cannot be greater than 1", batches, groups)
	}
	n := len(l.InputSpatial)
	if len(l.KernelSpatial) != n || len(l.OutputSpatial) != n || len(w) != n {
		return Shape{}, c.attr("window", rule, "Convolution window and arguments must have the same number of dimensions: %d, input %d, kernel %d, output %d",
			len(w), n, len(l.KernelSpatial), len(l.OutputSpatial))
	}
	if lhs.Rank() != n+2 || rhs.Rank() != n+2 {
		return Shape{}, c.errorf(rule, "The operands of convolution should have rank %d, got %v and %v", n+2, lhs, rhs)
	}
	for _, labels := range []struct {
		what string
		axes []int64
	}{
		{"input", append([]int64{l.InputBatch, l.InputFeature}, l.InputSpatial...)},
		{"kernel", append([]int64{l.KernelInput, l.KernelOutput}, l.KernelSpatial...)},
		{"output", append([]int64{l.OutputBatch, l.OutputFeature}, l.OutputSpatial...)},
	} {
		if err := c.permutation(labels.what, labels.axes); err != nil {
			return Shape{}, err
		}
	}
	if err := c.sparsity(a.Sparsity); err != nil {
		return Shape{}, err
	}
	features, batch := dimOf(lhs, int(l.InputFeature)), dimOf(lhs, int(l.InputBatch))
	kernelIn, kernelOut := dimOf(rhs, int(l.KernelInput)), dimOf(rhs, int(l.KernelOutput))
	if s := a.Sparsity; s != nil && s.RHS != nil && s.RHS.Dimension == l.KernelInput && kernelIn.size != UnboundedSize {
		kernelIn.size *= max(s.RHS.Block, 1)
	}
	if s := a.Sparsity; s != nil && s.LHS != nil && s.LHS.Dimension == l.InputFeature && features.size != UnboundedSize {
		features.size *= max(s.LHS.Block, 1)
	}
	divides := func(n, d int64) bool { return n == UnboundedSize || n%d == 0 }
	switch {
	case kernelOut.dyn:
		return Shape{}, c.operand(1, rule, "Dynamic output feature dimension of the kernel is not supported: %v", rhs)
	case !divides(kernelOut.size, batches):
		return Shape{}, c.operand(1, rule, "Expected output feature dimension size (value %d) to be a multiple of batch group count %d", kernelOut.size, batches)
	case !divides(kernelOut.size, groups):
		return Shape{}, c.operand(1, rule, "Expected output feature dimension (value %d) to be divisible by feature_group_count (value %d)", kernelOut.size, groups)
	case !divides(batch.size, batches):
		return Shape{}, c.operand(0, rule, "Expected input batch dimension (value %d) to be divisible by batch_group_count (value %d)", batch.size, batches)
	case !divides(features.size, groups) || features.size != UnboundedSize && !sizesAgree(features.size/groups, kernelIn.size):
		return Shape{}, c.operand(0, rule, "Expected LHS feature dimension (value %d) to be a multiple of feature_group_count (value %d), and LHS feature dimension / feature_group_count = RHS feature dimension (value %d)",
			features.size, groups, kernelIn.size)
	}
	dims := make([]dim, n+2)
	for i, axis := range l.InputSpatial {
		k := dimOf(rhs, int(l.KernelSpatial[i]))
		if !sizesAgree(k.size, w[i].Size) {
			return Shape{}, c.attr("window", rule, "Window dimensions do not match RHS shape: window size %d, %v", w[i].Size, rhs)
		}
		base := dimOf(lhs, int(axis))
		size, why := w[i].OutputSize(base.size)
		if why != "" {
			return Shape{}, c.attr("window", rule, "%s in spatial dimension %d of the window", wordy(why), i)
		}
		dims[l.OutputSpatial[i]] = dim{size, base.dyn || k.dyn}
	}
	if batch.size != UnboundedSize {
		batch.size /= batches
	}
	dims[l.OutputBatch] = batch
	dims[l.OutputFeature] = kernelOut
	return c.contracted(lhs, rhs, dims)
}

// wordy turns "has a non-positive stride" into "non-positive stride".
func wordy(why string) string {
	if len(why) > 6 && why[:6] == "has a " {
		return why[6:]
	}
	return "window " + why
}

func (c *ShapeContext) permutation(what string, axes []int64) error {
	seen := make([]bool, len(axes))
	for _, axis := range axes {
		if !inRange(axis, len(axes)) {
			return c.attr("dim_labels", "CNV-01", "A dimension number is out of range in convolution: %d of the %s", axis, what)
		}
		if seen[axis] {
			return c.attr("dim_labels", "CNV-01", "The dimension labels of the %s must contain each dimension exactly once: %d is there twice", what, axis)
		}
		seen[axis] = true
	}
	return nil
}

// sparsity checks the operands that hold the positions of non-zeros.
func (c *ShapeContext) sparsity(s *SparsityConfig) error {
	if s == nil {
		return nil
	}
	sides := []struct {
		name string
		s    *Sparsity
	}{{"lhs", s.LHS}, {"rhs", s.RHS}}
	for _, side := range sides {
		if side.s == nil {
			continue
		}
		if side.s.NonZeros != 1 {
			return c.attr("sparsity_config", "CNV-01", "Only 1:N sparsity is supported, got %d:%d", side.s.NonZeros, side.s.Block)
		}
		if side.s.Block < 1 || side.s.Block > math.MaxInt32 {
			return c.attr("sparsity_config", "CNV-01", "sparsity block size %d is out of range", side.s.Block)
		}
		if i := side.s.Index; i.Set {
			if i.Value < 2 || i.Value >= int64(len(c.Operands)) {
				return c.attr("sparsity_config", "CNV-02", "Sparsity idx %d out of bounds for %s, there are %d operands", i.Value, side.name, len(c.Operands))
			}
			if !c.Operands[i.Value].IsArray() {
				return c.operand(int(i.Value), "CNV-02", "Sparsity idx %d of %s must name an array, got %v", i.Value, side.name, c.Operands[i.Value])
			}
		}
	}
	if l, r := s.LHS, s.RHS; l != nil && r != nil && l.Index.Set && l.Index == r.Index {
		return c.attr("sparsity_config", "CNV-02", "Sparsity idx of lhs and rhs cannot be the same: %d", l.Index.Value)
	}
	return nil
}

func reduceWindowShape(c *ShapeContext) (Shape, error) {
	const rule = "RED-10"
	if len(c.Operands)%2 != 0 {
		return Shape{}, c.errorf("RED-01", "Expected an even number of operands for reduce-window, got %d", len(c.Operands))
	}
	n := len(c.Operands) / 2
	inputs, inits := c.Operands[:n], c.Operands[n:]
	for i, x := range inputs {
		if !x.IsArray() {
			return Shape{}, c.operand(i, rule, "Expected array argument for reduce-window, got %v", x)
		}
		if !sameDims(x, inputs[0]) {
			return Shape{}, c.operand(i, rule, "All reduced tensors must have the same dimension, got %v and %v", inputs[0], x)
		}
	}
	if err := c.reducer(c.Callees[0], inits, inputs); err != nil {
		return Shape{}, err
	}
	dims, err := c.windowed(inputs[0], attrsAs[WindowAttrs](c).Window.dims(), rule)
	if err != nil {
		return Shape{}, err
	}
	if n == 1 && !c.Callees[0].Result.IsTuple() {
		return makeDims(inits[0].Type(), dims), nil
	}
	parts := make([]Shape, n)
	for i, init := range inits {
		parts[i] = makeDims(init.Type(), dims)
	}
	return MakeTuple(parts...), nil
}

func selectAndScatterShape(c *ShapeContext) (Shape, error) {
	const rule = "RED-11"
	x, source, init := c.Operands[0], c.Operands[1], c.Operands[2]
	if !x.IsArray() || !source.IsArray() {
		return Shape{}, c.errorf(rule, "Expected array argument for select-and-scatter, got %v and %v", x, source)
	}
	sel := c.Callees[0]
	if len(sel.Parameters) != 2 {
		return Shape{}, c.errorf(rule, "Select function must take 2 parameters, but takes %d parameter(s)", len(sel.Parameters))
	}
	if !isScalarOf(sel.Result, PRED) {
		return Shape{}, c.errorf(rule, "Select function must have rank-0 PRED result, got %v", sel.Result)
	}
	for i, p := range sel.Parameters {
		if !p.IsScalar() || !SameTypeLenient(p.Type(), x.Type()) {
			return Shape{}, c.errorf(rule, "Select function must take scalars of the operand's element type: parameter %d is %v, operand %v", i, p, x)
		}
	}
	if err := c.reducer(c.Callees[1], []Shape{init}, []Shape{source}); err != nil {
		return Shape{}, err
	}
	dims, err := c.windowed(x, attrsAs[WindowAttrs](c).Window.dims(), rule)
	if err != nil {
		return Shape{}, err
	}
	if want := makeDims(source.Type(), dims); !source.EqualExcept(want, Compatible) || !SameTypeLenient(source.Type(), x.Type()) {
		return Shape{}, c.operand(1, rule, "Source shape does not match the shape of window-reduced operand: source(%v), window-reduced operand(%v)", source, makeDims(x.Type(), dims))
	}
	return x, nil
}

func isScalarOf(s Shape, t PrimitiveType) bool { return s.IsScalar() && s.Type() == t }
