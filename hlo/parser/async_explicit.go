package parser

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// Explicit async ops, and updates and dones of any chain: they find a computation, which their start or the text made. What they say of it must agree,
// or is shared with its root; a start's thread goes to all that is called.

// asyncCall is an explicit async-start, for the check that it alone calls its computation.
type asyncCall struct {
	callee hlo.CompID
	at     int
}

// explicitAsync checks and completes an async-start, async-update or async-done, the last two sugared or not.
func (p *parser) explicitAsync(f *scope, d *draft) {
	d.spec.Operands = p.operands[d.base:]
	op := d.spec.Opcode
	if op == hlo.OpAsyncStart {
		p.asyncShape(f, d)
		p.explicitStart(f, d)
		return
	}
	if len(d.spec.Operands) == 0 {
		p.failAt(d.openAt, "No operand found for AsyncUpdate and AsyncDone")
	}
	if f.b.Opcode(d.spec.Operands[0]) == hlo.OpAsyncDone {
		p.failRule("ASYNC-32", d.openAt, "AsyncUpdate and AsyncDone cannot have AsyncDone as operand.")
	}
	var bound []hlo.Shape
	var result hlo.Shape
	if op == hlo.OpAsyncUpdate {
		bound, result = p.asyncShape(f, d)
	}
	thread, written := p.stepThread(d)
	callees := d.callees
	d.callees = d.callees[:0]
	start, ok := p.chainStart(f, d.spec.Operands[0])
	if !ok {
		d.callees = callees
		return
	}
	var w *wrappedComputation
	var startAttrs *hlo.AsyncStartAttrs
	var callee hlo.CompID
	if start.comp == hlo.NoComp {
		startAttrs, _ = f.b.Attrs(start.id).(*hlo.AsyncStartAttrs)
		if w = f.starts[start.id]; w == nil {
			callee = f.b.Callees(start.id)[0]
		}
	} else {
		in := p.ed.View(start.comp).MustAt(start.id)
		startAttrs, _ = in.Attrs().(*hlo.AsyncStartAttrs)
		callee = in.Callee(0)
	}
	if written && startAttrs != nil && thread != startAttrs.ExecutionThread {
		p.failRule("ASYNC-33", d.opAt, "Expect async_execution_thread to be %s, but got %s", startAttrs.ExecutionThread, thread)
	}
	if w == nil {
		p.explicitStep(d, callee, callees)
		return
	}
	if len(callees) > 0 {
		p.failRule("ASYNC-33", d.opAt, "Expect async_wrapped_computation to be async_wrapped, but got %s", p.ed.Computation(callees[0]).Name())
	}
	if d.wrapped != hlo.OpInvalid && d.wrapped != w.op {
		p.failRule("ASYNC-33", d.opAt, "Expect async wrapped opcode to be %v, but got %v", w.op, d.wrapped)
	}
	p.checkRepeats(d, w.op, w.root.Attrs, w.root.Callees)
	w.root.Common = hlo.SharedCommon(w.root.Common, d.spec.Common)
	if d.wrapped == hlo.OpInvalid {
		return // the explicit forms do not modify the computation
	}
	if op == hlo.OpAsyncUpdate {
		p.reshape(w, bound, result)
	} else {
		s := f.b.Shape(start.id)
		if e := s.Elem(0); e.IsTuple() && len(w.params) <= e.NumElems() {
			bound = e.Elems()
		}
		p.reshape(w, bound, d.spec.Shape)
	}
}

// stepThread is the thread written on an update or done. The attributes are replaced by ones without it.
func (p *parser) stepThread(d *draft) (thread string, written bool) {
	if d.thread != nil {
		return *d.thread, true
	}
	switch a := d.spec.Attrs.(type) {
	case *hlo.AsyncUpdateAttrs:
		if a.ExecutionThread != "" {
			thread, written = a.ExecutionThread, true
			d.spec.Attrs = &hlo.AsyncUpdateAttrs{OutputAliasing: a.OutputAliasing}
		}
	case *hlo.AsyncDoneAttrs:
		if a.ExecutionThread != "" {
			thread, written = a.ExecutionThread, true
			d.spec.Attrs = &hlo.AsyncDoneAttrs{}
		}
	}
	return thread, written
}

// explicitStart notes the call and sets the thread of what is called.
func (p *parser) explicitStart(_ *scope, d *draft) {
	callee := d.callees[0]
	p.asyncs = append(p.asyncs, asyncCall{callee, d.opAt})
	thread := d.spec.Attrs.(*hlo.AsyncStartAttrs).ExecutionThread
	p.setThread(callee, thread)
	p.shareWithRoot(callee, d.spec.Common)
}

// explicitStep compares an update or done with an explicit start.
func (p *parser) explicitStep(d *draft, callee hlo.CompID, callees []hlo.CompID) {
	c := p.ed.Computation(callee)
	if len(callees) > 0 && callees[0] != callee {
		p.failRule("ASYNC-33", d.opAt, "Expect async_wrapped_computation to be %s, but got %s", c.Name(), p.ed.Computation(callees[0]).Name())
	}
	if d.wrapped != hlo.OpInvalid {
		root := c.View().Root()
		if root.Opcode() != d.wrapped {
			p.failRule("ASYNC-33", d.opAt, "Expect async wrapped opcode to be %v, but got %v", root.Opcode(), d.wrapped)
		}
		p.checkRepeats(d, root.Opcode(), root.Attrs(), slices.Collect(root.Callees()))
	}
	p.shareWithRoot(callee, d.spec.Common)
}

// shareWithRoot copies the attributes that steps of a chain share with the wrapped op (hlo-text section 7.6).
func (p *parser) shareWithRoot(callee hlo.CompID, from *hlo.Common) {
	if from == nil {
		return
	}
	c := p.ed.Computation(callee)
	root := c.Instr(c.Root())
	if merged := hlo.SharedCommon(root.View().Common(), from); merged != nil {
		root.SetCommon(merged)
	}
}

// setThread sets the thread of a computation and of everything it calls: what asynchronous ops in it call runs there, too, whatever they say.
func (p *parser) setThread(id hlo.CompID, thread string) {
	if t, ok := p.threads[id]; ok && t == thread {
		return
	}
	if p.threads == nil {
		p.threads = make(map[hlo.CompID]string)
	}
	p.threads[id] = thread
	c := p.ed.Computation(id)
	c.SetExecutionThread(thread)
	var callees []hlo.CompID
	var starts []hlo.InstrID
	for in := range c.View().Instructions() {
		for callee := range in.Callees() {
			callees = append(callees, callee)
		}
		if a, ok := in.Attrs().(*hlo.AsyncStartAttrs); ok && in.Opcode() == hlo.OpAsyncStart && a.ExecutionThread != thread {
			starts = append(starts, in.ID())
		}
	}
	for _, start := range starts {
		p.moveStart(c.Instr(start), thread)
	}
	for _, callee := range callees {
		p.setThread(callee, thread)
	}
}

// moveStart sets the thread of a start that an asynchronous computation makes.
func (p *parser) moveStart(in hlo.InstrEdit, thread string) {
	a := *in.View().Attrs().(*hlo.AsyncStartAttrs)
	if p.Warn != nil && !p.warnedThread {
		p.warnedThread = true
		p.warn(p.offset(in.View().Position()), fmt.Sprintf("the asynchronous computation around runs on thread %q, and so does what it starts; %q is not looked at",
			cmp.Or(thread, hlo.MainThread), cmp.Or(a.ExecutionThread, hlo.MainThread)))
	}
	a.ExecutionThread = thread
	in.SetAttrs(&a)
}
