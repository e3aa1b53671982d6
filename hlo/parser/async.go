package parser

import (
	"reflect"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Sugared asynchronous ops (hlo-text section 7). `OP-start` makes a computation around OP. Later steps of its chain may still change
// it, so it is kept as a wrappedComputation and built when the computation that holds the start is finished, before it.

// wrappedComputation is a computation that sugar made, not built yet.
type wrappedComputation struct {
	start  hlo.InstrID
	params []hlo.Shape
	root   hlo.InstrSpec // of the wrapped op; operands are the parameters in order
	op     hlo.Opcode
	thread string
	at     int
}

// asyncAttribute reads an attribute that sugar adds to those of the wrapped op. It reports whether key is one.
func (p *parser) asyncAttribute(d *draft, key string, at int) bool {
	switch {
	case key == "async_execution_thread":
		if d.thread != nil {
			p.failAt(at, "attribute %s already exists", key)
		}
		t := p.string()
		d.thread = &t
		return true
	case key == "output_to_operand_aliasing" && d.spec.Opcode == hlo.OpAsyncStart:
		if d.aliasing != nil {
			p.failAt(at, "attribute %s already exists", key)
		}
		d.aliasing = p.outputAliases()
		return true
	}
	return false
}

// isSugaredStep reports whether d is a sugared update or done.
func isSugaredStep(d *draft) bool {
	return d.wrapped != hlo.OpInvalid && d.spec.Opcode != hlo.OpAsyncStart
}

// repeatedAttribute finds an attribute of the wrapped op on a sugared update or done, as older text has it. It reports whether key is
// one. What it says is compared with the start's in checkRepeats.
func (p *parser) repeatedAttribute(d *draft, key string, at int) bool {
	pl := planOf(d.wrapped)
	if i := pl.role(key); i >= 0 {
		if pl.roles[i].list {
			d.repeatedCalls = p.callees(d.repeatedCalls)
		} else {
			d.repeatedCalls = append(d.repeatedCalls, p.callee())
		}
		return true
	}
	i := pl.field(key)
	if i < 0 {
		return false
	}
	p.space()
	start := p.pos
	if pl.fields[i].Type == literalType {
		p.skipShapedLiteral()
	} else {
		p.skipValue()
	}
	d.repeats = append(d.repeats, rawAttr{i, start, p.pos, at})
	return true
}

// checkRepeats compares what a step repeats with the attributes of the wrapped op.
func (p *parser) checkRepeats(d *draft, op hlo.Opcode, attrs hlo.OpAttrs, callees []hlo.CompID) {
	if op != d.wrapped {
		return // which is refused elsewhere
	}
	pl := planOf(op)
	for _, r := range d.repeats {
		field := &pl.fields[r.index]
		v := reflect.New(field.Type)
		p.within(r, string(field.Key), func() { p.fieldInto(v.Interface(), field) })
		if !hlo.EqualAttr(v.Elem().Interface(), field.Value(attrs).Interface()) {
			p.failRule("ASYNC-33", r.keyAt, "attribute %s differs from that of the start", field.Key)
		}
	}
	if len(d.repeatedCalls) > 0 && !slices.Equal(d.repeatedCalls, callees) {
		p.failRule("ASYNC-33", d.opAt, "the step calls another computation than the start")
	}
}

func asyncNames(d *draft, names []string) []string {
	names = append(slices.Clone(names), "async_execution_thread")
	if d.spec.Opcode != hlo.OpAsyncDone {
		names = append(names, "output_to_operand_aliasing")
	}
	return names
}

// sugared adds the instruction of a draft whose opcode was sugar.
func (p *parser) sugared(f *scope, d *draft) hlo.InstrID {
	if !d.stated {
		p.failAt(d.opAt, "cannot infer shape for opcode: %v", d.spec.Opcode)
	}
	if d.spec.Opcode == hlo.OpAsyncStart {
		return p.sugaredStart(f, d)
	}
	return p.add(f, d)
}

// sugaredStart makes the wrapped computation of a start (hlo-text section 7.3).
func (p *parser) sugaredStart(f *scope, d *draft) hlo.InstrID {
	bound, result := p.asyncShape(f, d)
	w := &wrappedComputation{op: d.wrapped, params: bound, thread: hlo.MainThread, at: d.at}
	if d.thread != nil {
		w.thread = *d.thread
	}
	w.root = hlo.InstrSpec{
		Opcode: d.wrapped, Shape: result, Attrs: d.spec.Attrs, Callees: slices.Clone(d.callees), Position: p.position(d.at),
	}
	if c := d.spec.Common; c != nil {
		w.root.Common = hlo.SharedCommon(nil, c)
		if c.ResultAccuracy != nil {
			// It is an attribute of the wrapped op, and stays there.
			own := hlo.Common{}
			if w.root.Common != nil {
				own = *w.root.Common
			}
			own.ResultAccuracy = c.ResultAccuracy
			w.root.Common = &own
			rest := *c
			rest.ResultAccuracy = nil
			d.spec.Common = &rest
		}
	}
	p.fitWrapped(w)
	w.start = hlo.InstrID(f.b.NumInstructions())
	f.wrapped = append(f.wrapped, w)
	if f.starts == nil {
		f.starts = make(map[hlo.InstrID]*wrappedComputation)
	}
	f.starts[w.start] = w
	return f.b.Append(hlo.InstrSpec{
		Opcode: hlo.OpAsyncStart, Name: d.spec.Name, Shape: d.spec.Shape, Operands: p.operands[d.base:], Common: d.spec.Common,
		Attrs:   &hlo.AsyncStartAttrs{ExecutionThread: w.thread, OutputAliasing: d.aliasing},
		Control: distinct(d.control), Position: p.position(d.at),
	})
}

// asyncShape takes the shape of a start or update apart: the operands bound so far, and the result.
//
// The flat form of older text, in which a single operand is not in a tuple of its own, is read as written.
func (p *parser) asyncShape(f *scope, d *draft) (bound []hlo.Shape, result hlo.Shape) {
	s := d.spec.Shape
	if !s.IsTuple() || s.NumElems() < 2 {
		p.failRule("ASYNC-01", d.at, "AsyncStart and AsyncUpdate expect the shape to be in the form of ((operand0_shape, operand1_shape, ...), output_shape, ...).")
	}
	if e := s.Elem(0); e.IsTuple() && !continuesFlat(f, d) {
		return e.Elems(), s.Elem(1)
	}
	if isFlatAsync(f, d) {
		return []hlo.Shape{s.Elem(0)}, s.Elem(1)
	}
	p.failRule("ASYNC-01", d.at, "AsyncStart and AsyncUpdate expect the shape to be in the form of ((operand0_shape, operand1_shape, ...), output_shape, ...).")
	return nil, hlo.Shape{}
}

// isFlatAsync reports whether the shape is `(operand, result, state...)` of a single operand.
func isFlatAsync(f *scope, d *draft) bool {
	s := d.spec.Shape
	n := len(d.spec.Operands)
	if n == 0 || !s.Elem(0).IsArray() {
		return false
	}
	operand := f.b.Shape(d.spec.Operands[0])
	if d.spec.Opcode == hlo.OpAsyncStart {
		if n > 1 && s.NumElems() <= n { // several operands should nest; which rule that breaks is the verifier's to say
			return false
		}
		for i, id := range d.spec.Operands {
			if !s.Elem(i).Compatible(f.b.Shape(id)) {
				return false
			}
		}
		return true
	}
	if n > 1 {
		return false
	}
	return operand.IsTuple() && operand.NumElems() >= 2 && operand.Elem(0).IsArray() && s.Elem(0).Compatible(operand.Elem(0))
}

// continuesFlat reports whether an update continues a chain in the flat form.
func continuesFlat(f *scope, d *draft) bool {
	if d.spec.Opcode != hlo.OpAsyncUpdate || len(d.spec.Operands) == 0 {
		return false
	}
	operand := f.b.Shape(d.spec.Operands[0])
	return operand.IsTuple() && operand.NumElems() >= 2 && operand.Elem(0).IsArray()
}

// fitWrapped fills up the parameters of a wrapped computation: late binding lets a start have fewer operands than the op. A callee
// knows the shapes; an op of fixed arity gets parameters of a dummy shape.
func (p *parser) fitWrapped(w *wrappedComputation) {
	if (w.op == hlo.OpCall || w.op == hlo.OpFusion) && len(w.root.Callees) == 1 {
		sig := p.ed.View(w.root.Callees[0]).Signature()
		w.params = append(slices.Clone(sig.Parameters), w.params[min(len(w.params), len(sig.Parameters)):]...)
		w.root.Shape = sig.Result
		return
	}
	if a := hlo.Info(w.op).Arity; a.IsFixed() {
		for len(w.params) < a.Min {
			w.params = append(w.params, dummyShape)
		}
	}
}

var dummyShape = hlo.MakeArray(hlo.F32, []int64{1}, nil, hlo.DefaultLayout(1))

// reshape gives a wrapped computation the operands and the result of a later step.
func (p *parser) reshape(w *wrappedComputation, bound []hlo.Shape, result hlo.Shape) {
	for i, s := range bound {
		if i < len(w.params) {
			w.params[i] = s
		} else {
			w.params = append(w.params, s)
		}
	}
	w.root.Shape = result
}
