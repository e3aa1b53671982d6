package pass

import "github.com/gohalo/halo/hlo"

// Expr says what a rewrite puts in the place of an instruction: an instruction that is there already, or one to make, of further
// expressions. Making it is left to the [Rewriter], so a rule looks and never writes. An expression that is part of another one twice is made
// once.
type Expr struct {
	id       hlo.InstrID // of an existing instruction, if spec is nil
	shape    hlo.Shape
	spec     *hlo.InstrSpec
	operands []Expr
	makes    []*NewCallee
	settled  bool // right although operands differ in width
	instead  bool // of the first operand too, with its effects
}

// Use is an instruction that is there.
func Use(in hlo.Instruction) Expr { return Expr{id: in.ID(), shape: in.Shape()} }

// New is an instruction to make. Nil attributes are the op's defaults.
func New(op hlo.Opcode, shape hlo.Shape, attrs hlo.OpAttrs, operands ...Expr) Expr {
	if attrs == nil {
		if f := hlo.Info(op).NewAttrs; f != nil {
			attrs = f()
		}
	}
	return Expr{shape: shape, spec: &hlo.InstrSpec{Opcode: op, Shape: shape, Attrs: attrs}, operands: operands}
}

// Again is in with other operands: the same op, shape, attributes and callees.
func Again(in hlo.Instruction, operands ...Expr) Expr {
	e := New(in.Opcode(), in.Shape(), in.Attrs(), operands...)
	for id := range in.Callees() {
		e.spec.Callees = append(e.spec.Callees, id)
	}
	return e
}

// Constant is a constant to make.
func Constant(l *hlo.Literal) Expr {
	return New(hlo.OpConstant, l.Shape(), &hlo.ConstantAttrs{Literal: l})
}

// Fill is an array all of whose elements are the scalar l.
func Fill(shape hlo.Shape, l *hlo.Literal) Expr {
	if shape.Rank() == 0 {
		return Constant(l)
	}
	return New(hlo.OpBroadcast, shape, &hlo.BroadcastAttrs{}, Constant(l))
}

// Shape is the shape of the value.
func (e Expr) Shape() hlo.Shape { return e.shape }

// IsNew reports whether the value has to be made.
func (e Expr) IsNew() bool { return e.spec != nil }

// OfShape is the value with another statement of its shape: one that differs in layout only.
func (e Expr) ofShape(s hlo.Shape) Expr {
	spec := *e.spec
	spec.Shape = s
	e.shape, e.spec = s, &spec
	return e
}

// Settled marks a value that is right even where the operands of the instruction in whose place it comes differ in width.
func (e Expr) Settled() Expr {
	e.settled = true
	return e
}

// InsteadOfOperand marks a value that also does what the first operand of the replaced instruction does, which goes although it has effects. The
// instruction must be its only user, and no control dependency may hold it.
func (e Expr) InsteadOfOperand() Expr {
	e.instead = true
	return e
}

// Opcode is the opcode of a value that has to be made.
func (e Expr) Opcode() hlo.Opcode { return e.spec.Opcode }

// Calling is the value with computations that it calls.
func (e Expr) Calling(callees ...hlo.CompID) Expr {
	spec := *e.spec
	spec.Callees = callees
	e.spec = &spec
	return e
}

// NewCallee is a computation to make for an instruction to call. Those of one key, unless it is empty, are made once for each computation that
// is rewritten.
type NewCallee struct {
	Key  string
	Make func(e *hlo.Editor) hlo.CompID
}

// Making is the value with computations to make, and to call.
func (e Expr) Making(callees ...*NewCallee) Expr {
	e.makes = callees
	return e
}

// WithShape is the value with another statement of its shape, as ops need whose shape does not follow from their operands.
func (e Expr) WithShape(s hlo.Shape) Expr { return e.ofShape(s) }

// Operands lists the values that a value to make is computed from.
func (e Expr) Operands() []Expr { return e.operands }

// Attrs are the attributes of a value to make.
func (e Expr) Attrs() hlo.OpAttrs { return e.spec.Attrs }
