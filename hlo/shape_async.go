package hlo

// Shape rules of asynchronous pairs (verifier sections 6 and 7).

func copyStartShape(c *ShapeContext) (Shape, error) {
	x := c.Operands[0]
	return MakeTuple(x, x, MakeShape(U32)), nil
}

func copyDoneShape(c *ShapeContext) (Shape, error) {
	x := c.Operands[0]
	if !x.IsTuple() || x.NumElems() < 2 {
		return Shape{}, c.operand(0, "PAIR-08", "Expected the operand of copy-done to be a tuple of destination, source and context, got %v", x)
	}
	if !c.Same(x.Elem(0), x.Elem(1), IgnoreMemorySpace|IgnoreSplitConfigs) {
		return Shape{}, c.operand(0, "PAIR-08", "Source and destination buffers in CopyDone arguments need to be the same shape found %v and %v", x.Elem(0), x.Elem(1))
	}
	return x.Elem(0), nil
}

// AsyncValue takes the shape of an async-start or async-update apart: the parameters bound so far and the result, `()` while it is not
// bound. With flat set, an element 0 that is no tuple is the only parameter. False when s has not the form of such a shape.
func AsyncValue(s Shape, flat bool) (bound []Shape, result Shape, ok bool) {
	if !s.IsTuple() || s.NumElems() < 2 {
		return nil, Shape{}, false
	}
	first := s.d.elems[0]
	switch {
	case first.IsTuple():
		return first.d.elems, s.d.elems[1], true
	case flat:
		return s.d.elems[:1:1], s.d.elems[1], true
	}
	return nil, Shape{}, false
}

// isPrefix reports whether a says no more than the beginning of b.
func (c *ShapeContext) isPrefix(a, b Shape) bool {
	if a.IsTuple() && a.NumElems() == 0 || c.Same(a, b, 0) {
		return true
	}
	return a.IsTuple() && b.IsTuple() && c.arePrefix(a.d.elems, b.d.elems)
}

func (c *ShapeContext) arePrefix(a, b []Shape) bool {
	if len(a) > len(b) {
		return false
	}
	for i := range a {
		if !c.isPrefix(a[i], b[i]) {
			return false
		}
	}
	return true
}

// asyncForm takes the stated shape apart and holds it against the computation.
func (c *ShapeContext) asyncForm() (bound []Shape, result Shape, err error) {
	out, err := c.stated()
	if err != nil {
		return nil, Shape{}, err
	}
	bound, result, ok := AsyncValue(out, c.FlatAsync)
	if !ok {
		return nil, Shape{}, c.errorf("ASYNC-01", "%v expects the shape to be in the form of ((op0_shape, op1_shape, ...), output_shape, ...), got %v", c.Op, out)
	}
	if len(c.Callees) == 0 {
		return bound, result, nil
	}
	f := c.Callees[0]
	if !c.arePrefix(bound, f.Parameters) {
		return nil, Shape{}, c.errorf("ASYNC-02", "%v expects the async shape at index {0} to be a tuple with shapes that match the prefix of the async computation parameter shapes: got %v, want a prefix of %v",
			c.Op, MakeTuple(bound...), MakeTuple(f.Parameters...))
	}
	if !c.isPrefix(result, f.Result) {
		return nil, Shape{}, c.errorf("ASYNC-03", "%v expects the async shape at index {1} to be a tuple with shapes that match the prefix of the async computation result: got %v, want a prefix of %v",
			c.Op, result, f.Result)
	}
	return bound, result, nil
}

func asyncStartShape(c *ShapeContext) (Shape, error) {
	bound, _, err := c.asyncForm()
	if err != nil {
		return Shape{}, err
	}
	if len(bound) != len(c.Operands) {
		return Shape{}, c.errorf("ASYNC-06", "async-start expects %d operands, found %d", len(bound), len(c.Operands))
	}
	for i, x := range c.Operands {
		if !c.Same(x, bound[i], 0) {
			return Shape{}, c.operand(i, "ASYNC-07", "async-start expects the shape of operand %d to match the async shape at index {0, %d}: got %v, want %v", i, i, x, bound[i])
		}
	}
	return c.Stated, nil
}

func asyncUpdateShape(c *ShapeContext) (Shape, error) {
	bound, result, err := c.asyncForm()
	if err != nil {
		return Shape{}, err
	}
	before, resultBefore, ok := AsyncValue(c.Operands[0], c.FlatAsync)
	if !ok { // reported where the value is made
		return c.Stated, nil
	}
	if !c.arePrefix(before, bound) {
		return Shape{}, c.operand(0, "ASYNC-11", "async-update expects the parameter shape of operand to be a prefix of its own: got %v, want a prefix of %v", MakeTuple(before...), MakeTuple(bound...))
	}
	if !c.isPrefix(resultBefore, result) {
		return Shape{}, c.operand(0, "ASYNC-12", "async-update expects the result shape of operand to be a prefix of its own: got %v, want a prefix of %v", resultBefore, result)
	}
	fresh := c.Operands[1:]
	if len(fresh) != len(bound)-len(before) {
		return Shape{}, c.errorf("ASYNC-13", "async-update has %d new operands, but the shape indicates %d new bound parameters", len(fresh), len(bound)-len(before))
	}
	for i, x := range fresh {
		k := len(before) + i
		if !c.Same(x, bound[k], 0) {
			return Shape{}, c.operand(i+1, "ASYNC-14", "async-update expects the shape of operand %d to match the async shape at index {0, %d}: got %v, want %v", i+1, k, x, bound[k])
		}
	}
	return c.Stated, nil
}

func asyncDoneShape(c *ShapeContext) (Shape, error) {
	if len(c.Callees) == 0 {
		return c.stated()
	}
	f := c.Callees[0]
	if c.Stated.IsValid() && !c.Same(c.Stated, f.Result, 0) {
		return Shape{}, c.errorf("ASYNC-04", "async-done expects its shape to match the async computation result shape: got %v, want %v", c.Stated, f.Result)
	}
	if bound, _, ok := AsyncValue(c.Operands[0], c.FlatAsync); ok {
		if have, all := MakeTuple(bound...), MakeTuple(f.Parameters...); !have.Compatible(all) {
			return Shape{}, c.operand(0, "ASYNC-17", "async-done expects the operands of the previous async instruction to be fully bound: got %v, want %v", have, all)
		}
	}
	return f.Result, nil
}
