package hlo

// InferForText is the shape of an instruction whose text leaves it out (hlo-text section 5.4): what [InferShape] says, where the op may do
// without a written shape, with layouts. An array that is not handed on from an operand gets the default one.
func InferForText(c *ShapeContext) (Shape, error) {
	if !Info(c.Op).CanInfer {
		return Shape{}, c.errorf("", "cannot infer shape for opcode: %v", c.Op)
	}
	s, err := InferShape(c)
	if err != nil {
		return Shape{}, err
	}
	return s.WithDefaultLayout(), nil
}
