package kernels

import (
	"maps"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// rowPlanner compiles the programs of the passes.
type rowPlanner struct {
	s         *site
	c         hlo.Computation
	roots     []hlo.Instruction
	dims      []int64 // of the elements, but for those of size 1
	rows, run int
	level     map[hlo.InstrID]int // the pass in which a value can be computed, which depends on reductions, or not at all
	ofRow     map[hlo.InstrID]bool
	order     []hlo.Instruction
	last      int
	held      int                    // places for what is held of rows
	heldAt    map[hlo.InstrID]int    // where values of rows are held
	folded    map[hlo.InstrID]int    // where reductions are, as they were folded
	kept      map[hlo.InstrID]keeper // values that are kept where a result will be
}

// keeper is a result whose place holds something else until then.
type keeper struct {
	pass int // that puts it there
	out  int
	arg  int // as which it is read
}

// newRowPlanner finds what the passes have to be.
func newRowPlanner(s *site, c hlo.Computation) (*rowPlanner, bool) {
	p := &rowPlanner{s: s, c: c, level: make(map[hlo.InstrID]int), ofRow: make(map[hlo.InstrID]bool), heldAt: make(map[hlo.InstrID]int),
		folded: make(map[hlo.InstrID]int), kept: make(map[hlo.InstrID]keeper)}
	p.roots = []hlo.Instruction{c.Root()}
	if c.Root().Opcode() == hlo.OpTuple {
		p.roots = slices.Collect(c.Root().Operands())
	}
	for i, r := range p.roots {
		if !r.Shape().IsArray() || slices.ContainsFunc(p.roots[:i], func(o hlo.Instruction) bool { return o.ID() == r.ID() }) {
			return nil, false
		}
	}
	p.order = slices.Collect(c.PostOrder())
	for _, in := range p.order {
		if in.Opcode() == hlo.OpReduce && !p.space(in) {
			return nil, false
		}
	}
	if p.rows == 0 {
		return nil, false
	}
	for _, in := range p.order {
		if !in.IsRoot() || in.Shape().IsArray() {
			if !p.classify(in) {
				return nil, false
			}
		}
	}
	return p, true
}

// space notes the space of a reduction, which is that of all others. Its last dimension is reduced, and no other one.
func (p *rowPlanner) space(in hlo.Instruction) bool {
	if !isRowFold(p.s.m, in) {
		return false
	}
	var dims []int64
	for _, d := range in.OperandInstr(0).Shape().Dimensions() {
		if d != 1 {
			dims = append(dims, d)
		}
	}
	if p.rows == 0 {
		p.dims, p.run = dims, int(dims[len(dims)-1])
		p.rows = int(in.Shape().NumElements())
	}
	return slices.Equal(dims, p.dims)
}

// isRowFold reports whether a reduction folds rows by an op that [tile.Builder.Fold] knows, from a constant.
func isRowFold(m hlo.Module, in hlo.Instruction) bool {
	if in.NumOperands() != 2 || !in.Shape().IsArray() {
		return false
	}
	var l reduceLayout
	l.layOut(in.OperandInstr(0).Shape().Dimensions(), hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions)
	init := in.OperandInstr(1)
	c, ok := m.Computation(in.Callee(0))
	if !ok || !l.inner || !l.isContiguous() || l.run < 2 || init.Opcode() != hlo.OpConstant || init.Literal() == nil || init.Literal().IsElided() {
		return false
	}
	reduced := 0
	for _, a := range hlo.AttrsOf[hlo.DimensionsAttrs](in).Dimensions {
		if in.OperandInstr(0).Shape().Dim(int(a)) != 1 {
			reduced++
		}
	}
	_, ok = binaryOf(c)
	t := in.Shape().Type()
	return ok && reduced == 1 && in.OperandInstr(0).Shape().Type() == t && init.Shape().Type() == t && c.Root().Shape().Type() == t
}

// classify finds the pass of a value and whether it is one of rows.
func (p *rowPlanner) classify(in hlo.Instruction) bool {
	level, depends := 0, in.Opcode() == hlo.OpReduce
	for o := range in.Operands() {
		if l, ok := p.level[o.ID()]; ok {
			level, depends = max(level, l), true
		}
	}
	if !depends {
		return true
	}
	n := int(in.Shape().NumElements())
	switch {
	case in.Opcode() == hlo.OpReduce:
		level++
		p.ofRow[in.ID()] = true
	case n == p.rows:
		p.ofRow[in.ID()] = true
	case n != p.rows*p.run:
		return false
	}
	p.level[in.ID()] = level
	p.last = max(p.last, level)
	return true
}

// plan compiles the passes, the last one first, as that tells what is needed of those before.
func (p *rowPlanner) plan(r *rowPasses) bool {
	for _, in := range p.order {
		if !p.ofRow[in.ID()] {
			continue
		}
		if p.heldAt[in.ID()] = p.held; in.Opcode() == hlo.OpReduce {
			p.folded[in.ID()] = p.held
			if !p.isAsFolded(in) {
				p.held++
				p.heldAt[in.ID()] = p.held
			}
		}
		p.held++
	}
	r.kept = p.keep()
	r.passes = make([]rowPass, p.last+1)
	needed := make(map[hlo.InstrID]bool)
	for k := p.last; k >= 0; k-- {
		var ok bool
		if r.passes[k].elements, ok = p.elements(k, needed); !ok {
			return false
		}
		if r.passes[k].values, ok = p.values(k, needed); !ok {
			return false
		}
	}
	return true
}

// isAsFolded reports whether the value of a reduction is what the fold of its rows gives.
func (p *rowPlanner) isAsFolded(in hlo.Instruction) bool {
	t := in.Shape().Type()
	return p.isFromIdentity(in) && !(t.IsFloat() && t.Bits() < 32)
}

// isFromIdentity reports whether the initial value of a reduction changes nothing.
func (p *rowPlanner) isFromIdentity(in hlo.Instruction) bool {
	op, _ := binaryOf(p.s.m.MustComputation(in.Callee(0)))
	return tile.IsIdentity(op, in.Shape().Type(), in.OperandInstr(1).Literal().Bytes())
}

// keptWeight is the weight of an op from which on its results are kept, and roundedWeight what rounding adds to it: as much as makes an op of bf16 worth it.
const keptWeight, roundedWeight = 4, 3

// keep chooses what is kept from one pass to later ones: for each result the heaviest op of its type. It returns the results.
func (p *rowPlanner) keep() (outputs []int) {
	passes := p.evaluations()
	for i, root := range p.roots {
		best, most := hlo.InstrID(0), keptWeight-1
		var first int
		if p.ofRow[root.ID()] || slices.ContainsFunc(p.shared(), func(out int) bool { return out == i }) {
			continue
		}
		for _, in := range p.order {
			in2 := passes[in.ID()]
			_, isKept := p.kept[in.ID()]
			if len(in2) < 2 || isKept || slices.Max(in2) > p.level[root.ID()] || in.Shape().Type() != root.Shape().Type() {
				continue
			}
			w := tile.Weight(in)
			if in.Shape().Type() == hlo.BF16 && w > 0 {
				w += roundedWeight
			}
			if w > most {
				best, most, first = in.ID(), w, slices.Min(in2)
			}
		}
		if most >= keptWeight {
			p.kept[best] = keeper{pass: first, out: i, arg: len(p.s.b.In) + p.held + len(outputs)}
			outputs = append(outputs, i)
		}
	}
	return outputs
}

// shared are the results that are where an input is.
func (p *rowPlanner) shared() (outs []int) {
	for o := range p.s.b.Out {
		for i := range p.s.b.In {
			if p.s.b.InPlace(o, i) {
				outs = append(outs, o)
			}
		}
	}
	return outs
}

// evaluations lists the passes in which each value of the elements would be computed.
func (p *rowPlanner) evaluations() map[hlo.InstrID][]int {
	passes := make(map[hlo.InstrID][]int)
	for k := range p.last + 1 {
		todo := p.results(k, false)
		for _, in := range p.folds(k) {
			todo = append(todo, in.OperandInstr(0))
		}
		for len(todo) > 0 {
			in := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if had := passes[in.ID()]; p.ofRow[in.ID()] || len(had) > 0 && had[len(had)-1] == k {
				continue
			}
			passes[in.ID()] = append(passes[in.ID()], k)
			todo = slices.AppendSeq(todo, in.Operands())
		}
	}
	return passes
}

// results are the results that pass k stores, of rows or of elements.
func (p *rowPlanner) results(k int, ofRow bool) (list []hlo.Instruction) {
	for _, root := range p.roots {
		if p.level[root.ID()] == k && p.ofRow[root.ID()] == ofRow {
			list = append(list, root)
		}
	}
	return list
}

// folds are the reductions of what pass k computes.
func (p *rowPlanner) folds(k int) (list []hlo.Instruction) {
	for _, in := range p.order {
		if in.Opcode() == hlo.OpReduce && p.level[in.ID()] == k+1 {
			list = append(list, in)
		}
	}
	return list
}

// output is the number of a result.
func (p *rowPlanner) output(root hlo.Instruction) int {
	return slices.IndexFunc(p.roots, func(r hlo.Instruction) bool { return r.ID() == root.ID() })
}

// compiler makes programs over dims.
func (p *rowPlanner) compiler(dims []int64) *compiler {
	space := tile.Space{Dims: dims}
	return &compiler{m: p.s.m, space: space, b: tile.NewBuilder(space), leaf: arrayParameters, budget: maxProgram}
}

// result defines the value of an instruction with as many elements as the space.
func (c *compiler) result(in hlo.Instruction) (tile.Value, bool) {
	at, _, _, ok := identity(c.space).reshaped(c.space, c.space.Dims, in.Shape().Dimensions())
	if !ok {
		return 0, false
	}
	v, ok := c.value(in, at)
	return v, ok && c.b.Type(v) == in.Shape().Type()
}

// elements compiles what pass k computes for each element, and notes the values of rows that it needs. It is nil if there is nothing.
func (p *rowPlanner) elements(k int, needed map[hlo.InstrID]bool) (*tile.Program, bool) {
	c := p.compiler(p.dims)
	c.given = func(in hlo.Instruction, at access) (v tile.Value, is, ok bool) {
		t, view := in.Shape().Type(), at.view(c.space, in.Shape().Dimensions())
		if kept, is := p.kept[in.ID()]; is && kept.pass < k {
			return c.b.Input(kept.arg, t, view), true, sameView(&view, p.dims, c.space)
		}
		if !p.ofRow[in.ID()] {
			return 0, false, false
		}
		needed[in.ID()] = true
		return c.b.Held(len(p.s.b.In)+p.heldAt[in.ID()], t, view), true, sameView(&view, p.dims[:len(p.dims)-1], c.space)
	}
	results, folds := p.results(k, false), p.folds(k)
	stored := make(map[int]hlo.Instruction)
	for _, root := range results {
		stored[p.output(root)] = root
	}
	for id, kept := range p.kept {
		if kept.pass == k {
			stored[kept.out] = p.c.MustAt(id)
		}
	}
	for _, out := range slices.Sorted(maps.Keys(stored)) {
		v, ok := c.result(stored[out])
		if !ok {
			return nil, false
		}
		c.b.Store(out, v)
	}
	for _, in := range folds {
		op, _ := binaryOf(p.s.m.MustComputation(in.Callee(0)))
		v, ok := c.result(in.OperandInstr(0))
		if !ok || !c.b.Fold(len(p.s.b.Out)+p.folded[in.ID()], v, op) {
			return nil, false
		}
	}
	if len(stored)+len(folds) == 0 {
		return nil, true
	}
	return c.b.Build()
}

// values compiles the values of rows that can be computed before pass k, and are needed or results. It is nil if there are none.
func (p *rowPlanner) values(k int, needed map[hlo.InstrID]bool) (*tile.Program, bool) {
	c := p.compiler(p.dims[:len(p.dims)-1])
	c.given = func(in hlo.Instruction, at access) (v tile.Value, is, ok bool) {
		if in.Opcode() != hlo.OpReduce {
			return 0, false, false
		}
		v, ok = p.folding(c, in, at)
		return v, true, ok
	}
	some := false
	for _, in := range p.order {
		if !p.ofRow[in.ID()] || p.level[in.ID()] != k || !needed[in.ID()] || in.Opcode() == hlo.OpReduce && p.isAsFolded(in) {
			continue
		}
		v, ok := c.result(in)
		if !ok {
			return nil, false
		}
		c.b.StoreHeld(len(p.s.b.Out)+p.heldAt[in.ID()], v)
		some = true
	}
	for _, root := range p.results(k, true) {
		v, ok := c.result(root)
		if !ok {
			return nil, false
		}
		c.b.Store(p.output(root), v)
		some = true
	}
	if !some {
		return nil, true
	}
	return c.b.Build()
}

// folding is the value of a reduction, of what the fold of its rows gave.
func (p *rowPlanner) folding(c *compiler, in hlo.Instruction, at access) (tile.Value, bool) {
	t := in.Shape().Type()
	lane := t
	if t.IsFloat() && t.Bits() < 32 {
		lane = hlo.F32
	}
	view := at.view(c.space, in.Shape().Dimensions())
	v := c.b.Input(len(p.s.b.In)+p.folded[in.ID()], lane, view)
	switch {
	case !sameView(&view, p.dims[:len(p.dims)-1], c.space):
		return 0, false
	case lane != t && p.isFromIdentity(in):
		return c.b.Convert(t, v)
	case lane != t:
		return 0, false
	case p.isFromIdentity(in):
		return v, true
	}
	return c.b.Op(p.s.m.MustComputation(in.Callee(0)).Root(), c.b.Constant(t, in.OperandInstr(1).Literal().Bytes()), v)
}

// sameView reports whether a view of a space is of an array with its first dimensions, at every point the element of the same place: what other rows hold
// may not be there yet.
func sameView(v *tile.View, dims []int64, s tile.Space) bool {
	if v.Base != 0 || v.Turns != nil {
		return false
	}
	step := int64(1)
	for i := len(s.Dims) - 1; i >= 0; i-- {
		want := int64(0)
		if i < len(dims) {
			want = step
			step *= dims[i]
		}
		if v.Strides[i] != want {
			return false
		}
	}
	return true
}
