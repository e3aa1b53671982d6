package motion

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/control"
	"github.com/gohalo/halo/passes/emit"
	"github.com/gohalo/halo/passes/simplify"
)

const conditionalDoc = `move instructions out of conditionals or into them, next to those they can be fused with

Out of the branches goes what all of them compute in the same way at their end; into them go users of the result that need nothing else, and operands that not
every branch uses. Of two directions the one that brings more pairs together is taken: each pair of an instruction and its user counts 10, divided by the users of the one and the operands of
the other. Collectives and the result of the computation never move in, and neither does what a control dependency holds. Branches that are shared are copied first.`

var conditionalParams = []pass.Param{
	{Name: "is-layout-sensitive", Doc: "the same instruction has the same layout in all branches; true"},
	{Name: "pursue-full-conditional-code-motion", Doc: "where nothing else moves, conversions from f32 to bf16 at the end of all branches do; true"},
}

// NewConditionalCodeMotion makes the pass conditional-code-motion.
func NewConditionalCodeMotion(o pass.Options) (*pass.Pass, error) {
	if err := o.Known(conditionalParams[0].Name, conditionalParams[1].Name); err != nil {
		return nil, err
	}
	layouts, err := o.BoolOr(conditionalParams[0].Name, true)
	if err != nil {
		return nil, err
	}
	full, err := o.BoolOr(conditionalParams[1].Name, true)
	if err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "conditional-code-motion", Doc: conditionalDoc, Options: o, Params: conditionalParams, Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
		if ctx.IsLent() { // what has been cleaned up cannot be given back, so it is tried first
			if tried, err := moveAcross(ctx.Trial(), m, layouts, full); err != nil || tried == m {
				return m, err
			}
		}
		return moveAcross(ctx, m, layouts, full)
	}}, nil
}

// moveAcross looks at every conditional of the module without its dead code, and cleans up if one has changed.
func moveAcross(ctx *pass.Context, m hlo.Module, layouts, full bool) (hlo.Module, error) {
	tidy, err := simplify.CSE.Apply(ctx, m)
	if err != nil {
		return m, err
	}
	if tidy, err = withoutDead(ctx, tidy); err != nil {
		return m, err
	}
	effects := pass.Fact(ctx, tidy, analysis.FindSideEffects)
	e := ctx.Edit(tidy)
	calls := map[hlo.CompID]int{}
	for c := range tidy.Computations() {
		for in := range c.Instructions() {
			for id := range in.Callees() {
				calls[id]++
			}
		}
	}
	moved := false
	for c := range pass.Fact(ctx, tidy, analysis.FindExecuted).In(tidy) {
		if analysis.FindWindows(c) != nil {
			continue // what moves could wait for a done
		}
		here := false
		for in := range c.PostOrder() {
			if in.Opcode() != hlo.OpConditional {
				continue
			}
			k := &crossing{ctx: ctx, e: e, c: e.Computation(c.ID()), id: in.ID(), calls: calls, effects: effects, layouts: layouts}
			here = k.move(full) || here
		}
		if here {
			moved = true
			emit.Reorder(e.Computation(c.ID())) // once, not for each conditional
		}
	}
	if !moved {
		return m, nil
	}
	if err := simplify.RemoveDead(ctx, e); err != nil {
		return m, err
	}
	after, err := simplify.TupleSimplifier.Apply(ctx, e.Freeze())
	if err != nil {
		return m, err
	}
	return withoutDead(ctx, after)
}

func withoutDead(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
	e := ctx.Edit(m)
	if err := simplify.RemoveDead(ctx, e); err != nil {
		return m, err
	}
	return e.Freeze(), nil
}

// side is where a boundary is.
type side int

const (
	inside  side = iota // in the branches: one instruction of each
	user                // behind the conditional
	operand             // in front of it
)

// boundary is an instruction that may cross, or the instructions of all branches that may as one.
type boundary struct {
	side side
	ids  []hlo.InstrID
}

func (b boundary) equal(o boundary) bool { return b.side == o.side && slices.Equal(b.ids, o.ids) }

// place is an instruction of the computation (branch -1) or of a branch.
type place struct {
	branch int
	id     hlo.InstrID
}

func (b boundary) first() place {
	if b.side == inside {
		return place{0, b.ids[0]}
	}
	return place{-1, b.ids[0]}
}

// crossing is one conditional.
type crossing struct {
	ctx     *pass.Context
	e       *hlo.Editor
	c       hlo.CompEdit
	id      hlo.InstrID
	calls   map[hlo.CompID]int
	effects *analysis.SideEffects
	layouts bool

	view     hlo.Computation // of the computation, while nothing is edited
	branches []hlo.Computation
	visited  map[place]bool // what did not cross
}

// look takes views of what there is now.
func (k *crossing) look() {
	k.view, k.branches, k.visited = k.c.View(), nil, map[place]bool{}
	for id := range k.c.At(k.id).Callees() {
		k.branches = append(k.branches, k.e.View(id))
	}
}

func (k *crossing) at(p place) hlo.Instruction {
	if p.branch < 0 {
		return k.view.MustAt(p.id)
	}
	return k.branches[p.branch].MustAt(p.id)
}

// move decides about a conditional, and does it.
func (k *crossing) move(full bool) bool {
	k.look()
	in := k.view.MustAt(k.id)
	if in.NumControlPredecessors()+in.NumControlSuccessors() > 0 || k.narrows() {
		return false
	}
	out, into := k.decide()
	if len(out) == 0 && len(into) == 0 {
		return full && !k.fixedShape() && k.hoistConverts()
	}
	if !k.ctx.Spend("move") {
		return false
	}
	if k.ownBranches() {
		k.look()
		out, into = k.decide() // of the copies
	}
	if len(out) > 0 {
		k.ctx.Count("out", 1)
		return k.moveOut(slices.Concat(out...))
	}
	changed := false
	for _, group := range into {
		if group[0].side == operand {
			changed = k.moveOperandsIn(group) || changed
		} else {
			changed = k.moveUsersIn(group) || changed
		}
	}
	if changed {
		k.ctx.Count("in", 1)
	}
	return changed
}

// narrows reports whether chains begin or end in a branch: what moves could wait for a done.
func (k *crossing) narrows() bool {
	for _, c := range k.branches {
		if analysis.FindWindows(c) != nil {
			return true
		}
	}
	return false
}

// ownBranches gives the conditional branches that nothing else runs.
func (k *crossing) ownBranches() bool {
	cloned := false
	for i, b := range k.branches {
		if k.calls[b.ID()] > 1 {
			k.calls[b.ID()]--
			id := control.CloneComputation(k.e, b.ID())
			k.calls[id] = 1
			k.c.Instr(k.id).SetCallee(i, id)
			cloned = true
		}
	}
	return cloned
}

// fixedShape reports whether the result must keep its shape: it is the result of the computation, or used as a whole tuple.
func (k *crossing) fixedShape() bool {
	in := k.view.MustAt(k.id)
	if in.IsRoot() {
		return true
	}
	if in.Shape().IsTuple() {
		for u := range in.Users() {
			if u.Opcode() != hlo.OpGetTupleElement {
				return true
			}
		}
	}
	return false
}

// decide finds the groups of boundaries to move, in the direction that brings more.
func (k *crossing) decide() (out, into [][]boundary) {
	in := k.view.MustAt(k.id)
	var todo, seen []boundary
	var roots []hlo.InstrID
	for _, b := range k.branches {
		roots = append(roots, b.Root().ID())
	}
	if !k.fixedShape() {
		todo = append(todo, boundary{inside, roots})
		for u := range in.Users() {
			todo = append(todo, boundary{user, []hlo.InstrID{u.ID()}})
		}
	}
	for i := 1; i < in.NumOperands(); i++ {
		todo = append(todo, boundary{operand, []hlo.InstrID{in.Operand(i)}})
	}
	gainOut, gainIn, outwards := 0, 0, false
	for len(todo) > 0 && len(seen) < maxBoundaries {
		b := todo[0]
		todo = todo[1:]
		if slices.ContainsFunc(seen, b.equal) {
			continue
		}
		seen = append(seen, b)
		group, next := k.connected(b)
		gain := -1
		if len(group) > 0 {
			gain = k.gain(group)
		}
		switch {
		case gain < 0:
			todo = append(todo, next...)
			continue
		case b.side == inside:
			out, gainOut = append(out, group), gainOut+gain
		default:
			into, gainIn = append(into, group), gainIn+gain
		}
		outwards = gainOut >= gainIn && len(out) > 0
	}
	if outwards {
		return out, nil
	}
	return nil, into
}

// maxBoundaries bounds the search around one conditional.
const maxBoundaries = 512

// connected collects, from one boundary on, those that can cross with it; next are those that cannot.
func (k *crossing) connected(b boundary) (group, next []boundary) {
	met := map[place]int{}
	steps := 0
	for todo := []boundary{b}; len(todo) > 0 && steps < maxBoundaries; steps++ {
		b := todo[0]
		todo = todo[1:]
		if slices.ContainsFunc(group, b.equal) {
			continue
		}
		if b.side == inside && !k.identical(b.ids) || !k.isSafe(b, met) || !k.isWorth(b) {
			k.visited[b.first()] = true
			next = append(next, b)
			continue
		}
		delete(k.visited, b.first())
		next = slices.DeleteFunc(next, b.equal)
		group = append(group, b)
		neighbours := k.neighbours(b)
		for i, n := range neighbours {
			if !slices.ContainsFunc(neighbours[:i], n.equal) {
				todo = append(todo, n)
			}
		}
	}
	return group, next
}

// neighbours are the boundaries behind a boundary: its operands, or its users.
func (k *crossing) neighbours(b boundary) (all []boundary) {
	if b.side == user {
		for u := range k.at(b.first()).Users() {
			all = append(all, boundary{user, []hlo.InstrID{u.ID()}})
		}
		return all
	}
	for i := range k.at(b.first()).NumOperands() {
		next := boundary{side: b.side}
		for branch, id := range b.ids {
			p := place{branch, id}
			if b.side == operand {
				p.branch = -1
			}
			next.ids = append(next.ids, k.at(p).Operand(i))
		}
		all = append(all, next)
	}
	return all
}

// identical reports whether instructions of all branches are the same but for their operands.
func (k *crossing) identical(ids []hlo.InstrID) bool {
	a := k.branches[0].MustAt(ids[0])
	for i := 1; i < len(ids); i++ {
		b := k.branches[i].MustAt(ids[i])
		if a.Opcode() != b.Opcode() || a.NumOperands() != b.NumOperands() || a.NumCallees() != b.NumCallees() || !hlo.EqualAttrs(a.Attrs(), b.Attrs()) ||
			k.layouts && !a.Shape().Equal(b.Shape()) || !a.Shape().EqualIgnoringLayout(b.Shape()) {
			return false
		}
		for n := range a.NumOperands() {
			if !a.OperandInstr(n).Shape().Equal(b.OperandInstr(n).Shape()) {
				return false // behind the conditional it has one shape
			}
		}
		for n := range a.NumCallees() {
			if a.Callee(n) != b.Callee(n) && !k.e.View(a.Callee(n)).Equal(k.e.View(b.Callee(n))) {
				return false
			}
		}
	}
	return true
}
