package hlo

import (
	"errors"
	"fmt"
)

// Builder makes a module from Go, with shapes inferred. It builds one computation; [Builder.Computation] gives builders for others of the
// same module, which must be complete before they are called.
//
//	b := hlo.NewBuilder("step")
//	x := b.Parameter("x", hlo.MakeShape(hlo.F32, 4, 8))
//	m, err := b.Build(b.Multiply(x, x))
//
// A mistake does not stop the program: the first one is kept and returned by Build, and what is built on it is ignored. Arrays without
// a layout get the default one. A Builder belongs to one goroutine.
type Builder struct {
	s    *compBuild
	next instrExtras // of the next instruction
}

// compBuild is a computation under construction.
type compBuild struct {
	m      *moduleBuild
	cb     *ComputationBuilder
	name   string
	params int64
	done   bool
}

// moduleBuild is what all builders of a module share.
type moduleBuild struct {
	ed  *Editor
	err error
}

// instrExtras is what an instruction has besides op, shape, operands and attributes.
type instrExtras struct {
	name    string
	common  *Common
	control []InstrID
}

// Value is the result of an instruction under construction. The zero Value is none, and so is what a mistake gives.
type Value struct {
	s  *compBuild
	id InstrID
}

// NewBuilder starts a module, and its entry computation, of the given name.
func NewBuilder(name string) *Builder {
	m := &moduleBuild{ed: NewModule(name)}
	return m.computation(name)
}

func (m *moduleBuild) computation(name string) *Builder {
	return &Builder{s: &compBuild{m: m, cb: m.ed.NewComputation(name), name: name}}
}

// Editor is the session that the module is built in: for its configuration, for instance.
func (b *Builder) Editor() *Editor { return b.s.m.ed }

// Computation makes a computation of the module: f builds it and returns its root. NoComp after a mistake.
func (b *Builder) Computation(name string, f func(b *Builder) Value) CompID {
	c := b.s.m.computation(name)
	return c.finish(f(c))
}

// Builder starts a computation of the session; [Builder.Finish] completes it.
func (e *Editor) Builder(name string) *Builder {
	e.check()
	return (&moduleBuild{ed: e}).computation(name)
}

// Finish completes a computation that [Editor.Builder] or [Builder.Sibling] started. After a mistake it returns the first one.
func (b *Builder) Finish(root Value) (CompID, error) {
	id := b.finish(root)
	return id, b.s.m.err
}

// Sibling starts another computation of the same module. It must be complete before it is called.
func (b *Builder) Sibling(name string) *Builder { return b.s.m.computation(name) }

func (b *Builder) finish(root Value) CompID {
	s := b.s
	switch {
	case s.m.err != nil:
		return NoComp
	case s.done:
		b.fail(errors.New("the computation is complete already"))
		return NoComp
	case root.s != s:
		b.fail(errors.New("the root is not a value of the computation"))
		return NoComp
	}
	s.done = true
	return s.cb.Finish(root.id)
}

// Build completes the entry computation with root as its result and returns the module. After a mistake it returns the first one.
func (b *Builder) Build(root Value) (Module, error) {
	entry := b.finish(root)
	ed := b.s.m.ed
	if err := b.s.m.err; err != nil {
		return Module{}, err
	}
	ed.SetEntry(entry)
	cfg := *ed.Config()
	if cfg.EntryLayout == nil {
		s := ed.View(entry).Signature()
		cfg.EntryLayout = &s
		ed.SetConfig(&cfg)
	}
	return ed.Freeze(), nil
}

// Err is the first mistake so far.
func (b *Builder) Err() error { return b.s.m.err }

func (b *Builder) fail(err error) Value {
	if b.s.m.err == nil {
		b.s.m.err = fmt.Errorf("building %%%s: %w", b.s.name, err)
	}
	return Value{}
}

// As names the next instruction: b.As("logits").Dot(...). Without it, instructions are called after their opcodes.
func (b *Builder) As(name string) *Builder {
	c := *b
	c.next.name = name
	return &c
}

// With gives the next instruction common attributes.
func (b *Builder) With(common *Common) *Builder {
	c := *b
	c.next.common = common
	return &c
}

// After gives the next instruction control predecessors.
func (b *Builder) After(values ...Value) *Builder {
	c := *b
	for _, v := range values {
		if v.s != b.s {
			b.fail(errors.New("a control predecessor is not a value of the computation"))
			continue
		}
		c.next.control = append(c.next.control[:len(c.next.control):len(c.next.control)], v.id)
	}
	return &c
}

// Shape is the shape of a value, the zero Shape of none.
func (v Value) Shape() Shape {
	if v.s == nil || v.s.done {
		return Shape{}
	}
	return v.s.cb.Shape(v.id)
}

// OpSpec is an instruction to build.
type OpSpec struct {
	Opcode   Opcode
	Shape    Shape // the zero Shape: inferred
	Attrs    OpAttrs
	Operands []Value
	Callees  []CompID // in the order of the op table
}

// Op builds an instruction whose shape is inferred; nil attrs are the op's defaults.
func (b *Builder) Op(op Opcode, attrs OpAttrs, operands ...Value) Value {
	return b.Emit(OpSpec{Opcode: op, Attrs: attrs, Operands: operands})
}

// OpOf is Op for ops whose shape must be stated, such as convert and custom-call.
func (b *Builder) OpOf(op Opcode, shape Shape, attrs OpAttrs, operands ...Value) Value {
	return b.Emit(OpSpec{Opcode: op, Shape: shape, Attrs: attrs, Operands: operands})
}

// Emit builds an instruction. The shape rule of the op is applied: what it refuses is a mistake, and so is a stated shape that is not
// compatible with the inferred one.
func (b *Builder) Emit(spec OpSpec) Value {
	s := b.s
	if s.m.err != nil {
		return Value{}
	}
	if s.done {
		return b.fail(fmt.Errorf("%v in a computation that is complete", spec.Opcode))
	}
	if !spec.Opcode.IsValid() {
		return b.fail(fmt.Errorf("opcode %v", spec.Opcode))
	}
	c := ShapeContext{Op: spec.Opcode, Attrs: spec.Attrs, Stated: spec.Shape.WithDefaultLayout(), MixedPrecision: true, FlatAsync: true}
	if c.Attrs == nil {
		c.Attrs = defaultAttrs(spec.Opcode)
	}
	ids := make([]InstrID, len(spec.Operands))
	for i, v := range spec.Operands {
		if v.s != s {
			return b.fail(fmt.Errorf("operand %d of %v is not a value of the computation", i, spec.Opcode))
		}
		ids[i] = v.id
		c.Operands = append(c.Operands, s.cb.Shape(v.id))
	}
	for i, id := range spec.Callees {
		if !s.m.ed.Has(id) {
			return b.fail(fmt.Errorf("computation %d that %v calls does not exist", i, spec.Opcode))
		}
		c.Callees = append(c.Callees, s.m.ed.View(id).Signature())
	}
	shape, err := InferShape(&c)
	if err != nil {
		return b.fail(err)
	}
	if c.Stated.IsValid() {
		if !shape.EqualExcept(c.Stated, Compatible|IgnoreFPPrecision) {
			return b.fail(&ShapeError{Op: c.Op, Operand: -1, Rule: "GEN-06", Msg: fmt.Sprintf("stated shape %v, inferred %v", c.Stated, shape)})
		}
		shape = c.Stated
	}
	callees := spec.Callees
	switch spec.Opcode {
	case OpAsyncUpdate, OpAsyncDone: // the chain knows
		callees = nil
	}
	return Value{s, s.cb.Append(InstrSpec{
		Opcode: spec.Opcode, Name: b.next.name, Shape: shape.WithDefaultLayout(), Operands: ids, Attrs: c.Attrs, Common: b.next.common,
		Callees: callees, Control: b.next.control,
	})}
}
