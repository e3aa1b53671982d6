package hlo

import (
	"fmt"
	"slices"
)

// ShapeRule computes the result shape of an instruction from its operands' shapes, its attributes and the signatures of what it calls,
// and checks what the op demands of them. Where inference cannot know the whole shape (convert, reshape, custom-call, ...), the stated
// shape in the context is checked and returned.
//
// Rules look at shapes and attributes only. Rules that need the graph around the instruction are the verifier's. A rule may be called with
// any operands and any attributes; it never panics.
type ShapeRule func(*ShapeContext) (Shape, error)

// ShapeContext is what a shape rule may look at. Slices are only read.
type ShapeContext struct {
	Op       Opcode
	Operands []Shape
	// Attrs are the op's own attributes, nil when they are not known.
	Attrs OpAttrs
	// Callees are the signatures of the called computations, in the order of the instruction. For an async-update or async-done
	// this is the computation that its chain runs, if it could be found.
	Callees []ProgramShape
	// Stated is the written result shape, or the zero Shape when there is none.
	Stated Shape
	// MixedPrecision lets floating operands differ in width.
	MixedPrecision bool
	// LayoutSensitive makes layouts and dynamic flags count wherever two shapes must be the same.
	LayoutSensitive bool
	// FlatAsync admits the older form of an async value, (operand, output, ...) without a tuple around its only operand.
	FlatAsync bool
	// Defined refuses what XLA's shape inference lets through although the op is not defined there (HALO-DEFINED).
	Defined bool
	// GroupSize is the number of devices in each replica group of a collective; 0 when it is not known.
	GroupSize int64
}

// ProgramShape is the signature of a computation.
type ProgramShape struct {
	Parameters []Shape
	Result     Shape
}

// Equal reports whether all shapes are equal, with layouts.
func (s ProgramShape) Equal(t ProgramShape) bool {
	return s.Result.Equal(t.Result) && slices.EqualFunc(s.Parameters, t.Parameters, Shape.Equal)
}

// ShapeError reports operands or attributes that an op does not accept.
type ShapeError struct {
	Op Opcode
	// Operand is the index of the operand at fault, -1 when it is not one operand; Attr names the attribute at fault, if any.
	Operand int
	Attr    AttrKey
	// Rule is the label of the constraint in the rule catalogue, "" when it has none of its own.
	Rule string
	Msg  string
}

func (e *ShapeError) Error() string { return e.Op.String() + ": " + e.Msg }

// InferShape applies the op's shape rule. Errors are of type *[ShapeError].
func InferShape(c *ShapeContext) (Shape, error) {
	info := Info(c.Op)
	if info.Shape == nil {
		return Shape{}, c.errorf("", "%v has no shape rule", c.Op)
	}
	if !info.Arity.Accepts(len(c.Operands)) {
		return Shape{}, c.errorf("GEN-02", "Expected %v operands for %v instruction, found %d", info.Arity, c.Op, len(c.Operands))
	}
	for i, s := range c.Operands {
		if !s.IsValid() {
			return Shape{}, c.operand(i, "GEN-09", "operand %d has no shape", i)
		}
	}
	if len(c.Callees) < minCallees(info) {
		return Shape{}, c.errorf("GEN-01", "%v must call %d computations, it calls %d", c.Op, minCallees(info), len(c.Callees))
	}
	return info.Shape(c)
}

func minCallees(info *OpInfo) int {
	n := 0
	for _, r := range info.Callees {
		if !r.Optional && !r.List {
			n++
		}
	}
	return n
}

// Same is the relation of two shapes that must be the same: with layouts equal except for what e leaves out, else compatible.
func (c *ShapeContext) Same(a, b Shape, e ShapeEq) bool {
	if c.LayoutSensitive {
		return a.EqualExcept(b, e)
	}
	return a.EqualExcept(b, e|Compatible)
}

func (c *ShapeContext) errorf(rule, format string, args ...any) error {
	return &ShapeError{Op: c.Op, Operand: -1, Rule: rule, Msg: c.sprintf(format, args)}
}

func (c *ShapeContext) operand(i int, rule, format string, args ...any) error {
	return &ShapeError{Op: c.Op, Operand: i, Rule: rule, Msg: c.sprintf(format, args)}
}

func (c *ShapeContext) attr(key AttrKey, rule, format string, args ...any) error {
	return &ShapeError{Op: c.Op, Operand: -1, Attr: key, Rule: rule, Msg: c.sprintf(format, args)}
}

func (c *ShapeContext) sprintf(format string, args []any) string {
	if !c.LayoutSensitive {
		args = WithoutLayouts(args)
	}
	return fmt.Sprintf(format, args...)
}

// WithoutLayouts prepares the arguments of a message about shapes: they are written without layouts, unless two of them differ in nothing
// else. A reader who sees no layouts in the text does not have to look past those that its reader added.
func WithoutLayouts(args []any) []any {
	var shapes []Shape
	for _, a := range args {
		if s, ok := a.(Shape); ok && s.IsValid() {
			for _, t := range shapes {
				if s.EqualExcept(t, IgnoreLayout) && !s.Equal(t) {
					return args
				}
			}
			shapes = append(shapes, s)
		}
	}
	if len(shapes) == 0 {
		return args
	}
	brief := make([]any, len(args))
	for i, a := range args {
		if s, ok := a.(Shape); ok && s.IsValid() {
			brief[i] = string(s.AppendText(nil, false))
		} else {
			brief[i] = a
		}
	}
	return brief
}

// undefined reports an operand on which the op is not defined.
func (c *ShapeContext) undefined(i int) error {
	return c.operand(i, "HALO-DEFINED", "%v is not defined on %v", c.Op, c.Operands[i])
}

// onIntegers is a shape rule of an op that is defined on integers alone.
func onIntegers(rule ShapeRule) ShapeRule {
	return func(c *ShapeContext) (Shape, error) {
		for i, x := range c.Operands {
			if c.Defined && x.IsArray() && !x.Type().IsInteger() {
				return Shape{}, c.undefined(i)
			}
		}
		return rule(c)
	}
}

// onOrdered is a shape rule of an op that compares its operands' elements, which complex numbers do not let be done.
func onOrdered(rule ShapeRule) ShapeRule {
	return func(c *ShapeContext) (Shape, error) {
		for i, x := range c.Operands {
			if c.Defined && x.IsArray() && x.Type().IsComplex() {
				return Shape{}, c.undefined(i)
			}
		}
		return rule(c)
	}
}

// array demands that operand i is an array.
func (c *ShapeContext) array(i int, rule, where string) error {
	if !c.Operands[i].IsArray() {
		return c.operand(i, rule, "Expected array argument for %s, got %v", where, c.Operands[i])
	}
	return nil
}

// arrays demands that all operands are arrays.
func (c *ShapeContext) arrays(rule, where string) error {
	for i := range c.Operands {
		if err := c.array(i, rule, where); err != nil {
			return err
		}
	}
	return nil
}

// stated demands a written result shape.
func (c *ShapeContext) stated() (Shape, error) {
	if !c.Stated.IsValid() {
		return Shape{}, c.errorf("", "cannot infer shape for opcode: %v", c.Op)
	}
	return c.Stated, nil
}

// attrsAs returns the attributes as *T, or the op's defaults when the context has none of that type.
func attrsAs[T any](c *ShapeContext) *T {
	if a, ok := any(c.Attrs).(*T); ok && a != nil {
		return a
	}
	if mk := Info(c.Op).NewAttrs; mk != nil {
		if a, ok := any(mk()).(*T); ok {
			return a
		}
	}
	return new(T)
}

// higher is the type that inference chooses of two.
func (c *ShapeContext) higher(rule string, a, b PrimitiveType) (PrimitiveType, error) {
	t, err := HigherPrecision(a, b)
	if err != nil {
		return InvalidType, c.errorf(rule, "%v", err)
	}
	return t, nil
}

// sizesAgree is equality of sizes in which `?` agrees with any.
func sizesAgree(a, b int64) bool { return a == b || a == UnboundedSize || b == UnboundedSize }

// dim is axis i of an array under construction.
type dim struct {
	size int64
	dyn  bool
}

func dimOf(s Shape, i int) dim { return dim{s.d.dims[i], s.IsDynamicDimension(i)} }

// makeDims makes an array shape without layout.
func makeDims(t PrimitiveType, dims []dim) Shape {
	sizes := make([]int64, len(dims))
	var dyn []bool
	for i, d := range dims {
		sizes[i] = d.size
		if d.dyn || d.size == UnboundedSize {
			if dyn == nil {
				dyn = make([]bool, len(dims))
			}
			dyn[i] = true
		}
	}
	return Shape{&shapeData{typ: t, dims: sizes, dyn: dyn}}
}

func dimsOf(s Shape) []dim {
	dims := make([]dim, s.Rank())
	for i := range dims {
		dims[i] = dimOf(s, i)
	}
	return dims
}

// inRange reports whether v is an axis below rank.
func inRange(v int64, rank int) bool { return v >= 0 && v < int64(rank) }

// sameDims compares ranks and sizes alone.
func sameDims(a, b Shape) bool { return a.EqualExcept(b, Compatible|IgnoreElementType) }
