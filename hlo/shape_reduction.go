package hlo

import "slices"

// Shape rules of ops that apply a computation to elements (shape-inference section 7).

// reducer checks the signature of a computation that folds inputs into accumulators that begin as inits (shape-inference 7.1).
func (c *ShapeContext) reducer(f ProgramShape, inits, inputs []Shape) error {
	n := len(inits)
	if len(f.Parameters) != 2*n {
		return c.errorf("RED-02", "Reduction function must take %d parameters, but takes %d parameter(s)", 2*n, len(f.Parameters))
	}
	acc := []Shape{f.Result}
	switch {
	case f.Result.IsTuple():
		if acc = f.Result.d.elems; len(acc) != n {
			return c.errorf("RED-03", "Reduction function must produce a tuple with %d elements, but produces %v", n, f.Result)
		}
	case f.Result.IsArray():
		if n != 1 {
			return c.errorf("RED-03", "Reduction function must produce a tuple with %d elements, but produces a scalar", n)
		}
	default:
		return c.errorf("RED-03", "Reduction function must produce a scalar or tuple of scalars, but has shape: %v", f.Result)
	}
	for _, a := range acc {
		if !a.IsScalar() {
			return c.errorf("RED-03", "Reduction function must return a scalar or tuple of scalars but returns shape: %v", f.Result)
		}
	}
	for i, a := range acc {
		if p := f.Parameters[i]; !a.Compatible(p) {
			return c.errorf("RED-04", "Reduction function's %d-th parameter shape differs from the result shape: %v vs %v", i, p, a)
		}
		if !inits[i].EqualExcept(a, Compatible|IgnoreFPPrecision) {
			return c.errorf("RED-05", "Reduction function's accumulator shape at index %d differs from the init_value shape: %v vs %v", i, a, inits[i])
		}
		p := f.Parameters[n+i]
		if !p.IsScalar() || !SameTypeLenient(inputs[i].Type(), p.Type()) {
			return c.errorf("RED-05", "Reduction function's %d-th parameter shape differs from the input type element type: %v vs %v", n+i, p, inputs[i])
		}
		if !a.EqualExcept(p, Compatible|IgnoreFPPrecision) {
			return c.errorf("RED-05", "Reduction function's %d-th parameter shape must match the result shape, but got %v vs %v", n+i, p, a)
		}
	}
	return nil
}

func reduceShape(c *ShapeContext) (Shape, error) {
	if len(c.Operands)%2 != 0 {
		return Shape{}, c.errorf("RED-01", "Expected an even number of operands for reduce, got %d", len(c.Operands))
	}
	n := len(c.Operands) / 2
	inputs, inits := c.Operands[:n], c.Operands[n:]
	axes := attrsAs[DimensionsAttrs](c).Dimensions
	for i, x := range inputs {
		if !x.IsArray() || !sameDims(x, inputs[0]) {
			return Shape{}, c.operand(i, "RED-06", "All reduced tensors must have compatible dimension: %v and %v", inputs[0], x)
		}
	}
	for i, axis := range axes {
		if !inRange(axis, inputs[0].Rank()) {
			return Shape{}, c.attr("dimensions", "RED-06", "Reducing out-of-bounds dimension %d in shape %v", axis, inputs[0])
		}
		if slices.Contains(axes[:i], axis) {
			return Shape{}, c.attr("dimensions", "RED-06", "Duplicate reduction dimension: %d", axis)
		}
	}
	f := c.Callees[0]
	if err := c.reducer(f, inits, inputs); err != nil {
		return Shape{}, err
	}
	kept := make([]dim, 0, inputs[0].Rank())
	for i := range inputs[0].Rank() {
		if !slices.Contains(axes, int64(i)) {
			kept = append(kept, dimOf(inputs[0], i))
		}
	}
	if !f.Result.IsTuple() {
		return makeDims(f.Result.Type(), kept), nil
	}
	parts := make([]Shape, n)
	for i := range parts {
		parts[i] = makeDims(f.Result.Elem(i).Type(), kept)
	}
	return MakeTuple(parts...), nil
}

func mapShape(c *ShapeContext) (Shape, error) {
	const rule = "RED-08"
	if len(c.Operands) == 0 {
		return Shape{}, c.errorf(rule, "Map operation requires all operands to be arrays, and at least one of them")
	}
	x := c.Operands[0]
	for i, s := range c.Operands {
		if !s.IsArray() {
			return Shape{}, c.operand(i, rule, "Map operation requires all operands to be arrays, got %v", s)
		}
		switch {
		case sameDims(x, s):
		case x.IsScalar() && SameTypeLenient(x.Type(), s.Type()):
			x = s
		case s.IsScalar() && SameTypeLenient(x.Type(), s.Type()):
		default:
			return Shape{}, c.operand(i, rule, "Map operation requires all operands to have the same shape; got %v and %v", x, s)
		}
	}
	if !c.Stated.IsValid() { // with a written shape, the list is not read (RED-09)
		for i, axis := range attrsAs[MapAttrs](c).Dimensions {
			if axis != int64(i) || i >= x.Rank() {
				return Shape{}, c.attr("dimensions", rule, "Map requires monotonically increasing dimension numbers; got: {%s} for %v", intsText(attrsAs[MapAttrs](c).Dimensions), x)
			}
		}
	}
	f := c.Callees[0]
	if len(f.Parameters) != len(c.Operands) {
		return Shape{}, c.errorf(rule, "Mapped computation's number of parameters must match the operands: %d against %d", len(f.Parameters), len(c.Operands))
	}
	if !f.Result.IsScalar() {
		return Shape{}, c.errorf(rule, "Mapped computation's result has to be a scalar; got %v", f.Result)
	}
	for i, p := range f.Parameters {
		if !p.IsScalar() {
			return Shape{}, c.errorf(rule, "Mapped computation's parameter has to be a scalar; got parameter %d shape: %v", i, p)
		}
		if !SameTypeLenient(p.Type(), c.Operands[i].Type()) {
			return Shape{}, c.operand(i, rule, "Mapped computation's parameter type has to match the operand element type; got parameter %d shape: %v, operand %v", i, p, c.Operands[i])
		}
	}
	return makeDims(f.Result.Type(), dimsOf(x)), nil
}

func sortShape(c *ShapeContext) (Shape, error) {
	axis, err := c.oneAxis(attrsAs[SortAttrs](c).Dimensions, "RED-17")
	if err != nil {
		return Shape{}, err
	}
	if len(c.Operands) < 1 {
		return Shape{}, c.errorf("RED-12", "Expected at least 1 operand for sort instruction")
	}
	x, f := c.Operands[0], c.Callees[0]
	for i, s := range c.Operands {
		if !s.IsArray() || !sameDims(s, x) {
			return Shape{}, c.operand(i, "RED-16", "Expected sort to have the same dimensions for all operands. First operand shape is: %v, operand %d has shape: %v", x, i, s)
		}
	}
	if len(f.Parameters) != 2*len(c.Operands) {
		return Shape{}, c.errorf("RED-14", "Expected computation called by sort to have %d parameters, has %d", 2*len(c.Operands), len(f.Parameters))
	}
	if !isScalarOf(f.Result, PRED) {
		return Shape{}, c.errorf("RED-13", "The sort computation result %v does not lead to a scalar predicate shape", f.Result)
	}
	for i, p := range f.Parameters {
		want := c.Operands[i/2]
		if !p.IsScalar() || !SameTypeLenient(p.Type(), want.Type()) {
			return Shape{}, c.operand(i/2, "RED-15", "Expected the %d-th parameter of the compare computation of sort to have shape %v[], but got %v", i, want.Type(), p)
		}
	}
	if axis >= int64(x.Rank()) {
		return Shape{}, c.attr("dimensions", "RED-17", "Expected the sort_dimension %d of sort to be smaller than the rank %d of the operand(s)", axis, x.Rank())
	}
	if axis < 0 {
		return Shape{}, c.attr("dimensions", "RED-17", "Expected the sort dimension to be smaller than the rank and not negative, got %d", axis)
	}
	if len(c.Operands) == 1 {
		return x, nil
	}
	return MakeTuple(c.Operands...), nil
}

func topkShape(c *ShapeContext) (Shape, error) {
	x, k := c.Operands[0], attrsAs[TopKAttrs](c).K
	if !x.IsArray() || x.Rank() == 0 {
		return Shape{}, c.operand(0, "RED-18", "Expected an array of rank 1 or more for topk, got %v", x)
	}
	last := x.Rank() - 1
	if n := x.Dim(last); n != UnboundedSize && k > n {
		return Shape{}, c.attr("k", "RED-18", "k=%d is larger than the last dimension of size %d", k, n)
	}
	if k < 0 {
		return Shape{}, c.attr("k", "RED-18", "k=%d is negative, so no part of the last dimension", k)
	}
	dims := dimsOf(x)
	dims[last] = dim{size: k}
	return MakeTuple(makeDims(x.Type(), dims), makeDims(S32, dims)), nil
}

// scanShape infers the result from the computation's: outputs with the scan dimension inserted, then carries (verifier 5.7.1).
func scanShape(c *ShapeContext) (Shape, error) {
	const rule = "RED-19"
	a, f := attrsAs[ScanAttrs](c), c.Callees[0]
	if len(a.Dimensions) != 1 {
		return Shape{}, c.attr("dimensions", rule, "Scan instruction has %d dimensions, expected exactly one", len(a.Dimensions))
	}
	if c.LayoutSensitive && !a.IsAssociative {
		return Shape{}, c.attr("is_associative", "RED-20", "Non-associative scan reached layout-sensitive verification")
	}
	axis, carries, operands := a.Dimensions[0], int(a.NumCarries), len(c.Operands)
	if a.NumCarries < 0 || a.NumCarries > int64(operands) {
		return Shape{}, c.attr("num_carries", rule, "Scan instruction has %d carries, but only %d operands", a.NumCarries, operands)
	}
	roots := []Shape{f.Result}
	if f.Result.IsTuple() {
		roots = f.Result.d.elems
	}
	results := roots // stated element shapes, where there are any
	if s := c.Stated; s.IsValid() {
		results = []Shape{s}
		if s.IsTuple() {
			results = s.d.elems
		}
		if carries > len(results) {
			return Shape{}, c.attr("num_carries", rule, "Scan instruction has %d carries, but only %d results", carries, len(results))
		}
	}
	if operands != len(f.Parameters) {
		return Shape{}, c.errorf(rule, "Scan instruction has %d operands, but the to_apply computation has %d parameters", operands, len(f.Parameters))
	}
	if len(results) != len(roots) {
		return Shape{}, c.errorf(rule, "Scan instruction has %d results, but the to_apply computation has %d root elements", len(results), len(roots))
	}
	if carries > len(roots) {
		return Shape{}, c.attr("num_carries", rule, "Scan instruction has %d carries, but only %d results", carries, len(roots))
	}
	inputs, outputs := c.Operands[:operands-carries], len(results)-carries
	if len(inputs) == 0 && outputs == 0 {
		return Shape{}, c.errorf(rule, "Scan instruction has no inputs or outputs")
	}
	if axis < 0 {
		return Shape{}, c.attr("dimensions", rule, "Scan dimension should be non-negative, got %d", axis)
	}
	same := func(a, b Shape) bool {
		e := ShapeEq(IgnoreLayout)
		if c.MixedPrecision && c.LayoutSensitive {
			e |= IgnoreFPPrecision
		}
		return c.Same(a, b, e)
	}
	size := dim{size: -1}
	var without Shape
	for i, x := range inputs {
		if !x.IsArray() || axis >= int64(x.Rank()) {
			return Shape{}, c.operand(i, rule, "Scan dimension %d is out of bounds for operand %d of shape %v", axis, i, x)
		}
		n := dimOf(x, int(axis))
		if size.size >= 0 && n.size != size.size {
			return Shape{}, c.operand(i, rule, "Scan operand %d has size %d, expected %d along the scan dimension", i, n.size, size.size)
		}
		size = n
		dims := dimsOf(x)
		without = makeDims(x.Type(), slices.Delete(dims, int(axis), int(axis)+1))
		if !same(without, f.Parameters[i]) {
			return Shape{}, c.operand(i, rule, "Shapes of operand %d and to_apply computation parameter %d are inconsistent: %v against %v", i, i, without, f.Parameters[i])
		}
	}
	for k := range carries {
		i := len(inputs) + k
		if !same(c.Operands[i], f.Parameters[i]) {
			return Shape{}, c.operand(i, rule, "Shapes of operand %d and to_apply computation parameter %d are inconsistent: %v against %v", i, i, c.Operands[i], f.Parameters[i])
		}
		if !same(f.Parameters[i], roots[outputs+k]) {
			return Shape{}, c.operand(i, rule, "Shapes of parameter %d and root element %d of to_apply are inconsistent: %v against %v", i, outputs+k, f.Parameters[i], roots[outputs+k])
		}
	}
	made := make([]Shape, len(roots))
	for i, r := range roots {
		if i >= outputs {
			made[i] = r.WithoutLayout()
			continue
		}
		n := size
		if c.Stated.IsValid() {
			s := results[i]
			if !s.IsArray() || axis >= int64(s.Rank()) {
				return Shape{}, c.errorf(rule, "Scan dimension %d is out of bounds for operand or result %d of shape %v", axis, i, s)
			}
			if n = dimOf(s, int(axis)); size.size >= 0 && n.size != size.size {
				return Shape{}, c.errorf(rule, "Scan result %d has size %d, expected %d along the scan dimension", i, n.size, size.size)
			}
			size = n
		} else if n.size < 0 && n.size != UnboundedSize {
			return Shape{}, c.errorf(rule, "cannot infer the size of a scan without inputs; its shape must be written")
		}
		if !r.IsArray() || axis > int64(r.Rank()) {
			return Shape{}, c.errorf(rule, "Scan dimension %d is out of bounds for operand or root element %d of shape %v", axis, i, r)
		}
		made[i] = makeDims(r.Type(), slices.Insert(dimsOf(r), int(axis), n))
	}
	for i, r := range made {
		if c.Stated.IsValid() && !same(results[i], r) {
			return Shape{}, c.errorf(rule, "Shapes of result %d and to_apply computation result are inconsistent: %v, from root element %v", i, results[i], r)
		}
	}
	if !f.Result.IsTuple() && !c.Stated.IsTuple() {
		return made[0], nil
	}
	return MakeTuple(made...), nil
}
