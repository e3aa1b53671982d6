package lower

import (
	"errors"
	"strings"

	"github.com/gohalo/halo/hlo"
)

// The form of a value is its shape with every asynchronous value in it, which HLO writes as a tuple of operands, outputs and context,
// replaced by the event that the runtime knows it by: a token. Events travel through tuples, loops, branches and calls as leaves
// without bytes. Most values have none, and their form is their shape.
//
// A program may read the operands of an asynchronous value, or return it. Then the module is lowered with states: an event is followed by the
// operands that are bound, and its form is a tuple of one element, which is the tuple of the token and the operands' forms. What a chain computes
// can be had from its done only; before that, result and context are zeros.

// errStates says that a module must be lowered with states.
var errStates = errors.New("a part of an asynchronous value is read")

// eventShape is the shape of the register that carries a chain's event: it has no bytes.
var eventShape = hlo.MakeToken()

// stateForm is the form of an asynchronous value with operands of some forms bound.
func (l *lowering) stateForm(operands ...hlo.Shape) hlo.Shape {
	if !l.states {
		return eventShape
	}
	return hlo.MakeTuple(hlo.MakeTuple(append([]hlo.Shape{eventShape}, operands...)...))
}

// isState reports whether a value of some form and shape is an asynchronous value.
func isState(form, shape hlo.Shape) bool {
	return shape.IsTuple() && (form.IsToken() || form.IsTuple() && form.NumElems() == 1 && shape.NumElems() > 1)
}

// boundOf lists the forms of the operands that are bound in an asynchronous value.
func boundOf(state hlo.Shape) []hlo.Shape {
	if state.IsToken() {
		return nil
	}
	return state.Elem(0).Elems()[1:]
}

// fits reports whether a value of some shape can have a form.
func fits(form, shape hlo.Shape) bool {
	if isState(form, shape) {
		return true
	}
	if !form.IsTuple() || !shape.IsTuple() {
		return form.IsTuple() == shape.IsTuple()
	}
	if form.NumElems() != shape.NumElems() {
		return false
	}
	for i := range form.NumElems() {
		if !fits(form.Elem(i), shape.Elem(i)) {
			return false
		}
	}
	return true
}

// sameForm reports whether events are in the same places of two forms.
func sameForm(a, b hlo.Shape) bool {
	if a.IsTuple() != b.IsTuple() {
		return false
	}
	if a.IsTuple() {
		if a.NumElems() != b.NumElems() {
			return false
		}
		for i := range a.NumElems() {
			if !sameForm(a.Elem(i), b.Elem(i)) {
				return false
			}
		}
	}
	return true
}

// mergeForms is the form of a value that comes from one of two places: an event where both have one, else the parts in full.
func mergeForms(a, b, shape hlo.Shape) hlo.Shape {
	switch {
	case sameForm(a, b):
		return a
	case isState(a, shape) || isState(b, shape) || !shape.IsTuple():
		return shape
	}
	parts := make([]hlo.Shape, shape.NumElems())
	for i := range parts {
		parts[i] = mergeForms(a.Elem(i), b.Elem(i), shape.Elem(i))
	}
	return hlo.MakeTuple(parts...)
}

// forms are those of the values of a computation that have events among their leaves, and of its result.
type forms struct {
	of   map[hlo.InstrID]hlo.Shape
	root hlo.Shape
}

// formsKey is a computation with forms of its parameters.
type formsKey struct {
	comp hlo.CompID
	in   string
}

// formsOf finds the forms of a computation's values. params are those of its parameters; the zero shape, and none, stand for the plain shape.
func (l *lowering) formsOf(id hlo.CompID, params []hlo.Shape) *forms {
	key := formsKey{id, formKey(params)}
	if known := l.forms[key]; known != nil {
		return known
	}
	c := l.m.MustComputation(id)
	fs := &forms{root: c.Root().Shape()}
	if l.hasChains {
		fs.of = make(map[hlo.InstrID]hlo.Shape)
		for in := range c.PostOrder() {
			if form := l.formOf(fs, in, params); !sameForm(form, in.Shape()) {
				fs.of[in.ID()] = form
			}
		}
		fs.root = fs.form(c.Root())
	}
	l.forms[key] = fs
	return fs
}

// form is the shape that the leaves of in belong to.
func (fs *forms) form(in hlo.Instruction) hlo.Shape {
	if s, ok := fs.of[in.ID()]; ok {
		return s
	}
	return in.Shape()
}

// operands lists the forms of the operands from one on, the zero shape where it is the plain one.
func (fs *forms) operands(in hlo.Instruction, from int) []hlo.Shape {
	list := make([]hlo.Shape, max(0, in.NumOperands()-from))
	for i := range list {
		list[i] = fs.of[in.Operand(from+i)]
	}
	return list
}

// formOf is the form of one value, those of its operands being known.
func (l *lowering) formOf(fs *forms, in hlo.Instruction, params []hlo.Shape) hlo.Shape {
	//halo:allow opswitch what carries an asynchronous value is a list of its own
	switch op := in.Opcode(); {
	case op == hlo.OpParameter:
		if n := int(hlo.AttrsOf[hlo.ParameterAttrs](in).Number); n < len(params) && params[n] != (hlo.Shape{}) {
			return params[n]
		}
	case op == hlo.OpAsyncStart:
		return l.stateForm(fs.allOperands(in, 0)...)
	case op == hlo.OpAsyncUpdate && in.NumOperands() > 0:
		if before := fs.form(in.OperandInstr(0)); isState(before, in.OperandInstr(0).Shape()) {
			return l.stateForm(append(boundOf(before), fs.allOperands(in, 1)...)...)
		}
	case op == hlo.OpTuple:
		if whole, ok := hlo.TupledAgain(in); ok {
			return fs.form(whole)
		}
		return hlo.MakeTuple(fs.allOperands(in, 0)...)
	case op == hlo.OpGetTupleElement:
		tuple, i := in.OperandInstr(0), int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index)
		switch form := fs.form(tuple); {
		case !isState(form, tuple.Shape()):
			return form.Elem(i)
		case i == 0 && l.states:
			return hlo.MakeTuple(boundOf(form)...)
		}
	case op == hlo.OpCall:
		return l.formsOf(in.Callee(0), fs.operands(in, 0)).root
	case op == hlo.OpConditional:
		form, list := hlo.Shape{}, fs.operands(in, 1)
		for i := range in.NumCallees() {
			branch := l.formsOf(in.Callee(i), list[i:i+1]).root
			if i == 0 {
				form = branch
			}
			form = mergeForms(form, branch, in.Shape())
		}
		return form
	case op == hlo.OpWhile:
		// Each round has fewer events than the one before, so this ends.
		for form := fs.form(in.OperandInstr(0)); ; {
			next := mergeForms(form, l.formsOf(in.Callee(0), []hlo.Shape{form}).root, in.Shape())
			if sameForm(next, form) {
				return form
			}
			form = next
		}
	case in.NumOperands() > 0 && (hlo.Info(op).Traits.Has(hlo.TraitForwards) || hlo.ForwardsAsync(op, in.Attrs())):
		if form := fs.form(in.OperandInstr(0)); fits(form, in.Shape()) {
			return form
		}
	}
	return in.Shape()
}

func (fs *forms) allOperands(in hlo.Instruction, from int) []hlo.Shape {
	list := fs.operands(in, from)
	for i := range list {
		if list[i] == (hlo.Shape{}) {
			list[i] = in.OperandInstr(from + i).Shape()
		}
	}
	return list
}

// formKey distinguishes lists of forms.
func formKey(forms []hlo.Shape) string {
	var b strings.Builder
	for i, s := range forms {
		if s == (hlo.Shape{}) {
			continue
		}
		b.WriteString(strings.Repeat(",", i))
		b.Write(s.AppendText(nil, false))
	}
	return b.String()
}

// form is the shape that the leaves of in belong to.
func (f *function) form(in hlo.Instruction) hlo.Shape { return f.forms.form(in) }

// isAsync reports whether events are among the leaves of in.
func (f *function) isAsync(in hlo.Instruction) bool {
	_, ok := f.forms.of[in.ID()]
	return ok
}

// as is the leaves ids of a value of some form and shape in another form, in which some of its events are spelled out.
func (f *function) as(ids []valueID, form, to, shape hlo.Shape, in hlo.Instruction) (list []valueID, err error) {
	switch {
	case sameForm(form, to):
		return ids, nil
	case isState(form, shape) && !isState(to, shape):
		return f.spellOut(ids, form, to, shape, in)
	}
	for i := range form.NumElems() {
		own := form.Elem(i).NumLeaves()
		part, err := f.as(ids[:own:own], form.Elem(i), to.Elem(i), shape.Elem(i), in)
		if err != nil {
			return nil, err
		}
		list, ids = append(list, part...), ids[own:]
	}
	return list, nil
}

// spellOut is an asynchronous value as the tuple that HLO writes: its operands, and zeros in place of the rest.
func (f *function) spellOut(ids []valueID, form, to, shape hlo.Shape, in hlo.Instruction) ([]valueID, error) {
	if !f.l.states {
		return nil, errStates
	}
	list, err := f.as(ids[1:len(ids):len(ids)], hlo.MakeTuple(boundOf(form)...), to.Elem(0), shape.Elem(0), in)
	if err != nil {
		return nil, err
	}
	for i := 1; i < shape.NumElems(); i++ {
		list = append(list, f.zeros(shape.Elem(i), in)...)
	}
	return list, nil
}

// zeros is the leaves of a value of zeros.
func (f *function) zeros(shape hlo.Shape, in hlo.Instruction) (ids []valueID) {
	for _, leaf := range shape.Leaves {
		id := f.add(op{kernel: kernelConstant, loc: f.location(in)}, leaf)
		if leaf.IsArray() {
			f.values[id[0]].store = f.constStorage(make([]byte, leaf.BufferSize()))
		}
		ids = append(ids, id...)
	}
	return ids
}
