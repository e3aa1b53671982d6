package hlo

import "fmt"

// ShapeRule computes the result shape of an instruction from its operands' shapes, its attributes and its callees, and checks what
// the op demands of them. Where inference cannot know the whole shape (convert, reshape, custom-call, ...), the stated shape in the
// context is checked and returned.
type ShapeRule func(*ShapeContext) (Shape, error)

// ShapeContext is what a shape rule may look at.
type ShapeContext struct {
	Op       Opcode
	Operands []Shape
	Attrs    OpAttrs
	// Callees are the signatures of the called computations, in the order of the instruction.
	Callees []ProgramShape
	// Stated is the written result shape, or the zero Shape when there is none.
	Stated Shape
	// MixedPrecision lets floating operands differ in width.
	MixedPrecision bool
	// Custom carries facts for rules that need more than shapes (async chains); see its users.
	Instruction Instruction
}

// ProgramShape is the signature of a computation.
type ProgramShape struct {
	Parameters []Shape
	Result     Shape
}

// ShapeError reports operands or attributes that an op does not accept.
type ShapeError struct {
	Op Opcode
	// Operand is the index of the operand at fault, -1 when it is not one operand; Attr names the attribute at fault, if any.
	Operand int
	Attr    AttrKey
	// Rule is the label of the constraint in the rule catalogue, "" when it has none.
	Rule string
	Msg  string
}

func (e *ShapeError) Error() string { return fmt.Sprintf("%v: %s", e.Op, e.Msg) }

// InferShape applies the row's shape rule.
func InferShape(c *ShapeContext) (Shape, error) {
	rule := Info(c.Op).Shape
	if rule == nil {
		return Shape{}, &ShapeError{Op: c.Op, Operand: -1, Msg: "has no shape rule"}
	}
	return rule(c)
}
