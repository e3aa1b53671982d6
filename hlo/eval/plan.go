package eval

import (
	"fmt"

	"github.com/gohalo/halo/hlo"
)

// plan is the order in which a computation is evaluated. A computation that is evaluated again and again, the body of a loop, keeps the
// values that depend on constants alone.
type plan struct {
	steps  []step
	limit  hlo.InstrID
	root   hlo.InstrID
	params []hlo.InstrID // by number
	runs   int
	kept   []keptValue
	// Scratch of a run: values by instruction, operands of a step.
	values, operands []*hlo.Literal
}

// step is one instruction of a plan.
type step struct {
	in   hlo.Instruction
	free []hlo.InstrID // values that are not needed after this step
	memo any           // see memo
	call Call          // of the evaluation under way; there is at most one, since computations do not call themselves
	// fixed says that the value depends on constants alone.
	fixed bool
}

type keptValue struct {
	id    hlo.InstrID
	value *hlo.Literal
}

func (e *evaluator) plan(c hlo.Computation) *plan {
	if p := e.plans[c.ID()]; p != nil {
		return p
	}
	p := &plan{limit: c.IDLimit(), root: c.Root().ID(), params: c.Parameters()}
	order := c.PostOrder()
	if c.IsScheduled() {
		order = c.Instructions()
	}
	fixed := make([]bool, p.limit)
	for in := range order {
		if in.Opcode() == hlo.OpParameter && e.o.Trace == nil {
			continue
		}
		fixed[in.ID()] = e.fixed(in, fixed)
		p.steps = append(p.steps, step{in: in, fixed: fixed[in.ID()]})
	}
	p.planFrees()
	if e.plans == nil {
		e.plans = make(map[hlo.CompID]*plan)
	}
	e.plans[c.ID()] = p
	return p
}

// planFrees finds the step after which each value is not needed any more.
func (p *plan) planFrees() {
	seen := make([]bool, p.limit)
	seen[p.root] = true
	for i := len(p.steps) - 1; i >= 0; i-- {
		s := &p.steps[i]
		s.free = nil
		if id := s.in.ID(); !seen[id] { // unused
			seen[id] = true
			s.free = append(s.free, id)
		}
		for id := range s.in.OperandIDs() {
			if !seen[id] {
				seen[id] = true
				s.free = append(s.free, id)
			}
		}
	}
}

// changing are the traits of ops whose value is not a function of their operands.
const changing = hlo.TraitSideEffect | hlo.TraitRandom | hlo.TraitCollective | hlo.TraitAsyncStart | hlo.TraitAsyncDone | hlo.TraitTokens

// fixed reports whether in depends on constants alone, given which of its operands do.
func (e *evaluator) fixed(in hlo.Instruction, fixed []bool) bool {
	op := in.Opcode()
	if op == hlo.OpParameter || op == hlo.OpCustomCall || op == hlo.OpAsyncUpdate || hlo.Info(op).Traits&changing != 0 {
		return false
	}
	for id := range in.OperandIDs() {
		if !fixed[id] {
			return false
		}
	}
	for id := range in.Callees() {
		if !e.pure(id) {
			return false
		}
	}
	return true
}

// pure reports whether the result of a computation is a function of its parameters.
func (e *evaluator) pure(id hlo.CompID) bool {
	if known, ok := e.purity[id]; ok {
		return known
	}
	c, ok := e.m.Computation(id)
	if e.purity == nil {
		e.purity = make(map[hlo.CompID]bool)
	}
	e.purity[id] = false // while it is not known: of a computation that calls itself
	if !ok {
		return false
	}
	for in := range c.Instructions() {
		if op := in.Opcode(); op == hlo.OpCustomCall || op == hlo.OpAsyncUpdate || hlo.Info(op).Traits&changing != 0 {
			return false
		}
		for callee := range in.Callees() {
			if !e.pure(callee) {
				return false
			}
		}
	}
	e.purity[id] = true
	return true
}

// keepFixed ends the second run of a plan: what is fixed is not computed any more.
func (p *plan) keepFixed(values []*hlo.Literal) {
	var rest []step
	needed := make([]bool, p.limit)
	needed[p.root] = true
	for _, s := range p.steps {
		if s.fixed {
			continue
		}
		rest = append(rest, s)
		for id := range s.in.OperandIDs() {
			needed[id] = true
		}
	}
	for _, s := range p.steps {
		if s.fixed && needed[s.in.ID()] {
			p.kept = append(p.kept, keptValue{s.in.ID(), values[s.in.ID()]})
		}
	}
	p.steps = rest
	p.planFrees()
}

// step counts, and ends an evaluation that is cancelled or takes too many steps.
func (e *evaluator) step() error {
	if e.steps++; e.o.MaxSteps > 0 && e.steps > e.o.MaxSteps {
		return ErrBudget
	}
	return e.ctx.Err()
}

// maxDepth bounds calls within calls: a computation that calls itself must end as an error.
const maxDepth = 1000

// run evaluates a computation.
func (e *evaluator) run(c hlo.Computation, args []*hlo.Literal) (*hlo.Literal, error) {
	if e.depth++; e.depth > maxDepth {
		return nil, fmt.Errorf("computations call each other more than %d deep", maxDepth)
	}
	defer func() { e.depth-- }()
	// A loop of whose body nothing is left to compute must not run forever, either.
	if err := e.ctx.Err(); err != nil {
		return nil, err
	}
	if e.steps++; e.o.MaxSteps > 0 && e.steps > e.o.MaxSteps {
		return nil, ErrBudget
	}
	p := e.plan(c)
	if len(args) < len(p.params) {
		return nil, fmt.Errorf("%v: operands: want %d, got %d", c, len(p.params), len(args))
	}
	p.runs++
	keeping := p.runs == 2 && e.o.Trace == nil // this time fixed values stay
	values, operands := p.values, p.operands
	if p.values, p.operands = nil, nil; values == nil {
		values = make([]*hlo.Literal, p.limit)
	}
	for i, id := range p.params {
		values[id] = args[i]
	}
	for _, k := range p.kept {
		values[k.id] = k.value
	}
	for i := range p.steps {
		s := &p.steps[i]
		operands = operands[:0]
		if n, ok := s.in.ParameterNumber(); ok && n < int64(len(args)) {
			operands = append(operands, args[n])
		}
		for id := range s.in.OperandIDs() {
			operands = append(operands, values[id])
		}
		v, err := e.instruction(s, operands)
		if err != nil {
			return nil, err
		}
		values[s.in.ID()] = v
		if !keeping {
			for _, id := range s.free {
				values[id] = nil
			}
		}
	}
	result := values[p.root]
	if keeping {
		p.keepFixed(values)
	}
	clear(values)
	clear(operands[:cap(operands)])
	p.values, p.operands = values, operands
	return result, nil
}
