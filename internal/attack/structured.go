//go:build unix

package attack

import (
	"bytes"
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Module changes one or two things of a module and lets the shapes of all that depends on them follow, so that the mutant often verifies:
// attributes, operands, opcodes, constants, sizes, element types, layouts, and what is between two instructions. A module in which
// nothing can be changed comes back as it was.
func Module(rng *rand.Rand, m hlo.Module) hlo.Module {
	s := &structured{rng: rng, e: m.Edit()}
	for done, tries := 0, 0; done < 1+s.rng.IntN(2) && tries < 12; tries++ {
		if changes[s.rng.IntN(len(changes))](s) {
			done++
		}
	}
	config := *s.e.Config()
	config.EntryLayout = nil // it follows the parameters
	s.e.SetConfig(&config)
	for range 3 {
		if !s.repair() {
			break
		}
	}
	return s.e.Freeze()
}

// structured changes one module.
type structured struct {
	rng *rand.Rand
	e   *hlo.Editor
}

// changes are the kinds of change; each reports whether it did something.
var changes = []func(*structured) bool{
	(*structured).attribute, (*structured).attribute, (*structured).attribute, (*structured).attribute,
	(*structured).operand, (*structured).operand, (*structured).opcode, (*structured).opcode,
	(*structured).constant, (*structured).size, (*structured).size, (*structured).element, (*structured).shape, (*structured).layout,
	(*structured).insert, (*structured).exchange,
}

// any is a random instruction, in a module that has one.
func (s *structured) any() (hlo.CompEdit, hlo.Instruction) {
	comps := slices.Collect(s.e.Computations())
	id := comps[s.rng.IntN(len(comps))]
	if s.rng.IntN(2) == 0 {
		id = s.e.Entry() // most of the program
	}
	all := slices.Collect(s.e.View(id).Instructions())
	return s.e.Computation(id), all[s.rng.IntN(len(all))]
}

// operand gives an instruction another operand of those before it, mostly one of the same shape.
func (s *structured) operand() bool {
	c, in := s.any()
	if in.NumOperands() == 0 {
		return false
	}
	n, want := s.rng.IntN(in.NumOperands()), s.rng.IntN(8)
	old := in.OperandInstr(n)
	var others []hlo.InstrID
	for other := range s.e.View(c.ID()).PostOrder() {
		if other.ID() == in.ID() {
			break
		}
		a, b := other.Shape(), old.Shape()
		same := a.Equal(b) || want == 0 || want < 3 && a.IsArray() && b.IsArray() && slices.Equal(a.Dimensions(), b.Dimensions())
		if same && other.ID() != old.ID() {
			others = append(others, other.ID())
		}
	}
	if len(others) == 0 {
		return false
	}
	c.Edit(in).SetOperand(n, others[s.rng.IntN(len(others))])
	return true
}

// opcode makes an instruction another op that takes as many operands and the same attributes.
func (s *structured) opcode() bool {
	c, in := s.any()
	info := hlo.Info(in.Opcode())
	var others []hlo.Opcode
	for op := hlo.Opcode(1); int(op) < hlo.NumOpcodes; op++ {
		if o := hlo.Info(op); op != in.Opcode() && o.Arity == info.Arity && attrsType(o) == attrsType(info) && slices.Equal(o.Callees, info.Callees) && o.Name != "" {
			others = append(others, op)
		}
	}
	if len(others) == 0 || in.NumOperands() == 0 {
		return false
	}
	c.Edit(in).SetOpcode(others[s.rng.IntN(len(others))])
	return true
}

func attrsType(o *hlo.OpInfo) reflect.Type {
	if o.NewAttrs == nil {
		return nil
	}
	return reflect.TypeOf(o.NewAttrs())
}

// constant changes bytes of a constant.
func (s *structured) constant() bool {
	c, in := s.any()
	l := in.Literal()
	if l == nil || !l.Shape().IsArray() || len(l.Bytes()) == 0 {
		return false
	}
	data := bytes.Clone(l.Bytes())
	for range 1 + s.rng.IntN(4) {
		data[s.rng.IntN(len(data))] = interesting[s.rng.IntN(len(interesting))]
	}
	other, err := hlo.NewLiteral(l.Shape(), data)
	if err != nil {
		return false
	}
	c.Edit(in).SetAttrs(&hlo.ConstantAttrs{Literal: other})
	return true
}

// size gives all axes of one size in the module another one, and half of the time also the numbers in attributes that equal it.
func (s *structured) size() bool {
	_, in := s.any()
	if !in.Shape().IsArray() || in.Shape().Rank() == 0 {
		return false
	}
	from := in.Shape().Dim(s.rng.IntN(in.Shape().Rank()))
	to := []int64{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, from + 1, max(from-1, 0)}[s.rng.IntN(16)]
	attributes := s.rng.IntN(2) == 0
	if from == to {
		return false
	}
	s.all(func(shape hlo.Shape) hlo.Shape {
		dims := slices.Clone(shape.Dimensions())
		for i := range dims {
			if dims[i] == from {
				dims[i] = to
			}
		}
		return likeShape(shape, shape.Type(), dims)
	}, func(v reflect.Value) {
		if attributes && v.Kind() == reflect.Int64 && v.Int() == from {
			v.SetInt(to)
		}
	})
	return true
}

// element gives all arrays of one element type in the module another one.
func (s *structured) element() bool {
	_, in := s.any()
	if !in.Shape().IsArray() {
		return false
	}
	from := in.Shape().Type()
	to := elementTypes[s.rng.IntN(len(elementTypes))]
	if from == to {
		return false
	}
	s.all(func(shape hlo.Shape) hlo.Shape {
		if shape.Type() != from {
			return shape
		}
		return likeShape(shape, to, shape.Dimensions())
	}, func(reflect.Value) {})
	return true
}

var elementTypes = []hlo.PrimitiveType{
	hlo.PRED, hlo.S4, hlo.U4, hlo.S8, hlo.U8, hlo.S16, hlo.U16, hlo.S32, hlo.U32, hlo.S64, hlo.U64, hlo.F16, hlo.BF16, hlo.F32, hlo.F64, hlo.C64, hlo.C128, hlo.F8E5M2, hlo.F8E4M3FN,
}

// all changes the arrays and the attributes of all instructions.
func (s *structured) all(shape func(hlo.Shape) hlo.Shape, attr func(reflect.Value)) {
	of := func(whole hlo.Shape) hlo.Shape {
		return whole.Map(func(leaf hlo.Shape) hlo.Shape {
			if !leaf.IsArray() || !leaf.IsStatic() {
				return leaf
			}
			return shape(leaf)
		})
	}
	for id := range s.e.Computations() {
		c := s.e.Computation(id)
		for _, i := range ids(c.View().Instructions()) {
			in := c.At(i)
			edit, to, l, v, op := c.Edit(in), of(in.Shape()), in.Literal(), reflect.ValueOf(in.Attrs()), in.Opcode()
			edit.SetShape(to) // from here on, in is out of date
			if l != nil {
				s.refill(edit, l, to)
				continue
			}
			if v.Kind() != reflect.Pointer || v.IsNil() || op == hlo.OpParameter {
				continue
			}
			clone := deepCopy(v)
			var slots []reflect.Value
			collect(clone.Elem(), &slots)
			for _, slot := range slots {
				attr(slot)
			}
			edit.SetAttrs(clone.Interface().(hlo.OpAttrs))
		}
	}
}

// ids are the ids of instructions. A view of a computation ends with the next edit; they do not.
func ids(of iter.Seq[hlo.Instruction]) (all []hlo.InstrID) {
	for in := range of {
		all = append(all, in.ID())
	}
	return all
}

// refill makes a constant of another shape with the bytes of the old one, over and over.
func (s *structured) refill(edit hlo.InstrEdit, l *hlo.Literal, to hlo.Shape) {
	if !to.IsArray() || !l.Shape().IsArray() || to.ByteSize() > maxBytes {
		return
	}
	data := make([]byte, to.ByteSize())
	for i := range data {
		if old := l.Bytes(); len(old) > 0 {
			data[i] = old[i%len(old)]
		}
		if to.Type() == hlo.PRED {
			data[i] &= 1
		}
	}
	if other, err := hlo.NewLiteral(to, data); err == nil {
		edit.SetAttrs(&hlo.ConstantAttrs{Literal: other})
	}
}

// shape gives one instruction another size or element type; it stays only where it is not computed from the operands.
func (s *structured) shape() bool {
	c, in := s.any()
	shape := in.Shape()
	if !shape.IsArray() || !shape.IsStatic() {
		return false
	}
	t, dims := shape.Type(), slices.Clone(shape.Dimensions())
	switch k := s.rng.IntN(4); {
	case k == 0:
		t = elementTypes[s.rng.IntN(len(elementTypes))]
	case k == 1 && len(dims) > 1:
		i, j := s.rng.IntN(len(dims)), s.rng.IntN(len(dims))
		dims[i], dims[j] = dims[j], dims[i]
	case len(dims) > 0:
		i := s.rng.IntN(len(dims))
		dims[i] = max(0, s.near(dims[i]))
	default:
		return false
	}
	to, l, edit := likeShape(shape, t, dims), in.Literal(), c.Edit(in)
	edit.SetShape(to)
	if l != nil {
		s.refill(edit, l, to)
	}
	return true
}

// layout permutes the axes of an array in memory.
func (s *structured) layout() bool {
	c, in := s.any()
	shape := in.Shape()
	if !shape.IsArray() || shape.Rank() < 2 || in.Literal() != nil {
		return false
	}
	order := make([]int64, shape.Rank())
	for i, axis := range s.rng.Perm(shape.Rank()) {
		order[i] = int64(axis)
	}
	c.Edit(in).SetShape(shape.WithLayout(&hlo.Layout{MinorToMajor: order}))
	return true
}

// insert computes something elementwise between an instruction and one of its operands.
func (s *structured) insert() bool {
	c, in := s.any()
	if in.NumOperands() == 0 || c.View().IsScheduled() {
		return false
	}
	n := s.rng.IntN(in.NumOperands())
	x := in.OperandInstr(n)
	if !x.Shape().IsArray() {
		return false
	}
	var ops []hlo.Opcode
	for op := hlo.Opcode(1); int(op) < hlo.NumOpcodes; op++ {
		if o := hlo.Info(op); o.Traits.Has(hlo.TraitElementwise) && o.NewAttrs == nil && len(o.Callees) == 0 && o.Arity.IsFixed() && o.Arity.Min > 0 {
			ops = append(ops, op)
		}
	}
	op := ops[s.rng.IntN(len(ops))]
	operands := make([]hlo.InstrID, hlo.Info(op).Arity.Min)
	for i := range operands {
		operands[i] = x.ID()
	}
	user := in.ID()
	c.Instr(user).SetOperand(n, c.Add(op, x.Shape(), operands...).ID())
	return true
}

// exchange exchanges two operands.
func (s *structured) exchange() bool {
	c, in := s.any()
	if in.NumOperands() < 2 {
		return false
	}
	i, j := s.rng.IntN(in.NumOperands()), s.rng.IntN(in.NumOperands())
	a, b := in.Operand(i), in.Operand(j)
	c.Edit(in).SetOperand(i, b).SetOperand(j, a)
	return a != b
}

// likeShape is a static array shape with the layout of another, if it can have that.
func likeShape(old hlo.Shape, t hlo.PrimitiveType, dims []int64) hlo.Shape {
	s := hlo.MakeShape(t, dims...)
	if l, ok := old.Layout(); ok && len(dims) == old.Rank() && t.Bits() >= 8 {
		return s.WithLayout(l)
	}
	return s.WithDefaultLayout()
}

// repair lets the shapes of instructions follow from their operands, and those of parameters from the calls; it reports whether one changed.
func (s *structured) repair() (changed bool) {
	set := func(c hlo.CompEdit, in hlo.InstrID, to hlo.Shape) {
		if from := c.At(in).Shape(); !from.EqualIgnoringLayout(to) {
			c.Instr(in).SetShape(to.WithDefaultLayout())
			changed = true
		}
	}
	for id := range s.e.Computations() {
		c := s.e.Computation(id)
		for _, i := range ids(c.View().PostOrder()) {
			in := c.At(i)
			context := hlo.ShapeContext{Op: in.Opcode(), Attrs: in.Attrs(), Stated: in.Shape(), MixedPrecision: true}
			for x := range in.OperandIDs() {
				context.Operands = append(context.Operands, c.At(x).Shape())
			}
			for f := range in.Callees() {
				context.Callees = append(context.Callees, s.e.View(f).Signature())
			}
			if hlo.Info(context.Op).Traits.Has(hlo.TraitControl) || context.Op == hlo.OpFusion {
				s.parameters(slices.Collect(in.Callees()), context.Operands, set)
			}
			if context.Op == hlo.OpParameter {
				continue
			}
			if to, err := hlo.InferShape(&context); err == nil {
				set(c, i, to)
			}
		}
	}
	return changed
}

// parameters gives the parameters of what an instruction calls the shapes of its operands.
func (s *structured) parameters(callees []hlo.CompID, operands []hlo.Shape, set func(hlo.CompEdit, hlo.InstrID, hlo.Shape)) {
	for branch, f := range callees {
		callee := s.e.Computation(f)
		params := callee.View().Parameters()
		switch {
		case len(params) == len(operands):
			for i, p := range params {
				set(callee, p, operands[i])
			}
		case len(params) == 1 && branch+1 < len(operands): // of a conditional
			set(callee, params[0], operands[branch+1])
		}
	}
}
