package verifier

import "github.com/gohalo/halo/hlo"

// Following a value back to the instruction that began it (verifier 6.3), and forward into loops (6.4).

// pathID stands for a list of tuple indices still to be taken, outermost first; 0 is the empty list.
type pathID int32

type pathKey struct {
	rest  pathID
	index int64
}

// traceKey is a part of a value.
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
func (r *run) push(path pathID, index int64) pathID {
	k := pathKey{path, index}
	if id, ok := r.paths[k]; ok {
		return id
	}
	if r.paths == nil {
		r.paths = make(map[pathKey]pathID)
	}
	r.pathKeys = append(r.pathKeys, k)
	id := pathID(len(r.pathKeys))
	r.paths[k] = id
	return id
}

// isAsyncProducer reports whether a value can be traced to an instruction of op.
func isAsyncProducer(op hlo.Opcode) bool {
	const start = hlo.TraitCollective | hlo.TraitAsyncStart
	return op == hlo.OpAsyncStart || op == hlo.OpAsyncUpdate || hlo.Info(op).Traits.Has(start)
}

// producer is the start or update that the value of in comes from; false when there is none to be found.
func (r *run) producer(in hlo.Instruction) (hlo.Instruction, bool) {
	if isAsyncProducer(in.Opcode()) {
		return in, true
	}
	t := &tracer{r: r, open: make(map[place]bool)}
	return t.trace(in, 0)
}

// trace looks back from in, of whose value path is to be taken. Answers are remembered: without that, tuples of tuples cost exponential
// time. What has one way back only is followed in a loop, so that the stack grows with the nesting of loops and tuples alone.
func (t *tracer) trace(in hlo.Instruction, path pathID) (found hlo.Instruction, ok bool) {
	var way []traceKey
	for {
		if isAsyncProducer(in.Opcode()) {
			found, ok = in, true
			break
		}
		key := traceKey{placeOf(in), path}
		if t.open[key.at] {
			break
		}
		if p, known := t.r.traces[key]; known {
			found, ok = p, !p.IsZero()
			break
		}
		t.open[key.at] = true
		way = append(way, key)
		next, rest, only := t.back(in, path)
		if !only {
			found, ok = t.choose(in, path)
			break
		}
		if next.IsZero() {
			break
		}
		in, path = next, rest
	}
	if t.r.traces == nil {
		t.r.traces = make(map[traceKey]hlo.Instruction)
	}
	for _, key := range way {
		delete(t.open, key.at)
		t.r.traces[key] = found
	}
	return found, ok
}

// back is where the part path of in comes from, zero when from nowhere that can be followed; only is false when there are several ways.
func (t *tracer) back(in hlo.Instruction, path pathID) (next hlo.Instruction, rest pathID, only bool) {
	op := in.Opcode()
	switch {
	case op == hlo.OpParameter || op == hlo.OpWhile && in.NumOperands() > 0 || op == hlo.OpTuple && path == 0:
		return hlo.Instruction{}, 0, false
	case in.NumOperands() == 0:
		return hlo.Instruction{}, 0, true
	case op == hlo.OpGetTupleElement:
		return in.OperandInstr(0), t.r.push(path, hlo.AttrsOf[hlo.TupleElementAttrs](in).Index), true
	case op == hlo.OpTuple:
		k := t.r.pathKeys[path-1]
		if k.index < 0 || k.index >= int64(in.NumOperands()) {
			return hlo.Instruction{}, 0, true
		}
		return in.OperandInstr(int(k.index)), k.rest, true
	case forwards(in):
		return in.OperandInstr(0), path, true
	}
	return hlo.Instruction{}, 0, true
}

// choose tries the ways back from in, which has several.
func (t *tracer) choose(in hlo.Instruction, path pathID) (hlo.Instruction, bool) {
	switch in.Opcode() {
	case hlo.OpTuple:
		for o := range in.Operands() {
			if p, ok := t.trace(o, 0); ok {
				return p, true
			}
		}
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
			break
		}
		if p, ok := t.trace(loop.OperandInstr(0), path); ok {
			return p, true
		}
		return t.trace(in.Computation().Root(), path)
	}
	return hlo.Instruction{}, false
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

// carried reports whether the value of in goes around some loop. What the search has passed is remembered either way, so that all searches
// together are linear.
func (r *run) carried(in hlo.Instruction) bool {
	type visit struct {
		in   hlo.Instruction
		from int // index in visits of what led here
	}
	visits := []visit{{in, -1}}
	seen := map[place]bool{placeOf(in): true}
	add := func(in hlo.Instruction, from int) {
		if !seen[placeOf(in)] {
			seen[placeOf(in)] = true
			visits = append(visits, visit{in, from})
		}
	}
	yes := func(k int) bool {
		for ; k >= 0; k = visits[k].from {
			r.carriers[placeOf(visits[k].in)] = true
		}
		return true
	}
	for k := 0; k < len(visits); k++ {
		in := visits[k].in
		if known, ok := r.carriers[placeOf(in)]; ok {
			if known {
				return yes(k)
			}
			continue
		}
		if in.IsRoot() {
			id := in.Computation().ID()
			if r.isLoopBody(id) {
				return yes(k)
			}
			for comp, instr := range r.m.Callers(id) {
				caller := r.m.MustComputation(comp).MustAt(instr)
				if op := caller.Opcode(); op == hlo.OpCall || op == hlo.OpConditional {
					add(caller, k)
				}
			}
		}
		for u := range in.Users() {
			switch op := u.Opcode(); {
			case op == hlo.OpWhile:
				return yes(k)
			case op == hlo.OpAsyncUpdate || op != hlo.OpCopy && hlo.Info(op).Traits.Has(hlo.TraitCarriesAsync):
				add(u, k)
			}
		}
	}
	for _, v := range visits {
		r.carriers[placeOf(v.in)] = false
	}
	return false
}
