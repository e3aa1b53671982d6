package control

import (
	"slices"
	"strings"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/idmap"
	"github.com/gohalo/halo/passes/emit"
)

const flatteningDoc = `make a program run a known number of instructions, on one device and without a host: for measuring, not for results

Loops run as often as their condition compares with a constant, or while-execution-count times. What communicates, reads an infeed or writes an outfeed becomes the
custom call NopCustomCall of the same operands and shape, and of a token NopReturnTokenCustomCall. Results change.`

var flatteningParams = []pass.Param{
	{Name: "while-execution-count", Doc: "rounds of loops whose condition compares with no constant; 1"},
	{Name: "max-outer-loop-count", Doc: "at most so many rounds of loops with loops inside; 1000"},
	{Name: "max-loop-count", Doc: "at most so many rounds; 1000"},
	{Name: "remove-infeed-outfeed", Doc: "replace infeeds and outfeeds; true"},
	{Name: "flatten-while-loop", Doc: "count the rounds of loops; true"},
	{Name: "remove-comm", Doc: "replace collectives, sends and receives; true"},
	{Name: "remove-host-transfer", Doc: "replace sends to and receives from the host; false"},
	{Name: "remove-id", Doc: "replace partition-id and replica-id by 0; false"},
	{Name: "flatten-conditional", Doc: "conditionals of two branches take a known one; false"},
	{Name: "conditional-value", Doc: "take the first of them; false"},
	{Name: "remove-dynamic-shapes", Doc: "dimensions have their bounds as sizes; false"},
}

// flattening is the options of the pass control-flow-flattening.
type flattening struct {
	rounds, maxOuter, maxRounds                           int
	feeds, loops, comm, host, ids, conditionals, dynamics bool
	value                                                 bool
}

// NewFlattening makes the pass control-flow-flattening.
func NewFlattening(o pass.Options) (*pass.Pass, error) {
	f := &flattening{rounds: 1, maxOuter: 1000, maxRounds: 1000, feeds: true, loops: true, comm: true}
	ints := []*int{&f.rounds, &f.maxOuter, &f.maxRounds}
	bools := []*bool{&f.feeds, &f.loops, &f.comm, &f.host, &f.ids, &f.conditionals, &f.value, &f.dynamics}
	var names []string
	for _, p := range flatteningParams {
		names = append(names, p.Name)
	}
	if err := o.Known(names...); err != nil {
		return nil, err
	}
	var err error
	for i, to := range ints {
		if *to, err = o.Int(names[i], *to); err != nil {
			return nil, err
		}
	}
	for i, to := range bools {
		if *to, err = o.BoolOr(names[len(ints)+i], *to); err != nil {
			return nil, err
		}
	}
	return &pass.Pass{Name: "control-flow-flattening", Doc: flatteningDoc, Options: o, Params: flatteningParams, Run: f.run}, nil
}

func (f *flattening) run(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
	outer := loopsOutside(m)
	wrapped := asyncComputations(m)
	e := ctx.Edit(m)
	var callees idmap.Set[hlo.CompID]
	for c := range m.PostOrder() {
		if wrapped[c.ID()] {
			continue
		}
		ce := e.Computation(c.ID())
		for in := range c.Instructions() {
			if err := f.flatten(ctx, e, m, ce, in, outer, &callees); err != nil {
				return m, err
			}
		}
	}
	removeUncalled(e, &callees)
	if f.dynamics {
		makeStatic(ctx, e)
	}
	return e.Freeze(), nil
}

// flatten changes one instruction, if it is of a kind that the options name.
func (f *flattening) flatten(ctx *pass.Context, e *hlo.Editor, m hlo.Module, ce hlo.CompEdit, in hlo.Instruction, outer map[place]bool, callees *idmap.Set[hlo.CompID]) error {
	op := in.Opcode()
	attrs, transfer := in.Attrs().(*hlo.SendRecvAttrs)
	switch {
	case op == hlo.OpWhile && f.loops && ctx.Spend("loop"):
		f.count(e, m, ce, in, outer)
	case op == hlo.OpInfeed && f.feeds && ctx.Spend("infeed"):
		return withoutInfeed(ce, in)
	case op == hlo.OpOutfeed && f.feeds && ctx.Spend("outfeed"):
		nop(ce, in, &hlo.Sharding{Kind: hlo.ShardingManual})
	case transfer && (f.comm || f.host && attrs.IsHostTransfer) && ctx.Spend("transfer"):
		nop(ce, in, nil)
	case f.comm && isCommunication(m, in) && ctx.Spend("collective"):
		for id := range in.Callees() {
			callees.Add(id)
		}
		nop(ce, in, nil)
	case f.ids && (op == hlo.OpPartitionId || op == hlo.OpReplicaId) && ctx.Spend("id"):
		ce.Instr(in.ID()).SetOpcode(hlo.OpConstant).SetAttrs(&hlo.ConstantAttrs{Literal: emit.Zero(in.Shape().Type())})
	case op == hlo.OpConditional && f.conditionals && in.NumCallees() == 2 && in.OperandInstr(0).Shape().Type() == hlo.PRED && ctx.Spend("conditional"):
		f.decide(ce, in)
	}
	return nil
}

// isCommunication reports a collective, or a step of an asynchronous one.
func isCommunication(m hlo.Module, in hlo.Instruction) bool {
	if hlo.Info(in.Opcode()).Traits.Has(hlo.TraitCollective) {
		return true
	}
	for hlo.IsAsync(in.Opcode()) && in.Opcode() != hlo.OpAsyncStart {
		in = in.OperandInstr(0)
	}
	return in.Opcode() == hlo.OpAsyncStart && in.NumCallees() == 1 &&
		hlo.Info(m.MustComputation(in.Callee(0)).Root().Opcode()).Traits.Has(hlo.TraitCollective)
}

// nop makes an instruction a custom call that does nothing.
func nop(ce hlo.CompEdit, in hlo.Instruction, sharding *hlo.Sharding) {
	target := "NopCustomCall"
	if in.Shape().IsToken() {
		target = "NopReturnTokenCustomCall"
	}
	ce.Instr(in.ID()).SetCallees().SetOpcode(hlo.OpCustomCall).SetAttrs(&hlo.CustomCallAttrs{Target: target, FeatureGroupCount: 1, BatchGroupCount: 1, HasSideEffect: in.Shape().IsToken()})
	if common := in.Common(); sharding != nil && (common == nil || common.Sharding == nil) {
		own := hlo.Common{}
		if common != nil {
			own = *common
		}
		own.Sharding = sharding
		ce.Instr(in.ID()).SetCommon(&own)
	}
}

// withoutInfeed makes the data of an infeed a custom call without operands, and its token a new one.
func withoutInfeed(ce hlo.CompEdit, in hlo.Instruction) error {
	shape, common := in.Shape(), in.Common()
	at := emit.Before(ce, in)
	data := at.OpOf(hlo.OpCustomCall, shape.Elem(0), &hlo.CustomCallAttrs{Target: "NopCustomCall", FeatureGroupCount: 1, BatchGroupCount: 1})
	token := at.Op(hlo.OpAfterAll, nil)
	both := at.OpOf(hlo.OpTuple, shape, nil, data, token)
	ce.Instr(both).SetCommon(emit.HandedOn(common))
	return ce.ReplaceInstruction(in.ID(), both)
}

// decide makes a conditional take one branch; the selector is still computed.
func (f *flattening) decide(ce hlo.CompEdit, in hlo.Instruction) {
	at := emit.Before(ce, in)
	was := ce.At(in.ID()).OperandInstr(0)
	name := was.Name() + "_flattened"
	at.OpOf(hlo.OpCustomCall, hlo.MakeToken(), &hlo.CustomCallAttrs{Target: "NopReturnTokenCustomCall", FeatureGroupCount: 1, BatchGroupCount: 1, HasSideEffect: true}, was.ID())
	var v int64
	if f.value {
		v = 1
	}
	known := at.Int(hlo.PRED, v)
	ce.Instr(in.ID()).SetOperand(0, known)
	ce.Instr(known).SetName(name)
}

// count gives a loop a counter of its own, which ends it.
func (f *flattening) count(e *hlo.Editor, m hlo.Module, ce hlo.CompEdit, in hlo.Instruction, outer map[place]bool) {
	rounds := min(f.bound(e.View(in.Callee(1))), f.maxRounds)
	if rounds > f.maxOuter && outer[place{in.Computation().ID(), in.ID()}] {
		rounds = f.maxOuter
	}
	k := &conditional{m: m, e: e, c: ce, id: in.ID()} // gives callees of an instruction to it alone
	body, cond := k.own(0), k.own(1)
	s := hlo.MakeShape(hlo.S32).WithDefaultLayout()
	at := emit.Before(ce, in)
	zero := at.Int(hlo.S32, 0)
	ce.Instr(in.ID()).SetOperand(0, at.Tuple(emit.Elements(at, ce.At(in.ID()).Operand(0))...))
	n := emit.Loop{C: ce, While: in.ID(), Body: body, Cond: cond}.Grow([]hlo.InstrID{zero}, func(at emit.At, parts []hlo.InstrID) []hlo.InstrID {
		return []hlo.InstrID{at.OpOf(hlo.OpAdd, s, nil, parts[0], at.Int(hlo.S32, 1))}
	})
	end := emit.End(cond)
	cond.SetRoot(end.Compare(hlo.LT, end.Element(cond.View().Parameters()[0], n), end.Int(hlo.S32, int64(rounds))))
	if c := ce.At(in.ID()).Common(); c != nil && strings.Contains(c.BackendConfig, "known_trip_count") {
		own := *c
		own.BackendConfig = ""
		ce.Instr(in.ID()).SetCommon(&own)
	}
}

// bound is the constant that the condition of a loop compares with.
func (f *flattening) bound(cond hlo.Computation) int {
	root := cond.Root()
	if a, ok := root.Attrs().(*hlo.CompareAttrs); ok {
		limit := root.OperandInstr(1)
		if a.Direction == hlo.GT || a.Direction == hlo.GE {
			limit = root.OperandInstr(0)
		}
		if l := limit.Literal(); l != nil && !l.IsElided() {
			if v, ok := l.ScalarInt(); ok && v > 0 {
				return int(min(v, 1<<30))
			}
		}
	}
	return f.rounds
}

// place names an instruction of a module.
type place struct {
	comp hlo.CompID
	in   hlo.InstrID
}

// loopsOutside is the set of loops whose body runs other loops.
func loopsOutside(m hlo.Module) map[place]bool {
	has := map[hlo.CompID]bool{}
	outer := map[place]bool{}
	for c := range m.PostOrder() {
		for in := range c.Instructions() {
			inside := slices.ContainsFunc(slices.Collect(in.Callees()), func(id hlo.CompID) bool { return has[id] })
			if in.Opcode() == hlo.OpWhile && inside {
				outer[place{in.Computation().ID(), in.ID()}] = true
			}
			if in.Opcode() == hlo.OpWhile || inside {
				has[c.ID()] = true
			}
		}
	}
	return outer
}

// makeStatic gives every dimension its bound as its size.
func makeStatic(ctx *pass.Context, e *hlo.Editor) {
	for _, id := range slices.Collect(e.Computations()) {
		for _, i := range instructionIDs(e.View(id)) {
			c := e.Computation(id)
			if s := c.At(i).Shape(); !s.IsStatic() && ctx.Spend("shape") {
				c.Instr(i).SetShape(withBounds(s))
			}
		}
	}
	if cfg := e.Config(); cfg.EntryLayout != nil {
		own, layout := *cfg, *cfg.EntryLayout
		layout.Parameters = slices.Clone(layout.Parameters)
		changed := false
		for i, s := range layout.Parameters {
			changed = changed || !s.IsStatic()
			layout.Parameters[i] = withBounds(s)
		}
		changed = changed || !layout.Result.IsStatic()
		layout.Result = withBounds(layout.Result)
		own.EntryLayout = &layout
		if changed {
			e.SetConfig(&own)
		}
	}
}

func withBounds(s hlo.Shape) hlo.Shape {
	return s.Map(func(leaf hlo.Shape) hlo.Shape {
		for i := range leaf.Rank() {
			if leaf.IsDynamicDimension(i) && !leaf.IsUnboundedDimension(i) {
				leaf = leaf.WithDynamicDimension(i, false)
			}
		}
		return leaf
	})
}
