package analysis

import (
	"sort"

	"github.com/gohalo/halo/hlo"
)

// Live has the parts of values of a module that are needed: the result of the program depends on them, or an effect does. Parts are the
// leaves of shapes, in order. It sees through tuples, calls, branches and the state of loops, so that a value that is only carried round a loop
// is not live. In a module of more than some million parts everything is. It is immutable.
type Live struct {
	m     hlo.Module
	parts map[hlo.CompID][][]bool // by instruction, by leaf; nil where nothing is live; nil as a whole where everything is
	work  []livePart

	starts map[place][]int // the first leaf of each element, of tuples of many elements, and the end
	read   map[place]bool  // those of many leaves whose operands are live
}

type place struct {
	c  hlo.CompID
	in hlo.InstrID
}

func placeOf(in hlo.Instruction) place { return place{in.Computation().ID(), in.ID()} }

type livePart struct {
	in   hlo.Instruction
	leaf int
}

// FindLive follows every value that is needed back to what it is made of. Each leaf is looked at once.
//
//  1. The result of the entry is live, and so are the operands of what has effects, communicates or orders, and the selectors of branches
//     that do. The condition of every loop is live, even if nothing that it computes is: as long as it is there it has to end.
//  2. A live leaf of an instruction makes live what it is, if the instruction hands parts on, and else all that the instruction reads.
func FindLive(m hlo.Module) *Live {
	l := &Live{m: m, parts: map[hlo.CompID][][]bool{}, starts: map[place][]int{}, read: map[place]bool{}}
	const mostLeaves = 1 << 22 // of a module: tuples of tuples can be larger than any memory
	leaves := 0
	for c := range m.Computations() {
		l.parts[c.ID()] = make([][]bool, c.IDLimit())
		for in := range c.Instructions() {
			if leaves += min(in.Shape().NumLeaves(), mostLeaves); leaves > mostLeaves {
				return &Live{m: m}
			}
			if s := in.Shape(); s.IsTuple() && s.NumElems() > 8 { // else counting anew costs less than looking up
				l.starts[placeOf(in)] = leafStarts(s)
			}
		}
	}
	l.all(m.Entry().Root())
	effects := FindSideEffects(m)
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if in.Opcode() == hlo.OpWhile {
				l.mark(m.MustComputation(in.Callee(conditionIndex(in))).Root(), 0)
			}
			const needed = hlo.TraitSideEffect | hlo.TraitCollective | hlo.TraitTokens | hlo.TraitRandom | hlo.TraitAsyncStart | hlo.TraitAsyncDone
			if effects.Of(in) || hlo.Info(in.Opcode()).Traits&needed != 0 || in.Opcode() == hlo.OpCustomCall || hlo.IsAsync(in.Opcode()) ||
				in.NumControlPredecessors()+in.NumControlSuccessors() > 0 {
				l.runs(in)
			}
		}
	}
	for len(l.work) > 0 {
		p := l.work[len(l.work)-1]
		l.work = l.work[:len(l.work)-1]
		l.follow(p.in, p.leaf)
	}
	return l
}

// Any reports whether a leaf of the part of in at element i is live.
func (l *Live) Any(in hlo.Instruction, i int) bool {
	if l.parts == nil {
		return true
	}
	marks := l.parts[in.Computation().ID()][in.ID()]
	if marks == nil {
		return false
	}
	from := l.leafOf(in, i)
	for k := range in.Shape().Elem(i).NumLeaves() {
		if marks[from+k] {
			return true
		}
	}
	return false
}

// leafOf is the number of the first leaf of element i of a tuple.
func (l *Live) leafOf(in hlo.Instruction, i int) int {
	if starts := l.starts[placeOf(in)]; starts != nil {
		return starts[i]
	}
	n := 0
	for k := range i {
		n += in.Shape().Elem(k).NumLeaves()
	}
	return n
}

func leafStarts(s hlo.Shape) []int {
	starts := make([]int, 1, s.NumElems()+1)
	for i := range s.NumElems() {
		starts = append(starts, starts[i]+s.Elem(i).NumLeaves())
	}
	return starts
}

func (l *Live) mark(in hlo.Instruction, leaf int) {
	list := l.parts[in.Computation().ID()]
	if list[in.ID()] == nil {
		list[in.ID()] = make([]bool, in.Shape().NumLeaves())
	}
	if leaf < len(list[in.ID()]) && !list[in.ID()][leaf] {
		list[in.ID()][leaf] = true
		l.work = append(l.work, livePart{in, leaf})
	}
}

func (l *Live) all(in hlo.Instruction) {
	for leaf := range in.Shape().NumLeaves() {
		l.mark(in, leaf)
	}
}

// runs makes live what decides about running an instruction that does something, and what it reads.
func (l *Live) runs(in hlo.Instruction) {
	switch in.Opcode() {
	case hlo.OpWhile, hlo.OpCall: // their values count part by part
		return
	case hlo.OpConditional:
		l.all(in.OperandInstr(0))
		return
	}
	l.reads(in)
	l.all(in)
}

// reads makes all operands live, and all that callees return.
func (l *Live) reads(in hlo.Instruction) {
	for o := range in.Operands() {
		l.all(o)
	}
	for id := range in.Callees() {
		l.all(l.m.MustComputation(id).Root())
	}
}

// follow makes live what a leaf of in is made of.
func (l *Live) follow(in hlo.Instruction, leaf int) {
	//halo:allow opswitch these hand parts on; the default reads everything
	switch in.Opcode() {
	case hlo.OpTuple:
		if starts := l.starts[placeOf(in)]; starts != nil {
			i := sort.SearchInts(starts, leaf+1) - 1
			l.mark(in.OperandInstr(i), leaf-starts[i])
			return
		}
		for o := range in.Operands() {
			if n := o.Shape().NumLeaves(); leaf >= n {
				leaf -= n
				continue
			}
			l.mark(o, leaf)
			return
		}
	case hlo.OpGetTupleElement:
		o := in.OperandInstr(0)
		l.mark(o, l.leafOf(o, int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index))+leaf)
	case hlo.OpOptBarrier:
		l.mark(in.OperandInstr(0), leaf)
	case hlo.OpCall:
		l.mark(l.m.MustComputation(in.Callee(0)).Root(), leaf)
	case hlo.OpConditional:
		l.all(in.OperandInstr(0))
		for id := range in.Callees() {
			l.mark(l.m.MustComputation(id).Root(), leaf)
		}
	case hlo.OpWhile:
		l.state(in, leaf)
	case hlo.OpParameter:
		number, _ := in.ParameterNumber()
		for caller, id := range l.m.Callers(in.Computation().ID()) {
			l.argument(l.m.MustComputation(caller).MustAt(id), in.Computation().ID(), int(number), leaf)
		}
	default:
		if in.Shape().NumLeaves() > 1 {
			if l.read[placeOf(in)] {
				return
			}
			l.read[placeOf(in)] = true
		}
		l.reads(in)
	}
}

// state makes live a leaf of the state of a loop: before it, and in every round.
func (l *Live) state(while hlo.Instruction, leaf int) {
	l.mark(while, leaf)
	l.mark(while.OperandInstr(0), leaf)
	l.mark(l.m.MustComputation(while.Callee(1-conditionIndex(while))).Root(), leaf)
}

// conditionIndex is the number of the callee of a loop that is its condition.
func conditionIndex(while hlo.Instruction) int {
	if conditionIsSecond(while) {
		return 1
	}
	return 0
}

// argument makes live what a caller hands over for a leaf of parameter number of callee.
func (l *Live) argument(caller hlo.Instruction, callee hlo.CompID, number, leaf int) {
	switch caller.Opcode() {
	case hlo.OpCall:
		l.mark(caller.OperandInstr(number), leaf)
	case hlo.OpWhile:
		l.state(caller, leaf)
	case hlo.OpConditional:
		for i := range caller.NumCallees() {
			if caller.Callee(i) == callee {
				l.mark(caller.OperandInstr(i+1), leaf)
			}
		}
	default:
		l.reads(caller)
		l.all(caller)
	}
}
