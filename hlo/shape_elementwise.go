package hlo

// Shape rules of elementwise ops (shape-inference section 4).

// sameAsOperand is the rule of ops that hand on the shape of their operand, whatever it is.
func sameAsOperand(c *ShapeContext) (Shape, error) { return c.Operands[0], nil }

// unaryShape makes the rule of a unary op on elements of the types that accept admits; what says which they are, in words.
func unaryShape(rule, what string, accept func(PrimitiveType) bool, result func(PrimitiveType) PrimitiveType) ShapeRule {
	return func(c *ShapeContext) (Shape, error) {
		s := c.Operands[0]
		if !s.IsArray() {
			return Shape{}, c.operand(0, rule, "Expected array argument for %v, got %v", c.Op, s)
		}
		t := s.Type()
		if !accept(t) {
			return Shape{}, c.operand(0, rule, "%s %v operation; got %v", what, c.Op, t)
		}
		if r := result(t); r != t {
			return s.WithType(r), nil
		}
		return s, nil
	}
}

func sameType(t PrimitiveType) PrimitiveType { return t }
func predType(PrimitiveType) PrimitiveType   { return PRED }
func isSignedOrFloat(t PrimitiveType) bool   { return t.IsSigned() || t.IsFloat() || t.IsComplex() }
func isFloatOrComplex(t PrimitiveType) bool  { return t.IsFloat() || t.IsComplex() }
func isNumber(t PrimitiveType) bool          { return t.IsInteger() || t.IsFloat() || t.IsComplex() }
func isBits(t PrimitiveType) bool            { return t.IsPred() || t.IsInteger() }

var (
	floatUnary    = unaryShape("ELT-01", "Expected element type in shape to be floating for", PrimitiveType.IsFloat, sameType)
	analyticUnary = unaryShape("ELT-02", "Expected element type in shape to be floating or complex for", isFloatOrComplex, sameType)
	partUnary     = unaryShape("ELT-03", "Expected element type in shape to be floating or complex for", isFloatOrComplex, PrimitiveType.ComponentType)
	absShape      = unaryShape("ELT-04", "Expected element type in shape to be signed, floating or complex for", isSignedOrFloat, PrimitiveType.ComponentType)
	signShape     = unaryShape("ELT-05", "Expected element type in shape to be signed or complex for", isSignedOrFloat, sameType)
	negateShape   = unaryShape("ELT-06", "Expected element type in shape to be integral, floating or complex for", isNumber, sameType)
	bitCountShape = unaryShape("ELT-06", "Expected an integral element type in argument to", PrimitiveType.IsInteger, sameType)
	notShape      = unaryShape("ELT-06", "Expected pred or an integral element type in argument to", isBits, sameType)
	isFiniteShape = unaryShape("ELT-06", "Expected element type in shape to be floating point for IsFinite, that is", PrimitiveType.IsFloat, predType)
)

// binaryShape makes the rule of a binary op. check refuses element types beyond what all binary ops demand; it may be nil. result
// gives the element type from the wider of the two.
func binaryShape(check func(c *ShapeContext, lhs, rhs PrimitiveType) error, result func(PrimitiveType) PrimitiveType) ShapeRule {
	return func(c *ShapeContext) (Shape, error) {
		a, b := c.Operands[0], c.Operands[1]
		if !a.IsArray() || !b.IsArray() {
			return Shape{}, c.errorf("ELT-07", "Expected array argument for lhs and rhs of %v, got %v and %v", c.Op, a, b)
		}
		t, u := a.Type(), b.Type()
		if !SameTypeLenient(t, u) {
			return Shape{}, c.errorf("ELT-07", "Binary op %v with different element types: %v and %v", c.Op, a, b)
		}
		if check != nil {
			if err := check(c, t, u); err != nil {
				return Shape{}, err
			}
		}
		wider, err := c.higher("ELT-07", t, u)
		if err != nil {
			return Shape{}, err
		}
		wider = result(wider)
		if a.d.dyn == nil && b.d.dyn == nil && sameStaticDims(a, b) {
			if wider == t {
				return a, nil
			}
			return a.WithType(wider), nil
		}
		return c.mergeBinary(wider, a, b)
	}
}

func sameStaticDims(a, b Shape) bool {
	if len(a.d.dims) != len(b.d.dims) {
		return false
	}
	for i, n := range a.d.dims {
		if n != b.d.dims[i] {
			return false
		}
	}
	return true
}

// mergeBinary merges dimensions that are not simply equal: dynamic ones, sizes of 1, scalars. The latter two are what text and
// builders may leave to inference; the verifier wants equal dimensions (ELT-12).
func (c *ShapeContext) mergeBinary(t PrimitiveType, a, b Shape) (Shape, error) {
	switch {
	case a.Rank() == 0:
		return makeDims(t, dimsOf(b)), nil
	case b.Rank() == 0:
		return makeDims(t, dimsOf(a)), nil
	case a.Rank() != b.Rank():
		return Shape{}, c.errorf("ELT-12", "Shapes must be equal rank, but are %v and %v", a, b)
	}
	dims := make([]dim, a.Rank())
	for i := range dims {
		x, y := dimOf(a, i), dimOf(b, i)
		switch {
		case x.size == y.size:
			dims[i] = dim{x.size, x.dyn || y.dyn}
		case x.size == 1 && !x.dyn, x.size == UnboundedSize:
			dims[i] = y
		case y.size == 1 && !y.dyn, y.size == UnboundedSize:
			dims[i] = x
		default:
			return Shape{}, c.errorf("ELT-12", "Binary op %v with incompatible shapes: %v and %v", c.Op, a, b)
		}
	}
	s := makeDims(t, dims)
	if sameStaticDims(a, b) {
		s.d.layout = a.d.layout
	}
	return s, nil
}

func notPred(c *ShapeContext, lhs, rhs PrimitiveType) error {
	if lhs == PRED || rhs == PRED {
		return c.errorf("ELT-08", "Expected element type in shape to be arithmetic type for operation %v; got %v", c.Op, PRED)
	}
	return nil
}

var (
	anyBinary        = binaryShape(nil, sameType)
	arithmeticBinary = binaryShape(notPred, sameType)
	bitsBinary       = binaryShape(func(c *ShapeContext, lhs, _ PrimitiveType) error {
		if !isBits(lhs) {
			return c.operand(0, "ELT-09", "Expected pred or integral type in argument to and/or operation; got %v", lhs)
		}
		return nil
	}, sameType)
	atan2Shape = binaryShape(func(c *ShapeContext, lhs, rhs PrimitiveType) error {
		if !isFloatOrComplex(lhs) && lhs != PRED {
			return c.operand(0, "ELT-10", "Expected input element type to be floating or complex for atan2 operation; got %v", lhs)
		}
		return notPred(c, lhs, rhs)
	}, sameType)
	complexShape = binaryShape(func(c *ShapeContext, lhs, rhs PrimitiveType) error {
		if !lhs.IsFloat() {
			return c.operand(0, "ELT-11", "Expected element type in shape to be floating for complex compose operation; got %v", lhs)
		}
		if _, ok := lhs.ComplexOf(); !ok || lhs != rhs {
			return c.errorf("ELT-11", "Complex component type is not implemented: %v and %v", lhs, rhs)
		}
		return nil
	}, func(t PrimitiveType) PrimitiveType { z, _ := t.ComplexOf(); return z })
	compareDims = binaryShape(nil, predType)
)

func compareShape(c *ShapeContext) (Shape, error) {
	s, err := compareDims(c)
	if err != nil {
		return Shape{}, err
	}
	a := attrsAs[CompareAttrs](c)
	if a.Direction == DirectionInvalid || int(a.Direction) >= len(directions) {
		return Shape{}, c.attr("direction", "GEN-09", "comparison direction is invalid")
	}
	t := c.Operands[0].Type()
	if c.Defined && t.IsComplex() && a.Direction != EQ && a.Direction != NE {
		return Shape{}, c.attr("direction", "HALO-DEFINED", "complex numbers have no order, so %v is not defined on %v", a.Direction, c.Operands[0])
	}
	if a.Type == CompareDefault {
		return s, nil
	}
	if want := DefaultCompareType(t); t.IsFloat() && a.Type != CompareFloat && a.Type != CompareTotalOrder {
		return Shape{}, c.attr("type", "ELT-13", "Expected comparison type %v or %v, got %v", CompareFloat, CompareTotalOrder, a.Type)
	} else if !t.IsFloat() && a.Type != want {
		return Shape{}, c.attr("type", "ELT-14", "Expected comparison type %v, got %v", want, a.Type)
	}
	return s, nil
}

func clampShape(c *ShapeContext) (Shape, error) {
	for i, where := range []string{"clamp min", "clamp operand", "clamp max"} {
		if err := c.array(i, "ELT-15", where); err != nil {
			return Shape{}, err
		}
	}
	lo, x, hi := c.Operands[0], c.Operands[1], c.Operands[2]
	if !SameTypeLenient(lo.Type(), x.Type()) || !SameTypeLenient(hi.Type(), x.Type()) {
		return Shape{}, c.errorf("ELT-15", "Clamp with incompatible element types: %v, %v, %v", lo, x, hi)
	}
	fits := func(a, b Shape) bool { return a.IsScalar() || a.EqualExcept(b, Compatible|IgnoreFPPrecision) }
	if !fits(lo, x) || !fits(hi, x) || !lo.IsScalar() && !fits(hi, lo) {
		return Shape{}, c.errorf("ELT-15", "Clamp with incompatible shapes: %v, %v, %v", lo, x, hi)
	}
	return x, nil
}

func selectShape(c *ShapeContext) (Shape, error) {
	for i, where := range []string{"select pred", "select on-true", "select on-false"} {
		if err := c.array(i, "ELT-16", where); err != nil {
			return Shape{}, err
		}
	}
	p, t, f := c.Operands[0], c.Operands[1], c.Operands[2]
	if !t.EqualExcept(f, Compatible|IgnoreFPPrecision) {
		return Shape{}, c.errorf("ELT-16", "Operands to select must be the same shape; got %v and %v", t, f)
	}
	if p.Type() != PRED {
		return Shape{}, c.operand(0, "ELT-16", "Select's pred operand must have PRED element type; got %v", p)
	}
	if !p.IsScalar() && (!sameDims(p, t) || !sameDims(p, f)) {
		return Shape{}, c.errorf("ELT-16", "Operands to select and predicate must be the same shape; got %v and %v", t, p)
	}
	typ, err := c.higher("ELT-16", t.Type(), f.Type())
	if err != nil {
		return Shape{}, err
	}
	from := t
	if !p.IsScalar() {
		from = p
	}
	if from.d.typ == typ && from.d.dyn == nil && t.d.dyn == nil && f.d.dyn == nil {
		return from, nil
	}
	dims := dimsOf(from)
	for i := range dims {
		x, y := dimOf(t, i), dimOf(f, i)
		switch {
		case x.size == UnboundedSize && y.size == UnboundedSize:
		case x.size == UnboundedSize || y.size == UnboundedSize:
			dims[i] = dim{max(x.size, y.size), x.dyn && y.dyn}
		default:
			dims[i].size = x.size
			dims[i].dyn = dims[i].dyn || x.dyn || y.dyn
		}
	}
	s := makeDims(typ, dims)
	if l := from.d.layout; l != nil {
		if tl := t.d.layout; tl != nil && tl.ElementSizeInBits != l.ElementSizeInBits {
			m := *l
			m.ElementSizeInBits = tl.ElementSizeInBits
			l = &m
		}
		s.d.layout = l
	}
	return s, nil
}

func convertShape(c *ShapeContext) (Shape, error) {
	to, err := c.stated()
	if err != nil {
		return Shape{}, err
	}
	x := c.Operands[0]
	if !x.IsArray() || !to.IsArray() {
		return Shape{}, c.operand(0, "ELT-17", "Convert does not allow non-arrays, so cannot convert from %v to %v", x, to)
	}
	return x.WithType(to.Type()), nil
}

// storageBits is the width that bitcast-convert counts with: pred takes a byte.
func storageBits(t PrimitiveType) int64 {
	if t == PRED {
		return 8
	}
	return int64(t.Bits())
}

func bitcastConvertShape(c *ShapeContext) (Shape, error) {
	to, err := c.stated()
	if err != nil {
		return Shape{}, err
	}
	x, t := c.Operands[0], to.Type()
	if !x.IsArray() || !to.IsArray() {
		return Shape{}, c.operand(0, "ELT-17", "Cannot bitcast-convert non-arrays: from %v to %v", x, to)
	}
	if x.Type().IsComplex() != t.IsComplex() {
		return Shape{}, c.operand(0, "ELT-17", "Conversion between complex and real type: %v to %v", x, to)
	}
	a, b := storageBits(x.Type()), storageBits(t)
	if max(a, b)%min(a, b) != 0 {
		return Shape{}, c.operand(0, "ELT-17", "Cannot bitcast-convert types with undivisible bit-widths: %v to %v", x.Type(), t)
	}
	switch dims := dimsOf(x); {
	case a > b:
		s := makeDims(t, append(dims, dim{size: a / b}))
		if l := x.d.layout; l != nil {
			m := *l
			m.MinorToMajor = append([]int64{int64(len(dims))}, l.MinorToMajor...)
			s.d.layout = &m
		}
		return s, nil
	case a < b:
		n := len(dims) - 1
		if n < 0 || !sizesAgree(dims[n].size, b/a) {
			return Shape{}, c.operand(0, "ELT-17", "Last dimension of input shape %v is not equal to ratio of bit-widths %d", x, b/a)
		}
		s := makeDims(t, dims[:n])
		if l := x.d.layout; l != nil {
			m := Layout{MemorySpace: l.MemorySpace}
			for _, axis := range l.MinorToMajor {
				if axis != int64(n) {
					m.MinorToMajor = append(m.MinorToMajor, axis)
				}
			}
			s.d.layout = &m
		}
		return s, nil
	}
	return x.WithType(t), nil
}

func stochasticConvertShape(c *ShapeContext) (Shape, error) {
	to, err := c.stated()
	if err != nil {
		return Shape{}, err
	}
	if err := c.arrays("ELT-17", "stochastic convert"); err != nil {
		return Shape{}, err
	}
	x, r := c.Operands[0], c.Operands[1]
	switch {
	case !r.Type().IsUnsigned():
		return Shape{}, c.operand(1, "ELT-17", "Random numbers for stochastic convert must be unsigned integers, but got %v", r)
	case !x.Type().IsFloat():
		return Shape{}, c.operand(0, "ELT-17", "Stochastic convert supports only floating point operand conversion, but got %v", x)
	case c.Defined && to.IsArray() && !to.Type().IsSigned():
		return Shape{}, c.operand(0, "HALO-DEFINED", "stochastic convert gives signed integers, not %v", to)
	case x.Type().Bits() != r.Type().Bits():
		return Shape{}, c.operand(1, "ELT-17", "The random number is required to have same bits as the operand. But got random bits: %d, operand bits: %d", r.Type().Bits(), x.Type().Bits())
	case !x.EqualExcept(r, IgnoreElementType):
		return Shape{}, c.operand(1, "ELT-17", "Stochastic convert operand shape %v does not match random tensor shape %v", x, r)
	case !to.IsArray():
		return Shape{}, c.errorf("ELT-17", "Stochastic convert to non-array %v", to)
	}
	return x.WithType(to.Type()), nil
}

func reducePrecisionShape(c *ShapeContext) (Shape, error) {
	a := attrsAs[ReducePrecisionAttrs](c)
	x := c.Operands[0]
	switch {
	case !x.IsArray() || !x.Type().IsFloat():
		return Shape{}, c.operand(0, "ELT-17", "Expected element type in shape to be floating point for reduce-precision operation; got %v", x)
	case a.ExponentBits < 1:
		return Shape{}, c.attr("exponent_bits", "ELT-17", "Expected exponent_bits >= 1; got %d", a.ExponentBits)
	case a.MantissaBits < 0:
		return Shape{}, c.attr("mantissa_bits", "ELT-17", "Expected non-negative mantissa_bits; got %d", a.MantissaBits)
	}
	return x, nil
}
