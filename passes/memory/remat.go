package memory

import (
	"math"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/control"
	"github.com/gohalo/halo/passes/emit"
	"github.com/gohalo/halo/passes/schedule"
)

const rematDoc = `compute values again instead of keeping them, where the program needs more memory than a limit

Where an instruction has more in memory than the limit allows, values go that it does not read: those first that take the least time for a byte. They are computed again just before they are read next, from what they were computed
from. The program is changed before the loops, calls and branches that it runs; these get what it leaves of the limit. If the limit cannot be reached, no more is computed again than for the least that can be. Parameters and constants
count, and stay. What has effects, is random, communicates, or is ordered by control dependencies is not computed again, nor is what a loop, a chain or another tuple holds. A program without a schedule gets one that needs little memory.
The remarks and statistics say what each computation needed before and after. cse would undo the work.`

var rematParams = []pass.Param{
	{Name: "memory-limit-bytes", Doc: "the memory that the program may need; without it the pass only says how much that is"},
	{Name: "min-remat-size", Doc: "the fewest bytes that are worth computing a value again; 0"},
	{Name: "block-size-limit", Doc: "the most instructions that may be computed again for one value, where those that it reads are gone too; 8"},
}

// NewRematerialization makes the pass rematerialization.
func NewRematerialization(o pass.Options) (*pass.Pass, error) {
	if err := o.Known(rematParams[0].Name, rematParams[1].Name, rematParams[2].Name); err != nil {
		return nil, err
	}
	var r limits
	for i, to := range []struct {
		value *int64
		def   int
	}{{&r.total, math.MaxInt64}, {&r.least, 0}, {&r.longest, 8}} {
		n, err := o.Int(rematParams[i].Name, to.def)
		if err != nil {
			return nil, err
		}
		*to.value = int64(n)
	}
	return &pass.Pass{Name: "rematerialization", Doc: rematDoc, Options: o, Params: rematParams, Makes: []pass.Phase{pass.Scheduled}, Lent: true,
		Run: func(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
			w := &rematerialization{ctx: ctx, limits: r}
			before := w.look(m)
			ctx.Count("needed-bytes-before", before.total)
			after := m
			if before.total > r.total {
				var err error
				if after, before, err = w.reduce(m, before); err != nil {
					return m, err
				}
				ctx.Count("recomputed", w.recomputed)
			}
			ctx.Count("needed-bytes", before.total)
			root := after.Entry().Root()
			if before.total > r.total {
				ctx.Missed(root, "the program needs %d bytes at a time, with parameters and constants: the limit of %d cannot be reached", before.total, r.total)
			} else {
				ctx.Remark(root, "the program needs %d bytes at a time, with parameters and constants", before.total)
			}
			return after, nil
		}}, nil
}

// limits are the options of the pass, in bytes but for the instructions that make a value.
type limits struct{ total, least, longest int64 }

// rematerialization is a run of the pass.
type rematerialization struct {
	ctx *pass.Context
	limits
	recomputed int64
}

// usage is what the computations of a module need.
type usage struct {
	order    []hlo.Computation // that run, callees first
	sweeps   map[hlo.CompID]*sweep
	standing int64 // the parameters of the program, and constants
	total    int64
}

// look finds out what computations need as they are.
func (w *rematerialization) look(m hlo.Module) usage {
	executed, costs, effects := analysis.FindExecuted(m), analysis.FindCosts(m), analysis.FindSideEffects(m)
	u := usage{sweeps: map[hlo.CompID]*sweep{}}
	for c := range m.PostOrder() {
		if !executed.Has(c.ID()) {
			continue
		}
		l := findLives(c, costs, effects)
		parameters, constants := l.standing()
		if u.standing += constants; c.ID() == m.Entry().ID() {
			u.standing += parameters
		}
		u.order = append(u.order, c)
		u.sweeps[c.ID()] = w.walk(u, c, l, math.MaxInt64, nil)
	}
	u.total = u.standing + u.sweeps[m.Entry().ID()].peak
	return u
}

// walk follows the order of a computation.
func (w *rematerialization) walk(u usage, c hlo.Computation, l *lives, limit int64, spend func() bool) *sweep {
	s := &sweep{lives: l, limit: limit, longest: int(w.longest), least: w.least, spend: spend, callee: func(i int) (most int64) {
		for k := range l.order[i].NumCallees() {
			if inner := u.sweeps[l.order[i].Callee(k)]; inner != nil {
				most = max(most, inner.peak)
			}
		}
		return most
	}}
	s.run(l.kept(c))
	return s
}

// reduce gives a program that needs more than the limit a schedule, if it has none, and computes values again.
func (w *rematerialization) reduce(m hlo.Module, before usage) (hlo.Module, usage, error) {
	if !m.Config().IsScheduled {
		var err error
		if m, before, err = w.schedule(m, before); err != nil || before.total <= w.total {
			return m, before, err
		}
	}
	after := w.recompute(m, before)
	if w.recomputed == 0 {
		return m, before, nil
	}
	return after, w.look(after), nil
}

// schedule makes the order of hlo-memory-scheduler the schedule, or the one of the text where that needs less.
func (w *rematerialization) schedule(m hlo.Module, u usage) (hlo.Module, usage, error) {
	text := map[hlo.CompID][]hlo.InstrID{}
	for _, c := range u.order {
		for _, in := range u.sweeps[c.ID()].order {
			text[c.ID()] = append(text[c.ID()], in.ID())
		}
	}
	scheduler, err := schedule.NewMemoryScheduler(nil)
	if err != nil {
		return m, u, err
	}
	made, err := scheduler.Run(w.ctx, m)
	if err != nil {
		return m, u, err
	}
	after := w.look(made)
	if after.total <= u.total {
		return made, after, nil
	}
	e := w.ctx.Edit(made)
	for _, c := range after.order {
		if err := e.Computation(c.ID()).SetSchedule(text[c.ID()]); err != nil {
			return m, u, err
		}
	}
	made = e.Freeze()
	return made, w.look(made), nil
}

// recompute computes values again in the computations that are over what is left to them, callers first.
func (w *rematerialization) recompute(m hlo.Module, u usage) hlo.Module {
	left := map[hlo.CompID]int64{m.Entry().ID(): w.total - u.standing}
	better := map[hlo.CompID]*sweep{}
	for _, c := range slices.Backward(u.order) {
		limit, known := left[c.ID()]
		if !known {
			continue
		}
		s := u.sweeps[c.ID()]
		if s.peak > limit {
			if found := w.improve(u, c, s, limit); found != nil {
				better[c.ID()], s = found, found
			}
		}
		for i, in := range s.order {
			for k := range in.NumCallees() {
				if callee := in.Callee(k); u.sweeps[callee] != nil {
					room := limit - s.inside[i]
					if have, ok := left[callee]; ok {
						room = min(room, have)
					}
					left[callee] = room
				}
			}
		}
	}
	e := w.ctx.Edit(m)
	for _, c := range u.order {
		if s := better[c.ID()]; s != nil {
			w.apply(e, c.ID(), s)
		}
	}
	return e.Freeze()
}

// improve looks for the least that a computation can do with, if not for the limit, and computes no more again than that takes; nil if it needs what it
// needs.
func (w *rematerialization) improve(u usage, c hlo.Computation, s *sweep, limit int64) *sweep {
	tried := w.walk(u, c, s.lives, max(limit, s.floor), func() bool { return true })
	if len(tried.given) == 0 || tried.peak >= s.peak {
		w.ctx.Missed(c.Root(), "the computation needs %d bytes at a time, beside parameters and constants, and may have %d; nothing that could be computed again makes it less", s.peak, max(limit, 0))
		return nil
	}
	found := w.walk(u, c, s.lives, max(limit, tried.peak), func() bool { return w.ctx.Spend("recompute") })
	if len(found.given) == 0 || found.peak >= s.peak {
		return nil
	}
	w.ctx.Passed(c.Root(), "the computation needs %d bytes at a time, beside parameters and constants: %d before values were computed again", found.peak, s.peak)
	for _, v := range found.given {
		w.ctx.Passed(s.order[v], "computed again where it is read next, for %d bytes that are free till then", s.bytes[v])
	}
	return found
}

// apply makes the copies of a sweep.
func (w *rematerialization) apply(e *hlo.Editor, id hlo.CompID, s *sweep) {
	c := e.Computation(id)
	ids := make([]hlo.InstrID, len(s.order))
	for i := range s.order {
		ids[i] = s.order[i].ID()
	}
	made := make([]hlo.InstrID, len(s.copies))
	stands := func(to int) hlo.InstrID {
		if to < 0 {
			return made[-to-1]
		}
		return ids[to]
	}
	for k, a := range s.copies {
		spec := control.Copy(e, c.At(ids[a.of]), nil)
		operands := make([]hlo.InstrID, len(a.operands))
		for i, o := range a.operands {
			operands[i] = stands(o)
		}
		spec = emit.With(spec, operands...)
		spec.Name += ".remat"
		made[k] = c.InsertSpecBefore(ids[a.before], spec).ID()
	}
	for _, ch := range s.changes {
		c.Instr(ids[ch.at]).SetOperand(ch.operand, stands(ch.to))
	}
	w.recomputed += int64(len(s.copies))
}
