package spmd

import (
	"github.com/gohalo/halo/hlo"
)

func init() {
	handlers[hlo.OpWhile] = while
	handlers[hlo.OpConditional] = conditional
	handlers[hlo.OpCall] = call
}

// inner is a scope for a computation that becomes one of its own.
func (s *scope) inner(c hlo.Computation) *scope {
	return s.p.newScope(s.p.newDevice(s.d.b.Sibling(c.Name())), c)
}

// parameter gives the computation of an inner scope a parameter of parts.
func (s *scope) parameter(i int, tilings []*Tiling) {
	in := s.c.Parameter(i)
	v := s.d.b.Parameter(in.Name(), shards(in.Shape(), tilings))
	s.values[in.ID()] = s.split(v, in.Shape(), tilings)
}

// finish completes an inner scope whose result is to be tiled in some way.
func (s *scope) finish(tilings []*Tiling) (hlo.CompID, error) {
	if err := s.body(); err != nil {
		return hlo.NoComp, err
	}
	values := make([]*value, len(tilings))
	for i, x := range s.values[s.c.Root().ID()] {
		values[i] = s.d.reshard(x, tilings[i])
	}
	return s.d.b.Finish(s.join(s.c.Root().Shape(), values))
}

// while keeps its state tiled in one way: before the loop, in it, and after.
func while(s *scope, in hlo.Instruction, want []*Tiling) ([]*value, error) {
	conditionAt, bodyAt := whileCallees(in)
	condition, body := s.p.m.MustComputation(in.Callee(conditionAt)), s.p.m.MustComputation(in.Callee(bodyAt))
	have := s.operands(in)
	state := make([]*value, len(have))
	for i, x := range have {
		state[i] = s.d.reshard(x, want[i])
	}
	c := s.inner(condition)
	c.parameter(0, want)
	decision := replicated(s.p.world.Main, 0)
	if err := c.body(); err != nil {
		return nil, err
	}
	verdict := c.values[condition.Root().ID()][0]
	decision.Manual = verdict.t.Manual
	conditionID, err := c.d.b.Finish(c.d.reshard(verdict, decision).v)
	if err != nil {
		return nil, err
	}
	b := s.inner(body)
	b.parameter(0, want)
	bodyID, err := b.finish(want)
	if err != nil {
		return nil, err
	}
	callees := make([]hlo.CompID, 2)
	callees[conditionAt], callees[bodyAt] = conditionID, bodyID
	v := s.d.b.As(in.Name()).With(commonOf(in)).Emit(hlo.OpSpec{
		Opcode: hlo.OpWhile, Attrs: in.Attrs(), Operands: []hlo.Value{s.join(in.Shape(), state)}, Callees: callees,
	})
	return s.split(v, in.Shape(), want), nil
}

// whileCallees are the places of condition and body among the callees of a while.
func whileCallees(in hlo.Instruction) (condition, body int) {
	for i, role := range hlo.Info(in.Opcode()).Callees {
		if role.Name == "condition" {
			condition = i
		} else {
			body = i
		}
	}
	return condition, body
}

// conditional tiles the results of all branches alike. The predicate is the same on every device, unless it is a manual region's.
func conditional(s *scope, in hlo.Instruction, want []*Tiling) ([]*value, error) {
	index := s.values[in.Operand(0)][0]
	operands := []hlo.Value{s.d.reshard(index, replicatedLike(index.t, index.shape.Rank())).v}
	var callees []hlo.CompID
	for i := range in.NumCallees() {
		branch := s.p.m.MustComputation(in.Callee(i))
		have := s.values[in.Operand(i+1)]
		tilings, err := s.p.world.leafTilings(branch.Parameter(0))
		if err != nil {
			return nil, err
		}
		local := make([]*value, len(have))
		for k, x := range have {
			if tilings[k] == nil || tilings[k].Maximal || len(tilings[k].Manual) != len(x.t.Manual) {
				tilings[k] = x.t
			}
			local[k] = s.d.reshard(x, tilings[k])
		}
		operands = append(operands, s.join(branch.Parameter(0).Shape(), local))
		b := s.inner(branch)
		b.parameter(0, tilings)
		id, err := b.finish(want)
		if err != nil {
			return nil, err
		}
		callees = append(callees, id)
	}
	v := s.d.b.As(in.Name()).With(commonOf(in)).Emit(hlo.OpSpec{Opcode: hlo.OpConditional, Attrs: in.Attrs(), Operands: operands, Callees: callees})
	return s.split(v, in.Shape(), want), nil
}

// call is replaced by what it calls.
func call(s *scope, in hlo.Instruction, _ []*Tiling) ([]*value, error) {
	callee := s.p.m.MustComputation(in.Callee(0))
	inner := s.p.newScope(s.d, callee)
	for i := range callee.NumParameters() {
		have := s.values[in.Operand(i)]
		tilings, err := s.p.world.leafTilings(callee.Parameter(i))
		if err != nil {
			return nil, err
		}
		values := make([]*value, len(have))
		for k, x := range have {
			values[k] = x
			if t := tilings[k]; t != nil && !t.Maximal && len(t.Manual) >= len(x.t.Manual) {
				values[k] = s.d.reshard(x, t)
			}
		}
		inner.values[callee.Parameter(i).ID()] = values
	}
	if err := inner.body(); err != nil {
		return nil, err
	}
	return inner.values[callee.Root().ID()], nil
}
