package analysis

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// state is a place at which the state of a chain lies, whole, within a value.
type state struct {
	in      hlo.Instruction
	at      int               // number of its first leaf
	bound   int               // leaves of the operands that it has, which come first
	size    int               // leaves
	starts  []hlo.Instruction // that it may have come from
	carried bool              // into the computation, or out of what in calls
}

// states are all places of a module where states lie.
type states struct {
	m    hlo.Module
	of   map[hlo.CompID][]*state // in the order in which they were found
	in   map[valueKey][]*state   // by whose value they are in
	work []*state
}

type valueKey struct {
	comp hlo.CompID
	in   hlo.InstrID
}

func keyOf(in hlo.Instruction) valueKey { return valueKey{in.Computation().ID(), in.ID()} }

// findStates follows every chain of async-start forward, through tuples, loops, branches and calls.
func findStates(m hlo.Module) *states {
	s := &states{m: m, of: make(map[hlo.CompID][]*state), in: make(map[valueKey][]*state)}
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if in.Opcode() == hlo.OpAsyncStart {
				s.add(state{in: in, bound: in.Shape().Elem(0).NumLeaves(), size: in.Shape().NumLeaves()}, []hlo.Instruction{in})
			}
		}
	}
	for len(s.work) > 0 {
		x := s.work[0]
		s.work = s.work[1:]
		for u := range x.in.Users() {
			for _, next := range handedOn(u, x) {
				s.add(next, x.starts)
			}
			s.enter(u, x)
		}
		if x.in.IsRoot() {
			s.leave(x)
		}
	}
	return s
}

// add notes what may lie at a place; what is new there has to be followed.
func (s *states) add(x state, starts []hlo.Instruction) {
	key := keyOf(x.in)
	i := slices.IndexFunc(s.in[key], func(k *state) bool { return k.at == x.at })
	if i < 0 {
		i = len(s.in[key])
		s.in[key] = append(s.in[key], &x)
		s.of[key.comp] = append(s.of[key.comp], &x)
	}
	known := s.in[key][i]
	known.carried = known.carried || x.carried
	n := len(known.starts)
	for _, start := range starts {
		if !slices.ContainsFunc(known.starts, func(k hlo.Instruction) bool { return keyOf(k) == keyOf(start) }) {
			known.starts = append(known.starts, start)
		}
	}
	if len(known.starts) > n {
		s.work = append(s.work, known)
	}
}

// handedOn lists where a state lies in the value of a user that hands it on within the computation.
func handedOn(u hlo.Instruction, x *state) (list []state) {
	next := *x
	next.in, next.starts, next.carried = u, nil, false
	//halo:allow opswitch what hands a chain on within a computation
	switch op := u.Opcode(); op {
	case hlo.OpTuple, hlo.OpOptBarrier:
		at := 0
		for o := range u.Operands() {
			if o.ID() == x.in.ID() {
				next.at = at + x.at
				list = append(list, next)
			}
			at += o.Shape().NumLeaves()
		}
	case hlo.OpGetTupleElement:
		from, n := firstLeaf(x.in.Shape(), hlo.ShapeIndex{hlo.AttrsOf[hlo.TupleElementAttrs](u).Index})
		if next.at = x.at - from; next.at >= 0 && next.at+x.size <= n {
			list = append(list, next)
		}
	case hlo.OpAsyncUpdate:
		if u.Operand(0) == x.in.ID() {
			next.at, next.bound, next.size = 0, u.Shape().Elem(0).NumLeaves(), u.Shape().NumLeaves()
			list = append(list, next)
		}
	default:
		if hlo.ForwardsAsync(op, u.Attrs()) && u.NumOperands() > 0 && u.Operand(0) == x.in.ID() {
			list = append(list, next)
		}
	}
	return list
}

// enter follows a state into what a user calls. That of a loop, which may have no round, comes out again as it went in.
func (s *states) enter(u hlo.Instruction, x *state) {
	next := *x
	next.starts, next.carried = nil, true
	into := func(callee, parameter int) {
		if c := s.m.MustComputation(u.Callee(callee)); parameter < c.NumParameters() {
			next.in = c.Parameter(parameter)
			s.add(next, x.starts)
		}
	}
	for i := range u.NumOperands() {
		if u.Operand(i) != x.in.ID() {
			continue
		}
		//halo:allow opswitch how each hands on its operands
		switch u.Opcode() {
		case hlo.OpCall:
			into(0, i)
		case hlo.OpConditional:
			if i > 0 {
				into(i-1, 0)
			}
		case hlo.OpWhile:
			into(0, 0)
			into(1, 0)
			next.in = u
			s.add(next, x.starts)
		}
	}
}

// leave follows a state out of a computation to those that call it, and into the next round of a loop.
func (s *states) leave(x *state) {
	next := *x
	next.starts, next.carried = nil, true
	c := x.in.Computation()
	for caller, id := range s.m.Callers(c.ID()) {
		//halo:allow opswitch how each hands on its result
		switch in := s.m.MustComputation(caller).MustAt(id); in.Opcode() {
		case hlo.OpWhile:
			for i := range in.NumCallees() {
				next.in = s.m.MustComputation(in.Callee(i)).Parameter(0)
				s.add(next, x.starts)
			}
			fallthrough
		case hlo.OpCall, hlo.OpConditional:
			next.in = in
			s.add(next, x.starts)
		}
	}
}

// isPending reports whether a leaf of a value is a part of a state that is not there before the done, so that whoever is handed it reads nothing.
func (s *states) isPending(in hlo.Instruction, leaf int) bool {
	for _, x := range s.in[keyOf(in)] {
		if leaf >= x.at+x.bound && leaf < x.at+x.size {
			return true
		}
	}
	return false
}

// sources lists where chains begin in a computation, or are handed into it.
func (f *raceFinder) sources(c hlo.Computation) (list []*state) {
	for in := range c.Instructions() {
		if IsStart(in) && in.Opcode() != hlo.OpAsyncStart && in.Opcode() != hlo.OpAsyncUpdate { // those are never carried
			list = append(list, &state{in: in, bound: in.Shape().NumLeaves(), size: in.Shape().NumLeaves(), starts: []hlo.Instruction{in}})
		}
	}
	for _, x := range f.states.of[c.ID()] {
		if x.carried || x.in.Opcode() == hlo.OpAsyncStart {
			list = append(list, x)
		}
	}
	return list
}

// chainOfSteps is a chain with what it uses in a computation, up to where it ends there: its done, or what takes it along. It is zero if the chain
// is handed out of the computation.
type chainOfSteps struct {
	start hlo.Instruction // perhaps of another computation
	end   hlo.Instruction
	uses  []use
}

// follow goes with a chain from where it begins in a computation to where it ends.
func (f *raceFinder) follow(x *memory, source *state) chainOfSteps {
	chain := chainOfSteps{start: source.starts[0]}
	if IsStart(source.in) {
		chain.uses = f.uses(x, source.in)
	} else {
		chain.start, chain.uses = f.bound(x, source)
	}
	for work := []state{*source}; len(work) > 0; {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		for u := range at.in.Users() {
			next := handedOn(u, &at)
			work = append(work, next...)
			switch {
			case u.Opcode() == hlo.OpAsyncUpdate && len(next) > 0:
				chain.uses = append(chain.uses, f.uses(x, u)...)
			case IsDone(u):
				chain.end = u
				if u.Opcode() == hlo.OpAsyncDone {
					for l := range u.Shape().NumLeaves() { // the outputs
						chain.uses = append(chain.uses, use{source.in, x.leaf(u, l), true, u, -1})
					}
				}
			case len(next) == 0 && hlo.Info(u.Opcode()).Traits.Has(hlo.TraitControl):
				chain.end = u
			}
		}
	}
	return chain
}

// bound lists the uses of the operands of a chain that is handed in: they lie in the first element of its state. Of the starts that it may have come
// from, one that writes an operand speaks for it.
func (f *raceFinder) bound(x *memory, source *state) (by hlo.Instruction, list []use) {
	by = source.starts[0]
	written := make(map[int]bool)
	for _, start := range source.starts {
		for _, w := range f.writes(start) {
			at := w[1]
			for i := range w[0] {
				at += start.OperandInstr(i).Shape().NumLeaves()
			}
			if len(written) == 0 {
				by = start
			}
			written[at] = true
		}
	}
	for l := range source.bound {
		list = append(list, use{source.in, x.leaf(source.in, source.at+l), written[l], source.in, -1})
	}
	return by, list
}
