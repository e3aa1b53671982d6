package types

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

const propagationDoc = `narrow values that all users round to the narrow type anyway

The ops that effective-low-precision names round their operands, and so do conversions. Ops that move elements, or choose between them, hand that on to their operands. A value that
goes through tuples, loops, calls, conditionals and fusions has one type all the way; parameters and results of the program keep theirs. An op that computes in the wide type is
followed by a conversion, or, if mixed-precision and low-precision-output name it, returns the narrow type itself.`

// NewPropagation makes the pass bfloat16-propagation.
func NewPropagation(o pass.Options) (*pass.Pass, error) {
	const rounds = "effective-low-precision"
	var own, shared pass.Options
	for _, opt := range o {
		if opt.Key == rounds {
			own = append(own, opt)
		} else {
			shared = append(shared, opt)
		}
	}
	s, err := readSupport(shared)
	if err != nil {
		return nil, err
	}
	narrow := opcodes{set: []hlo.Opcode{hlo.OpDot}}
	if names, given := own.List(rounds); given {
		if narrow, err = readOpcodes(names); err != nil {
			return nil, fmt.Errorf("%s: %w", rounds, err)
		}
	}
	params := append(slices.Clone(supportParams), pass.Param{Name: rounds, Doc: "the opcodes that round their operands to the narrow type: a list, all or none; dot"})
	return &pass.Pass{Name: "bfloat16-propagation", Doc: propagationDoc, Options: o, Params: params, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		p := newPropagation(s, narrow, m)
		if !p.solve() || !ctx.Spend("propagate") {
			return m, nil
		}
		e := ctx.Edit(m)
		for c := range m.PostOrder() {
			if err := p.apply(ctx, c, e.Computation(c.ID())); err != nil {
				return m, err
			}
		}
		return e.Freeze(), nil
	}}, nil
}

// propagation decides which wide values become narrow. Every array in the value of an instruction is a place; places that hold one value, or must have one type,
// are joined into groups.
type propagation struct {
	support
	rounds opcodes
	m      hlo.Module
	first  map[hlo.CompID][]int32 // the first place of each instruction
	group  []int32                // of each place: union-find
	wide   []bool                 // of each group: stays as it is
	useful []bool                 // of each group: something rounds it
	needs  map[int32][]int32      // of a group: those that must be narrow for it to be so
	given  map[int32]bool         // places of values that the program is given and that tuples may hold converted

	elements map[place][]int32 // see elementsOf
}

// place is where an instruction is.
type place struct {
	comp hlo.CompID
	id   hlo.InstrID
}

func newPropagation(s support, rounds opcodes, m hlo.Module) *propagation {
	p := &propagation{support: s, rounds: rounds, m: m, first: map[hlo.CompID][]int32{}, needs: map[int32][]int32{}, given: map[int32]bool{}, elements: map[place][]int32{}}
	for c := range m.Computations() {
		at := make([]int32, c.IDLimit())
		for in := range c.Instructions() {
			at[in.ID()] = int32(len(p.group))
			for _, leaf := range in.Shape().Leaves {
				p.group = append(p.group, int32(len(p.group)))
				p.wide = append(p.wide, !leaf.IsArray() || leaf.Type() != s.high)
			}
		}
		p.first[c.ID()] = at
	}
	p.useful = make([]bool, len(p.group))
	for c := range m.Computations() {
		p.boundary(c)
	}
	for c := range m.Computations() {
		for in := range c.Instructions() {
			p.join(in)
		}
	}
	for c := range m.Computations() {
		for in := range c.Instructions() {
			p.uses(in)
		}
	}
	return p
}

func (p *propagation) find(place int32) int32 {
	for p.group[place] != place {
		p.group[place] = p.group[p.group[place]]
		place = p.group[place]
	}
	return place
}

func (p *propagation) unite(a, b int32) {
	a, b = p.find(a), p.find(b)
	if a != b {
		p.group[b] = a
		p.wide[a] = p.wide[a] || p.wide[b]
	}
}

// places is the range of an instruction's places.
func (p *propagation) places(in hlo.Instruction) (from, to int32) {
	from = p.first[in.Computation().ID()][in.ID()]
	return from, from + int32(in.Shape().NumLeaves())
}

// elementsOf is the first place of each element of a tuple.
func (p *propagation) elementsOf(tuple hlo.Instruction) []int32 {
	key := place{tuple.Computation().ID(), tuple.ID()}
	if known, ok := p.elements[key]; ok {
		return known
	}
	next, _ := p.places(tuple)
	places := make([]int32, tuple.Shape().NumElems())
	for i := range places {
		places[i] = next
		next += int32(tuple.Shape().Elem(i).NumLeaves())
	}
	p.elements[key] = places
	return places
}

func (p *propagation) uniteAll(a, b hlo.Instruction) {
	from, to := p.places(a)
	other, end := p.places(b)
	if to-from != end-other {
		p.keep(a)
		p.keep(b)
		return
	}
	for i := range to - from {
		p.unite(from+i, other+i)
	}
}

// keep makes all of an instruction's value stay wide.
func (p *propagation) keep(in hlo.Instruction) {
	from, to := p.places(in)
	for i := from; i < to; i++ {
		p.wide[p.find(i)] = true
	}
}

// boundary keeps parameters and the root of a computation that is called by something else than what hands values on, or by nothing.
func (p *propagation) boundary(c hlo.Computation) {
	open := c.ID() != p.m.Entry().ID()
	called := false
	for id, at := range p.m.Callers(c.ID()) {
		called = true
		open = open && callsThrough(p.m.MustComputation(id).MustAt(at))
	}
	if open && called {
		return
	}
	for _, id := range c.Parameters() {
		in := c.MustAt(id)
		p.keep(in)
		if c.ID() == p.m.Entry().ID() {
			from, to := p.places(in)
			for i := from; i < to; i++ {
				p.given[i] = true
			}
		}
	}
	p.keep(c.Root())
}

// callsThrough reports ops whose computations take their operands, and make their result.
func callsThrough(in hlo.Instruction) bool {
	//halo:allow opswitch control ops differ in what they hand to whom
	switch in.Opcode() {
	case hlo.OpWhile, hlo.OpConditional, hlo.OpCall, hlo.OpFusion:
		return true
	}
	return false
}

// join unites the places that hold one value.
func (p *propagation) join(in hlo.Instruction) {
	from, _ := p.places(in)
	//halo:allow opswitch each of these hands values on in its own way
	switch in.Opcode() {
	case hlo.OpParameter, hlo.OpConstant, hlo.OpConvert:
	case hlo.OpTuple:
		for o := range in.Operands() {
			a, b := p.places(o)
			for i := a; i < b; i++ {
				if !p.given[i] || o.Shape().IsTuple() {
					p.unite(from, i)
				}
				from++
			}
		}
	case hlo.OpGetTupleElement:
		tuple := in.OperandInstr(0)
		a := p.elementsOf(tuple)[hlo.AttrsOf[hlo.TupleElementAttrs](in).Index]
		for i := range int32(in.Shape().NumLeaves()) {
			p.unite(from+i, a+i)
		}
	case hlo.OpOptBarrier, hlo.OpDomain:
		p.uniteAll(in, in.OperandInstr(0))
	case hlo.OpBitcast:
		if x := in.OperandInstr(0); !x.Shape().IsArray() || x.Shape().Type() != in.Shape().Type() {
			p.keep(x)
			p.keep(in)
		} else {
			p.uniteAll(in, x)
		}
	case hlo.OpDynamicUpdateSlice:
		p.uniteAll(in, in.OperandInstr(0))
	case hlo.OpWhile:
		for id := range in.Callees() {
			p.uniteAll(in, p.m.MustComputation(id).Parameter(0))
		}
		body := p.m.MustComputation(in.Callee(0))
		if !body.Root().Shape().Compatible(in.Shape()) {
			body = p.m.MustComputation(in.Callee(1))
		}
		p.uniteAll(in, body.Root())
		if !p.convertible(in.OperandInstr(0)) {
			p.uniteAll(in, in.OperandInstr(0))
		}
	case hlo.OpConditional:
		for i := range in.NumCallees() {
			f := p.m.MustComputation(in.Callee(i))
			p.uniteAll(f.Parameter(0), in.OperandInstr(i+1))
			p.uniteAll(in, f.Root())
		}
	case hlo.OpCall, hlo.OpFusion:
		f := p.m.MustComputation(in.Callee(0))
		for i := range in.NumOperands() {
			p.uniteAll(f.Parameter(i), in.OperandInstr(i))
		}
		p.uniteAll(in, f.Root())
	default:
		if !in.Shape().IsArray() || in.Opcode() == hlo.OpCustomCall || in.Opcode() == hlo.OpBitcastConvert || hlo.IsAsync(in.Opcode()) {
			p.keep(in)
		}
	}
}

// convertible reports whether the state of a loop is a parameter of the program, whose arrays can be converted before the loop.
func (p *propagation) convertible(init hlo.Instruction) bool {
	at, _ := p.places(init)
	if init.Opcode() != hlo.OpParameter || !p.given[at] {
		return false
	}
	for _, e := range init.Shape().Elems() {
		if e.IsTuple() {
			return false
		}
	}
	return true
}

// roundsOperands reports whether in rounds its operands. A dot that asks for precision does not.
func (p *propagation) roundsOperands(in hlo.Instruction) bool {
	if a, ok := in.Attrs().(*hlo.DotAttrs); ok && (!a.Precision.IsDefault() || a.Algorithm != hlo.AlgUnset) {
		return false
	}
	return p.rounds.has(in.Opcode())
}

// uses says of each operand what its being narrow depends on.
func (p *propagation) uses(in hlo.Instruction) {
	if callsThrough(in) || forwards(in) {
		return
	}
	for i := range in.NumOperands() {
		o := in.OperandInstr(i)
		from, to := p.places(o)
		for at := from; at < to; at++ {
			g := p.find(at)
			switch {
			case !o.Shape().IsArray():
				p.wide[g] = true
			case p.roundsOperands(in) || in.Opcode() == hlo.OpConvert && in.Shape().Type() == p.low:
				p.useful[g] = true
			case p.handsDown(in, i):
				own, _ := p.places(in)
				p.needs[g] = append(p.needs[g], own)
			default:
				p.wide[g] = true
			}
		}
	}
}

// forwards reports the ops whose operands and results are one value for join.
func forwards(in hlo.Instruction) bool {
	//halo:allow opswitch the ops of join
	switch in.Opcode() {
	case hlo.OpTuple, hlo.OpGetTupleElement, hlo.OpOptBarrier, hlo.OpDomain:
		return true
	case hlo.OpBitcast:
		return in.OperandInstr(0).Shape().Type() == in.Shape().Type()
	}
	return false
}

// handsDown reports whether operand i may be as narrow as the array that the op returns: its elements are among those of the result, or are
// chosen for it.
func (p *propagation) handsDown(in hlo.Instruction, i int) bool {
	if !in.Shape().IsArray() || in.Shape().Type() != p.high {
		return false
	}
	t := hlo.Info(in.Opcode()).Traits
	//halo:allow opswitch choosing an element is not a trait of the table
	switch in.Opcode() {
	case hlo.OpMaximum, hlo.OpMinimum, hlo.OpClamp, hlo.OpAbs, hlo.OpCopy, hlo.OpAllGather, hlo.OpAllToAll, hlo.OpCollectivePermute, hlo.OpCollectiveBroadcast, hlo.OpSort:
		return true
	case hlo.OpSelect:
		return i > 0
	case hlo.OpReduce, hlo.OpReduceWindow:
		root := p.m.MustComputation(in.Callee(0)).Root()
		return i == 0 && (root.Opcode() == hlo.OpMaximum || root.Opcode() == hlo.OpMinimum)
	case hlo.OpGather, hlo.OpDynamicSlice:
		return i == 0
	case hlo.OpDynamicUpdateSlice:
		return i < 2
	case hlo.OpBitcastConvert:
		return false
	}
	return t.Has(hlo.TraitMovesData) && in.NumCallees() == 0
}

// solve finds the largest set of groups that may all be narrow, and of these the ones for which it is of use. It reports whether there are any.
func (p *propagation) solve() bool {
	for changed := true; changed; {
		changed = false
		for g, needs := range p.needs {
			if p.wide[p.find(g)] {
				continue
			}
			for _, n := range needs {
				if p.wide[p.find(n)] {
					p.wide[p.find(g)], changed = true, true
					break
				}
			}
		}
		if changed {
			continue
		}
		useful := slices.Clone(p.useful)
		for again := true; again; {
			again = false
			for g, needs := range p.needs {
				for _, n := range needs {
					if r := p.find(g); useful[p.find(n)] && !p.wide[p.find(n)] && !useful[r] {
						useful[r], again = true, true
					}
				}
			}
		}
		for g := range p.wide {
			if int(p.find(int32(g))) == g && !p.wide[g] && !useful[g] {
				p.wide[g], changed = true, true
			}
		}
	}
	for g := range p.wide {
		if int(p.find(int32(g))) == g && !p.wide[g] {
			return true
		}
	}
	return false
}

// narrow reports whether a place becomes narrow.
func (p *propagation) narrow(place int32) bool { return !p.wide[p.find(place)] }
