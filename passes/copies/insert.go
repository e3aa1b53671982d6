package copies

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/control"
	"github.com/gohalo/halo/passes/emit"
	"github.com/gohalo/halo/passes/simplify"
)

// NewInsertion makes copy-insertion.
func NewInsertion(opts pass.Options) (*pass.Pass, error) {
	if err := opts.Known("use-region-based-live-range-analysis"); err != nil {
		return nil, err
	}
	regions, err := opts.Int("use-region-based-live-range-analysis", -1)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{
		Name:    "copy-insertion",
		Options: opts,
		Params: []pass.Param{{Name: "use-region-based-live-range-analysis",
			Doc: "0 removes copies only where the program orders what reads before what writes; else such orders are imposed: the default"}},
		Makes: []pass.Phase{pass.Flattened},
		Doc: `copy values whose memory is overwritten while they are needed

What a loop carries, what the branches of a conditional return, what is updated in place and what is aliased between parameters and results has one memory. First everything is copied that comes into such
memory from outside and leaves it again; then the copies go that nothing reads after their source is written over. Last, constants and parameters are copied where they would be written over or be a result.
Computations that run get one caller each before.`,
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			if ctx.IsLent() { // what has been flattened cannot be given back, so it is tried first
				if tried, err := insertCopies(ctx.Trial(), m, regions != 0); err != nil || tried == m {
					return m, err
				}
			}
			return insertCopies(ctx, m, regions != 0)
		},
	}, nil
}

func insertCopies(ctx *pass.Context, m hlo.Module, regions bool) (hlo.Module, error) {
	was := m.Hash()
	flat, err := control.FlattenCallGraph.Run(ctx, m)
	if err != nil {
		return m, err
	}
	i := &insertion{ctx: ctx, m: flat}
	for _, phase := range []func() error{i.resolve, i.tidy, func() error { return i.remove(regions) }, i.tidy, i.special, i.tidy} {
		if err := phase(); err != nil {
			return m, err
		}
	}
	if i.m.Hash() == was { // all that was inserted went again
		return m, nil
	}
	return i.m, nil
}

// insertion is a module in the making.
type insertion struct {
	ctx   *pass.Context
	m     hlo.Module
	edges []before // that keep copies in order
}

// edit makes another version of the module.
func (i *insertion) edit(f func(e *hlo.Editor) error) error {
	e := i.ctx.Edit(i.m)
	if err := f(e); err != nil {
		return err
	}
	i.m = e.Freeze()
	return nil
}

// tidy takes tuples apart that copies were put into and out of, and removes what is dead.
func (i *insertion) tidy() error {
	return i.edit(func(e *hlo.Editor) error {
		for c := range i.m.Computations() {
			if err := simplify.TupleSimplifier.Local(i.ctx, i.m, e.Computation(c.ID())); err != nil {
				return err
			}
		}
		return simplify.RemoveDead(i.ctx, e)
	})
}

// resolve copies all that comes into memory that several values have.
func (i *insertion) resolve() error {
	v := findValues(i.m)
	return i.edit(func(e *hlo.Editor) error {
		for _, s := range slices.Backward(v.order) { // users first, so that what is copied for one is not copied again for what it is made of
			in := v.instr(s)
			switch in.Opcode() {
			case hlo.OpWhile:
				i.copyState(e, s, in, mergedHere(v, s))
			case hlo.OpConditional:
				for k := range in.NumCallees() {
					i.copyRoot(e, in.Callee(k), mergedHere(v, s))
				}
			}
			for _, p := range inPlace(i.m, in) {
				c := e.Computation(s.comp)
				id := c.At(s.in).Operand(p.operand)
				wanted := make([]bool, c.At(id).Shape().NumLeaves())
				wanted[p.leaf] = true
				c.Instr(s.in).SetOperand(p.operand, i.copyLeaves(emit.Before(c, in), id, wanted, nil))
			}
		}
		i.copyAliased(e)
		return nil
	})
}

// mergedHere says at which leaves of an instruction values are merged.
func mergedHere(v *values, s site) []bool {
	leaves := make([]bool, len(v.at[s]))
	for leaf, x := range v.at[s] {
		leaves[leaf] = x.merged && x.def == place{s, leaf}
	}
	return leaves
}

// copyState copies what a loop begins with, what its body takes and what it returns.
func (i *insertion) copyState(e *hlo.Editor, s site, in hlo.Instruction, wanted []bool) {
	c := e.Computation(s.comp)
	c.Instr(s.in).SetOperand(0, i.copyLeaves(emit.Before(c, in), c.At(s.in).Operand(0), wanted, nil))
	body := in.Callee(0)
	taken := i.copyParameter(e, body, 0, wanted)
	i.order(e, body, taken, i.copyRoot(e, body, wanted))
}

// copyAliased copies parameters and results of the program that have one memory.
func (i *insertion) copyAliased(e *hlo.Editor) {
	entry := i.m.Entry()
	results := make([]bool, entry.Root().Shape().NumLeaves())
	taken := none(len(results))
	byParameter := map[int][]bool{}
	for _, p := range entryAliases(i.m) {
		if byParameter[p.operand] == nil {
			byParameter[p.operand] = make([]bool, entry.Parameter(p.operand).Shape().NumLeaves())
		}
		byParameter[p.operand][p.leaf], results[p.result] = true, true
	}
	for n := range entry.NumParameters() {
		if wanted := byParameter[n]; wanted != nil {
			made := i.copyParameter(e, entry.ID(), n, wanted)
			for _, p := range entryAliases(i.m) {
				if p.operand == n && made != nil {
					taken[p.result] = made[p.leaf]
				}
			}
		}
	}
	if slices.Contains(results, true) {
		i.order(e, entry.ID(), taken, i.copyRoot(e, entry.ID(), results))
	}
}

// copyParameter makes the users of a parameter use copies of leaves of it.
func (i *insertion) copyParameter(e *hlo.Editor, id hlo.CompID, number int, wanted []bool) []hlo.InstrID {
	c := e.Computation(id)
	return i.copyForUsers(c, c.View().Parameter(number), wanted)
}

// copyForUsers makes the users of a value, and who calls its computation, use copies of leaves of it.
func (i *insertion) copyForUsers(c hlo.CompEdit, in hlo.Instruction, wanted []bool) []hlo.InstrID {
	users := slices.Collect(c.Users(in.ID()))
	returned := c.Root() == in.ID() && c.ID() != i.m.Entry().ID() // results of the program have copies of their own
	if len(users) == 0 && !returned {
		return nil
	}
	made, at := none(len(wanted)), emit.End(c)
	if len(users) > 0 {
		at = emit.Before(c, firstOf(c, users))
	}
	by := i.copyLeaves(at, in.ID(), wanted, made)
	emit.Redirect(c, users, in.ID(), by)
	if returned {
		c.SetRoot(by)
	}
	return made
}

// firstOf is the first of some instructions in program order.
func firstOf(c hlo.CompEdit, ids []hlo.InstrID) hlo.Instruction {
	if len(ids) > 1 {
		for in := range c.View().Instructions() {
			if slices.Contains(ids, in.ID()) {
				return in
			}
		}
	}
	return c.At(ids[0])
}

// copyRoot makes a computation return copies of leaves of its root.
func (i *insertion) copyRoot(e *hlo.Editor, id hlo.CompID, wanted []bool) []hlo.InstrID {
	c := e.Computation(id)
	made := none(len(wanted))
	c.SetRoot(i.copyLeaves(emit.End(c), c.Root(), wanted, made))
	return made
}

// none is a list of n instructions that there are not.
func none(n int) []hlo.InstrID { return slices.Repeat([]hlo.InstrID{hlo.NoInstr}, n) }

// copyLeaves is a value with copies in the place of leaves of it; made, which may be nil, gets them.
func (i *insertion) copyLeaves(at emit.At, id hlo.InstrID, wanted []bool, made []hlo.InstrID) hlo.InstrID {
	if !slices.Contains(wanted, true) {
		return id
	}
	s := at.Shape(id)
	if s.IsArray() {
		by := at.Spec(hlo.InstrSpec{Opcode: hlo.OpCopy, Shape: s, Operands: []hlo.InstrID{id}})
		i.ctx.Count("inserted", 1)
		if made != nil {
			made[0] = by
		}
		return by
	}
	if !s.IsTuple() {
		return id
	}
	parts, first := make([]hlo.InstrID, s.NumElems()), 0
	for k := range parts {
		n := s.Elem(k).NumLeaves()
		var into []hlo.InstrID
		if made != nil {
			into = made[first : first+n]
		}
		parts[k] = i.copyLeaves(at, at.Element(id, k), wanted[first:first+n], into)
		first += n
	}
	return at.Spec(hlo.InstrSpec{Opcode: hlo.OpTuple, Shape: s, Operands: parts})
}

// order makes each copy of what was there run before the copy that is written over it.
func (i *insertion) order(e *hlo.Editor, id hlo.CompID, taken, returned []hlo.InstrID) {
	for leaf := range taken {
		if c := e.Computation(id); leaf < len(returned) && taken[leaf] != hlo.NoInstr && returned[leaf] != hlo.NoInstr && c.Has(taken[leaf]) && c.Has(returned[leaf]) {
			c.Instr(returned[leaf]).AddControlPredecessor(taken[leaf])
			i.edges = append(i.edges, before{id, taken[leaf], returned[leaf]})
		}
	}
}

// remove takes out the copies that are not needed. Copies that the program gave an order stay.
func (i *insertion) remove(enforce bool) error {
	keep, own := map[site]bool{}, map[before]bool{}
	for _, b := range i.edges {
		own[b] = true
	}
	for c := range i.m.Computations() {
		for by := c.Root(); by.Opcode() == hlo.OpCopy && c.ID() != i.m.Entry().ID(); {
			if by = by.OperandInstr(0); !emit.KeepsResultSharding(c.Root(), by) {
				keep[site{c.ID(), c.Root().ID()}] = true
			}
		}
		for in := range c.Instructions() {
			for id := range in.ControlPredecessors() {
				if !own[before{c.ID(), id, in.ID()}] {
					keep[site{c.ID(), id}], keep[site{c.ID(), in.ID()}] = true, true
				}
			}
		}
	}
	gone, o := unnecessary(i.m, keep, enforce)
	return i.edit(func(e *hlo.Editor) error {
		dropped := map[site]bool{}
		for _, s := range gone {
			dropped[s] = true
		}
		for _, b := range i.edges {
			if !e.Has(b.comp) {
				continue
			}
			c := e.Computation(b.comp)
			if (dropped[site{b.comp, b.first}] || dropped[site{b.comp, b.then}]) && c.Has(b.first) && c.Has(b.then) {
				c.Instr(b.then).RemoveControlPredecessor(b.first)
			}
		}
		if err := i.takeOut(e, gone, dropped); err != nil {
			return err
		}
		for then, firsts := range o.forced {
			c := e.Computation(then.comp)
			for _, first := range firsts {
				if c.Has(then.in) && c.Has(first) {
					c.Instr(then.in).AddControlPredecessor(first)
				}
			}
		}
		return nil
	})
}

// takeOut makes the users of copies use what was copied, each user once, however many of its operands are copies, and removes the copies.
func (i *insertion) takeOut(e *hlo.Editor, gone []site, dropped map[site]bool) error {
	for _, s := range gone {
		c := e.Computation(s.comp)
		source := func(id hlo.InstrID) hlo.InstrID {
			for dropped[site{s.comp, id}] {
				id = c.At(id).Operand(0)
			}
			return id
		}
		for _, u := range slices.Collect(c.Users(s.in)) {
			operands := slices.Collect(c.At(u).OperandIDs())
			for k, id := range operands {
				operands[k] = source(id)
			}
			c.Instr(u).SetOperands(operands...)
		}
		if c.Root() == s.in {
			c.SetRoot(source(s.in))
		}
	}
	for _, s := range gone {
		if err := e.Computation(s.comp).Remove(s.in); err != nil {
			return err
		}
		i.ctx.Count("removed", 1)
	}
	return nil
}

// special copies constants and parameters of the program that would be written over, and results that are parameters, constants or the same twice.
func (i *insertion) special() error {
	v := findValues(i.m)
	b := findBuffers(v, newOrdering(v))
	return i.edit(func(e *hlo.Editor) error {
		entry := i.m.Entry()
		wanted := make([]bool, entry.Root().Shape().NumLeaves())
		seen := map[int]bool{}
		for leaf, x := range v.at[site{entry.ID(), entry.Root().ID()}] {
			class := b.find(x.number)
			wanted[leaf] = seen[class] || b.readOnly(x)
			seen[class] = true
		}
		defs := map[site][]bool{}
		for _, x := range v.all {
			if n := b.nodes[x.number]; b.readOnly(x) && (n.prev != nil || n.next != nil) {
				if defs[x.def.site] == nil {
					defs[x.def.site] = make([]bool, len(v.at[x.def.site]))
				}
				defs[x.def.site][x.def.leaf] = true
			}
		}
		for _, s := range v.order {
			if defs[s] != nil {
				i.copyForUsers(e.Computation(s.comp), v.instr(s), defs[s])
			}
		}
		i.copyRoot(e, entry.ID(), wanted)
		return nil
	})
}
