package copies

import (
	"slices"

	"github.com/gohalo/halo/hlo"
)

// site is an instruction of a module.
type site struct {
	comp hlo.CompID
	in   hlo.InstrID
}

// place is a leaf of the result of an instruction.
type place struct {
	site
	leaf int
}

// use is an operand leaf that an instruction reads.
type use struct {
	site
	operand, leaf int
}

// value is what is defined at one place. A value that depends on the way by which its place was reached is merged there: the state of a loop at
// the parameters of its computations and at the loop, the result of a conditional.
type value struct {
	number int
	def    place
	merged bool
	places []place // where it is; what forwards a value has it too
	uses   []use
}

// values are the values of a module in which each computation that runs has one caller.
type values struct {
	m      hlo.Module
	at     map[site][]*value // by leaf
	all    []*value
	caller map[hlo.CompID]site      // of computations that run: bodies, branches, callees; not of those that are applied to elements
	kept   map[hlo.CompID][]*origin // of the leaves of roots
	first  map[hlo.Shape][]int      // of tuples: the first leaf of each element
	order  []site                   // operands first, callees before what comes after their callers
}

// findValues finds first what computations hand on unchanged, callees before callers, and then the values, callers before callees.
func findValues(m hlo.Module) *values {
	v := &values{m: m, at: map[site][]*value{}, caller: map[hlo.CompID]site{}, kept: map[hlo.CompID][]*origin{}, first: map[hlo.Shape][]int{}}
	v.run(m.Entry(), nil)
	v.settle()
	return v
}

func (v *values) instr(s site) hlo.Instruction { return v.m.MustComputation(s.comp).MustAt(s.in) }

// run finds the values of a computation with those of its parameters, nil for ones that are defined there, and returns those of its root.
func (v *values) run(c hlo.Computation, params [][]*value) []*value {
	for in := range c.PostOrder() {
		s := site{c.ID(), in.ID()}
		v.at[s] = v.leaves(s, in, params)
		v.order = append(v.order, s)
	}
	return v.at[site{c.ID(), c.Root().ID()}]
}

// leaves is the values at the leaves of an instruction.
func (v *values) leaves(s site, in hlo.Instruction, params [][]*value) []*value {
	n := in.Shape().NumLeaves()
	operand := func(i int) []*value { return v.at[site{s.comp, in.Operand(i)}] }
	callee := func(i int, params ...[]*value) []*value {
		v.caller[in.Callee(i)] = s
		return v.run(v.m.MustComputation(in.Callee(i)), params)
	}
	//halo:allow opswitch control ops differ in what they hand to whom
	switch op := in.Opcode(); op {
	case hlo.OpParameter:
		if number := int(hlo.AttrsOf[hlo.ParameterAttrs](in).Number); number < len(params) && len(params[number]) == n {
			return v.enter(s, params[number])
		}
	case hlo.OpTuple:
		all := make([]*value, 0, n)
		for i := range in.NumOperands() {
			all = append(all, operand(i)...)
		}
		return all
	case hlo.OpGetTupleElement:
		first := v.firstLeaf(in.OperandInstr(0).Shape(), int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index))
		return operand(0)[first : first+n]
	case hlo.OpWhile:
		state := make([]*value, n) // nil where rounds make a new one
		for leaf, o := range v.keeps(v.m.MustComputation(in.Callee(0))) {
			if o != nil && o.param == 0 && o.leaf == leaf {
				state[leaf] = operand(0)[leaf]
			}
		}
		for i := in.NumCallees() - 1; i >= 0; i-- { // the condition runs first
			callee(i, state)
		}
		return v.enter(s, state)
	case hlo.OpConditional:
		var result []*value
		for i := range in.NumCallees() {
			way := callee(i, operand(i+1))
			if i == 0 {
				result = slices.Clone(way)
			}
			for leaf := range result {
				if result[leaf] != way[leaf] {
					result[leaf] = nil
				}
			}
		}
		return v.enter(s, result)
	case hlo.OpCall:
		params := make([][]*value, in.NumOperands())
		for i := range params {
			params[i] = operand(i)
		}
		if all := callee(0, params...); len(all) == n {
			return all
		}
	case hlo.OpAsyncStart, hlo.OpAsyncUpdate, hlo.OpAsyncDone:
		return v.asynchronous(s, in, n)
	default:
		if hlo.Info(op).Traits.Has(hlo.TraitForwards) && in.NumOperands() > 0 && in.OperandInstr(0).Shape().NumLeaves() == n {
			return operand(0)
		}
		if k, first := halves(in); k >= 0 {
			all := v.defined(s, n)
			copy(all, operand(0)[first:min(first+k, len(operand(0)))])
			return all
		}
	}
	return v.defined(s, n)
}

// enter is the values that come from outside; where ways meet with different ones, nil, a value is merged.
func (v *values) enter(s site, from []*value) []*value {
	all := slices.Clone(from)
	for leaf, x := range all {
		if x == nil {
			all[leaf] = &value{def: place{s, leaf}, merged: true}
		}
	}
	return all
}

// origin is a leaf of a parameter.
type origin struct{ param, leaf int }

// keeps says which leaves of the root of a computation are leaves of its parameters, handed on unchanged.
func (v *values) keeps(c hlo.Computation) []*origin {
	if k, known := v.kept[c.ID()]; known {
		return k
	}
	at := map[hlo.InstrID][]*origin{}
	for in := range c.PostOrder() {
		at[in.ID()] = v.origins(in, at)
	}
	v.kept[c.ID()] = at[c.Root().ID()]
	return v.kept[c.ID()]
}

func (v *values) origins(in hlo.Instruction, at map[hlo.InstrID][]*origin) []*origin {
	n := in.Shape().NumLeaves()
	all := make([]*origin, n)
	through := func(from []*origin, operand func(param int) []*origin) []*origin {
		out := make([]*origin, len(from))
		for leaf, o := range from {
			if o != nil {
				if have := operand(o.param); o.leaf < len(have) {
					out[leaf] = have[o.leaf]
				}
			}
		}
		return out
	}
	switch op := in.Opcode(); op {
	case hlo.OpParameter:
		for leaf := range all {
			all[leaf] = &origin{int(hlo.AttrsOf[hlo.ParameterAttrs](in).Number), leaf}
		}
	case hlo.OpTuple:
		all = all[:0]
		for id := range in.OperandIDs() {
			all = append(all, at[id]...)
		}
	case hlo.OpGetTupleElement:
		first := v.firstLeaf(in.OperandInstr(0).Shape(), int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index))
		return at[in.Operand(0)][first : first+n]
	case hlo.OpWhile:
		for leaf, o := range v.keeps(v.m.MustComputation(in.Callee(0))) {
			if o != nil && o.param == 0 && o.leaf == leaf {
				all[leaf] = at[in.Operand(0)][leaf]
			}
		}
	case hlo.OpCall:
		return through(v.keeps(v.m.MustComputation(in.Callee(0))), func(param int) []*origin { return at[in.Operand(param)] })
	case hlo.OpConditional:
		for i := range in.NumCallees() {
			way := through(v.keeps(v.m.MustComputation(in.Callee(i))), func(int) []*origin { return at[in.Operand(i+1)] })
			for leaf := range all {
				if i == 0 {
					all[leaf] = way[leaf]
				} else if all[leaf] != way[leaf] {
					all[leaf] = nil
				}
			}
		}
	default:
		if hlo.Info(op).Traits.Has(hlo.TraitForwards) && in.NumOperands() > 0 && in.OperandInstr(0).Shape().NumLeaves() == n {
			return at[in.Operand(0)]
		}
	}
	return all
}

// halves says how many leaves of an operation in two halves are leaves of its operand, from which one on; -1 if it is none.
func halves(in hlo.Instruction) (n, first int) {
	switch in.Opcode() {
	case hlo.OpSend, hlo.OpRecvDone:
		return 1, 0
	case hlo.OpCopyDone:
		return 1, 0
	case hlo.OpAllReduceDone:
		return in.Shape().NumLeaves(), 0
	case hlo.OpAllGatherDone, hlo.OpCollectivePermuteDone:
		if s := in.OperandInstr(0).Shape(); s.IsTuple() && s.NumElems() > 1 {
			return in.Shape().NumLeaves(), firstLeaf(s, 1)
		}
	}
	return -1, 0
}

// firstLeaf is the number of the first leaf of element i of a tuple, of which each element may be asked for.
func (v *values) firstLeaf(s hlo.Shape, i int) int {
	all := v.first[s]
	if all == nil {
		all = make([]int, s.NumElems())
		for k := 1; k < len(all); k++ {
			all[k] = all[k-1] + s.Elem(k-1).NumLeaves()
		}
		v.first[s] = all
	}
	return all[i]
}

// firstLeaf is the number of the first leaf of element i of a tuple.
func firstLeaf(s hlo.Shape, i int) (n int) {
	for k := range i {
		n += s.Elem(k).NumLeaves()
	}
	return n
}

// defined is values that are defined at an instruction.
func (v *values) defined(s site, n int) []*value {
	all := make([]*value, n)
	for leaf := range all {
		all[leaf] = &value{def: place{s, leaf}}
	}
	return all
}

// asynchronous is the values of a chain: the operands that it has got so far, and the results of the computation that it runs.
func (v *values) asynchronous(s site, in hlo.Instruction, n int) []*value {
	all := v.defined(s, n)
	if in.Opcode() == hlo.OpAsyncStart {
		at := 0
		params := make([][]*value, in.NumOperands())
		for i := range params {
			params[i] = v.at[site{s.comp, in.Operand(i)}]
			at += copy(all[min(at, n):], params[i])
		}
		if in.NumCallees() == 0 || !in.Shape().IsTuple() || in.Shape().NumElems() < 2 {
			return all
		}
		v.caller[in.Callee(0)] = s
		copy(all[min(firstLeaf(in.Shape(), 1), n):], v.run(v.m.MustComputation(in.Callee(0)), params))
		return all
	}
	chain := in.OperandInstr(0).Shape()
	have := v.at[site{s.comp, in.Operand(0)}]
	if !chain.IsTuple() || chain.NumElems() < 2 {
		return all
	}
	bound := chain.Elem(0).NumLeaves()
	if in.Opcode() == hlo.OpAsyncDone {
		copy(all, have[bound:min(bound+n, len(have))])
		return all
	}
	at := copy(all, have[:bound])
	for i := 1; i < in.NumOperands(); i++ {
		at += copy(all[min(at, n):], v.at[site{s.comp, in.Operand(i)}])
	}
	copy(all[min(at, n):], have[bound:])
	return all
}

// settle numbers the values and finds where they are and what uses them.
func (v *values) settle() {
	seen := map[*value]bool{}
	for _, s := range v.order {
		for leaf, x := range v.at[s] {
			if !seen[x] {
				seen[x] = true
				x.number = len(v.all)
				v.all = append(v.all, x)
			}
			x.places = append(x.places, place{s, leaf})
		}
		in := v.instr(s)
		if traits := hlo.Info(in.Opcode()).Traits; traits.Has(hlo.TraitForwards) && !traits.Has(hlo.TraitControl) {
			continue // it only hands on
		}
		for i := range in.NumOperands() {
			for leaf, x := range v.at[site{s.comp, in.Operand(i)}] {
				x.uses = append(x.uses, use{s, i, leaf})
			}
		}
	}
}
