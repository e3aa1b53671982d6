// Package reduce makes a module small that shows a defect: it drops what does not matter for it.
//
//	small := reduce.Module(ctx, m, func(m hlo.Module) bool { return stillFails(m) })
//
// It tries, from coarse to fine, and again as long as something helps:
//
//	outputs      a tuple at the root without some of its elements; an instruction of the entry as the root
//	cuts         an instruction becomes a parameter, zero, or one of its operands of the same shape
//	structure    calls, loops, branches and asynchronous chains become what they call, or their input
//	attributes   metadata, shardings, frontend attributes, backend configurations, control dependencies, schedules
//
// Every candidate is tried without its dead code first, and verifies if the module did at the beginning. The result is the smallest module that was still
// interesting; the order of attempts is fixed, so the same oracle gives the same result.
package reduce

import (
	"context"
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes/simplify"
	"github.com/gohalo/halo/verifier"
)

// Oracle reports whether a module still shows the defect.
type Oracle func(hlo.Module) bool

// Module reduces m, which must be interesting, until nothing helps or ctx ends.
func Module(ctx context.Context, m hlo.Module, interesting Oracle) hlo.Module {
	r := &reducer{ctx: ctx, best: m, interesting: interesting, legal: legal(m)}
	for {
		before := r.best
		r.outputs()
		r.computations()
		r.cuts()
		r.attributes()
		r.unusedParameters()
		if r.best == before || ctx.Err() != nil {
			return r.best
		}
	}
}

func legal(m hlo.Module) bool {
	return verifier.Verify(m, verifier.Config{Profile: verifier.XLA, MixedPrecision: true}).Err() == nil
}

type reducer struct {
	ctx         context.Context
	best        hlo.Module
	interesting Oracle
	legal       bool // the module was at the beginning
}

// weight is what gets less with every step, so that there is an end: instructions that compute something weigh most.
func weight(m hlo.Module) (w int) {
	for c := range m.Computations() {
		for in := range c.Instructions() {
			w += 3 * in.NumControlPredecessors()
			if in.Common() != nil {
				w += 3
			}
			if trivial(in) {
				w++
			} else {
				w += 10
			}
		}
	}
	if m.Config().IsScheduled {
		w++
	}
	return w
}

// trivial instructions are what others are replaced by.
func trivial(in hlo.Instruction) bool {
	return in.Opcode() == hlo.OpParameter || in.Opcode() == hlo.OpConstant || in.Opcode() == hlo.OpBroadcast && in.OperandInstr(0).Opcode() == hlo.OpConstant
}

// attempt takes a candidate if it is smaller, or simpler, and still interesting.
func (r *reducer) attempt(change func(e *hlo.Editor) bool) (taken bool) {
	if r.ctx.Err() != nil {
		return false
	}
	defer func() {
		if recover() != nil { // the candidate made no sense
			taken = false
		}
	}()
	e := r.best.Edit()
	if !change(e) {
		return false
	}
	fitHeader(e)
	m := e.Freeze()
	clean, err := simplify.DCE.Apply(pass.NewContext(r.ctx), m)
	return err == nil && r.take(clean) || clean != m && r.take(m) // dead code may be what matters
}

func (r *reducer) take(m hlo.Module) bool {
	if weight(m) >= weight(r.best) || r.legal && !legal(m) || !r.interesting(m) {
		return false
	}
	r.best = m
	return true
}

// fitHeader makes the header say what the entry takes and returns now. What it says about single parts of these goes when they change.
func fitHeader(e *hlo.Editor) {
	old, now := e.Config(), e.View(e.Entry()).Signature()
	if l := old.EntryLayout; l == nil || l.Equal(now) {
		return
	}
	config := *old
	config.EntryLayout = &now
	config.InputOutputAlias, config.BufferDonors, config.AllowSPMDToParameters, config.AllowSPMDToOutput = nil, nil, nil, nil
	e.SetConfig(&config)
}

// outputs drops elements of a tuple at the root by halves, and tries instructions nearer to the parameters as the root.
func (r *reducer) outputs() {
	for size := r.best.Entry().Root().NumOperands() / 2; size > 0; size /= 2 {
		for at := 0; at < r.best.Entry().Root().NumOperands() && r.best.Entry().Root().Opcode() == hlo.OpTuple; {
			if !r.attempt(func(e *hlo.Editor) bool { return dropElements(e, at, size) }) {
				at += size
			}
		}
	}
	for range r.best.NumInstructions() {
		root := r.best.Entry().Root()
		taken := false
		for o := range root.Operands() {
			if taken = r.attempt(func(e *hlo.Editor) bool { e.Computation(e.Entry()).SetRoot(o.ID()); return true }); taken {
				break
			}
		}
		if !taken {
			return
		}
	}
}

func dropElements(e *hlo.Editor, at, n int) bool {
	c := e.Computation(e.Entry())
	root := c.At(c.Root())
	kept := slices.Collect(root.OperandIDs())
	if len(kept) <= 1 || at >= len(kept) {
		return false
	}
	kept = slices.Delete(kept, at, min(at+n, len(kept)))
	if len(kept) == 0 {
		return false
	}
	var shapes []hlo.Shape
	for _, id := range kept {
		shapes = append(shapes, c.At(id).Shape())
	}
	t := c.AddSpec(hlo.InstrSpec{Opcode: hlo.OpTuple, Shape: hlo.MakeTuple(shapes...), Operands: kept})
	c.SetRoot(t.ID())
	return true
}

// computations drops uncalled ones.
func (r *reducer) computations() {
	for c := range r.best.Computations() {
		called := c.ID() == r.best.Entry().ID()
		for range r.best.Callers(c.ID()) {
			called = true
		}
		if !called {
			r.attempt(func(e *hlo.Editor) bool { e.RemoveComputation(c.ID()); return true })
		}
	}
}

// cuts replaces instructions of all computations, users before operands, many at a time at first.
func (r *reducer) cuts() {
	for _, how := range []func(hlo.CompEdit, hlo.Instruction) (hlo.InstrID, bool){byNothing, byOperand, byZero, byParameter} {
		ids := r.all()
		for size := max(len(ids)/2, 1); size > 0; size /= 2 {
			ids := r.all()
			for at := 0; at < len(ids); at += size {
				part := ids[at:min(at+size, len(ids))]
				r.attempt(func(e *hlo.Editor) bool { return replaceAll(e, part, how) })
			}
		}
	}
}

// place is an instruction in a module.
type place struct {
	comp  hlo.CompID
	instr hlo.InstrID
}

// all lists the instructions that may be cut, callers before callees, users before operands.
func (r *reducer) all() (ids []place) {
	for c := range r.best.PostOrder() {
		for in := range c.Instructions() {
			if !trivial(in) {
				ids = append(ids, place{c.ID(), in.ID()})
			}
		}
	}
	slices.Reverse(ids)
	return ids
}

func replaceAll(e *hlo.Editor, places []place, how func(hlo.CompEdit, hlo.Instruction) (hlo.InstrID, bool)) (changed bool) {
	for _, p := range places {
		if !e.Has(p.comp) {
			continue
		}
		c := e.Computation(p.comp)
		if !c.Has(p.instr) {
			continue
		}
		to, ok := how(c, c.At(p.instr))
		if !ok {
			continue
		}
		if to == p.instr {
			changed = c.Remove(p.instr) == nil || changed
			continue
		}
		c.ReplaceAllUses(p.instr, to)
		if c.Root() == p.instr {
			c.SetRoot(to)
		}
		pass.Release(c, p.instr, nil)
		changed = true
	}
	return changed
}

// byNothing removes unused instructions.
func byNothing(c hlo.CompEdit, in hlo.Instruction) (hlo.InstrID, bool) {
	return in.ID(), in.UserCount() == 0 && !in.IsRoot()
}

// byOperand is an operand of the same shape; of a loop, its input.
func byOperand(c hlo.CompEdit, in hlo.Instruction) (hlo.InstrID, bool) {
	for o := range in.Operands() {
		if o.Shape().Equal(in.Shape()) {
			return o.ID(), true
		}
	}
	return 0, false
}

// byZero is a broadcast of zero.
func byZero(c hlo.CompEdit, in hlo.Instruction) (hlo.InstrID, bool) {
	s := in.Shape()
	if !s.IsArray() || !s.IsStatic() || s.Type().ByteSize() == 0 {
		return 0, false
	}
	scalar := hlo.MakeArray(s.Type(), nil, nil, hlo.DefaultLayout(0))
	lit, err := hlo.NewLiteral(scalar, make([]byte, s.Type().ByteSize()))
	if err != nil {
		return 0, false
	}
	zero := c.InsertSpecBefore(in.ID(), hlo.InstrSpec{Opcode: hlo.OpConstant, Shape: scalar, Attrs: &hlo.ConstantAttrs{Literal: lit}}).ID()
	if s.IsScalar() {
		return zero, true
	}
	return c.InsertSpecBefore(in.ID(), hlo.InstrSpec{Opcode: hlo.OpBroadcast, Shape: s, Operands: []hlo.InstrID{zero}, Attrs: &hlo.BroadcastAttrs{}}).ID(), true
}

// byParameter is a new parameter, in the entry.
func byParameter(c hlo.CompEdit, in hlo.Instruction) (hlo.InstrID, bool) {
	if c.ID() != c.Editor().Entry() || in.NumOperands() == 0 || !in.Shape().IsArray() {
		return 0, false
	}
	n := int64(c.View().NumParameters())
	return c.InsertSpecBefore(in.ID(), hlo.InstrSpec{Opcode: hlo.OpParameter, Name: "cut", Shape: in.Shape(), Attrs: &hlo.ParameterAttrs{Number: n}}).ID(), true
}

// unusedParameters drops those of the entry.
func (r *reducer) unusedParameters() {
	for i := r.best.Entry().NumParameters() - 1; i >= 0; i-- {
		p := r.best.Entry().Parameter(i)
		if p.UserCount() > 0 || p.IsRoot() {
			continue
		}
		r.attempt(func(e *hlo.Editor) bool {
			return e.Computation(e.Entry()).RemoveParameter(i) == nil
		})
	}
}

// attributes drops decorations, all at once or one by one.
func (r *reducer) attributes() {
	strip := func(want func(place) bool) bool {
		return r.attempt(func(e *hlo.Editor) (changed bool) {
			for c := range r.best.Computations() {
				for in := range c.Instructions() {
					if !want(place{c.ID(), in.ID()}) {
						continue
					}
					edit := e.Computation(c.ID()).Instr(in.ID())
					for p := range in.ControlPredecessors() {
						edit.RemoveControlPredecessor(p)
						changed = true
					}
					if in.Common() != nil {
						edit.SetCommon(nil)
						changed = true
					}
				}
			}
			return changed
		})
	}
	if strip(func(place) bool { return true }) {
		return
	}
	for c := range r.best.Computations() {
		for in := range c.Instructions() {
			if in.Common() != nil || in.NumControlPredecessors() > 0 {
				strip(func(p place) bool { return p == place{c.ID(), in.ID()} })
			}
		}
	}
	if r.best.Config().IsScheduled {
		r.attempt(func(e *hlo.Editor) bool {
			config := *e.Config()
			config.IsScheduled = false
			e.SetConfig(&config)
			for c := range r.best.Computations() {
				e.Computation(c.ID()).ClearSchedule()
			}
			return true
		})
	}
}
