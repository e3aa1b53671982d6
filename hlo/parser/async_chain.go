package parser

import (
	"github.com/gohalo/halo/hlo"
)

// chainHead is the start of a chain: an instruction of the scope, or one of the finished computation comp.
type chainHead struct {
	id   hlo.InstrID
	comp hlo.CompID // NoComp: in the scope
}

// chainEnd is what following a value led to: the start of its chain, unless there is none.
type chainEnd struct {
	head chainHead
	ok   bool
}

// chainStart finds the start of the chain that ends at id, as far as it can be seen yet. The scope remembers the answer for all values on
// the way, so that following every value of a long chain takes no longer than following the last one.
func (p *parser) chainStart(f *scope, id hlo.InstrID) (chainHead, bool) {
	var end chainEnd
	var known bool
	var values []hlo.InstrID // on the way, whole: with no element to be taken of them
	var path []int64         // elements still to be taken, outermost last
	for {
		id = f.forwarded(id)
		if len(path) == 0 {
			if end, known = f.ends[id]; known {
				break
			}
			values = append(values, id)
		}
		var done bool
		if id, path, end, done = p.chainStep(f, id, path); done {
			break
		}
	}
	if len(values) > 0 && f.ends == nil {
		f.ends = make(map[hlo.InstrID]chainEnd)
	}
	for _, id := range values {
		f.ends[id] = end
	}
	return end.head, end.ok
}

// chainStep goes from a value, of which the elements of path are still to be taken, to where it comes from; or it is done.
func (p *parser) chainStep(f *scope, id hlo.InstrID, path []int64) (from hlo.InstrID, rest []int64, end chainEnd, done bool) {
	switch op, operands := f.b.Opcode(id), f.b.Operands(id); {
	case op == hlo.OpAsyncStart:
		return id, path, chainEnd{chainHead{id, hlo.NoComp}, len(path) == 0}, true
	case len(operands) == 0:
	case op == hlo.OpGetTupleElement:
		return operands[0], append(path, f.b.Attrs(id).(*hlo.TupleElementAttrs).Index), end, false
	case op == hlo.OpTuple && len(path) > 0:
		last := len(path) - 1
		if i := path[last]; i >= 0 && i < int64(len(operands)) {
			return operands[i], path[:last], end, false
		}
	case op == hlo.OpWhile:
		body := f.b.Callees(id)[0]
		start, rest, ok := chainInBody(p.ed.View(body), path)
		switch {
		case !ok:
		case start != hlo.NoInstr:
			return id, path, chainEnd{chainHead{start, body}, true}, true
		default:
			return operands[0], rest, end, false
		}
	}
	return id, path, end, true
}

// forwarded is where a value comes from through instructions that hand it on as it is.
func (f *scope) forwarded(id hlo.InstrID) hlo.InstrID {
	from := id
	for f.forwards(id) {
		if to, ok := f.origins[id]; ok {
			id = to
			break
		}
		id = f.b.Operands(id)[0]
	}
	if from == id {
		return id
	}
	if f.origins == nil {
		f.origins = make(map[hlo.InstrID]hlo.InstrID)
	}
	for ; from != id && f.origins[from] != id; from = f.b.Operands(from)[0] {
		f.origins[from] = id
	}
	return id
}

// forwards reports whether an instruction hands its operand 0 on.
func (f *scope) forwards(id hlo.InstrID) bool {
	return len(f.b.Operands(id)) > 0 && hlo.ForwardsAsync(f.b.Opcode(id), f.b.Attrs(id))
}

// chainInBody follows a value that comes out of a loop body. It finds a start there, or NoInstr and the path when the body hands its
// parameter through.
func chainInBody(body hlo.Computation, path []int64) (start hlo.InstrID, rest []int64, ok bool) {
	for in := body.Root(); ; {
		switch op := in.Opcode(); {
		case op == hlo.OpAsyncStart:
			return in.ID(), nil, len(path) == 0
		case op == hlo.OpParameter:
			return hlo.NoInstr, path, true
		case in.NumOperands() == 0:
			return hlo.NoInstr, nil, false
		case op == hlo.OpGetTupleElement:
			path = append(path, hlo.AttrsOf[hlo.TupleElementAttrs](in).Index)
			in = in.OperandInstr(0)
		case op == hlo.OpTuple && len(path) > 0:
			i := path[len(path)-1]
			if i < 0 || i >= int64(in.NumOperands()) {
				return hlo.NoInstr, nil, false
			}
			path = path[:len(path)-1]
			in = in.OperandInstr(int(i))
		case hlo.ForwardsAsync(op, in.Attrs()):
			in = in.OperandInstr(0)
		default:
			return hlo.NoInstr, nil, false
		}
	}
}

// finishWrapped builds the wrapped computations of a scope and connects their starts.
func (p *parser) finishWrapped(f *scope) {
	for _, w := range f.wrapped {
		b := p.ed.NewComputation("async_wrapped")
		b.SetScheduled(p.config.IsScheduled)
		b.SetExecutionThread(w.thread)
		operands := make([]hlo.InstrID, len(w.params))
		for i, s := range w.params {
			operands[i] = b.Append(hlo.InstrSpec{
				Opcode: hlo.OpParameter, Name: "async_param", Shape: s, Attrs: p.parameterAttrs(int64(i)), Position: w.root.Position,
			})
		}
		d := p.newDraft()
		d.spec, d.info, d.stated = w.root, hlo.Info(w.op), true
		d.spec.Operands, d.callees = operands, append(d.callees, w.root.Callees...)
		d.at, d.openAt, d.attrsAt, d.opAt = w.at, w.at, w.at, w.at
		p.completeWrapped(b, d)
		d.spec.Callees = d.callees
		b.Append(d.spec)
		p.freeDraft(d)
		id := p.finish(b, "async_wrapped", hlo.NoInstr)
		for _, callee := range w.root.Callees {
			p.setThread(callee, w.thread)
		}
		f.b.SetCallees(w.start, id)
	}
	f.wrapped = nil
}

// completeWrapped applies the op's own check to the wrapped root, but for what late binding leaves open.
func (p *parser) completeWrapped(b *hlo.ComputationBuilder, d *draft) {
	if !d.info.Arity.Accepts(len(d.spec.Operands)) {
		return // an incomplete or overfull chain is for the verifier
	}
	// XLA compares the elements of a tuple with its operands while it reads operands, which sugar has not.
	if check := checks[d.spec.Opcode]; check != nil && d.spec.Opcode != hlo.OpTuple {
		check(p, &scope{b: b}, d)
	}
}

// checkAsyncCallees refuses computations that both asynchronous and other instructions call.
func (p *parser) checkAsyncCallees() {
	if len(p.asyncs) == 0 {
		return
	}
	async := make(map[hlo.CompID]int)
	for _, a := range p.asyncs {
		async[a.callee] = a.at
	}
	for id := range p.ed.Computations() {
		for in := range p.ed.View(id).Instructions() {
			if hlo.IsAsync(in.Opcode()) {
				continue
			}
			for callee := range in.Callees() {
				if at, ok := async[callee]; ok {
					p.failRule("ASYNC-31", at, "Async computation %s is called by non-async instruction %s.", p.ed.Computation(callee).Name(), in.Name())
				}
			}
		}
	}
}
