package copies

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
)

// pair says that a result leaf has the memory of an operand leaf.
type pair struct{ operand, leaf, result int }

// inPlace lists the results of an instruction that are written over operands.
func inPlace(m hlo.Module, in hlo.Instruction) (pairs []pair) {
	add := func(aliases []hlo.OutputAlias) {
		for _, a := range aliases {
			result, ok := leafNumber(in.Shape(), a.Output)
			if ok && int(a.Operand) < in.NumOperands() {
				if leaf, ok := leafNumber(in.OperandInstr(int(a.Operand)).Shape(), a.OperandIndex); ok {
					pairs = append(pairs, pair{int(a.Operand), leaf, result})
				}
			}
		}
	}
	switch op := in.Opcode(); {
	case hlo.Info(op).Traits.Has(hlo.TraitInPlace):
		for i := range in.Shape().NumLeaves() {
			pairs = append(pairs, pair{i, 0, i})
		}
	case op == hlo.OpCustomCall:
		add(hlo.AttrsOf[hlo.CustomCallAttrs](in).OutputAliasing)
	case op == hlo.OpAsyncStart:
		add(hlo.AttrsOf[hlo.AsyncStartAttrs](in).OutputAliasing)
	case op == hlo.OpFusion:
		add(hlo.AttrsOf[hlo.FusionAttrs](in).OutputAliasing)
		pairs = append(pairs, fusedInPlace(m.MustComputation(in.Callee(0)))...)
	}
	return pairs
}

// fusedInPlace lists the results of a fused computation that are parameters updated in place.
func fusedInPlace(body hlo.Computation) (pairs []pair) {
	results := []hlo.Instruction{body.Root()}
	if body.Root().Opcode() == hlo.OpTuple {
		results = results[:0]
		for in := range body.Root().Operands() {
			results = append(results, in)
		}
	}
	for leaf, in := range results {
		if !in.Shape().IsArray() {
			return nil // leaves and elements are numbered alike only in flat tuples
		}
		if in.Opcode() == hlo.OpBitcast {
			in = in.OperandInstr(0)
		}
		if !hlo.Info(in.Opcode()).Traits.Has(hlo.TraitInPlace) || !in.Shape().IsArray() {
			continue
		}
		from := in.OperandInstr(0)
		if from.Opcode() == hlo.OpBitcast {
			from = from.OperandInstr(0)
		}
		if from.Opcode() == hlo.OpParameter && from.Shape().IsArray() {
			pairs = append(pairs, pair{int(hlo.AttrsOf[hlo.ParameterAttrs](from).Number), 0, leaf})
		}
	}
	return pairs
}

// sharesInPlace reports whether an instruction may write a result leaf over what it reads in a use.
func sharesInPlace(m hlo.Module, in hlo.Instruction, u use, result int) bool {
	for _, p := range inPlace(m, in) {
		if p == (pair{u.operand, u.leaf, result}) {
			return true
		}
	}
	leaf := u.leaf
	for i := range u.operand {
		leaf += in.OperandInstr(i).Shape().NumLeaves()
	}
	for _, s := range analysis.Shareable(m, in) {
		if s.Operand == leaf && s.Result == result {
			return true
		}
	}
	return false
}

// leafNumber is the number of the leaf at an index of a shape.
func leafNumber(s hlo.Shape, at hlo.ShapeIndex) (n int, ok bool) {
	for _, i := range at {
		if !s.IsTuple() || i < 0 || int(i) >= s.NumElems() {
			return 0, false
		}
		n += firstLeaf(s, int(i))
		s = s.Elem(int(i))
	}
	return n, !s.IsTuple()
}

// node is a value in the memory that it has, between the one before it there and the one after it. Copies that are removed leave their places and
// uses to the node of what they copied.
type node struct {
	*value
	places     []place
	uses       []use
	prev, next *node
}

// buffers are values that must have one memory, each in the order in which they have it.
type buffers struct {
	v       *values
	o       *ordering
	union   []int // by number of value
	heads   map[int]*node
	nodes   []*node // by number of value
	aliased map[place]bool
}

func findBuffers(v *values, o *ordering) *buffers {
	b := &buffers{v: v, o: o, union: make([]int, len(v.all)), heads: map[int]*node{}, nodes: make([]*node, len(v.all)), aliased: map[place]bool{}}
	for i := range b.union {
		b.union[i] = i
	}
	for _, s := range v.order {
		b.joinAt(s, v.instr(s))
	}
	for _, a := range entryAliases(v.m) {
		entry := v.m.Entry()
		p := place{site{entry.ID(), entry.Parameter(a.operand).ID()}, a.leaf}
		b.aliased[p] = true
		b.join(v.at[p.site][a.leaf], v.at[site{entry.ID(), entry.Root().ID()}][a.result])
	}
	tails := map[int]*node{}
	for _, x := range v.all {
		n := &node{value: x, places: x.places, uses: x.uses}
		b.nodes[x.number] = n
		class := b.find(x.number)
		if b.heads[class] == nil {
			b.heads[class], tails[class] = n, n
			continue
		}
		after := tails[class]
		for after != nil && o.definedBefore(x, after.value) {
			after = after.prev
		}
		if after == nil {
			n.next = b.heads[class]
			n.next.prev, b.heads[class] = n, n
			continue
		}
		n.prev, n.next = after, after.next
		after.next = n
		if n.next != nil {
			n.next.prev = n
		} else {
			tails[class] = n
		}
	}
	return b
}

// entryAliases lists the results of the program that are written over parameters.
func entryAliases(m hlo.Module) (pairs []pair) {
	for _, a := range m.Config().InputOutputAlias {
		if int(a.Parameter) >= m.Entry().NumParameters() {
			continue
		}
		leaf, ok := leafNumber(m.Entry().Parameter(int(a.Parameter)).Shape(), a.ParameterIndex)
		result, known := leafNumber(m.Entry().Root().Shape(), a.Output)
		if ok && known {
			pairs = append(pairs, pair{int(a.Parameter), leaf, result})
		}
	}
	return pairs
}

func (b *buffers) joinAt(s site, in hlo.Instruction) {
	v := b.v
	root := func(i int) []*value {
		c := v.m.MustComputation(in.Callee(i))
		return v.at[site{c.ID(), c.Root().ID()}]
	}
	switch in.Opcode() {
	case hlo.OpWhile:
		all := [][]*value{v.at[site{s.comp, in.Operand(0)}], root(0)}
		for i := range in.NumCallees() {
			c := v.m.MustComputation(in.Callee(i))
			all = append(all, v.at[site{c.ID(), c.Parameter(0).ID()}])
		}
		for leaf, x := range v.at[s] {
			for _, other := range all {
				b.join(x, other[leaf])
			}
		}
	case hlo.OpConditional:
		for leaf, x := range v.at[s] {
			for i := range in.NumCallees() {
				b.join(x, root(i)[leaf])
			}
		}
	}
	for _, p := range inPlace(v.m, in) {
		b.join(v.at[s][p.result], v.at[site{s.comp, in.Operand(p.operand)}][p.leaf])
	}
}

func (b *buffers) find(i int) int {
	for b.union[i] != i {
		b.union[i] = b.union[b.union[i]]
		i = b.union[i]
	}
	return i
}

func (b *buffers) join(x, y *value) { b.union[b.find(x.number)] = b.find(y.number) }

// readOnly reports whether a value may not be written over: a constant, or a parameter of the program that is not aliased with a result.
func (b *buffers) readOnly(x *value) bool {
	switch b.v.instr(x.def.site).Opcode() {
	case hlo.OpConstant:
		return true
	case hlo.OpParameter:
		return x.def.comp == b.v.m.Entry().ID() && !b.aliased[x.def]
	}
	return false
}
