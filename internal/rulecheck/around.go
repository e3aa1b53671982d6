package rulecheck

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// aroundEach is how many instances of a type are tried in other surroundings.
const aroundEach = 4

// around tries a rule on a program in other surroundings.
func (c *checking) around(t hlo.PrimitiveType, program hlo.Module) *Wrong {
	for i, s := range surroundings {
		for _, m := range s.make(program) {
			if verifier.Verify(m, s.cfg).Err() != nil {
				continue
			}
			fired, w := c.keeps(t, m, s.cfg, aroundRounds)
			if w != nil {
				w.Why = s.name + ": " + w.Why
				return w
			}
			c.report.Made[i]++
			if fired {
				c.report.Around++
			}
		}
	}
	return nil
}

const (
	aroundRounds  = 3 // sets of inputs
	programRounds = 8
)

// keeps runs the rule on a program, and says if it is another one then.
func (c *checking) keeps(t hlo.PrimitiveType, m hlo.Module, cfg verifier.Config, rounds int) (fired bool, w *Wrong) {
	after, err := (&pass.Runner{}).Run(c.ctx, pass.Of("", c.p), m)
	wrong := func(why string) (bool, *Wrong) {
		w := &Wrong{Type: t, Why: why, Before: printer.String(m)}
		if err == nil {
			w.After = printer.String(after)
		}
		return true, w
	}
	if err != nil {
		return wrong(err.Error())
	}
	if after == m {
		return false, nil
	}
	if err := verifier.Verify(after, cfg).Err(); err != nil {
		return wrong("what the rule makes does not verify: " + err.Error())
	}
	if lost := lost(m, after); lost != "" {
		return wrong(lost)
	}
	compared := draws(m)
	for round := range rounds { // every other one has sizes below the bounds
		if draws(m) {
			break
		}
		why, ok := c.differs(m, after, int64(round%2), round)
		if why != "" {
			return wrong(why)
		}
		compared = compared || ok
	}
	if !compared {
		c.report.Unknown++
	}
	return true, nil
}

// differs evaluates two programs; ok is false if the first one has no value.
func (c *checking) differs(before, after hlo.Module, less int64, round int) (why string, ok bool) {
	args := inputs(before, c.numbers, less, round)
	evaluate := func(m hlo.Module) ([]*hlo.Literal, error) {
		h := &host{}
		v, err := eval.Module(c.ctx, m, args, eval.Options{MaxBytes: 1 << 24, MaxSteps: 1 << 16, Host: h})
		if err != nil {
			return nil, err
		}
		return append(v.Leaves(), h.sent...), nil
	}
	want, err := evaluate(before)
	if err != nil {
		return "", false
	}
	got, err := evaluate(after)
	if err != nil {
		return "what the rule makes has no value: " + err.Error(), true
	}
	if len(want) != len(got) {
		return fmt.Sprintf("%d results and values for the host become %d", len(want), len(got)), true
	}
	for i := range want {
		if !want[i].Shape().IsArray() {
			continue
		}
		if at := differ(want[i], got[i], c.rule.FP); at >= 0 {
			return fmt.Sprintf("result %d is %s at element %d, and the rule makes it %s", i, elementText(want[i], at), at, elementText(got[i], at)), true
		}
	}
	return "", true
}

// draws reports whether a program draws random numbers, which another one draws in another order.
func draws(m hlo.Module) bool {
	return count(m, func(in hlo.Instruction) bool { return in.Opcode() == hlo.OpRng }) > 0
}

// host keeps the values that a program gives to it.
type host struct {
	eval.Host
	sent []*hlo.Literal
}

func (h *host) Outfeed(_ eval.Device, v *hlo.Literal) error {
	h.sent = append(h.sent, v)
	return nil
}

// lost says which order, sharding, side effect or chain of a program is no longer there.
func lost(before, after hlo.Module) string {
	if s := lostOrder(before, after); s != "" {
		return s
	}
	is := func(root hlo.Instruction) bool { return root.Common() != nil && root.Common().Sharding != nil }
	if is(before.Entry().Root()) && !is(after.Entry().Root()) {
		return "the sharding of the result is lost"
	}
	for what, counts := range map[string]func(hlo.Instruction) bool{
		"side effects": func(in hlo.Instruction) bool {
			return hlo.Info(in.Opcode()).Traits.Has(hlo.TraitSideEffect) || in.Opcode() == hlo.OpCustomCall && hlo.AttrsOf[hlo.CustomCallAttrs](in).HasSideEffect
		},
		"chains":        func(in hlo.Instruction) bool { return in.Opcode() == hlo.OpAsyncStart },
		"awaited calls": func(in hlo.Instruction) bool { return in.Opcode() == hlo.OpAsyncDone },
	} {
		if a, b := count(before, counts), count(after, counts); a != b {
			return fmt.Sprintf("%d %s become %d", a, what, b)
		}
	}
	return ""
}

func count(m hlo.Module, counts func(hlo.Instruction) bool) (n int) {
	for c := range m.Computations() {
		for in := range c.Instructions() {
			if counts(in) {
				n++
			}
		}
	}
	return n
}

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
