package proto

import (
	"sync"

	"github.com/gohalo/halo/hlo"
)

// Program is a module whose instructions are named from outside by the ids that they have in its message. Such an id has the id of the
// computation in its upper half and the place in program order in the lower one, and finds the instruction again after the module has
// been written and read. A Program is safe for concurrent use.
type Program struct {
	m hlo.Module

	// Of a module in memory:
	mu     sync.Mutex
	ranks  map[hlo.CompID][]int64       // by InstrID
	orders map[hlo.CompID][]hlo.InstrID // by rank

	// Of a module that was read:
	comps  map[int64]hlo.CompID
	tables []idTable // by CompID
}

// NewProgram gives the instructions of m the ids that [Encode] gives them.
func NewProgram(m hlo.Module) *Program {
	return &Program{m: m, ranks: make(map[hlo.CompID][]int64), orders: make(map[hlo.CompID][]hlo.InstrID)}
}

// DecodeProgram reads what [Program.Encode] wrote. The module may share memory with data, which must not be written afterwards.
func DecodeProgram(data []byte) (*Program, error) {
	data, err := unpack(data)
	if err != nil {
		return nil, err
	}
	m, d, err := decodeMessage(data, nil, 0)
	if err != nil {
		return nil, err
	}
	return &Program{m: m, comps: d.comps, tables: d.instrs}, nil
}

// Module is the module.
func (p *Program) Module() hlo.Module { return p.m }

// Encode is the function [Encode] without what makes no difference to executing the module: metadata but for parameters of the entry,
// positions, origins, stack frames, statistics, configurations that no kernel reads, and whatever follows from the rest, such as the
// shapes of computations. Elided constants stay elided.
func (p *Program) Encode() []byte {
	e := newEncoder(p.m)
	e.program = true
	return e.module()
}

// ID is the id of an instruction of [NewProgram]'s module.
func (p *Program) ID(in hlo.Instruction) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := in.Computation()
	p.number(c)
	return int64(c.ID())<<32 | p.ranks[c.ID()][in.ID()]
}

// Instruction is the one of that id; false if there is none.
func (p *Program) Instruction(id int64) (in hlo.Instruction, ok bool) {
	comp, rank := id>>32, id&(1<<32-1)
	if p.comps != nil {
		own, ok := p.comps[comp]
		if !ok {
			return in, false
		}
		at, ok := p.tables[own].get(id)
		if !ok {
			return in, false
		}
		return p.m.MustComputation(own).At(at)
	}
	if comp < 0 || comp >= int64(p.m.CompIDLimit()) {
		return in, false
	}
	c, ok := p.m.Computation(hlo.CompID(comp))
	if !ok {
		return in, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.number(c)
	order := p.orders[c.ID()]
	if rank >= int64(len(order)) {
		return in, false
	}
	return c.At(order[rank])
}

// number lists the instructions of a computation.
func (p *Program) number(c hlo.Computation) {
	if _, done := p.ranks[c.ID()]; done {
		return
	}
	ranks, order := make([]int64, c.IDLimit()), make([]hlo.InstrID, 0, c.NumInstructions())
	for in := range c.Instructions() {
		ranks[in.ID()] = int64(len(order))
		order = append(order, in.ID())
	}
	p.ranks[c.ID()], p.orders[c.ID()] = ranks, order
}
