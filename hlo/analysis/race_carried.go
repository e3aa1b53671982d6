package analysis

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// mostMemories bounds in how many ways the leaves that a computation is handed are looked at.
const mostMemories = 16

// memories are those of a computation, one for each way in which the leaves of its parameters share memory where it is called.
func (f *raceFinder) memories(c hlo.Computation) []*memory {
	if list := f.known[c.ID()]; list != nil {
		return list
	}
	f.known[c.ID()] = []*memory{f.memoryOf(c)} // for those that call each other in a circle
	var given [][]int
	add := func(classes []int) bool {
		classes = numbered(classes)
		if len(given) == mostMemories || slices.ContainsFunc(given, func(known []int) bool { return slices.Equal(known, classes) }) {
			return false
		}
		given = append(given, classes)
		return true
	}
	for caller, id := range f.m.Callers(c.ID()) {
		in := f.m.MustComputation(caller).MustAt(id)
		for _, y := range f.memories(f.m.MustComputation(caller)) {
			//halo:allow opswitch how each hands on its operands
			switch in.Opcode() {
			case hlo.OpCall, hlo.OpAsyncStart:
				var classes []int
				for o := range in.Operands() {
					classes = append(classes, y.leaves(o)...)
				}
				add(classes)
			case hlo.OpConditional:
				for i := range in.NumCallees() {
					if in.Callee(i) == c.ID() {
						add(y.leaves(in.OperandInstr(i + 1)))
					}
				}
			case hlo.OpWhile:
				body := f.m.MustComputation(in.Callee(0))
				for classes := y.leaves(in.OperandInstr(0)); add(classes); {
					x := f.memoryOf(body)
					x.share(body, classes)
					classes = x.leaves(body.Root())
				}
			}
		}
	}
	if len(given) > 0 {
		f.known[c.ID()] = nil
	}
	for _, classes := range given {
		x := f.memoryOf(c)
		x.share(c, classes)
		f.known[c.ID()] = append(f.known[c.ID()], x)
	}
	return f.known[c.ID()]
}

// through makes leaves of what an instruction calls for those of its operands that come out of it as they went in, whichever branch is taken, and however
// many rounds there are.
func (f *raceFinder) through(x *memory, in hlo.Instruction) {
	var whole [][]int // by computation: the classes of the leaves that come out, or -1
	for i := range in.NumCallees() {
		var given []int
		//halo:allow opswitch how each hands on its operands
		switch in.Opcode() {
		case hlo.OpCall:
			for o := range in.Operands() {
				given = append(given, x.leaves(o)...)
			}
		case hlo.OpWhile:
			given = x.leaves(in.OperandInstr(0))
			if i > 0 {
				continue // the condition
			}
		case hlo.OpConditional:
			given = x.leaves(in.OperandInstr(i + 1))
		}
		kept := f.kept(f.m.MustComputation(in.Callee(i)))
		out := make([]int, in.Shape().NumLeaves())
		for l := range out {
			out[l] = -1
			if l < len(kept) && kept[l] >= 0 && kept[l] < len(given) && (in.Opcode() != hlo.OpWhile || kept[l] == l) {
				out[l] = given[kept[l]]
			}
		}
		whole = append(whole, out)
	}
	for l := range in.Shape().NumLeaves() {
		class := whole[0][l]
		if class >= 0 && !slices.ContainsFunc(whole, func(out []int) bool { return out[l] != class }) {
			x.class[x.leaf(in, l)] = x.find(class)
		}
	}
}

// kept lists for the leaves of a computation's root which leaf of its parameters each is, or -1.
func (f *raceFinder) kept(c hlo.Computation) []int {
	if list, known := f.same[c.ID()]; known {
		return list
	}
	f.same[c.ID()] = nil // for those that call each other in a circle
	x := f.memoryOf(c)
	number := make(map[int]int)
	k := 0
	for i := range c.NumParameters() {
		for _, class := range x.leaves(c.Parameter(i)) {
			if _, known := number[class]; !known {
				number[class] = k
			}
			k++
		}
	}
	list := x.leaves(c.Root())
	for l, class := range list {
		if at, known := number[class]; known {
			list[l] = at
		} else {
			list[l] = -1
		}
	}
	f.same[c.ID()] = list
	return list
}

// numbered names classes by the order in which they appear.
func numbered(classes []int) []int {
	number := make(map[int]int)
	list := make([]int, len(classes))
	for i, class := range classes {
		if _, known := number[class]; !known {
			number[class] = len(number)
		}
		list[i] = number[class]
	}
	return list
}

// leaves are the classes of a value's leaves.
func (x *memory) leaves(in hlo.Instruction) []int {
	list := make([]int, in.Shape().NumLeaves())
	for l := range list {
		list[l] = x.leaf(in, l)
	}
	return list
}

// share makes those leaves of the parameters one class that are of one class where the computation is called.
func (x *memory) share(c hlo.Computation, classes []int) {
	type leaf struct {
		p hlo.Instruction
		l int
	}
	first := make(map[int]leaf)
	k := 0
	for i := range c.NumParameters() {
		p := c.Parameter(i)
		for l := 0; l < p.Shape().NumLeaves() && k < len(classes); l++ {
			if other, known := first[classes[k]]; known {
				x.same(p, l, other.p, other.l, 1)
			} else {
				first[classes[k]] = leaf{p, l}
			}
			k++
		}
	}
}
