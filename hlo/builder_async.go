package hlo

import "fmt"

// Asynchronous values of a Builder: a computation is started, may be given more operands, and is waited for.

// AsyncStart starts f on an execution thread ("": the main one) with its first operands; the others follow in AsyncUpdate. The thread is
// set on f and on all that it calls.
func (b *Builder) AsyncStart(f CompID, thread string, operands ...Value) Value {
	ed := b.s.m.ed
	if b.s.m.err != nil || !ed.Has(f) {
		return b.Emit(OpSpec{Opcode: OpAsyncStart, Callees: []CompID{f}})
	}
	if thread == "" {
		thread = MainThread
	}
	setThread(ed, f, thread)
	sig := ed.View(f).Signature()
	return b.Emit(OpSpec{
		Opcode: OpAsyncStart, Shape: asyncShape(operands, sig.Result), Attrs: &AsyncStartAttrs{ExecutionThread: thread},
		Operands: operands, Callees: []CompID{f},
	})
}

// asyncShape is ((operands), result, u32[]).
func asyncShape(operands []Value, result Shape) Shape {
	bound := make([]Shape, len(operands))
	for i, v := range operands {
		bound[i] = v.Shape()
	}
	return MakeTuple(MakeTuple(bound...), result, MakeShape(U32))
}

func setThread(ed *Editor, id CompID, thread string) {
	c := ed.Computation(id)
	c.SetExecutionThread(thread)
	for in := range c.View().Instructions() {
		for callee := range in.Callees() {
			setThread(ed, callee, thread)
		}
	}
}

// AsyncUpdate binds further operands to an asynchronous value, or, without any, marks a point of progress.
func (b *Builder) AsyncUpdate(prev Value, operands ...Value) Value {
	f, ok := b.asyncCallee(prev)
	if !ok {
		return Value{}
	}
	bound, result, _ := AsyncValue(prev.Shape(), true)
	for _, v := range operands {
		bound = append(bound[:len(bound):len(bound)], v.Shape())
	}
	elems := prev.Shape().Elems()
	elems[0], elems[1] = MakeTuple(bound...), result
	return b.Emit(OpSpec{Opcode: OpAsyncUpdate, Shape: MakeTuple(elems...), Operands: append([]Value{prev}, operands...), Callees: []CompID{f}})
}

// AsyncDone waits for an asynchronous value: the result of its computation.
func (b *Builder) AsyncDone(prev Value) Value {
	f, ok := b.asyncCallee(prev)
	if !ok {
		return Value{}
	}
	return b.Emit(OpSpec{Opcode: OpAsyncDone, Operands: []Value{prev}, Callees: []CompID{f}})
}

// asyncCallee is the computation that the chain of prev runs.
func (b *Builder) asyncCallee(prev Value) (CompID, bool) {
	if b.s.m.err != nil {
		return NoComp, false
	}
	if prev.s != b.s {
		b.fail(fmt.Errorf("an asynchronous value of another computation"))
		return NoComp, false
	}
	for id := prev.id; ; {
		switch b.s.cb.Opcode(id) {
		case OpAsyncStart:
			return b.s.cb.Callees(id)[0], true
		case OpAsyncUpdate:
			id = b.s.cb.Operands(id)[0]
		default:
			b.fail(fmt.Errorf("%v is not an asynchronous value", b.s.cb.Opcode(id)))
			return NoComp, false
		}
	}
}

// AsyncOp starts a single op asynchronously: it wraps the op, whose shape is inferred, in a computation of its own.
func (b *Builder) AsyncOp(op Opcode, attrs OpAttrs, thread string, operands ...Value) Value {
	f := b.Computation("async_wrapped", func(c *Builder) Value {
		params := make([]Value, len(operands))
		for i, v := range operands {
			if !v.Shape().IsValid() {
				return c.fail(fmt.Errorf("operand %d of %v is none", i, op))
			}
			params[i] = c.Parameter("async_param", v.Shape())
		}
		return c.Op(op, attrs, params...)
	})
	return b.AsyncStart(f, thread, operands...)
}
