package collectives

import (
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/match"
	"github.com/gohalo/halo/passes/emit"
)

// trace goes from an operand of user down to a reduction, through ops that are linear if sums are collected, else through those that
// only change type and shape.
func (l *loopMotion) trace(b hlo.Computation, v, user hlo.Instruction, linear bool) (hlo.InstrID, []hlo.InstrID, bool) {
	var path []hlo.InstrID
	shaped := false
	for {
		if u, ok := soleUser(v); !ok || u.ID() != user.ID() || v.NumControlPredecessors() > 0 {
			return 0, nil, false
		}
		next := 0
		//halo:allow opswitch each of these is linear in its own way
		switch v.Opcode() {
		case hlo.OpAllReduce, hlo.OpReduceScatter:
			r := factsFrom(l.e.View, v).reducer
			scatter := v.Opcode() == hlo.OpReduceScatter
			ok := v.NumOperands() == 1 && v.Shape().IsArray() && r.ok && (!linear || r.op == hlo.OpAdd) && (!scatter || l.scatter && !shaped) &&
				mayReorder(l.ctx, r.op, v.Shape().Type())
			return v.ID(), path, ok
		case hlo.OpConvert:
		case hlo.OpReshape, hlo.OpBitcast, hlo.OpCopy, hlo.OpTranspose:
			shaped = true
			if !linear && v.Opcode() != hlo.OpReshape {
				return 0, nil, false
			}
		case hlo.OpSelect:
			if next = l.selected(v); next == 0 || !linear {
				return 0, nil, false
			}
		case hlo.OpMultiply:
			if next = l.scaled(b, v); next < 0 || !linear {
				return 0, nil, false
			}
			shaped = true
		default:
			return 0, nil, false
		}
		path = append(path, v.ID())
		user, v = v, v.OperandInstr(next)
	}
}

// selected is the operand of a select whose other one is 0, if a scalar decides; 0 if it is not such a one.
func (l *loopMotion) selected(in hlo.Instruction) int {
	p := in.OperandInstr(0)
	if p.Opcode() == hlo.OpBroadcast {
		p = p.OperandInstr(0)
	}
	if !p.Shape().IsScalar() {
		return 0
	}
	for k := 1; k <= 2; k++ {
		if x, ok := match.SplatValue(in.OperandInstr(3 - k)); ok && x.Equal(emit.Zero(x.Shape().Type())) {
			return k
		}
	}
	return 0
}

// scaled is the operand of a product whose other factor is the same on all devices that reduce: a constant, or made of results of
// scalar reductions between the same devices; -1 if there is none.
func (l *loopMotion) scaled(b hlo.Computation, in hlo.Instruction) int {
	for k := range 2 {
		factor := in.OperandInstr(1 - k)
		if factor.Opcode() != hlo.OpBroadcast || !factor.OperandInstr(0).Shape().IsScalar() {
			continue
		}
		f := factor.OperandInstr(0)
		for f.Opcode() == hlo.OpConvert {
			f = f.OperandInstr(0)
		}
		if f.Opcode() == hlo.OpConstant {
			return k
		}
		below := in.OperandInstr(k)
		for below.Opcode() == hlo.OpConvert {
			below = below.OperandInstr(0)
		}
		if f.Opcode() == hlo.OpAllReduce && below.Opcode() == hlo.OpAllReduce &&
			hlo.EqualAttr(factsFrom(l.e.View, f).groups, factsFrom(l.e.View, below).groups) && factsFrom(l.e.View, f).global == factsFrom(l.e.View, below).global {
			return k
		}
	}
	return -1
}

// writesEveryRow reports whether the rounds of every loop write each row of an array once: the index is the counter, from either end.
func (l *loopMotion) writesEveryRow(b hlo.Computation, write hlo.Instruction) bool {
	whole, row := write.Shape(), write.OperandInstr(1).Shape()
	for _, s := range l.loops {
		loop, ok := analysis.FindLoop(l.m, l.m.MustComputation(s.comp).MustAt(s.id))
		if !ok || loop.First != 0 || loop.Step != 1 {
			return false
		}
		counted := false
		for d := range whole.Rank() {
			index := write.OperandInstr(2 + d)
			if row.Dim(d) == whole.Dim(d) {
				continue
			}
			if row.Dim(d) != 1 || whole.Dim(d) != loop.Trip || counted || !countsThrough(index, loop.Induction, loop.Trip) {
				return false
			}
			counted = true
		}
		if !counted {
			return false
		}
	}
	return true
}

// countsThrough reports whether an index is the counter, or trip - 1 minus it.
func countsThrough(index hlo.Instruction, counter int, trip int64) bool {
	isCounter := func(in hlo.Instruction) bool {
		return in.Opcode() == hlo.OpGetTupleElement && in.OperandInstr(0).Opcode() == hlo.OpParameter && hlo.AttrsOf[hlo.TupleElementAttrs](in).Index == int64(counter)
	}
	if isCounter(index) {
		return true
	}
	if index.Opcode() != hlo.OpSubtract || !isCounter(index.OperandInstr(1)) {
		return false
	}
	l, ok := match.SplatValue(index.OperandInstr(0))
	if !ok {
		return false
	}
	v, ok := l.ScalarInt()
	return ok && v == trip-1
}
