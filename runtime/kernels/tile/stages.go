package tile

import (
	"slices"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/native"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// A program that picks elements runs in stages: steps that compute, and then those that pick at offsets that are known by then. The steps of a stage can be machine code
// together, which finds operands in registers of tiles and leaves there what later stages need.

// stage is steps [first, takes), and then [takes, end), which pick.
type stage struct {
	first, takes, end int
	code              *nativeSteps // or nil
}

// orderStages sorts the steps by stages and returns these, or nil if nothing is picked.
func (b *Builder) orderStages() (stages []stage) {
	level := make([]int, len(b.values)) // of what values hold: the stage that can use it
	levels := make([]int, len(b.steps))
	deepest, picks := 0, false
	for i, s := range b.steps {
		for _, a := range s.args {
			levels[i] = max(levels[i], level[a])
		}
		level[s.d] = max(level[s.d], levels[i])
		if s.takes {
			level[s.d], picks = levels[i]+1, true
		}
		deepest = max(deepest, levels[i])
	}
	if !picks {
		return nil
	}
	var order []int
	for l := range deepest + 1 {
		st := stage{first: len(order)}
		for _, takes := range []bool{false, true} {
			if takes {
				st.takes = len(order)
			}
			for i, s := range b.steps {
				if levels[i] == l && s.takes == takes {
					order = append(order, i)
				}
			}
		}
		st.end = len(order)
		stages = append(stages, st)
	}
	steps, to := make([]buildStep, len(order)), make([]int, len(order))
	for k, i := range order {
		steps[k], to[i] = b.steps[i], k
	}
	b.steps = steps
	for i := range b.values {
		if v := &b.values[i]; v.def >= 0 {
			v.def = to[v.def]
		}
	}
	return stages
}

// compileStages makes code of the stages, one by one.
func (p *Program) compileStages() (*nativeSteps, bool) {
	if len(p.folds) > 0 || slices.Contains(p.pairs, true) {
		return nil, false
	}
	c := &nativeSteps{stages: slices.Clone(p.stages)}
	some := false
	for i := range c.stages {
		c.stages[i].code = p.writer().stage(&c.stages[i])
		some = some || c.stages[i].code != nil
	}
	return c, some
}

// stage compiles the steps of a stage, and the stores behind the last one. It returns nil if there is no code for them.
func (w *nativeWriter) stage(st *stage) *nativeSteps {
	p := w.p
	if st.first == st.takes {
		return nil
	}
	var defined []int
	for i := st.first; i < st.takes; i++ {
		s := &p.steps[i]
		for _, r := range []int{s.a, s.b, s.c}[:p.arity[i]] {
			w.bring(r)
		}
		if !w.step(i) {
			return nil
		}
		if !slices.Contains(defined, s.d) {
			defined = append(defined, s.d)
		}
	}
	for _, r := range defined {
		if p.neededFrom(st.takes, r) {
			w.store(r, vectors.Name{})
			w.code.slots = append(w.code.slots, slot{ofResult, r})
		}
	}
	if st.end == len(p.steps) && st.takes == st.end {
		for i := range p.stores {
			w.bring(p.stores[i].reg)
			w.storeOutput(i)
		}
	}
	var ok bool
	if w.code.Code, ok = w.Compile(); !ok {
		return nil
	}
	return &w.code
}

// neededFrom reports whether a step from one on, or what comes behind the last, reads a register.
func (p *Program) neededFrom(step, reg int) bool {
	for i := step; i < len(p.steps); i++ {
		s := &p.steps[i]
		if slices.Contains([]int{s.a, s.b, s.c}[:p.arity[i]], reg) {
			return true
		}
	}
	if step == len(p.steps) {
		return len(p.stores) == 0 && reg == p.result
	}
	return len(p.stores) == 0 && reg == p.result || slices.ContainsFunc(p.stores, func(s store) bool { return s.reg == reg })
}

// bring makes what a register holds an operand.
func (w *nativeWriter) bring(reg int) {
	if w.known[reg] {
		return
	}
	for i := range w.p.splats {
		if w.p.splats[i].reg == reg {
			w.constant(&w.p.splats[i])
			return
		}
	}
	for i := range w.p.loads {
		switch l := &w.p.loads[i]; {
		case l.reg != reg:
		case l.mode == uniform:
			w.fromRegister(reg, native.Repeated)
			return
		case l.raw:
			w.code.slots = append(w.code.slots, slot{ofRegister, reg})
			w.set(reg, w.Op(vectors.Of(hlo.OpConvert, l.typ, hlo.F32), false, w.Input(l.typ.ByteSize(), false, native.Neighbours)))
			return
		}
	}
	w.fromRegister(reg, native.Neighbours)
}

// runStages computes a tile.
func (p *Program) runStages(c *nativeSteps, f *frame, at, n int, b Buffers) {
	p.bringTile(f, at, n, b)
	for i := range c.stages {
		st := &c.stages[i]
		from := st.first
		if code := st.code; code != nil && (code.Masked || n%code.Lanes == 0) {
			p.call(code, f, at, n, b)
			if from = st.takes; from == len(p.steps) {
				return
			}
		}
		p.runSteps(f, from, st.end, n)
	}
	p.storeTile(f, at, n, b)
}
