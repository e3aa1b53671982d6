package analysis

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
)

// Race is a buffer that an asynchronous chain and an instruction beside it both use, and that one of them writes: what is read depends on which
// is faster.
//
// A chain writes its outputs until its done, and the operands that it declares to be updated in place: by output_to_operand_aliasing of the start, or
// of a custom call or fusion that it computes. An instruction beside it, which neither comes before its start nor after its done, may do the
// same. Everything else is read. Instructions that make tuples, or stand for the same bytes, use nothing. A chain that is handed in or out, through a
// call, a branch or the state of a loop, is under way from the beginning of the computation, or to its end.
type Race struct {
	Start  hlo.Instruction // of the chain
	Beside hlo.Instruction // an instruction, or the start of another chain
	// Writes and AlsoWrites say which of the two write: the chain, the other one.
	Writes, AlsoWrites bool
	// Value is an instruction whose value the buffer holds.
	Value hlo.Instruction
}

// String says what may happen.
func (r Race) String() string {
	does := func(writes bool) string {
		if writes {
			return "writes"
		}
		return "reads"
	}
	return fmt.Sprintf("the chain of %%%s %s the buffer of %%%s, which %%%s, beside it, %s", r.Start.Name(), does(r.Writes), r.Value.Name(), r.Beside.Name(), does(r.AlsoWrites))
}

// FindRaces looks for races in all computations of a module, each in program order.
func FindRaces(m hlo.Module) (list []Race) {
	f := &raceFinder{m: m, states: findStates(m), written: make(map[hlo.CompID][]bool), known: make(map[hlo.CompID][]*memory), same: make(map[hlo.CompID][]int), seen: make(map[[2]valueKey]bool)}
	for c := range m.Computations() {
		list = append(list, f.races(c)...)
	}
	return list
}

type raceFinder struct {
	m       hlo.Module
	states  *states
	written map[hlo.CompID][]bool // by computation: which leaves of its parameters it writes
	known   map[hlo.CompID][]*memory
	same    map[hlo.CompID][]int // by computation: which leaf of the parameters each leaf of the root is, or -1
	seen    map[[2]valueKey]bool // pairs that are known to race
}

// use is one use of a buffer.
type use struct {
	by     hlo.Instruction
	buffer int
	writes bool
	value  hlo.Instruction
	chain  int // its number, or -1
}

// memory puts the leaves of a computation's values that lie at one place into one class.
type memory struct {
	first map[hlo.InstrID]int // number of an instruction's first leaf
	class []int
}

func (x *memory) find(i int) int {
	for x.class[i] != i {
		x.class[i] = x.class[x.class[i]]
		i = x.class[i]
	}
	return i
}

func (x *memory) leaf(in hlo.Instruction, i int) int { return x.find(x.first[in.ID()] + i) }

// same makes n leaves of a, from i on, those of b from k on.
func (x *memory) same(a hlo.Instruction, i int, b hlo.Instruction, k, n int) {
	for l := range n {
		x.class[x.leaf(a, i+l)] = x.leaf(b, k+l)
	}
}

// firstLeaf is the number of the first leaf at an index of a shape, and how many there are.
func firstLeaf(s hlo.Shape, index hlo.ShapeIndex) (at, n int) {
	for _, i := range index {
		if !s.IsTuple() || i < 0 || int(i) >= s.NumElems() {
			return 0, 0 // the verifier's concern
		}
		for k := range int(i) {
			at += s.Elem(k).NumLeaves()
		}
		s = s.Elem(int(i))
	}
	return at, s.NumLeaves()
}

// memoryOf finds which values of a computation share memory for certain.
func (f *raceFinder) memoryOf(c hlo.Computation) *memory {
	x := &memory{first: make(map[hlo.InstrID]int)}
	for in := range c.Instructions() {
		x.first[in.ID()] = len(x.class)
		for range in.Shape().NumLeaves() {
			x.class = append(x.class, len(x.class))
		}
	}
	for in := range c.Instructions() {
		//halo:allow opswitch what shares memory by its meaning
		switch in.Opcode() {
		case hlo.OpTuple, hlo.OpOptBarrier:
			at := 0
			for o := range in.Operands() {
				n := o.Shape().NumLeaves()
				x.same(in, at, o, 0, n)
				at += n
			}
		case hlo.OpGetTupleElement:
			o := in.OperandInstr(0)
			at, n := firstLeaf(o.Shape(), hlo.ShapeIndex{hlo.AttrsOf[hlo.TupleElementAttrs](in).Index})
			x.same(in, 0, o, at, n)
		case hlo.OpCall, hlo.OpWhile, hlo.OpConditional:
			f.through(x, in)
		case hlo.OpAsyncStart:
			x.bound(in, 0, 0)
		case hlo.OpAsyncUpdate:
			before := in.OperandInstr(0)
			n := before.Shape().Elem(0).NumLeaves()
			x.same(in, 0, before, 0, n)
			if from, to := before.Shape().Elem(1), in.Shape().Elem(1); from.NumLeaves() == to.NumLeaves() {
				x.same(in, in.Shape().Elem(0).NumLeaves(), before, n, to.NumLeaves())
			}
			x.bound(in, 1, n)
		case hlo.OpAsyncDone:
			o := in.OperandInstr(0)
			if o.Shape().IsTuple() && o.Shape().NumElems() > 1 && o.Shape().Elem(1).NumLeaves() == in.Shape().NumLeaves() {
				x.same(in, 0, o, o.Shape().Elem(0).NumLeaves(), in.Shape().NumLeaves())
			}
		}
		for _, a := range declaredAliases(in) {
			o := in.OperandInstr(int(a.Operand))
			from, n := firstLeaf(o.Shape(), a.OperandIndex)
			if to, k := firstLeaf(in.Shape(), a.Output); n == k {
				x.same(in, to, o, from, n)
			}
		}
	}
	return x
}

// bound makes leaves of a step's first element, from at on, its operands from number i on.
func (x *memory) bound(in hlo.Instruction, i, at int) {
	for ; i < in.NumOperands(); i++ {
		o := in.OperandInstr(i)
		n := o.Shape().NumLeaves()
		if at+n > in.Shape().Elem(0).NumLeaves() {
			return
		}
		x.same(in, at, o, 0, n)
		at += n
	}
}

// declaredAliases are the outputs that an instruction declares to lie in its operands.
func declaredAliases(in hlo.Instruction) []hlo.OutputAlias {
	//halo:allow opswitch those with the attribute
	switch in.Opcode() {
	case hlo.OpFusion:
		return hlo.AttrsOf[hlo.FusionAttrs](in).OutputAliasing
	case hlo.OpCustomCall:
		return hlo.AttrsOf[hlo.CustomCallAttrs](in).OutputAliasing
	case hlo.OpAsyncStart:
		return hlo.AttrsOf[hlo.AsyncStartAttrs](in).OutputAliasing
	}
	return nil
}

// writes lists the operand leaves that an instruction updates in place, as pairs of operand and leaf.
func (f *raceFinder) writes(in hlo.Instruction) (list [][2]int) {
	for _, a := range declaredAliases(in) {
		if in.Opcode() == hlo.OpAsyncStart && (len(a.Output) == 0 || a.Output[0] != 1) {
			continue // an operand in its own place
		}
		at, n := firstLeaf(in.OperandInstr(int(a.Operand)).Shape(), a.OperandIndex)
		for i := range n {
			list = append(list, [2]int{int(a.Operand), at + i})
		}
	}
	if op := in.Opcode(); op == hlo.OpCall || op == hlo.OpAsyncStart {
		written := f.parameters(f.m.MustComputation(in.Callee(0)))
		for i := range in.NumOperands() {
			n := in.OperandInstr(i).Shape().NumLeaves()
			for l := range min(n, len(written)) {
				if written[l] {
					list = append(list, [2]int{i, l})
				}
			}
			written = written[min(n, len(written)):]
		}
	}
	return list
}

// parameters says which leaves of a computation's parameters it updates in place.
func (f *raceFinder) parameters(c hlo.Computation) []bool {
	if w, known := f.written[c.ID()]; known {
		return w
	}
	x := f.memoryOf(c)
	classes := make(map[int]bool)
	for in := range c.Instructions() {
		for _, w := range f.writes(in) {
			classes[x.leaf(in.OperandInstr(w[0]), w[1])] = true
		}
	}
	var written []bool
	for i := range c.NumParameters() {
		p := c.Parameter(i)
		for l := range p.Shape().NumLeaves() {
			written = append(written, classes[x.leaf(p, l)])
		}
	}
	f.written[c.ID()] = written
	return written
}

// uses lists the uses of buffers by one instruction. Those by the steps of a chain are its start's.
func (f *raceFinder) uses(x *memory, in hlo.Instruction) (list []use) {
	if traits := hlo.Info(in.Opcode()).Traits; in.Opcode() == hlo.OpTuple || in.Opcode() == hlo.OpGetTupleElement || in.Opcode() == hlo.OpOptBarrier ||
		traits.Has(hlo.TraitAsyncDone) {
		return nil
	}
	written := make(map[[2]int]bool)
	for _, w := range f.writes(in) {
		written[w] = true
	}
	first := 0
	if in.Opcode() == hlo.OpAsyncUpdate {
		first = 1
	}
	for i := first; i < in.NumOperands(); i++ {
		o := in.OperandInstr(i)
		for l := range o.Shape().NumLeaves() {
			if !f.states.isPending(o, l) {
				list = append(list, use{in, x.leaf(o, l), written[[2]int{i, l}], o, -1})
			}
		}
	}
	return list
}

func (f *raceFinder) races(c hlo.Computation) (list []Race) {
	sources := f.sources(c)
	if len(sources) == 0 {
		return nil
	}
	d := FindDependencies(c)
	span := &spans{d: d, before: make(map[hlo.InstrID][]bool), after: make(map[hlo.InstrID][]bool)}
	for _, x := range f.memories(c) {
		list = append(list, f.racesIn(x, sources, span)...)
	}
	return list
}

// racesIn looks for races where the leaves of the computation share memory as x says.
func (f *raceFinder) racesIn(x *memory, sources []*state, span *spans) (list []Race) {
	users := make(map[int][]use) // of each buffer
	steps := make(map[hlo.InstrID]bool)
	var chains []chainOfSteps
	for _, source := range sources {
		chain := f.follow(x, source)
		for _, u := range chain.uses {
			u.chain = len(chains)
			users[u.buffer] = append(users[u.buffer], u)
			steps[u.by.ID()] = true
		}
		chains = append(chains, chain)
	}
	for _, in := range span.d.Order {
		if IsStart(in) && steps[in.ID()] {
			continue
		}
		for _, u := range f.uses(x, in) {
			users[u.buffer] = append(users[u.buffer], u)
		}
	}
	for i, chain := range chains {
		for _, own := range chain.uses {
			for _, other := range users[own.buffer] {
				if !own.writes && !other.writes || other.chain >= 0 && other.chain <= i {
					continue // a pair of chains counts once
				}
				by, end := other.by, other.by
				if other.chain >= 0 {
					by, end = chains[other.chain].start, chains[other.chain].end
				}
				pair := [2]valueKey{keyOf(chain.start), keyOf(by)}
				if !f.seen[pair] && !isSame(other.by, chain.end) && !span.isBefore(end, own.by) && !span.isBefore(chain.end, other.by) {
					f.seen[pair], f.seen[[2]valueKey{pair[1], pair[0]}] = true, true
					list = append(list, Race{Start: chain.start, Beside: by, Writes: own.writes, AlsoWrites: other.writes, Value: own.value})
				}
			}
		}
	}
	return list
}

func isSame(a, b hlo.Instruction) bool { return !b.IsZero() && a.ID() == b.ID() }

// spans answers what must come before what, in the order of a schedule or by what depends on what.
type spans struct {
	d             *Dependencies
	before, after map[hlo.InstrID][]bool // what comes before, or after, one that was asked for
}

// isBefore reports whether a always has run when b begins, or is b. What is handed in begins with the computation, and what has no end here, which is
// zero, ends after it.
func (s *spans) isBefore(a, b hlo.Instruction) bool {
	if a.IsZero() || b.Opcode() == hlo.OpParameter {
		return false
	}
	i, j := s.d.Position(a.ID()), s.d.Position(b.ID())
	if s.d.c.IsScheduled() {
		return i <= j
	}
	if IsDone(a) {
		return closure(s.after, a, i, s.d.after)[j]
	}
	return closure(s.before, b, j, s.d.before)[i]
}

// closure marks a position and what its edges lead to, once for each instruction.
func closure(known map[hlo.InstrID][]bool, in hlo.Instruction, from int, e edges) []bool {
	if seen, ok := known[in.ID()]; ok {
		return seen
	}
	seen := make([]bool, e.len())
	for work := []int{from}; len(work) > 0; {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		if !seen[i] {
			seen[i] = true
			work = append(work, e.from(i)...)
		}
	}
	known[in.ID()] = seen
	return seen
}
