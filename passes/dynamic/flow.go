package dynamic

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
)

// flow says which arrays are written as static ones. An array goes through tuples, calls, loops and branches unchanged, so that whatever it goes through
// has it in one form: the static one as soon as any op there is written for static shapes.
type flow struct {
	m hlo.Module
	// outside are computations that run inside an op that stays as it is, and stay so, too.
	outside map[hlo.CompID]bool
	first   map[place]int // the class of the first leaf of a value
	leader  []int         // of classes: the one that stands for it
	static  []bool        // of leaders: it has an op for static shapes
	read    bool          // a size is read, or set
}

// place is an instruction of a module.
type place struct {
	in hlo.CompID
	id hlo.InstrID
}

func at(in hlo.Instruction) place { return place{in.Computation().ID(), in.ID()} }

func (p *padding) findFlow() *flow {
	f := &flow{m: p.m, outside: map[hlo.CompID]bool{}, first: map[place]int{}}
	reachable := analysis.Reachable(p.m)
	f.findOutside(reachable)
	for c := range p.m.PostOrder() {
		if !reachable[c.ID()] || f.outside[c.ID()] {
			continue
		}
		for in := range c.Instructions() {
			f.connect(in)
		}
	}
	if root := p.m.Entry().Root(); !p.slice {
		f.need(root)
	}
	return f
}

// findOutside finds the computations of ops that stay as they are, all that these call, and ops that call one of them.
func (f *flow) findOutside(reachable map[hlo.CompID]bool) {
	for again := true; again; {
		again = false
		for c := range f.m.Computations() {
			if !reachable[c.ID()] {
				continue
			}
			for in := range c.Instructions() {
				if !f.outside[c.ID()] && rowOf(in).boundary && !f.callsOutside(in) || rowOf(in).applies {
					continue
				}
				for callee := range in.Callees() {
					if !f.outside[callee] {
						f.outside[callee], again = true, true
					}
				}
			}
		}
	}
}

func (f *flow) callsOutside(in hlo.Instruction) bool {
	for callee := range in.Callees() {
		if f.outside[callee] {
			return true
		}
	}
	return false
}

// rowFor is how an instruction is written here: one that calls a computation that stays as it is stays, too, and so does one without bounds.
func (f *flow) rowFor(in hlo.Instruction) row {
	r := rowOf(in)
	if r.boundary && f.callsOutside(in) || r.rewrite != nil && !r.forwards && !bounded(in) {
		return row{}
	}
	return r
}

func bounded(in hlo.Instruction) bool {
	for o := range in.Operands() {
		if !o.Shape().IsBounded() {
			return false
		}
	}
	return in.Shape().IsBounded()
}

// connect notes where the arrays of an instruction go to, and whether it is for static shapes.
func (f *flow) connect(in hlo.Instruction) {
	switch r := f.rowFor(in); {
	case r.boundary:
		f.connectCalls(in)
	case in.Opcode() == hlo.OpTuple:
		skip := 0
		for o := range in.Operands() {
			f.join(in, skip, o, 0, o.Shape())
			skip += leaves(o.Shape())
		}
	case in.Opcode() == hlo.OpGetTupleElement:
		skip, o := 0, in.OperandInstr(0)
		for i := range int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index) {
			skip += leaves(o.Shape().Elem(i))
		}
		f.join(in, 0, o, skip, in.Shape())
	case r.forwards:
		f.join(in, 0, in.OperandInstr(0), 0, in.Shape())
	case r.rewrite != nil:
		f.read = f.read || r.sizes
		f.need(in)
		for o := range in.Operands() {
			f.need(o)
		}
	}
}

// connectCalls joins what goes into computations with their parameters, and their results with the instruction's.
func (f *flow) connectCalls(in hlo.Instruction) {
	for k, id := range slicesOf(in) {
		c := f.m.MustComputation(id)
		for i := range c.NumParameters() {
			f.join(c.Parameter(i), 0, in.OperandInstr(operandOf(in, k, i)), 0, c.Parameter(i).Shape())
		}
		if !c.Root().Shape().IsScalar() || in.Opcode() != hlo.OpWhile {
			f.join(in, 0, c.Root(), 0, in.Shape())
		}
		if in.Opcode() == hlo.OpWhile {
			f.join(in, 0, c.Parameter(0), 0, in.Shape())
		}
	}
}

func slicesOf(in hlo.Instruction) (ids []hlo.CompID) {
	for id := range in.Callees() {
		ids = append(ids, id)
	}
	return ids
}

// operandOf is the operand that parameter i of callee k is.
func operandOf(in hlo.Instruction, k, i int) int {
	if in.Opcode() == hlo.OpConditional {
		return k + 1
	}
	return i
}

func leaves(s hlo.Shape) int { return len(leavesOf(s)) }

func leavesOf(s hlo.Shape) (all []hlo.Shape) {
	for _, leaf := range s.Leaves {
		all = append(all, leaf)
	}
	return all
}

// class is the class of a leaf of a value.
func (f *flow) class(in hlo.Instruction, leaf int) int {
	first, ok := f.first[at(in)]
	if !ok {
		first = len(f.leader)
		f.first[at(in)] = first
		for i := range leaves(in.Shape()) {
			f.leader = append(f.leader, first+i)
			f.static = append(f.static, false)
		}
	}
	return f.find(first + leaf)
}

func (f *flow) find(i int) int {
	for f.leader[i] != i {
		f.leader[i] = f.leader[f.leader[i]]
		i = f.leader[i]
	}
	return i
}

// join makes leaves of two values one class each: as many as a shape has that both have there.
func (f *flow) join(a hlo.Instruction, i int, b hlo.Instruction, j int, s hlo.Shape) {
	if s.IsStatic() {
		return
	}
	for k, leaf := range leavesOf(s) {
		if leaf.IsStatic() {
			continue
		}
		if x, y := f.class(a, i+k), f.class(b, j+k); x != y {
			f.leader[y] = x
			f.static[x] = f.static[x] || f.static[y]
		}
	}
}

// need says that the arrays of a value are to be static.
func (f *flow) need(in hlo.Instruction) {
	if in.Shape().IsStatic() {
		return
	}
	for i, leaf := range leavesOf(in.Shape()) {
		if !leaf.IsStatic() && leaf.IsBounded() {
			f.static[f.class(in, i)] = true
		}
	}
}

// split reports of the leaves of a value which are written as static arrays with their sizes beside them.
func (f *flow) split(in hlo.Instruction) []bool {
	if in.Shape().IsStatic() {
		return nil
	}
	var split []bool
	for i, leaf := range leavesOf(in.Shape()) {
		split = append(split, !leaf.IsStatic() && leaf.IsBounded() && f.static[f.class(in, i)])
	}
	return split
}

// idle reports whether there is nothing to write anew.
func (f *flow) idle() bool {
	for i := range f.leader {
		if f.static[f.find(i)] {
			return false
		}
	}
	return !f.read
}
