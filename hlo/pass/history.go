package pass

import (
	"context"
	"slices"

	"github.com/gohalo/halo/hlo"
)

// History remembers the versions of a module that a pipeline went through, and answers where an instruction came from and what became of
// one. Versions share what they have in common, so keeping them costs what the passes changed.
//
// Nothing is written down while passes run. Which rewrite of a pass did something is found afterwards, by running the pass again with less and
// less fuel: passes are deterministic, so with fuel for n rewrites the first n are the same.
//
//	var h pass.History
//	runner.Instruments = append(runner.Instruments, h.Instrument())
//	after, err := runner.Run(ctx, p, m)
//	events, err := h.Of(ctx, comp, instr)
type History struct{ steps []Report }

// Instrument makes the history of the run that it is used in.
func (h *History) Instrument() Instrument {
	return Instrument{After: func(r Report) {
		if r.Changed() {
			h.steps = append(h.steps, r)
		}
	}}
}

// EventKind is what a rewrite did to an instruction.
type EventKind uint8

// The kinds.
const (
	Made EventKind = iota
	Edited
	Removed
	Copied // to where its computation was called, before that went
)

var eventNames = [...]string{"made", "edited", "removed", "copied"}

func (k EventKind) String() string { return eventNames[k] }

// Event is one thing that happened to an instruction.
type Event struct {
	Kind EventKind
	Path string // of the pass
	Pass *Pass
	// Rule is the rewrite's, and Rewrite its number among those of this run of the pass, from 1. Rule is empty for a pass that spends no fuel.
	Rule     string
	Rewrite  int
	Old, New hlo.Instruction // one of them is zero when it was made or removed
	// Others is what else the rewrite took away (when it made this one) or put in the place of this one (when it removed it).
	Others []hlo.Instruction
}

// Of lists what happened to an instruction in the order it happened; nothing for one that no pass touched. For an instruction that was made in the
// place of others, what had happened to the first of these comes before.
func (h *History) Of(ctx context.Context, comp hlo.CompID, instr hlo.InstrID) ([]Event, error) {
	return h.before(ctx, len(h.steps), comp, instr, 0)
}

// maxChain bounds how far back replaced instructions are followed.
const maxChain = 32

// before is what happened to an instruction in the first n steps.
func (h *History) before(ctx context.Context, n int, comp hlo.CompID, instr hlo.InstrID, depth int) (events []Event, err error) {
	for i := range n {
		s := h.steps[i]
		was, had := at(s.Before, comp, instr)
		is, has := at(s.After, comp, instr)
		if had == has && (!had || sameText(was, is)) {
			continue
		}
		e, err := h.locate(ctx, s, comp, instr)
		if err != nil {
			return nil, err
		}
		if e.Kind == Made && len(e.Others) > 0 && depth < maxChain {
			// What an instruction was made of comes first.
			past, err := h.before(ctx, i, comp, e.Others[0].ID(), depth+1)
			if err != nil {
				return nil, err
			}
			events = append(events, past...)
		}
		events = append(events, e)
	}
	return events, nil
}

// at is an instruction of a version, if it has it.
func at(m hlo.Module, comp hlo.CompID, instr hlo.InstrID) (hlo.Instruction, bool) {
	c, ok := m.Computation(comp)
	if !ok {
		return hlo.Instruction{}, false
	}
	return c.At(instr)
}

// sameText reports whether two versions of an instruction say the same.
func sameText(a, b hlo.Instruction) bool {
	return a.Name() == b.Name() && hlo.EqualLocal(a, b) && slices.Equal(slices.Collect(a.OperandIDs()), slices.Collect(b.OperandIDs())) &&
		slices.Equal(slices.Collect(a.ControlPredecessors()), slices.Collect(b.ControlPredecessors()))
}

// locate finds the rewrite of a step that first did something to an instruction.
func (h *History) locate(ctx context.Context, s Report, comp hlo.CompID, instr hlo.InstrID) (Event, error) {
	var rules []string
	with := func(fuel int) (hlo.Module, error) {
		rules = rules[:0]
		r := &Runner{Fuel: map[string]int{s.Pass.Name: fuel}, FP: s.FP}
		r.Instruments = []Instrument{{Rewrite: func(_, rule string) { rules = append(rules, rule) }}}
		return r.Run(ctx, Of("", s.Pass), s.Before)
	}
	was, had := at(s.Before, comp, instr)
	touched := func(m hlo.Module) bool {
		is, has := at(m, comp, instr)
		return had != has || had && !sameText(was, is)
	}
	all, err := with(1 << 30)
	if err != nil {
		return Event{}, err
	}
	good, bad := 0, len(rules)
	if !touched(all) {
		bad = 0 // it happens without fuel, or only beside what else ran
	}
	before, after := s.Before, s.After
	for bad-good > 1 {
		half := (good + bad) / 2
		m, err := with(half)
		if err != nil {
			return Event{}, err
		}
		if touched(m) {
			bad = half
		} else {
			good = half
		}
	}
	e := Event{Path: s.Path, Pass: s.Pass, Rewrite: bad}
	if bad > 0 {
		if before, err = with(bad - 1); err != nil {
			return Event{}, err
		}
		if after, err = with(bad); err != nil {
			return Event{}, err
		}
		e.Rule = rules[bad-1]
	}
	e.Old, had = at(before, comp, instr)
	e.New, _ = at(after, comp, instr)
	switch {
	case !had:
		e.Kind = Made
		e.Others = gone(before, after, comp)
	case e.New.IsZero():
		e.Kind = Removed
		e.Others = standIns(e.Old, after, comp)
	default:
		e.Kind = Edited
	}
	return e, nil
}

// gone lists what a rewrite took away, users before operands.
func gone(before, after hlo.Module, comp hlo.CompID) (all []hlo.Instruction) {
	c, ok := before.Computation(comp)
	d, still := after.Computation(comp)
	if !ok || !still {
		return nil
	}
	for ch := range d.Diff(c) {
		if !ch.OldInstr.IsZero() && ch.NewInstr.IsZero() {
			all = append(all, ch.OldInstr)
		}
	}
	slices.SortFunc(all, func(a, b hlo.Instruction) int {
		if c.Less(b.ID(), a.ID()) {
			return -1
		}
		return 1
	})
	return all
}

// standIns lists what users of an instruction use instead after it was removed.
func standIns(old hlo.Instruction, after hlo.Module, comp hlo.CompID) (all []hlo.Instruction) {
	c, ok := after.Computation(comp)
	if !ok {
		return nil
	}
	if old.IsRoot() {
		return []hlo.Instruction{c.Root()}
	}
	for user := range old.Users() {
		now, ok := c.At(user.ID())
		if !ok {
			continue
		}
		for i := range min(user.NumOperands(), now.NumOperands()) {
			if user.Operand(i) == old.ID() && !slices.Contains(all, now.OperandInstr(i)) {
				all = append(all, now.OperandInstr(i))
			}
		}
	}
	return all
}
