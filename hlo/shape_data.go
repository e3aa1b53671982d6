package hlo

import (
	"math"
	"slices"
)

// Shape rules of ops that create, move and regroup data (shape-inference section 8).

// statedShape is the rule of ops whose result shape is what they say it is.
func statedShape(c *ShapeContext) (Shape, error) { return c.stated() }

func broadcastShape(c *ShapeContext) (Shape, error) {
	x, axes := c.Operands[0], attrsAs[BroadcastAttrs](c).Dimensions
	if !x.IsArray() {
		return Shape{}, c.operand(0, "SHP-01", "Expected array argument for broadcast, got %v", x)
	}
	if !c.Stated.IsValid() {
		if x.Rank() == 0 && len(axes) == 0 {
			return x, nil
		}
		return Shape{}, c.errorf("", "cannot infer the sizes of a broadcast; its shape must be written")
	}
	out := c.Stated
	if !out.IsArray() || out.Type() != x.Type() && !(c.MixedPrecision && SameTypeLenient(out.Type(), x.Type())) {
		return Shape{}, c.operand(0, "SHP-01", "broadcast element type mismatch: operand %v, result %v", x, out)
	}
	if len(axes) != x.Rank() {
		return Shape{}, c.attr("dimensions", "SHP-02", "broadcast has invalid number of dimensions: got %d, operand %v has rank %d", len(axes), x, x.Rank())
	}
	for i, axis := range axes {
		if !inRange(axis, out.Rank()) {
			return Shape{}, c.attr("dimensions", "SHP-03", "broadcast dimension out of range: %d for result %v", axis, out)
		}
		if !sizesAgree(out.Dim(int(axis)), x.Dim(i)) {
			return Shape{}, c.attr("dimensions", "SHP-04", "broadcast of operand shape %v to %v: operand dimension %d has size %d, result dimension %d has size %d",
				x, out, i, x.Dim(i), axis, out.Dim(int(axis)))
		}
	}
	return out, nil
}

func reshapeShape(c *ShapeContext) (Shape, error) {
	out, err := c.stated()
	if err != nil {
		return Shape{}, err
	}
	return out, c.reshapes(c.Operands[0], out, "SHP-06", "SHP-07", "reshape element type mismatch", "reshape element count mismatch")
}

// reshapes checks that the elements of x fit the array out.
func (c *ShapeContext) reshapes(x, out Shape, typeRule, countRule, typeMsg, countMsg string) error {
	if !x.IsArray() || !out.IsArray() || x.Type() != out.Type() && !(c.MixedPrecision && SameTypeLenient(x.Type(), out.Type())) {
		return c.operand(0, typeRule, "%s: operand %v, result %v", typeMsg, x, out)
	}
	if !x.HasUnbounded() && !out.HasUnbounded() && x.NumElements() != out.NumElements() {
		return c.operand(0, countRule, "%s: operand %v, result %v", countMsg, x, out)
	}
	return nil
}

func dynamicReshapeShape(c *ShapeContext) (Shape, error) {
	out, err := c.stated()
	if err != nil {
		return Shape{}, err
	}
	if err := c.reshapes(c.Operands[0], out, "SHP-08", "SHP-08", "dynamic-reshape operands differ in element type", "dynamic-reshape operands differ in element count"); err != nil {
		return Shape{}, err
	}
	if len(c.Operands) != out.Rank()+1 {
		return Shape{}, c.errorf("SHP-08", "dynamic-reshape operands: Wrong number of operands: one size for each dimension of %v, got %d", out, len(c.Operands)-1)
	}
	for i, s := range c.Operands[1:] {
		if s.Type() != S32 {
			return Shape{}, c.operand(i+1, "SHP-08", "dynamic-reshape operands: size %d must be s32, got %v", i, s)
		}
	}
	return out, nil
}

func transposeShape(c *ShapeContext) (Shape, error) {
	x, perm := c.Operands[0], attrsAs[DimensionsAttrs](c).Dimensions
	if err := c.array(0, "SHP-10", "transpose"); err != nil {
		return Shape{}, err
	}
	place := make([]int64, len(perm)) // result axis of each operand axis
	for i := range place {
		place[i] = -1
	}
	ok := len(perm) == x.Rank()
	for i, axis := range perm {
		if ok = ok && inRange(axis, x.Rank()) && place[axis] < 0; !ok {
			return Shape{}, c.attr("dimensions", "SHP-10", "Transpose dimensions {%s} are not a permutation of the operand dimensions, of %v", intsText(perm), x)
		}
		place[axis] = int64(i)
	}
	if !ok {
		return Shape{}, c.attr("dimensions", "SHP-10", "Transpose dimensions {%s} are not a permutation of the operand dimensions, of %v", intsText(perm), x)
	}
	dims := make([]dim, len(perm))
	for i, axis := range perm {
		dims[i] = dimOf(x, int(axis))
	}
	s := makeDims(x.Type(), dims)
	if l := x.d.layout; l != nil && len(l.MinorToMajor) == len(perm) {
		m := *l
		m.MinorToMajor = make([]int64, len(perm))
		for i, axis := range l.MinorToMajor {
			if inRange(axis, len(perm)) {
				m.MinorToMajor[i] = place[axis]
			}
		}
		s.d.layout = &m
	}
	return s, nil
}

func intsText(v []int64) string { return string(appendInts(nil, v)) }

func reverseShape(c *ShapeContext) (Shape, error) {
	if err := c.array(0, "SHP-19", "reverse"); err != nil {
		return Shape{}, err
	}
	axes := attrsAs[DimensionsAttrs](c).Dimensions
	for i, axis := range axes {
		if slices.Contains(axes[:i], axis) {
			return Shape{}, c.attr("dimensions", "SHP-19", "a dimension number is duplicated in reverse: {%s}", intsText(axes))
		}
		if !inRange(axis, c.Operands[0].Rank()) {
			return Shape{}, c.attr("dimensions", "SHP-19", "one of the reverse dimensions is out-of-bounds: {%s} of %v", intsText(axes), c.Operands[0])
		}
	}
	return c.Operands[0], nil
}

// oneAxis is the axis of an attribute that lists exactly one.
func (c *ShapeContext) oneAxis(axes []int64, rule string) (int64, error) {
	if len(axes) != 1 {
		return 0, c.attr("dimensions", rule, "%v takes one dimension, got {%s}", c.Op, intsText(axes))
	}
	return axes[0], nil
}

func concatenateShape(c *ShapeContext) (Shape, error) {
	axis, err := c.oneAxis(attrsAs[AxisAttrs](c).Dimensions, "SHP-14")
	if err != nil {
		return Shape{}, err
	}
	if err := c.arrays("SHP-14", "operand of concatenation"); err != nil {
		return Shape{}, err
	}
	first, last := c.Operands[0], c.Operands[len(c.Operands)-1]
	if !inRange(axis, first.Rank()) {
		return Shape{}, c.attr("dimensions", "SHP-14", "Concatenate dimension out of bounds: %d of %v", axis, first)
	}
	dims := dimsOf(first)
	for k, s := range c.Operands[1:] {
		switch {
		case s.Rank() != len(dims):
			return Shape{}, c.operand(k+1, "SHP-14", "Cannot concatenate arrays with different ranks: %v and %v", first, s)
		case !SameTypeLenient(s.Type(), first.Type()):
			return Shape{}, c.operand(k+1, "SHP-14", "Cannot concatenate arrays with different element types: %v and %v", first, s)
		}
		for i := range dims {
			d := dimOf(s, i)
			if int64(i) == axis {
				dims[i] = appendDim(dims[i], d)
				if dims[i].size < 0 && dims[i].size != UnboundedSize {
					return Shape{}, c.errorf("SHP-14", "Concatenate dimension overflows")
				}
				continue
			}
			m, ok := mergeDim(dims[i], d)
			if !ok {
				return Shape{}, c.operand(k+1, "SHP-14", "Cannot concatenate arrays that differ in dimensions other than the one being concatenated. Dimension %d in both shapes must be equal (or compatible): %v vs %v", i, first, s)
			}
			dims[i] = m
		}
	}
	t, err := c.higher("SHP-14", first.Type(), last.Type())
	if err != nil {
		return Shape{}, err
	}
	return makeDims(t, dims), nil
}

// appendDim is the dimension of two arrays one after the other.
func appendDim(a, b dim) dim {
	switch {
	case a.size == UnboundedSize || b.size == UnboundedSize:
		return dim{UnboundedSize, true}
	case a.size > math.MaxInt64-b.size:
		return dim{-1, false}
	}
	return dim{a.size + b.size, a.dyn || b.dyn}
}

// mergeDim is what is known of a dimension that two arrays share.
func mergeDim(a, b dim) (dim, bool) {
	switch {
	case a.size == UnboundedSize:
		return b, true
	case b.size == UnboundedSize:
		return a, true
	}
	return dim{a.size, a.dyn || b.dyn}, a.size == b.size
}

func padShape(c *ShapeContext) (Shape, error) {
	x, v, padding := c.Operands[0], c.Operands[1], attrsAs[PadAttrs](c).Padding
	switch {
	case !x.IsArray() || !v.IsArray():
		return Shape{}, c.errorf("SHP-15", "Expected array argument for pad, got %v and %v", x, v)
	case !v.IsScalar():
		return Shape{}, c.operand(1, "SHP-15", "The padding value must be a scalar, got %v", v)
	case len(padding) != x.Rank():
		return Shape{}, c.attr("padding", "SHP-15", "The rank of the operand and the padding configuration do not match: %v against %d", x, len(padding))
	case !SameTypeLenient(x.Type(), v.Type()):
		return Shape{}, c.operand(1, "SHP-15", "The element types of the operands to pad do not match: %v and %v", x, v)
	}
	dims := dimsOf(x)
	for i, p := range padding {
		if p.Interior < 0 {
			return Shape{}, c.attr("padding", "SHP-15", "Interior padding cannot be negative: %d in dimension %d", p.Interior, i)
		}
		if dims[i].size == UnboundedSize {
			continue
		}
		size, ok := paddedSize(dims[i].size, p)
		if !ok {
			return Shape{}, c.attr("padding", "SHP-15", "Padding result overflows in dimension %d", i)
		}
		if size < 0 {
			return Shape{}, c.attr("padding", "SHP-15", "Padding result in negative size for dimension %d", i)
		}
		dims[i].size = size
	}
	t, err := c.higher("SHP-15", x.Type(), v.Type())
	if err != nil {
		return Shape{}, err
	}
	return makeDims(t, dims), nil
}

func paddedSize(n int64, p PaddingDim) (int64, bool) {
	size, ok := mulAdd(max(n-1, 0), p.Interior, n)
	if ok {
		size, ok = addChecked(size, p.Low)
	}
	if ok {
		size, ok = addChecked(size, p.High)
	}
	return size, ok
}

func addChecked(a, b int64) (int64, bool) {
	s := a + b
	return s, (s > a) == (b > 0)
}

// mulAdd is a*b+c for factors that are not negative.
func mulAdd(a, b, c int64) (int64, bool) {
	if a != 0 && b > math.MaxInt64/a {
		return 0, false
	}
	return addChecked(a*b, c)
}

func sliceShape(c *ShapeContext) (Shape, error) {
	x, ranges := c.Operands[0], attrsAs[SliceAttrs](c).Slice
	if err := c.array(0, "SHP-16", "slice"); err != nil {
		return Shape{}, err
	}
	if len(ranges) != x.Rank() {
		return Shape{}, c.attr("slice", "SHP-16", "Slice has %d ranges, operand %v has rank %d", len(ranges), x, x.Rank())
	}
	dims := dimsOf(x)
	for i, r := range ranges {
		n := dims[i].size
		switch {
		case r.Start < 0:
			return Shape{}, c.attr("slice", "SHP-16", "Negative start index to slice: %d in dimension %d", r.Start, i)
		case n != UnboundedSize && r.Limit > n:
			return Shape{}, c.attr("slice", "SHP-16", "limit index (%d) must be less than or equal to dimension size (%d)", r.Limit, n)
		case r.Limit < r.Start:
			return Shape{}, c.attr("slice", "SHP-16", "limit index (%d) must be greater or equal to start index (%d) in slice", r.Limit, r.Start)
		case r.Stride <= 0:
			return Shape{}, c.attr("slice", "SHP-16", "Stride (%d) must be positive", r.Stride)
		}
		size := (r.Limit - r.Start) / r.Stride
		if (r.Limit-r.Start)%r.Stride != 0 {
			size++
		}
		dims[i] = dim{size, dims[i].dyn && n != UnboundedSize && size != 1}
	}
	return makeDims(x.Type(), dims), nil
}

// maxParts bounds what tuples of tuples may hold: a program doubles a shape with every line if it repeats its operand.
const maxParts = 1 << 16

func tupleShape(c *ShapeContext) (Shape, error) {
	s := MakeTuple(c.Operands...)
	if n := s.NumParts(); n > maxParts && n > len(c.Operands) {
		return Shape{}, c.errorf("TUP-01", "a tuple of %d parts is too large; nested tuples may have %d", n, maxParts)
	}
	return s, nil
}

func tupleElementShape(c *ShapeContext) (Shape, error) {
	x, i := c.Operands[0], attrsAs[TupleElementAttrs](c).Index
	if !x.IsTuple() {
		return Shape{}, c.operand(0, "TUP-02", "invalid shape: attempting to index into non-tuple: %v", x)
	}
	if i < 0 || i >= int64(x.NumElems()) {
		return Shape{}, c.attr("index", "TUP-03", "invalid shape: attempt to index out of tuple bounds: %d >= %d", i, x.NumElems())
	}
	return x.Elem(int(i)), nil
}

func getDimensionSizeShape(c *ShapeContext) (Shape, error) {
	if err := c.sizedAxis("DYN-01", "GetDimensionSize"); err != nil {
		return Shape{}, err
	}
	return MakeShape(S32), nil
}

// sizedAxis checks the dimension whose size an op reads or writes.
func (c *ShapeContext) sizedAxis(rule, name string) error {
	axis, err := c.oneAxis(attrsAs[AxisAttrs](c).Dimensions, rule)
	if err != nil {
		return err
	}
	x := c.Operands[0]
	if !x.IsArray() || !inRange(axis, x.Rank()) {
		return c.attr("dimensions", rule, "%s dimension out of bounds: %d of %v", name, axis, x)
	}
	if n := x.Dim(int(axis)); n > math.MaxInt32 {
		return c.operand(0, rule, "%s's input shape is %v, the %dth dimension exceeds the INT_MAX limit", name, x, axis)
	}
	return nil
}

func setDimensionSizeShape(c *ShapeContext) (Shape, error) {
	if err := c.sizedAxis("DYN-02", "SetDimensionSize"); err != nil {
		return Shape{}, err
	}
	if v := c.Operands[1]; !v.IsScalar() || v.Type() != S32 {
		return Shape{}, c.operand(1, "DYN-02", "SetDimensionSize's value has to be S32 scalar, got %v", v)
	}
	x, axis := c.Operands[0], int(attrsAs[AxisAttrs](c).Dimensions[0])
	return x.WithDynamicDimension(axis, true), nil
}

func iotaShape(c *ShapeContext) (Shape, error) {
	out, err := c.stated()
	if err != nil {
		return Shape{}, err
	}
	axis := attrsAs[IotaAttrs](c).Dimension
	switch {
	case !out.IsArray():
		return Shape{}, c.errorf("IOTA-01", "Iota does not support non-array result, got %v", out)
	case out.Rank() == 0:
		return Shape{}, c.errorf("IOTA-02", "Iota does not support scalars")
	case !inRange(axis, out.Rank()):
		return Shape{}, c.attr("iota_dimension", "IOTA-03", "The iota dimension cannot go beyond the operation rank or be negative: %d of %v", axis, out)
	case !isNumber(out.Type()):
		return Shape{}, c.errorf("IOTA-04", "Only support iota of integral, floating point or complex primitive types, got %s", "PRED")
	}
	return out, nil
}

func constantShape(c *ShapeContext) (Shape, error) {
	lit := attrsAs[ConstantAttrs](c).Literal
	if lit == nil {
		return Shape{}, c.errorf("CST-01", "Constant is required to have a valid literal")
	}
	return lit.Shape(), nil
}

// bitcastShape takes the stated shape. Where layouts count, padding does too, and the verifier compares sizes (SHP-12).
func bitcastShape(c *ShapeContext) (Shape, error) {
	out, err := c.stated()
	if err != nil {
		return Shape{}, err
	}
	x := c.Operands[0]
	if !c.Defined || c.LayoutSensitive {
		return out, nil
	}
	switch {
	case wholeBytes(x) && wholeBytes(out) && x.ByteSize() != out.ByteSize():
		return Shape{}, c.operand(0, "HALO-DEFINED", "bitcast keeps the bytes of its operand: %v has %d, %v has %d", x, x.ByteSize(), out, out.ByteSize())
	case (x.IsTuple() || out.IsTuple()) && !x.Compatible(out):
		return Shape{}, c.operand(0, "HALO-DEFINED", "bitcast is defined on arrays: it takes no tuple apart, and makes none: %v to %v", x, out)
	case !x.IsArray() || !out.IsArray() || !x.IsStatic() || !out.IsStatic() || wholeBytes(x) && wholeBytes(out):
		return out, nil
	case wholeBytes(x) != wholeBytes(out) || x.NumElements() != out.NumElements() || x.Type().Bits() != out.Type().Bits():
		return Shape{}, c.operand(0, "HALO-DEFINED", "bitcast of elements that share bytes depends on how they are kept: %v to %v", x, out)
	}
	return out, nil
}

// wholeBytes reports whether s is an array of known size whose elements take bytes of their own.
func wholeBytes(s Shape) bool { return s.IsArray() && s.IsStatic() && storageBits(s.Type()) >= 8 }
