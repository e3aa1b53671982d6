package spmd

import (
	"fmt"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
)

// propagator finds a sharding for every array of a program.
//
// It goes in rounds of growing eagerness, as XLA's pass does; each round goes forward, from operands to results, and backward, from users to
// operands, until nothing changes. A tiling is only ever replaced by a more specific one, so every round ends.
//
//	round 0   elementwise ops, reshapes, transposes, tuples, loops: what cannot be wrong
//	round 1   all ops but broadcasts; partial tilings of several neighbours are merged
//	round 2   broadcasts, backward
//	round 3   broadcasts, forward: they adopt what their users are, before they dictate it
type propagator struct {
	ctx   *pass.Context
	m     hlo.Module
	world *World
	nodes map[place]*node
	allow permissions
	manner
	round   int
	changed bool
}

// place is an array of an instruction's result.
type place struct {
	comp hlo.CompID
	id   hlo.InstrID
	leaf int
}

// node is what is known of an array, and of others that are always tiled alike: the state of a loop is one array before, in and after it.
type node struct {
	t *Tiling
	// fixed tilings are given. open are the dimensions of a given one that may be split further.
	fixed bool
	open  []int
	rank  int
	of    hlo.Instruction // the first whose result it is
	by    origin          // where t comes from
	from  *node
	same  *node // the node that stands for this one
	// metadata of the sharding that is given.
	metadata []*hlo.Metadata
}

func (n *node) find() *node {
	for n.same != nil {
		n = n.same
	}
	return n
}

func (p *propagator) node(in hlo.Instruction, leaf int) *node {
	return p.nodes[place{in.Computation().ID(), in.ID(), leaf}].find()
}

// begin makes the nodes, with what is given.
func (p *propagator) begin() error {
	for c := range p.m.Computations() {
		for in := range c.Instructions() {
			tilings, err := p.world.leafTilings(in)
			if err != nil {
				return &Error{in, err}
			}
			i := 0
			for _, leaf := range in.Shape().Leaves {
				n := &node{rank: leaf.Rank(), of: in}
				if _, parameter := in.ParameterNumber(); (parameter || in.IsRoot()) && c.ID() == p.m.Entry().ID() && p.asXLA() {
					n.fixed = !p.mayChange(in, i) // at nothing
				}
				if t := tilings[i]; t != nil {
					n.t, n.fixed = t, !p.mayChange(in, i)
					n.open = openDims(in)
					n.metadata = metadataOf(in, i)
				}
				if in.Opcode() == hlo.OpOutfeed {
					n.t = p.outfed(in)
				}
				p.nodes[place{c.ID(), in.ID(), i}] = n
				i++
			}
		}
	}
	groups := make(map[int64]hlo.Instruction)
	for c := range p.m.Computations() {
		for in := range c.Instructions() {
			p.joinCallees(in)
			if k := in.Common(); k != nil && k.Sharding != nil && k.Sharding.Group != hlo.NoShardGroup && in.Shape().IsArray() {
				if k.Sharding.Kind == hlo.ShardingUnknown && in.NumOperands() == 1 {
					p.join(in.OperandInstr(0), in)
				}
				if first, ok := groups[k.Sharding.GroupID]; ok && first.Shape().Rank() == in.Shape().Rank() {
					p.join(first, in)
				} else {
					groups[k.Sharding.GroupID] = in
				}
			}
		}
	}
	return nil
}

// metadataOf is that of the sharding that an array is given.
func metadataOf(in hlo.Instruction, leaf int) []*hlo.Metadata {
	s := in.Common().Sharding
	if s != nil && s.Kind == hlo.ShardingTuple && leaf < len(s.Elements) {
		s = s.Elements[leaf]
	}
	if s == nil {
		return nil
	}
	return s.Metadata
}

// outfed is the tiling of the token of an outfeed, of which a manual one is of interest. The sharding of an outfeed is that of the arrays that it
// feeds out, with the token at the end.
func (p *propagator) outfed(in hlo.Instruction) *Tiling {
	k := in.Common()
	if k == nil || k.Sharding == nil {
		return nil
	}
	s := k.Sharding
	if s.Kind == hlo.ShardingTuple && len(s.Elements) > 0 {
		s = s.Elements[len(s.Elements)-1]
	}
	if s.Kind != hlo.ShardingManual {
		return nil
	}
	t := replicated(p.world.Main, 0)
	t.Manual = p.world.Main.all()
	return t
}

// Targets of custom-calls that shardings pass in one direction: not from the operand, or not to it.
const (
	barrierFrom = "ShardBarrierFrom"
	barrierTo   = "ShardBarrierTo"
)

// mayChange reports whether the caller allows another sharding of an array than the one that is given.
func (p *propagator) mayChange(in hlo.Instruction, leaf int) bool {
	entry := p.m.Entry()
	if in.Computation().ID() != entry.ID() {
		return false
	}
	if number, ok := in.ParameterNumber(); ok {
		at := int(number)
		if entry.NumParameters() == 1 && in.Shape().IsTuple() {
			at = leaf
		}
		return allowed(p.allow.parameters, at)
	}
	return in.IsRoot() && allowed(p.allow.output, leaf)
}

// joinCallees makes one node of arrays that computations pass on as they are.
func (p *propagator) joinCallees(in hlo.Instruction) {
	switch in.Opcode() {
	case hlo.OpWhile:
		condition, body := whileCallees(in)
		b := p.m.MustComputation(in.Callee(body))
		p.join(in, b.Parameter(0))
		p.join(in, b.Root())
		p.join(in, p.m.MustComputation(in.Callee(condition)).Parameter(0))
	case hlo.OpCall:
		c := p.m.MustComputation(in.Callee(0))
		p.join(in, c.Root())
		for i := range c.NumParameters() {
			p.join(in.OperandInstr(i), c.Parameter(i))
		}
	case hlo.OpConditional:
		for i := range in.NumCallees() {
			c := p.m.MustComputation(in.Callee(i))
			p.join(in, c.Root())
			p.join(in.OperandInstr(i+1), c.Parameter(0))
		}
	}
}

// join makes one node of each array of a and the same one of b.
func (p *propagator) join(a, b hlo.Instruction) {
	if a.Shape().NumLeaves() != b.Shape().NumLeaves() {
		return
	}
	for i := range a.Shape().NumLeaves() {
		x, y := p.node(a, i), p.node(b, i)
		if x == y {
			continue
		}
		if y.fixed && (!x.fixed || len(x.open) > 0) {
			x, y = y, x
		}
		y.same = x
	}
}

// run goes through the rounds.
func (p *propagator) run() {
	var order []hlo.Instruction
	for c := range p.m.Computations() {
		if p.isApplied(c) {
			continue
		}
		order = slices.AppendSeq(order, c.PostOrder())
	}
	for p.round = range 4 {
		for range 1000 {
			p.changed = false
			for _, in := range order {
				p.forward(in)
				p.complete(in)
			}
			for _, in := range slices.Backward(order) {
				p.backward(in)
				p.complete(in)
			}
			if !p.changed {
				break
			}
		}
	}
}

// complete makes arrays of a tuple replicated if nothing is known of them, but of others: a sharding of a tuple says something of each.
func (p *propagator) complete(in hlo.Instruction) {
	if !in.Shape().IsTuple() {
		return
	}
	var known *node
	for i := range in.Shape().NumLeaves() {
		if n := p.node(in, i); n.t != nil && !n.t.Maximal {
			known = n
		}
	}
	if known == nil {
		return
	}
	for i := range in.Shape().NumLeaves() {
		if n := p.node(in, i); n.t == nil {
			p.improve(n, replicated(p.world.Main, n.rank), false, nil, origin{what: "the tuple's other arrays"})
		}
	}
}

// isApplied reports whether a computation is applied to elements: its scalars have no sharding.
func (p *propagator) isApplied(c hlo.Computation) bool {
	for caller := range p.m.Computations() {
		for in := range caller.Instructions() {
			if !hlo.Info(in.Opcode()).Traits.Has(hlo.TraitControl) && slices.Contains(slices.Collect(in.Callees()), c.ID()) {
				return true
			}
		}
	}
	return false
}

// mayCombine reports whether partial tilings of several neighbours are merged in this round.
func (p *propagator) mayCombine() bool { return p.round > 0 }

// improve gives an array another tiling if that is more specific than what it has.
func (p *propagator) improve(n *node, t *Tiling, aggressive bool, from *node, by origin) {
	if t == nil || len(t.Dims) != n.rank || t.Maximal {
		return
	}
	if len(t.Unreduced) > 0 {
		t = t.withDims(t.Dims)
		t.Unreduced = nil
	}
	if !t.isTiled() && len(t.Manual) == 0 && (n.t != nil || n.fixed) {
		return // what is known already says no less
	}
	if n.fixed {
		if t = n.opened(t); t == nil {
			return
		}
	}
	better := p.better(n, t, aggressive)
	if better == nil || n.t != nil && better.equal(n.t) {
		return
	}
	n.t, n.from, n.by = better, from, by
	p.changed = true
}

// opened is what a given tiling takes of another in its open dimensions; nil if nothing.
func (n *node) opened(t *Tiling) *Tiling {
	if len(n.open) == 0 || n.t == nil || n.t.Maximal || t.Mesh != n.t.Mesh {
		return nil
	}
	next := n.t
	for _, k := range n.open {
		for _, a := range t.Dims[k][min(commonPrefix(t.Dims[k], next.Dims[k]), len(t.Dims[k])):] {
			if commonPrefix(t.Dims[k], next.Dims[k]) < len(next.Dims[k]) || !idle(next, a) {
				break
			}
			next = next.withDim(k, append(slices.Clip(next.Dims[k]), a))
		}
	}
	if next.equal(n.t) {
		return nil
	}
	return next
}

// better is a tiling for an array that is offered another; nil: what it has stays.
func (p *propagator) better(n *node, t *Tiling, aggressive bool) *Tiling {
	have := n.t
	switch {
	case have == nil:
		return t
	case have.isManual():
		return nil
	case t.isManual():
		if have.isReplicated() {
			return t
		}
		return nil
	case n.fixed:
		return t
	}
	if p.mayCombine() && have.Mesh == t.Mesh && hasIdle(have) && hasIdle(t) {
		if m := mergedTiling(have, t); m != nil && m.numTiles() > max(have.numTiles(), t.numTiles()) {
			return m
		}
	}
	if len(t.Manual) < len(have.Manual) {
		return nil
	}
	if t.numTiles() > have.numTiles() || len(t.Manual) > len(have.Manual) {
		if have.isTiled() && !aggressive && !refines(t, have) {
			return nil
		}
		return t
	}
	return nil
}

// hasIdle reports whether some axis replicates.
func hasIdle(t *Tiling) bool { return len(t.used()) < len(t.Mesh.Sizes) }

// mergedTiling splits each dimension as the one of a and b does that splits it; nil if they contradict each other.
func mergedTiling(a, b *Tiling) *Tiling {
	if a.Mesh != b.Mesh || !slices.Equal(a.Manual, b.Manual) {
		return nil
	}
	dims := make([][]int, len(a.Dims))
	used := slices.Clone(a.Manual)
	for k := range dims {
		dims[k] = a.Dims[k]
		if len(dims[k]) == 0 {
			dims[k] = b.Dims[k]
		} else if len(b.Dims[k]) > 0 && !slices.Equal(a.Dims[k], b.Dims[k]) {
			return nil
		}
		for _, x := range dims[k] {
			if slices.Contains(used, x) {
				return nil
			}
			used = append(used, x)
		}
	}
	return a.withDims(dims)
}

// refines reports whether each tile of a lies in one of b.
func refines(a, b *Tiling) bool {
	if a.Mesh != b.Mesh {
		return false
	}
	for k := range a.Dims {
		if commonPrefix(a.Dims[k], b.Dims[k]) < len(b.Dims[k]) {
			return false
		}
	}
	return true
}

// openDims are the dimensions of a constraint that may be split further.
func openDims(in hlo.Instruction) []int {
	c := in.Common()
	if c == nil {
		return nil
	}
	var dims []int
	var n int
	for text := range splitList(c.BackendConfig, "unspecified_dims=[") {
		if _, err := fmt.Sscan(text, &n); err == nil && n >= 0 && n < in.Shape().Rank() {
			dims = append(dims, n)
		}
	}
	return dims
}
