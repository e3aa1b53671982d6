package verifier

import "github.com/gohalo/halo/hlo"

// Following a value back to the instruction that began it (verifier 6.3), and forward into loops (6.4).

// pathID stands for a list of tuple indices still to be taken, outermost first; 0 is the empty list.
type pathID int32

type pathKey struct {
	rest  pathID
	index int64
}

// traceKey is a question that has been answered with no.
type traceKey struct {
	at   place
	path pathID
}

// tracer searches the producer of one value.
type tracer struct {
	r    *run
	open map[place]bool // instructions on the way from the value to here
}

// push is the path that takes index first and then goes on as path.
func (t *tracer) push(path pathID, index int64) pathID {
	k := pathKey{path, index}
	if id, ok := t.r.paths[k]; ok {
		return id
	}
	if t.r.paths == nil {
		t.r.paths = make(map[pathKey]pathID)
	}
	t.r.pathKeys = append(t.r.pathKeys, k)
	id := pathID(len(t.r.pathKeys))
	t.r.paths[k] = id
	return id
}

// isAsyncProducer reports whether a value can be traced to an instruction of op.
func isAsyncProducer(op hlo.Opcode) bool {
	switch op {
	case hlo.OpAsyncStart, hlo.OpAsyncUpdate, hlo.OpAllReduceStart, hlo.OpAllGatherStart, hlo.OpCollectivePermuteStart:
		return true
	}
	return false
}

// producer is the start or update that the value of in comes from; false when there is none to be found.
func (r *run) producer(in hlo.Instruction) (hlo.Instruction, bool) {
	if isAsyncProducer(in.Opcode()) {
		return in, true
	}
	t := &tracer{r: r, open: make(map[place]bool)}
	return t.trace(in, 0)
}

// trace looks back from in, of whose value path is to be taken. Answers of no are remembered: without that, tuples of tuples cost
// exponential time.
func (t *tracer) trace(in hlo.Instruction, path pathID) (hlo.Instruction, bool) {
	if isAsyncProducer(in.Opcode()) {
		return in, true
	}
	here := placeOf(in)
	key := traceKey{here, path}
	if t.open[here] || t.r.traces[key] {
		return hlo.Instruction{}, false
	}
	t.open[here] = true
	found, ok := t.step(in, path)
	delete(t.open, here)
	if !ok {
		if t.r.traces == nil {
			t.r.traces = make(map[traceKey]bool)
		}
		t.r.traces[key] = true
	}
	return found, ok
}

func (t *tracer) step(in hlo.Instruction, path pathID) (hlo.Instruction, bool) {
	none := hlo.Instruction{}
	if in.Opcode() != hlo.OpParameter && in.NumOperands() == 0 {
		return none, false
	}
	switch in.Opcode() {
	case hlo.OpGetTupleElement:
		return t.trace(in.OperandInstr(0), t.push(path, hlo.AttrsOf[hlo.TupleElementAttrs](in).Index))
	case hlo.OpTuple:
		if path == 0 {
			for o := range in.Operands() {
				if p, ok := t.trace(o, 0); ok {
					return p, true
				}
			}
			return none, false
		}
		k := t.r.pathKeys[path-1]
		if k.index < 0 || k.index >= int64(in.NumOperands()) {
			return none, false
		}
		return t.trace(in.OperandInstr(int(k.index)), k.rest)
	case hlo.OpWhile:
		if in.NumCallees() > 0 {
			if body, ok := t.r.m.Computation(in.Callee(0)); ok {
				if p, ok := t.trace(body.Root(), path); ok {
					return p, true
				}
			}
		}
		return t.trace(in.OperandInstr(0), path)
	case hlo.OpParameter:
		loop, ok := t.r.loopOf(in.Computation().ID())
		if !ok || loop.NumOperands() == 0 {
			return none, false
		}
		if p, ok := t.trace(loop.OperandInstr(0), path); ok {
			return p, true
		}
		return t.trace(in.Computation().Root(), path)
	}
	if forwards(in) {
		return t.trace(in.OperandInstr(0), path)
	}
	return none, false
}

// forwards reports whether in hands on operand 0: barriers, copies, and custom-calls that carry shardings.
func forwards(in hlo.Instruction) bool {
	switch in.Opcode() {
	case hlo.OpWhile, hlo.OpAsyncUpdate:
		return false
	}
	return hlo.ForwardsAsync(in.Opcode(), in.Attrs())
}

// loops are the whiles that have a computation as their body.
type loops struct {
	first hlo.Instruction
	n     int
}

func (r *run) loops(id hlo.CompID) loops {
	if l, ok := r.loopsOf[id]; ok {
		return l
	}
	var l loops
	for comp, instr := range r.m.Callers(id) {
		in := r.m.MustComputation(comp).MustAt(instr)
		if in.Opcode() == hlo.OpWhile && in.NumCallees() > 0 && in.Callee(0) == id {
			if l.n == 0 {
				l.first = in
			}
			l.n++
		}
	}
	if r.loopsOf == nil {
		r.loopsOf = make(map[hlo.CompID]loops)
	}
	r.loopsOf[id] = l
	return l
}

// loopOf is the while whose body is computation id, when there is exactly one.
func (r *run) loopOf(id hlo.CompID) (hlo.Instruction, bool) {
	l := r.loops(id)
	return l.first, l.n == 1
}

// isLoopBody reports whether some while has computation id as its body.
func (r *run) isLoopBody(id hlo.CompID) bool { return r.loops(id).n > 0 }

// carried reports whether the value of in goes around some loop.
func (r *run) carried(in hlo.Instruction) bool {
	seen := make(map[place]bool)
	work := []hlo.Instruction{in}
	visit := func(in hlo.Instruction) {
		if !seen[placeOf(in)] {
			seen[placeOf(in)] = true
			work = append(work, in)
		}
	}
	seen[placeOf(in)] = true
	for len(work) > 0 {
		in := work[len(work)-1]
		work = work[:len(work)-1]
		if in.IsRoot() {
			id := in.Computation().ID()
			if r.isLoopBody(id) {
				return true
			}
			for comp, instr := range r.m.Callers(id) {
				caller := r.m.MustComputation(comp).MustAt(instr)
				if op := caller.Opcode(); op == hlo.OpCall || op == hlo.OpConditional {
					visit(caller)
				}
			}
		}
		for u := range in.Users() {
			switch u.Opcode() {
			case hlo.OpWhile:
				return true
			case hlo.OpAsyncUpdate, hlo.OpTuple, hlo.OpGetTupleElement, hlo.OpOptBarrier, hlo.OpDomain, hlo.OpCall, hlo.OpConditional:
				visit(u)
			}
		}
	}
	return false
}
