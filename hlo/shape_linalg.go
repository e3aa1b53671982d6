package hlo

// Shape rules of linear algebra, normalisation and transforms (shape-inference section 10).

func fftShape(c *ShapeContext) (Shape, error) {
	const rule = "LIN-01"
	a, x := attrsAs[FFTAttrs](c), c.Operands[0]
	n := len(a.Length)
	switch {
	case !x.IsArray():
		return Shape{}, c.operand(0, rule, "Expected array argument for fft, got %v", x)
	case n < 1 || n > 3:
		return Shape{}, c.attr("fft_length", rule, "FFT only supports ranks 1-3; got %d", n)
	case x.Rank() < n:
		return Shape{}, c.operand(0, rule, "FFT requires input of at least same rank as fft_length; got %v", x)
	}
	for _, l := range a.Length {
		if l < 0 {
			return Shape{}, c.attr("fft_length", rule, "FFT length must not be negative, got %d", l)
		}
	}
	first, last, length := x.Rank()-n, x.Rank()-1, a.Length[n-1]
	inner := func(rule string, upTo int) error {
		for i := range upTo {
			if !sizesAgree(x.Dim(first+i), a.Length[i]) {
				return c.operand(0, rule, "%v requires innermost dimensions match fft_length: %v, {%s}", a.Type, x, intsText(a.Length))
			}
		}
		return nil
	}
	resized := func(t PrimitiveType, size int64) Shape {
		dims := dimsOf(x)
		dims[last] = dim{size, dims[last].dyn && dims[last].size != UnboundedSize}
		s := makeDims(t, dims)
		s.d.layout = x.d.layout
		return s
	}
	switch a.Type {
	case FFT, IFFT:
		if !x.Type().IsComplex() {
			return Shape{}, c.operand(0, rule, "%v requires complex input type, found %v", a.Type, x.Type())
		}
		if c.Defined { // XLA leaves this unchecked
			if err := inner("HALO-DEFINED", n); err != nil {
				return Shape{}, err
			}
		}
		return x, nil
	case RFFT:
		z, ok := x.Type().ComplexOf()
		if !ok {
			return Shape{}, c.operand(0, rule, "RFFT requires F32 or F64 input type, found %v", x.Type())
		}
		if err := inner(rule, n); err != nil {
			return Shape{}, err
		}
		if length == 0 {
			return resized(z, 0), nil
		}
		return resized(z, length/2+1), nil
	case IRFFT:
		if !x.Type().IsComplex() {
			return Shape{}, c.operand(0, rule, "IRFFT requires complex input type, found %v", x.Type())
		}
		if err := inner(rule, n-1); err != nil {
			return Shape{}, err
		}
		if d := x.Dim(last); !(length == 0 && d == 0) && !sizesAgree(d, length/2+1) {
			return Shape{}, c.operand(0, rule, "IRFFT requires input dimension %d to be half of fft_length plus one: %v, {%s}", last, x, intsText(a.Length))
		}
		return resized(x.Type().ComponentType(), length), nil
	}
	return Shape{}, c.attr("fft_type", rule, "FFT type is invalid")
}

func choleskyShape(c *ShapeContext) (Shape, error) {
	x := c.Operands[0]
	if !x.IsArray() || !isFloatOrComplex(x.Type()) {
		return Shape{}, c.operand(0, "LIN-02", "Expected element type to be floating or complex for Cholesky; got %v", x)
	}
	if x.Rank() < 2 {
		return Shape{}, c.operand(0, "LIN-02", "The 'a' argument to Cholesky must have rank >= 2, got shape %v", x)
	}
	if r := x.Rank(); !sizesAgree(x.Dim(r-1), x.Dim(r-2)) {
		return Shape{}, c.operand(0, "LIN-02", "The two minor dimensions of 'a' must have equal size, got %v", x)
	}
	return x, nil
}

func triangularSolveShape(c *ShapeContext) (Shape, error) {
	const rule = "LIN-02"
	o := attrsAs[TriangularSolveAttrs](c)
	a, b := c.Operands[0], c.Operands[1]
	switch {
	case !a.IsArray() || !b.IsArray() || !isFloatOrComplex(a.Type()):
		return Shape{}, c.errorf(rule, "Expected element type to be floating or complex for TriangularSolve; got %v and %v", a, b)
	case a.Type() != b.Type():
		return Shape{}, c.errorf(rule, "The element types must be identical for TriangularSolve, got %v and %v", a, b)
	case a.Rank() < 2:
		return Shape{}, c.operand(0, rule, "The 'a' argument to TriangularSolve must have rank >= 2, got %v", a)
	case a.Rank() != b.Rank():
		return Shape{}, c.errorf(rule, "Arguments to triangular solve must have equal rank; got %v and %v", a, b)
	}
	r := a.Rank()
	shared := r - 1
	if o.LeftSide {
		shared = r - 2
	}
	switch {
	case !sizesAgree(a.Dim(r-1), a.Dim(r-2)):
		return Shape{}, c.operand(0, rule, "The two minor dimensions of 'a' must have equal size, got %v", a)
	case !sizesAgree(a.Dim(r-1), b.Dim(shared)):
		return Shape{}, c.errorf(rule, "The shared dimension of 'a' and 'b' does not match, got shapes %v and %v", a, b)
	case o.TransposeA == TransposeUnset || int(o.TransposeA) >= len(transposes):
		return Shape{}, c.attr("transpose_a", rule, "Invalid transpose option value for triangular solve")
	}
	for i := range r - 2 {
		if a.Dim(i) != b.Dim(i) {
			return Shape{}, c.errorf(rule, "The leading batch dimensions of the arguments to triangular solve must be equal; got %v and %v", a, b)
		}
	}
	return b, nil
}

// featureVector checks that operand i has one number for each feature of axis f of operand 0.
func (c *ShapeContext) featureVector(i int, f int64, name string, rank1 bool) error {
	x, v := c.Operands[0], c.Operands[i]
	switch {
	case rank1 && v.Rank() != 1:
		return c.operand(i, "GEN-09", "Expected %s of %v to have rank 1, got %v", name, c.Op, v)
	case !SameTypeLenient(v.Type(), x.Type()):
		return c.operand(i, "GEN-09", "The element type of %s must match the operand of %v, got %v and %v", name, c.Op, v, x)
	case v.Rank() > 0 && !sizesAgree(v.Dim(0), x.Dim(int(f))):
		return c.operand(i, "GEN-09", "The size of %s must match the feature count of %v, got %v and %v", name, c.Op, v, x)
	}
	return nil
}

func (c *ShapeContext) batchNorm() (int64, error) {
	if err := c.arrays("GEN-09", c.Op.String()); err != nil {
		return 0, err
	}
	f, x := attrsAs[BatchNormAttrs](c).FeatureIndex, c.Operands[0]
	if !inRange(f, x.Rank()) {
		return 0, c.attr("feature_index", "GEN-09", "Expected feature_index of %v to be a non-negative number less than the rank of operand 0, got %d of %v", c.Op, f, x)
	}
	if !x.Type().IsFloat() {
		return 0, c.operand(0, "GEN-09", "The operand to %v must have a floating point element type, but the shape is %v", c.Op, x)
	}
	return f, nil
}

// withFeatures is the tuple of x and two vectors along axis f.
func withFeatures(x Shape, f int64) Shape {
	v := makeDims(x.Type(), []dim{dimOf(x, int(f))})
	return MakeTuple(x, v, v)
}

func batchNormTrainingShape(c *ShapeContext) (Shape, error) {
	f, err := c.batchNorm()
	for i, name := range []string{"scale", "offset"} {
		if err == nil {
			err = c.featureVector(i+1, f, name, true)
		}
	}
	if err != nil {
		return Shape{}, err
	}
	return withFeatures(c.Operands[0], f), nil
}

func batchNormInferenceShape(c *ShapeContext) (Shape, error) {
	f, err := c.batchNorm()
	for i, name := range []string{"scale", "offset", "mean", "variance"} {
		if err == nil {
			err = c.featureVector(i+1, f, name, i < 2)
		}
	}
	if err != nil {
		return Shape{}, err
	}
	return c.Operands[0], nil
}

func batchNormGradShape(c *ShapeContext) (Shape, error) {
	f, err := c.batchNorm()
	for i, name := range []string{"scale", "mean", "variance"} {
		if err == nil {
			err = c.featureVector(i+1, f, name, true)
		}
	}
	if err != nil {
		return Shape{}, err
	}
	if x, g := c.Operands[0], c.Operands[4]; !g.Type().IsFloat() || !sameDims(x, g) {
		return Shape{}, c.operand(4, "GEN-09", "The bounds of operand and output gradient of %v must be equal, got %v and %v", c.Op, x, g)
	}
	return withFeatures(c.Operands[0], f), nil
}
