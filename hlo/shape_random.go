package hlo

// Shape rules of random numbers (verifier section 5.8).

func rngShape(c *ShapeContext) (Shape, error) {
	out, err := c.stated()
	if err != nil {
		return Shape{}, err
	}
	if len(c.Operands) != 2 {
		return Shape{}, c.errorf("RNG-01", "Expected 2 operands for rng, got %d", len(c.Operands))
	}
	a, b := c.Operands[0], c.Operands[1]
	t := a.Type()
	switch {
	case !a.IsScalar() || !b.IsScalar():
		return Shape{}, c.errorf("RNG-02", "Expected scalar types for the two operands of Rng instruction, got %v and %v", a, b)
	case t != b.Type() || !out.IsArray() || t != out.Type() && !(c.MixedPrecision && SameTypeLenient(t, out.Type())):
		return Shape{}, c.errorf("RNG-03", "Expected compatible element types for the result and the two operands of Rng instruction: %v, %v and %v", out, a, b)
	}
	switch attrsAs[RngAttrs](c).Distribution {
	case RngUniform:
		if !t.IsFloat() && !t.IsInteger() && t != PRED {
			return Shape{}, c.errorf("RNG-04", "Element type not supported. Expected element to be of floating point type, integral type or predicate type for RngUniform: %v", t)
		}
	case RngNormal:
		if !t.IsFloat() {
			return Shape{}, c.errorf("RNG-05", "Element type not supported. Expected element to be FloatingPointType for RngNormal: %v", t)
		}
	default:
		return Shape{}, c.attr("distribution", "RNG-06", "Invalid Rng distribution")
	}
	return out, nil
}

func rngBitGeneratorShape(c *ShapeContext) (Shape, error) {
	out, err := c.stated()
	if err != nil {
		return Shape{}, err
	}
	if !out.IsTuple() {
		return out, nil
	}
	if out.NumElems() != 2 {
		return Shape{}, c.errorf("RNG-07", "Expected tuple shape with 2 elements for RngBitGenerator. Got: %v", out)
	}
	if !out.Elem(0).Compatible(c.Operands[0]) {
		return Shape{}, c.operand(0, "RNG-08", "Expected state shape to match between input and output for RngBitGenerator. Got %v vs. %v", out.Elem(0), c.Operands[0])
	}
	return out, nil
}

func rngStateShape(c *ShapeContext) (Shape, error) {
	want := MakeShape(U64, 2)
	if c.Stated.IsValid() && !c.Stated.Compatible(want) {
		return Shape{}, c.errorf("RNG-09", "Invalid RngGetAndUpdateState, expect result to have shape %v, got %v", want, c.Stated)
	}
	return want, nil
}
