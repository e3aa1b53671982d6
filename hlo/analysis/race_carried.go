package analysis

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// untupled is the value that a part of a tuple is, where the tuple is made of parts.
func untupled(in hlo.Instruction) hlo.Instruction {
	for in.Opcode() == hlo.OpGetTupleElement {
		tuple := in.OperandInstr(0)
		for tuple.Opcode() == hlo.OpOptBarrier && tuple.NumOperands() == 1 {
			tuple = tuple.OperandInstr(0)
		}
		i := hlo.AttrsOf[hlo.TupleElementAttrs](in).Index
		if tuple.Opcode() != hlo.OpTuple || int(i) >= tuple.NumOperands() {
			break
		}
		in = tuple.OperandInstr(int(i))
	}
	return in
}

// isPending reports whether a leaf of a value is a part of a state that is not there before the done, so that whoever is handed it reads nothing.
func isPending(in hlo.Instruction, leaf int) bool {
	for {
		//halo:allow opswitch what hands a chain on within a computation
		switch in.Opcode() {
		case hlo.OpTuple:
			i := 0
			for ; leaf >= in.OperandInstr(i).Shape().NumLeaves(); i++ {
				leaf -= in.OperandInstr(i).Shape().NumLeaves()
			}
			in = in.OperandInstr(i)
		case hlo.OpGetTupleElement:
			in, leaf = in.OperandInstr(0), leaf+elementAt(in)
		case hlo.OpOptBarrier, hlo.OpCopy:
			in = in.OperandInstr(0)
		case hlo.OpAsyncStart, hlo.OpAsyncUpdate:
			return leaf >= in.Shape().Elem(0).NumLeaves()
		default:
			return false
		}
	}
}

// elementAt is the number of the first leaf of the operand that a get-tuple-element takes.
func elementAt(in hlo.Instruction) int {
	at, _ := firstLeaf(in.OperandInstr(0).Shape(), hlo.ShapeIndex{hlo.AttrsOf[hlo.TupleElementAttrs](in).Index})
	return at
}

// bound lists the uses of the operands of a chain that is handed in as step: they lie in its first element.
func (f *raceFinder) bound(x *memory, step, start hlo.Instruction) (list []use) {
	written := make(map[int]bool)
	for _, w := range f.writes(start) {
		at := w[1]
		for i := range w[0] {
			at += start.OperandInstr(i).Shape().NumLeaves()
		}
		written[at] = true
	}
	for l := range step.Shape().Elem(0).NumLeaves() {
		list = append(list, use{step, x.leaf(step, l), written[l], step})
	}
	return list
}

// handedOut follows a start, which no done of the computation waits for, to where it leaves: the root, or what takes it along.
func (f *raceFinder) handedOut(x *memory, start hlo.Instruction) (chain chainOfSteps, ok bool) {
	chain.start, chain.begin = start, start
	chain.uses = f.uses(x, start)
	seen := map[hlo.InstrID]bool{}
	for work := []hlo.Instruction{start}; len(work) > 0; {
		in := work[len(work)-1]
		work = work[:len(work)-1]
		if in.IsRoot() {
			chain.done = in
			return chain, true
		}
		for u := range in.Users() {
			//halo:allow opswitch what hands a chain on within a computation
			switch {
			case seen[u.ID()]:
			case u.Opcode() == hlo.OpAsyncUpdate && u.Operand(0) == in.ID():
				chain.uses = append(chain.uses, f.uses(x, u)...)
				work = append(work, u)
			case u.Opcode() == hlo.OpTuple || u.Opcode() == hlo.OpGetTupleElement || u.Opcode() == hlo.OpOptBarrier:
				work = append(work, u)
			default:
				chain.done = u
			}
			seen[u.ID()] = true
		}
	}
	return chain, !chain.done.IsZero()
}

// memory is that of a computation, in which those leaves of its parameters share memory that do wherever it is called.
func (f *raceFinder) memory(c hlo.Computation) *memory {
	if x := f.known[c.ID()]; x != nil {
		return x
	}
	x := memoryOf(c)
	f.known[c.ID()] = x
	var given [][]int // by call: the class of each leaf
	for caller, id := range f.m.Callers(c.ID()) {
		y := f.memory(f.m.MustComputation(caller))
		classes, ok := f.given(y, f.m.MustComputation(caller).MustAt(id), c)
		if !ok {
			return x
		}
		given = append(given, classes)
	}
	if len(given) > 0 {
		x.share(c, given)
	}
	return x
}

// given is the class of each leaf that a call hands to a computation; false for what does not run it on whole values.
func (f *raceFinder) given(y *memory, in hlo.Instruction, c hlo.Computation) (classes []int, ok bool) {
	add := func(o hlo.Instruction) {
		for l := range o.Shape().NumLeaves() {
			classes = append(classes, y.leaf(o, l))
		}
	}
	//halo:allow opswitch how each hands on its operands
	switch in.Opcode() {
	case hlo.OpCall, hlo.OpAsyncStart:
		for o := range in.Operands() {
			add(o)
		}
	case hlo.OpConditional:
		for i := range in.NumCallees() {
			if in.Callee(i) == c.ID() {
				if classes != nil {
					return nil, false // two branches of one computation
				}
				add(in.OperandInstr(i + 1))
			}
		}
	case hlo.OpWhile:
		add(in.OperandInstr(0))
		classes = f.kept(in, classes)
	default:
		return nil, false
	}
	return classes, true
}

// kept takes apart leaves of the state of a loop that share memory at first, and not after a round.
func (f *raceFinder) kept(while hlo.Instruction, classes []int) []int {
	body := f.m.MustComputation(while.Callee(1))
	if conditionIsSecond(while) {
		body = f.m.MustComputation(while.Callee(0))
	}
	for {
		x, root := memoryOf(body), body.Root()
		x.share(body, [][]int{classes})
		next, number := make([]int, len(classes)), make(map[[2]int]int)
		for l := range classes {
			key := [2]int{classes[l], x.leaf(root, min(l, root.Shape().NumLeaves()-1))}
			if _, known := number[key]; !known {
				number[key] = len(number)
			}
			next[l] = number[key]
		}
		if len(number) == distinct(classes) {
			return next
		}
		classes = next
	}
}

func distinct(classes []int) int { return len(slices.Compact(slices.Sorted(slices.Values(classes)))) }

// share makes those leaves of the parameters one class that are of one class in every call.
func (x *memory) share(c hlo.Computation, given [][]int) {
	type leaf struct {
		p hlo.Instruction
		l int
	}
	var leaves []leaf
	for i := range c.NumParameters() {
		for l := range c.Parameter(i).Shape().NumLeaves() {
			leaves = append(leaves, leaf{c.Parameter(i), l})
		}
	}
	for k, a := range leaves {
		for j, b := range leaves[:k] {
			same := true
			for _, classes := range given {
				same = same && k < len(classes) && classes[j] == classes[k]
			}
			if same {
				x.same(a.p, a.l, b.p, b.l, 1)
				break
			}
		}
	}
}
