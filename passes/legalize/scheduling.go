package legalize

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/directive"
)

// groupAttr is the frontend attribute that says which instructions are to be scheduled together.
const groupAttr = directive.SchedulingGroupID

const schedulingDoc = `bring the annotations of scheduling groups into a form that a scheduler can follow

Annotations inside of a fusion go to the fusion, and must agree. The done of a collective is in the group of its start. Groups of synchronous instructions alone lose them. What lies on a way from one instruction of a group to another must belong to the
group: else the pass fails, or with propagate-annotation annotates it. remove-loop-iteration-annotation-only takes away nothing but the rounds.`

var schedulingParams = []pass.Param{
	{Name: "keep-sync-annotation", Doc: "keep annotations of synchronous instructions in groups with asynchronous ones; true"},
	{Name: "keep-trivial-sync-annotation", Doc: "keep groups of synchronous instructions alone; false"},
	{Name: "propagate-annotation", Doc: "annotate what lies between the instructions of a group; false"},
	{Name: "remove-loop-iteration-annotation-only", Doc: "only take away the rounds; false"},
	{Name: "run-verification", Doc: "fail on groups that wait for each other; false"},
	{Name: "skip-opt-barriers", Doc: "no way leads through an opt-barrier; false"},
}

// annotations is the pass with its options.
type annotations struct{ keepSync, keepTrivial, propagate, roundsOnly, verify, skipBarriers bool }

// NewSchedulingAnnotations makes the pass legalize-scheduling-annotations.
func NewSchedulingAnnotations(o pass.Options) (*pass.Pass, error) {
	a := &annotations{keepSync: true}
	flags := []*bool{&a.keepSync, &a.keepTrivial, &a.propagate, &a.roundsOnly, &a.verify, &a.skipBarriers}
	var known []string
	for i, p := range schedulingParams {
		known = append(known, p.Name)
		var err error
		if *flags[i], err = o.BoolOr(p.Name, *flags[i]); err != nil {
			return nil, err
		}
	}
	if err := o.Known(known...); err != nil {
		return nil, err
	}
	return &pass.Pass{Name: "legalize-scheduling-annotations", Doc: schedulingDoc, Options: o, Params: schedulingParams, Run: a.run}, nil
}

// groupOf is the group of an instruction, without the round; "" without one. The annotations of the module have been read before.
func groupOf(in hlo.Instruction) string {
	g, err := directive.SchedulingGroup(in)
	if err != nil {
		panic("legalize: an annotation that run has not read: " + err.Error())
	}
	return g.Name
}

// setGroup annotates an instruction; "" takes its annotation away.
func setGroup(in hlo.InstrEdit, id string) {
	var c hlo.Common
	if old := in.View().Common(); old != nil {
		c = *old
	}
	var entries []hlo.FrontendAttribute
	if c.FrontendAttributes != nil {
		entries = slices.DeleteFunc(slices.Clone(c.FrontendAttributes.Entries), func(e hlo.FrontendAttribute) bool { return e.Key == groupAttr })
	}
	if id != "" {
		entries = append(entries, hlo.FrontendAttribute{Key: groupAttr, Value: id})
		slices.SortFunc(entries, func(a, b hlo.FrontendAttribute) int { return strings.Compare(a.Key, b.Key) })
	}
	c.FrontendAttributes = nil
	if len(entries) > 0 {
		c.FrontendAttributes = &hlo.FrontendAttributes{Entries: entries}
	}
	in.SetCommon(&c)
}

func (a *annotations) run(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
	e := ctx.Edit(m)
	for c := range m.Computations() {
		for in := range c.Instructions() {
			g, err := directive.SchedulingGroup(in)
			if err != nil {
				return m, err
			}
			if a.roundsOnly && g.Round != "" && ctx.Spend("round") {
				setGroup(e.Computation(c.ID()).Instr(in.ID()), g.Name)
				ctx.Count("rounds", 1)
			}
		}
	}
	if a.roundsOnly {
		return e.Freeze(), nil
	}
	fused := map[hlo.CompID]bool{}
	for c := range m.PostOrder() {
		for in := range c.Instructions() {
			if in.Opcode() != hlo.OpFusion {
				continue
			}
			fused[in.Callee(0)] = true
			if err := a.hoist(ctx, e, m, c, in); err != nil {
				return m, err
			}
		}
	}
	for c := range m.Computations() {
		if err := pairsAgree(e.View(c.ID())); err != nil {
			return m, err
		}
	}
	a.drop(ctx, e, m, fused)
	for c := range m.Computations() {
		if fused[c.ID()] {
			continue
		}
		if err := a.close(ctx, e.Computation(c.ID())); err != nil {
			return m, err
		}
		if a.verify {
			if err := noCycles(e.View(c.ID())); err != nil {
				return m, err
			}
		}
	}
	return e.Freeze(), nil
}

// pairsAgree says which annotated done has a start that is not in its group.
func pairsAgree(c hlo.Computation) error {
	for in := range c.Instructions() {
		//halo:allow opswitch the dones of communication; sends, receives and copies may lie in other groups than their starts
		switch in.Opcode() {
		case hlo.OpAllGatherDone, hlo.OpAllReduceDone, hlo.OpCollectivePermuteDone, hlo.OpAsyncDone:
			if start := in.OperandInstr(0); groupOf(in) != "" && groupOf(start) != groupOf(in) {
				return fmt.Errorf("%%%s is in scheduling group %s, and %%%s, which begins what it waits for, is not", in.Name(), groupOf(in), start.Name())
			}
		}
	}
	return nil
}

// hoist gives a fusion the annotation of what it fuses.
func (a *annotations) hoist(ctx *pass.Context, e *hlo.Editor, m hlo.Module, c hlo.Computation, fusion hlo.Instruction) error {
	group, from := groupOf(e.View(c.ID()).MustAt(fusion.ID())), fusion.Name()
	was := group
	for in := range m.MustComputation(fusion.Callee(0)).Instructions() {
		id := groupOf(in)
		switch {
		case id == "" || id == group:
		case group == "":
			group, from = id, in.Name()
		default:
			return fmt.Errorf("%%%s fuses %%%s of scheduling group %s and %%%s of group %s: a fusion is in one group", fusion.Name(), from, group, in.Name(), id)
		}
	}
	if group != was && ctx.Spend("fusion") {
		setGroup(e.Computation(c.ID()).Instr(fusion.ID()), group)
		ctx.Count("fusions", 1)
	}
	return nil
}

// drop takes annotations away from synchronous instructions: from all of them, or from groups without an asynchronous one.
func (a *annotations) drop(ctx *pass.Context, e *hlo.Editor, m hlo.Module, fused map[hlo.CompID]bool) {
	isAsync := map[string]bool{}
	wrapped := map[hlo.CompID]bool{}
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if begins(in) && !movesOnly(m, in) {
				isAsync[groupOf(in)] = true
			}
			if in.Opcode() == hlo.OpAsyncStart {
				for id := range in.Callees() {
					wrapped[id] = true
				}
			}
		}
	}
	for c := range m.Computations() {
		if fused[c.ID()] {
			continue
		}
		ce := e.Computation(c.ID())
		for in := range c.Instructions() {
			id := groupOf(e.View(c.ID()).MustAt(in.ID()))
			if id == "" {
				continue
			}
			async := begins(in) || ends(in)
			trivial := !isAsync[id] && !a.keepTrivial
			if (trivial || !a.keepSync && !async && !isAsync[id]) && ctx.Spend("trivial") {
				setGroup(ce.Instr(in.ID()), "")
				ctx.Count("dropped", 1)
			}
		}
	}
}

func begins(in hlo.Instruction) bool {
	return hlo.Info(in.Opcode()).Traits.Has(hlo.TraitAsyncStart) || in.Opcode() == hlo.OpAsyncStart || hlo.Info(in.Opcode()).Traits.Has(hlo.TraitCollective)
}

func ends(in hlo.Instruction) bool {
	return hlo.Info(in.Opcode()).Traits.Has(hlo.TraitAsyncDone) || hlo.IsAsync(in.Opcode())
}

// movesOnly reports whether what an async-start begins only copies and calls: there is nothing to overlap.
func movesOnly(m hlo.Module, in hlo.Instruction) bool {
	if in.Opcode() != hlo.OpAsyncStart {
		return false
	}
	var only func(id hlo.CompID, depth int) bool
	only = func(id hlo.CompID, depth int) bool {
		if depth > 32 {
			return false
		}
		for in := range m.MustComputation(id).Instructions() {
			switch {
			case in.Opcode() == hlo.OpCall || in.Opcode() == hlo.OpAsyncStart:
				for callee := range in.Callees() {
					if !only(callee, depth+1) {
						return false
					}
				}
			case in.Opcode() == hlo.OpParameter || in.Opcode() == hlo.OpCopy || in.Opcode() == hlo.OpBitcast || in.Opcode() == hlo.OpTranspose || in.Opcode() == hlo.OpReshape || hlo.IsAsync(in.Opcode()):
			default:
				return false
			}
		}
		return true
	}
	return only(in.Callee(0), 0)
}

// close annotates what lies between the instructions of each group, or fails because of it.
func (a *annotations) close(ctx *pass.Context, c hlo.CompEdit) error {
	var groups []string
	for in := range c.View().Instructions() {
		if id := groupOf(in); id != "" && !slices.Contains(groups, id) {
			groups = append(groups, id)
		}
	}
	slices.Sort(groups)
	for _, g := range groups {
		v := c.View()
		order := slices.Collect(v.PostOrder())
		after, before := reach(v, order, g, a.skipBarriers)
		var between []hlo.InstrID
		for _, in := range order {
			id := groupOf(in)
			switch {
			case !after[in.ID()] || !before[in.ID()] || id == g:
			case !a.propagate:
				return fmt.Errorf("%%%s lies between instructions of scheduling group %s and is not in it", in.Name(), g)
			case id != "":
				return fmt.Errorf("%%%s lies between instructions of scheduling group %s: it has an existing annotation, %s", in.Name(), g, id)
			default:
				between = append(between, in.ID())
			}
		}
		for _, id := range between {
			if !ctx.Spend("between") {
				return nil
			}
			setGroup(c.Instr(id), g)
			ctx.Count("between", 1)
		}
	}
	return nil
}

// reach marks what comes after an instruction of a group, and what comes before one.
func reach(v hlo.Computation, order []hlo.Instruction, g string, skipBarriers bool) (after, before map[hlo.InstrID]bool) {
	after, before = map[hlo.InstrID]bool{}, map[hlo.InstrID]bool{}
	member := map[hlo.InstrID]bool{}
	needs := map[hlo.InstrID][]hlo.InstrID{}
	for _, in := range order {
		member[in.ID()] = groupOf(in) == g
		if in.Opcode() == hlo.OpOptBarrier && skipBarriers {
			continue
		}
		needs[in.ID()] = append(slices.Collect(in.OperandIDs()), slices.Collect(in.ControlPredecessors())...)
	}
	for _, in := range order {
		for _, o := range needs[in.ID()] {
			after[in.ID()] = after[in.ID()] || after[o] || member[o]
		}
	}
	for _, in := range slices.Backward(order) {
		if member[in.ID()] || before[in.ID()] {
			for _, o := range needs[in.ID()] {
				before[o] = true
			}
		}
	}
	return after, before
}

// noCycles fails if two groups wait for each other.
func noCycles(v hlo.Computation) error {
	deps := analysis.FindDependencies(v)
	waits := map[string]map[string]bool{}
	for i, in := range deps.Order {
		g := groupOf(in)
		for _, j := range deps.Before(i) {
			if h := groupOf(deps.Order[j]); g != "" && h != "" && g != h {
				if waits[g] == nil {
					waits[g] = map[string]bool{}
				}
				waits[g][h] = true
			}
		}
	}
	for g, others := range waits {
		for h := range others {
			if waits[h][g] {
				return fmt.Errorf("scheduling groups %s and %s wait for each other", min(g, h), max(g, h))
			}
		}
	}
	return nil
}
