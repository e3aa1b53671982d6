package lower

import (
	"strings"

	"github.com/gohalo/halo/hlo"
)

// The form of a value is its shape with every asynchronous value in it, which HLO writes as a tuple of operands, outputs and context,
// replaced by a token: the event that the runtime knows it by. Events travel through tuples, loops, branches and calls as leaves
// without bytes. Most values have none, and their form is their shape.

// form is the shape that the leaves of in belong to.
func (f *function) form(in hlo.Instruction) hlo.Shape {
	if s, ok := f.forms[in.ID()]; ok {
		return s
	}
	return in.Shape()
}

// isAsync reports whether events are among the leaves of in.
func (f *function) isAsync(in hlo.Instruction) bool {
	_, ok := f.forms[in.ID()]
	return ok
}

// setForm notes the form of in, if it is not just the shape.
func (f *function) setForm(in hlo.Instruction, form hlo.Shape) {
	if hasEvents(form, in.Shape()) {
		f.forms[in.ID()] = form
	}
}

func hasEvents(form, shape hlo.Shape) bool {
	if !form.IsTuple() || !shape.IsTuple() {
		return form.IsToken() && shape.IsTuple()
	}
	for i := range form.NumElems() {
		if hasEvents(form.Elem(i), shape.Elem(i)) {
			return true
		}
	}
	return false
}

// forwardForm gives in, which has the leaves of its operands, their forms too.
func (f *function) forwardForm(in hlo.Instruction) {
	async := false
	for o := range in.Operands() {
		async = async || f.isAsync(o)
	}
	switch {
	case !async:
	case in.Opcode() == hlo.OpTuple:
		var parts []hlo.Shape
		for o := range in.Operands() {
			parts = append(parts, f.form(o))
		}
		f.forms[in.ID()] = hlo.MakeTuple(parts...)
	default:
		f.setForm(in, f.form(in.OperandInstr(0)))
	}
}

// operandForms lists the forms of the operands from one on, zero where it is the shape.
func (f *function) operandForms(in hlo.Instruction, from int) []hlo.Shape {
	forms := make([]hlo.Shape, in.NumOperands()-from)
	for i := range forms {
		forms[i] = f.forms[in.Operand(from+i)]
	}
	return forms
}

// rootForm is the form of what the computation returns.
func (f *function) rootForm() hlo.Shape { return f.form(f.comp.Root()) }

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

// sameForm reports whether two computations return events in the same places.
func sameForm(a, b hlo.Shape) bool {
	if a.IsTuple() != b.IsTuple() {
		return false
	}
	if a.IsTuple() {
		for i := range a.NumElems() {
			if !sameForm(a.Elem(i), b.Elem(i)) {
				return false
			}
		}
	}
	return true
}
