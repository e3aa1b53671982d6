package async

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/pass"
)

const wrapDoc = `begin expensive instructions asynchronously where other work can be done beside them

An instruction is worth it if it takes min-us microseconds, and so do the instructions together that neither need it nor are needed by it and are
not begun asynchronously themselves; times are estimated from shapes. ops=[dot,fft] looks at these opcodes only, always wraps them
whatever they cost, thread names the thread that they run on, and max-in-flight bounds the chains of one computation.

An instruction says itself what is to be done with it by the frontend attribute _halo_async="always" or "never". Instructions with side
effects, collectives, random ones and those inside fusions, reducers and asynchronous computations stay.`

var wrapParams = []pass.Param{
	{Name: "ops", Doc: "the opcodes to look at: ops=[dot,fft]"},
	{Name: "always", Doc: "wrap those whatever they cost"},
	{Name: "min-us", Doc: "the time that is worth it, in microseconds; 20"},
	{Name: "thread", Doc: "the execution thread that they run on, one after the other; main, which is any worker"},
	{Name: "max-in-flight", Doc: "how many chains of one computation may be under way; 8"},
}

// wrapper is the pass with its options.
type wrapper struct {
	ops         []hlo.Opcode // nil: any that is not trivial
	always      bool
	seconds     float64
	thread      string
	maxInFlight int
}

// NewWrapper makes the pass async-wrapper.
func NewWrapper(o pass.Options) (*pass.Pass, error) {
	w := &wrapper{seconds: 20e-6, thread: hlo.MainThread, maxInFlight: 8}
	if err := o.Known("ops", "always", "min-us", "thread", "max-in-flight"); err != nil {
		return nil, err
	}
	var err error
	if w.always, err = o.Bool("always"); err != nil {
		return nil, err
	}
	if w.maxInFlight, err = o.Int("max-in-flight", w.maxInFlight); err != nil {
		return nil, err
	}
	for _, opt := range o {
		switch opt.Key {
		case "ops":
			for _, name := range append(opt.List, opt.Value) {
				if name == "" {
					continue
				}
				op, ok := hlo.OpcodeByName(name)
				if !ok {
					return nil, fmt.Errorf("ops: there is no opcode %q", name)
				}
				w.ops = append(w.ops, op)
			}
		case "min-us":
			us, err := strconv.ParseFloat(opt.Value, 64)
			if err != nil || us < 0 {
				return nil, fmt.Errorf("min-us=%s: want a number of microseconds", opt.Value)
			}
			w.seconds = us * 1e-6
		case "thread":
			w.thread = opt.Value
		}
	}
	return &pass.Pass{Name: "async-wrapper", Doc: wrapDoc, Options: o, Params: wrapParams, Makes: []pass.Phase{pass.Async}, Lent: true, Run: w.run}, nil
}

func (w *wrapper) run(ctx *pass.Context, m hlo.Module) (hlo.Module, error) {
	costs := pass.Fact(ctx, m, analysis.FindCosts)
	effects := pass.Fact(ctx, m, analysis.FindSideEffects)
	type choice struct {
		c   hlo.CompID
		ids []hlo.InstrID
	}
	var chosen []choice // before anything is edited: what is chosen depends on what is called
	for c := range pass.Fact(ctx, m, analysis.FindExecuted).In(m) {
		if c.ExecutionThread() == hlo.MainThread {
			chosen = append(chosen, choice{c.ID(), w.choose(ctx, m, c, costs, effects)})
		}
	}
	e := ctx.Edit(m)
	for _, k := range chosen {
		for _, id := range k.ids {
			if !ctx.Spend("wrap") {
				return e.Freeze(), nil
			}
			if _, err := Make(e.Computation(k.c), id, w.thread); err != nil {
				return m, err
			}
			ctx.Count("wrapped", 1)
		}
	}
	return e.Freeze(), nil
}

// candidate is an instruction that may be worth it.
type candidate struct {
	id       hlo.InstrID
	forced   bool
	seconds  float64
	hideable float64
}

// choose picks instructions by the time that each can hide, the greatest first; what is chosen is no longer work to do beside others.
func (w *wrapper) choose(ctx *pass.Context, m hlo.Module, c hlo.Computation, costs *analysis.Costs, effects *analysis.SideEffects) []hlo.InstrID {
	var all []candidate
	for in := range c.Instructions() {
		attr, _ := frontend(in, "_halo_async")
		if attr == "never" || !w.eligible(m, in, effects) {
			continue
		}
		s := costs.Of(in).Seconds(analysis.OneCore)
		forced := attr == "always" || w.always && w.ops != nil
		switch {
		case forced || s >= w.seconds:
			all = append(all, candidate{id: in.ID(), forced: forced, seconds: s})
		case w.ops != nil:
			ctx.Missed(in, "not wrapped: it takes %.1f µs, less than %.1f", s*1e6, w.seconds*1e6)
		}
	}
	if len(all) == 0 {
		return nil
	}
	const mostCandidates = 200
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.seconds, a.seconds) })
	all = all[:min(len(all), mostCandidates)]
	d := analysis.FindDependencies(c)
	beside := make([]float64, len(d.Order)) // seconds of what is not chosen
	for i, in := range d.Order {
		beside[i] = costs.Of(in).Seconds(analysis.OneCore)
		if costs.Of(in).IsZero() {
			beside[i] = 0
		}
	}
	isCandidate := make(map[hlo.InstrID]bool, len(all))
	for _, k := range all {
		isCandidate[k.id] = true
	}
	bottlenecks := d.FindBottlenecks(func(in hlo.Instruction) bool { return isCandidate[in.ID()] || beside[d.Position(in.ID())] > 0 })
	var chosen []hlo.InstrID
	for _, k := range all {
		if len(chosen) == w.maxInFlight {
			break
		}
		low, high := bottlenecks.Around(d.Position(k.id), d.Position(k.id))
		related, other := d.RelatedWithin(k.id, low, high), 0.0
		for i, s := range beside[low:high] {
			if !related[i] {
				other += s
			}
		}
		k.hideable = min(k.seconds, other)
		if !k.forced && k.hideable < w.seconds {
			ctx.Missed(c.MustAt(k.id), "not wrapped: of its %.1f µs only %.1f can be hidden", k.seconds*1e6, k.hideable*1e6)
			continue
		}
		ctx.Passed(c.MustAt(k.id), "wrapped: %.1f of its %.1f µs can be hidden", k.hideable*1e6, k.seconds*1e6)
		beside[d.Position(k.id)] = 0
		chosen = append(chosen, k.id)
	}
	slices.Sort(chosen)
	return chosen
}

func (w *wrapper) eligible(m hlo.Module, in hlo.Instruction, effects *analysis.SideEffects) bool {
	traits := hlo.Info(in.Opcode()).Traits
	if cannot(in) != "" || traits&(hlo.TraitCollective|hlo.TraitRandom|hlo.TraitForwards|hlo.TraitAsyncDone) != 0 || effects.Of(in) || in.NumOperands() == 0 {
		return false
	}
	if w.ops != nil {
		return slices.Contains(w.ops, in.Opcode())
	}
	return in.Opcode() != hlo.OpCustomCall && !beginsWithin(m, in)
}

// beginsWithin reports whether chains begin or end in what an instruction calls: they have threads of their own.
func beginsWithin(m hlo.Module, in hlo.Instruction) bool {
	for id := range in.Callees() {
		for inner := range m.MustComputation(id).Instructions() {
			if analysis.IsStart(inner) || analysis.IsDone(inner) || beginsWithin(m, inner) {
				return true
			}
		}
	}
	return false
}

func frontend(in hlo.Instruction, key string) (string, bool) {
	if c := in.Common(); c != nil {
		return c.FrontendAttributes.Get(key)
	}
	return "", false
}
