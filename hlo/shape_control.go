package hlo

// Shape rules of calls, control flow and tokens (shape-inference sections 11 and 13).

// parameterCount checks how many parameters a called computation takes.
func (c *ShapeContext) parameterCount(rule string, f ProgramShape, want int, role string) error {
	if len(f.Parameters) != want {
		return c.errorf(rule, "Expected %s called from %v to have %d parameters, has %d", role, c.Op, want, len(f.Parameters))
	}
	return nil
}

// passes checks that operand i fits parameter p of a called computation.
func (c *ShapeContext) passes(rule string, i int, p Shape, role string) error {
	if !c.Same(c.Operands[i], p, 0) {
		return c.operand(i, rule, "Operand %d of %v: shape does not match parameter's shape in %s: got %v, want %v", i, c.Op, role, c.Operands[i], p)
	}
	return nil
}

func (c *ShapeContext) mismatch(rule string, want Shape) error {
	return c.errorf(rule, "Expected instruction to have shape equal to %v, actual shape is %v", want, c.Stated)
}

func callShape(c *ShapeContext) (Shape, error) {
	f := c.Callees[0]
	if err := c.parameterCount("CALL-01", f, len(c.Operands), "to_apply"); err != nil {
		return Shape{}, err
	}
	for i, p := range f.Parameters {
		if err := c.passes("CALL-02", i, p, "to_apply"); err != nil {
			return Shape{}, err
		}
	}
	return f.Result, nil
}

func whileShape(c *ShapeContext) (Shape, error) {
	body, cond := c.Callees[0], c.Callees[1]
	if err := c.parameterCount("WHL-01", cond, 1, "condition"); err != nil {
		return Shape{}, err
	}
	if err := c.parameterCount("WHL-02", body, 1, "body"); err != nil {
		return Shape{}, err
	}
	if err := c.passes("WHL-04", 0, body.Parameters[0], "body"); err != nil {
		return Shape{}, err
	}
	if err := c.passes("WHL-04", 0, cond.Parameters[0], "condition"); err != nil {
		return Shape{}, err
	}
	if !isScalarOf(cond.Result, PRED) {
		return Shape{}, c.errorf("WHL-05", "The condition's result %v does not lead to a scalar predicate shape", cond.Result)
	}
	if c.Defined && !body.Result.EqualExcept(body.Parameters[0], Compatible|IgnoreFPPrecision) { // XLA compares each with another shape
		return Shape{}, c.errorf("HALO-DEFINED", "The body of while returns %v, it is given %v: it cannot take its own result", body.Result, body.Parameters[0])
	}
	if c.Stated.IsValid() {
		if !c.Same(c.Stated, body.Result, 0) {
			return Shape{}, c.mismatch("WHL-06", body.Result)
		}
	} else if !c.Same(c.Operands[0], body.Result, 0) {
		return Shape{}, c.errorf("WHL-06", "The body of while returns %v, it is given %v", body.Result, c.Operands[0])
	} else {
		return c.Operands[0], nil // with the layout of the initial value
	}
	return body.Result, nil
}

func conditionalShape(c *ShapeContext) (Shape, error) {
	p := c.Operands[0]
	n := len(c.Callees)
	switch {
	case !p.IsScalar():
		return Shape{}, c.operand(0, "CND-01", "The first operand of conditional must be a scalar, got %v", p)
	case p.Type() == PRED && n != 2:
		return Shape{}, c.errorf("CND-02", "A pred conditional needs two branches, it has %d", n)
	case p.Type() != PRED && p.Type() != S32:
		return Shape{}, c.operand(0, "CND-03", "The first operand of indexed conditional must be a scalar of S32, got %v", p)
	case n == 0:
		return Shape{}, c.errorf("CND-03", "A conditional needs at least one branch")
	case len(c.Operands) != n+1:
		return Shape{}, c.errorf("CND-04", "Expected %d operands for conditional, found %d", n+1, len(c.Operands))
	}
	for i, b := range c.Callees {
		if err := c.parameterCount("CND-05", b, 1, "branch"); err != nil {
			return Shape{}, err
		}
		if err := c.passes("CND-06", i+1, b.Parameters[0], "the branch"); err != nil {
			return Shape{}, err
		}
	}
	out := c.Callees[0].Result
	for _, b := range c.Callees {
		switch {
		case c.Stated.IsValid():
			if !c.Same(c.Stated, b.Result, 0) {
				return Shape{}, c.mismatch("CND-07", b.Result)
			}
		case !c.Same(out, b.Result, 0):
			return Shape{}, c.errorf("CND-07", "The branches of conditional return different shapes: %v and %v", out, b.Result)
		}
		out = orDynamic(out, b.Result)
	}
	return out, nil
}

// orDynamic marks the dimensions of s that are dynamic in t, a shape of the same tree.
func orDynamic(s, t Shape) Shape {
	if s.d == t.d || t.IsStatic() {
		return s
	}
	if s.IsTuple() {
		elems := s.Elems()
		for i := range elems {
			elems[i] = orDynamic(elems[i], t.Elem(i))
		}
		return MakeTuple(elems...)
	}
	for i := range s.Rank() {
		if t.IsDynamicDimension(i) {
			s = s.WithDynamicDimension(i, true)
		}
	}
	return s
}

func fusionShape(c *ShapeContext) (Shape, error) {
	out, err := c.stated()
	if err != nil {
		return Shape{}, err
	}
	f := c.Callees[0]
	if !c.Same(out, f.Result, 0) {
		return Shape{}, c.errorf("FUS-02", "Fused computation shape (%v) is not equal to the fusion shape (%v)", f.Result, out)
	}
	if len(f.Parameters) > len(c.Operands) {
		return Shape{}, c.errorf("FUS-03", "The number of fusion parameters (%d) is greater than the number of operands (%d)", len(f.Parameters), len(c.Operands))
	}
	for i, p := range f.Parameters {
		if !c.Same(p, c.Operands[i], 0) {
			return Shape{}, c.operand(i, "FUS-04", "Shape mismatch between parameter number %d and its operand: %v and %v", i, p, c.Operands[i])
		}
	}
	return out, nil
}

// token demands that operand i is a token.
func (c *ShapeContext) token(i int, rule string) error {
	if !c.Operands[i].IsToken() {
		return c.operand(i, rule, "Expected operand %d of %v to be token-shaped, actual shape is %v", i, c.Op, c.Operands[i])
	}
	return nil
}

func addDependencyShape(c *ShapeContext) (Shape, error) { return c.Operands[0], c.token(1, "TOK-05") }

func tokenResult(*ShapeContext) (Shape, error) { return MakeToken(), nil }

func deviceID(*ShapeContext) (Shape, error) { return MakeShape(U32), nil }

// written is element 0 of the stated tuple: the data that an op fetches from elsewhere.
func (c *ShapeContext) written() (Shape, error) {
	out, err := c.stated()
	if err != nil {
		return Shape{}, err
	}
	if !out.IsTuple() || out.NumElems() == 0 {
		return Shape{}, c.errorf("", "%v must have a non-empty tuple shape, got %v", c.Op, out)
	}
	return out.Elem(0), nil
}

func infeedShape(c *ShapeContext) (Shape, error) {
	data, err := c.written()
	if err != nil {
		return Shape{}, err
	}
	return MakeTuple(data, MakeToken()), c.token(0, "TOK-01")
}

func outfeedShape(c *ShapeContext) (Shape, error) {
	if err := c.token(1, "TOK-03"); err != nil {
		return Shape{}, err
	}
	if s := attrsAs[OutfeedAttrs](c).Shape; s.IsValid() && !c.Same(s, c.Operands[0], 0) {
		return Shape{}, c.attr("outfeed_shape", "TOK-04", "Expected outfeed shape to be equal to operand's shape %v, actual shape is %v", c.Operands[0], s)
	}
	return MakeToken(), nil
}

func sendShape(c *ShapeContext) (Shape, error) {
	return MakeTuple(c.Operands[0], MakeShape(U32), MakeToken()), nil
}

func recvShape(c *ShapeContext) (Shape, error) {
	data, err := c.written()
	if err != nil {
		return Shape{}, err
	}
	return MakeTuple(data, MakeShape(U32), MakeToken()), nil
}

func recvDoneShape(c *ShapeContext) (Shape, error) {
	x := c.Operands[0]
	if !x.IsTuple() || x.NumElems() == 0 {
		return Shape{}, c.operand(0, "PAIR-10", "Expected the operand of recv-done to be a tuple, got %v", x)
	}
	return MakeTuple(x.Elem(0), MakeToken()), nil
}
