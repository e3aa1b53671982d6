package tile

import (
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/scalar"
)

// layOut assigns registers: constants and inputs keep theirs, what steps compute shares memory once it is dead.
func (b *Builder) layOut(p *Program) {
	lastUse := make([]int, len(b.values))
	for i := range b.steps {
		s := &b.steps[i]
		for _, a := range s.args {
			lastUse[a] = i
		}
		lastUse[s.d] = max(lastUse[s.d], i)
	}
	for _, s := range b.stores {
		lastUse[s.reg] = len(b.steps)
	}
	for _, f := range b.folds {
		lastUse[f.reg] = len(b.steps)
	}
	if b.result != noValue {
		lastUse[b.result] = len(b.steps)
		p.result = int(b.result)
	}
	p.regs = make([]register, len(b.values))
	direct := b.directStores()
	m := memoryPlan{}
	for i := range b.values {
		p.regs[i] = register{slot: -1, out: -1}
	}
	b.findColumns(p, &m, direct)
	p.widths, p.truth, p.pairs = make([]int, 0, len(b.values)), make([]bool, 0, len(b.values)), make([]bool, 0, len(b.values))
	p.steps, p.names, p.arity = make([]step, 0, len(b.steps)), make([]scalar.Name, 0, len(b.steps)), make([]int, 0, len(b.steps))
	p.stores = make([]store, 0, len(b.stores))
	for i := range b.values {
		v := &b.values[i]
		width := lane(v.typ).ByteSize()
		p.widths = append(p.widths, width)
		p.truth, p.pairs = append(p.truth, v.typ == hlo.PRED), append(p.pairs, v.typ.IsComplex())
		switch {
		case v.load != nil:
			b.layOutLoad(p, &m, Value(i), direct)
		case v.iota != nil:
			if !direct[i] {
				p.regs[i] = m.take(width)
			}
			v.iota.reg = i
			p.counters = append(p.counters, *v.iota)
		case v.splat != nil:
			p.regs[i] = m.take(width)
			v.splat.reg = i
			p.splats = append(p.splats, *v.splat)
		case v.table != nil:
			v.table.reg = i
			p.tables = append(p.tables, *v.table)
		}
	}
	for i := range b.steps {
		s := &b.steps[i]
		if b.values[s.d].def == i && !direct[s.d] {
			p.regs[s.d] = m.take(lane(b.values[s.d].typ).ByteSize())
		}
		st := step{fn: s.fn, run: s.fn, d: int(s.d), vector: s.vector, exchanged: s.exchanged, quotient: s.op == hlo.OpDivide && b.values[s.d].typ == hlo.BF16}
		for k, to := range []*int{&st.a, &st.b, &st.c} {
			if k < len(s.args) {
				*to = int(s.args[k])
			}
		}
		p.steps = append(p.steps, st)
		p.names, p.arity = append(p.names, s.name), append(p.arity, len(s.args))
		for _, a := range s.args {
			if b.values[a].def >= 0 && lastUse[a] == i && p.regs[a].slot >= 0 {
				m.give(p.regs[a])
				lastUse[a] = -1
			}
		}
	}
	for _, s := range b.stores {
		s.direct = direct[s.reg]
		if isWide(s.typ) {
			s.narrow = narrowLoop(s.typ)
		}
		if s.isPlaced() {
			p.regs = append(p.regs, m.take(s.typ.ByteSize()))
			s.stage = len(p.regs) - 1
		}
		p.stores = append(p.stores, s)
	}
	b.roundStored(p)
	b.readInPlace(p)
}

// directStores are the values that are computed where they are stored: with several steps only what the last one computes, so that no
// step reads an input that shares memory with an output already written.
func (b *Builder) directStores() []bool {
	direct := make([]bool, len(b.values))
	if len(b.stores) != 1 || b.stores[0].isPlaced() {
		return direct
	}
	r := b.stores[0].reg
	v := &b.values[r]
	if isWide(b.stores[0].typ) || v.splat != nil {
		return direct
	}
	if (v.load != nil || v.iota != nil) && len(b.steps) == 0 {
		direct[r] = true
	} else if v.def >= 0 {
		direct[r] = true
		for i := range b.steps[v.def:] { // rounding in place may follow
			if int(b.steps[v.def+i].d) != r {
				direct[r] = false
			}
		}
	}
	return direct
}

func (b *Builder) layOutLoad(p *Program, m *memoryPlan, i Value, direct []bool) {
	l := b.values[i].load
	l.reg = int(i)
	if l.columns == 0 {
		l.stage = int(i)
	}
	l.mode = p.space.mode(&l.view)
	if l.mode == gathered && p.space.period(&l.view) > 0 {
		direct[i] = false // a tile that repeats is made once
	}
	if direct[i] {
		if l.mode == uniform {
			l.mode = gathered
		}
		l.direct = b.stores[0].out
	} else if l.columns > 0 && !isWide(l.typ) {
		p.regs[i] = p.regs[l.stage]
	} else if l.mode != linear || isWide(l.typ) {
		p.regs[i] = m.take(lane(l.typ).ByteSize())
	}
	if isWide(l.typ) {
		l.widen = widenLoop(l.typ)
		if l.mode == gathered && l.columns == 0 {
			p.regs = append(p.regs, m.take(l.typ.ByteSize()))
			l.stage = len(p.regs) - 1
		}
	}
	if l.mode == gathered {
		l.along = p.space.alone(&l.view)
		space, view, width := l.along.space, l.along.view, l.typ.ByteSize()
		l.mover = sync.OnceValue(func() *mover { return newMover(&space, &view, width) })
	}
	p.loads = append(p.loads, *l)
}

// skew keeps registers from beginning at the same place in pages, where the processor takes one for another.
const skew = 128

// memoryPlan hands out tiles of memory by width.
type memoryPlan struct {
	size int
	free [17][]register
}

func (m *memoryPlan) take(width int) register {
	if k := len(m.free[width]); k > 0 {
		r := m.free[width][k-1]
		m.free[width] = m.free[width][:k-1]
		return r
	}
	r := register{slot: width, offset: m.size, out: -1}
	m.size += width*Size + skew
	return r
}

func (m *memoryPlan) give(r register) { m.free[r.slot] = append(m.free[r.slot], r) }
