package rulecheck

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/rules"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// Surroundings in which an instance is tried again: there a rule may fire or not, but the module must mean the same.

// aroundEach is how many instances of a type are tried.
const aroundEach = 4

// surroundings make another program around an instance.
var surroundings = []struct {
	name string
	make func(hlo.Module) hlo.Module
}{
	{"where every value is a result too", everyValue},
	{"where something waits for each operand, and each operand for something", everyOrder},
	{"where every value is sharded", everySharding},
}

// around tries an instance in other surroundings.
func (c *checking) around(inst rules.Instance) *Wrong {
	for _, s := range surroundings {
		m := s.make(inst.Module)
		if m.IsZero() || verifier.Verify(m, verifier.Config{}).Err() != nil {
			continue
		}
		after, err := (&pass.Runner{}).Run(c.ctx, pass.Of("", c.p), m)
		wrong := func(why string) *Wrong {
			w := &Wrong{Type: inst.Type, Why: s.name + ": " + why, Before: printer.String(m)}
			if err == nil {
				w.After = printer.String(after)
			}
			return w
		}
		if err != nil {
			return wrong(err.Error())
		}
		if after == m {
			continue
		}
		c.report.Around++
		if err := verifier.Verify(after, verifier.Config{}).Err(); err != nil {
			return wrong("what the rule makes does not verify: " + err.Error())
		}
		if lost := lostOrder(m, after); lost != "" {
			return wrong(lost)
		}
		args := inputs(m, c.report.Rule.FP, 1)
		want, err := eval.Module(c.ctx, m, args, eval.Options{MaxBytes: 1 << 24})
		if err != nil {
			continue
		}
		got, err := eval.Module(c.ctx, after, args, eval.Options{MaxBytes: 1 << 24})
		if err != nil {
			return wrong("what the rule makes has no value: " + err.Error())
		}
		a, b := want.Leaves(), got.Leaves()
		for i := range a {
			if at := differ(a[i], b[i], c.report.Rule.FP); at >= 0 {
				return wrong(fmt.Sprintf("result %d is %s at element %d, and the rule makes it %s", i, elementText(a[i], at), at, elementText(b[i], at)))
			}
		}
	}
	return nil
}

// everyValue returns all that is computed.
func everyValue(m hlo.Module) hlo.Module {
	e := m.Edit()
	c := e.Computation(m.Entry().ID())
	root := m.Entry().Root()
	ids, shapes := []hlo.InstrID{root.ID()}, []hlo.Shape{root.Shape()}
	for in := range m.Entry().PostOrder() {
		if in.Opcode() != hlo.OpParameter && !in.IsRoot() && in.Shape().IsArray() {
			ids, shapes = append(ids, in.ID()), append(shapes, in.Shape())
		}
	}
	c.SetRoot(c.Add(hlo.OpTuple, hlo.MakeTuple(shapes...), ids...).ID())
	cfg := *m.Config()
	cfg.EntryLayout = nil
	e.SetConfig(&cfg)
	return e.Freeze()
}

// everyOrder puts a call with side effects before and after each value but the root.
func everyOrder(m hlo.Module) hlo.Module {
	e := m.Edit()
	c := e.Computation(m.Entry().ID())
	for in := range m.Entry().PostOrder() {
		if in.IsRoot() || in.Opcode() == hlo.OpParameter { // rules leave alone what has order itself; what they match below may have it
			continue
		}
		effect := func(when string) hlo.InstrID {
			return c.AddSpec(hlo.InstrSpec{Opcode: hlo.OpCustomCall, Name: when + in.Name(), Shape: hlo.MakeTuple(),
				Attrs: &hlo.CustomCallAttrs{Target: "__xla_internal_call_marker_before", HasSideEffect: true}}).ID()
		}
		before, after := effect(beforeIt), effect(afterIt)
		c.Edit(in).AddControlPredecessor(before)
		c.Instr(after).AddControlPredecessor(in.ID())
	}
	return e.Freeze()
}

const beforeIt, afterIt = "before_", "after_"

// lostOrder says which pair of calls of everyOrder is no longer in order.
func lostOrder(before, after hlo.Module) string {
	for in := range before.Entry().Instructions() {
		first, ok := after.Entry().ByName(beforeIt + in.Name())
		if !ok {
			continue
		}
		last, ok := after.Entry().ByName(afterIt + in.Name())
		if !ok || !reaches(after.Entry(), last, first.ID(), map[hlo.InstrID]bool{}) {
			return fmt.Sprintf("the order of what comes before and after %s is lost", in.Name())
		}
	}
	return ""
}

// reaches reports whether from depends on an instruction.
func reaches(c hlo.Computation, from hlo.Instruction, to hlo.InstrID, seen map[hlo.InstrID]bool) bool {
	if from.ID() == to {
		return true
	}
	if seen[from.ID()] {
		return false
	}
	seen[from.ID()] = true
	for id := range from.OperandIDs() {
		if reaches(c, c.MustAt(id), to, seen) {
			return true
		}
	}
	for id := range from.ControlPredecessors() {
		if reaches(c, c.MustAt(id), to, seen) {
			return true
		}
	}
	return false
}

// everySharding gives all values a sharding.
func everySharding(m hlo.Module) hlo.Module {
	e := m.Edit()
	c := e.Computation(m.Entry().ID())
	for in := range m.Entry().Instructions() {
		if in.Shape().IsArray() {
			c.Edit(in).SetAttr(hlo.KeySharding, &hlo.Sharding{Kind: hlo.ShardingReplicated})
		}
	}
	return e.Freeze()
}
