package eval

import "github.com/gohalo/halo/hlo"

// plan is the order in which a computation is evaluated.
type plan struct {
	steps []step
	limit hlo.InstrID
}

// step is one instruction of a plan.
type step struct {
	in   hlo.Instruction
	free []hlo.InstrID // values that are not needed after this step
	memo any           // see memo
}

func (e *evaluator) plan(c hlo.Computation) *plan {
	if p := e.plans[c.ID()]; p != nil {
		return p
	}
	p := &plan{limit: c.IDLimit()}
	order := c.PostOrder()
	if c.IsScheduled() {
		order = c.Instructions()
	}
	for in := range order {
		p.steps = append(p.steps, step{in: in})
	}
	seen := make([]bool, p.limit)
	seen[c.Root().ID()] = true
	for i := len(p.steps) - 1; i >= 0; i-- {
		s := &p.steps[i]
		if id := s.in.ID(); !seen[id] { // nobody uses it
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
	e.plans[c.ID()] = p
	return p
}

// run evaluates a computation.
func (e *evaluator) run(c hlo.Computation, args []*hlo.Literal) (*hlo.Literal, error) {
	p := e.plan(c)
	values := make([]*hlo.Literal, p.limit)
	var operands []*hlo.Literal
	for i := range p.steps {
		s := &p.steps[i]
		if err := e.ctx.Err(); err != nil {
			return nil, err
		}
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
		for _, id := range s.free {
			values[id] = nil
		}
	}
	return values[c.Root().ID()], nil
}
