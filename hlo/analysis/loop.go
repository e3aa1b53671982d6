package analysis

import (
	"math"

	"github.com/gohalo/halo/hlo"
)

// Loop is what is known of a while loop that counts: one part of its state, an integer, starts at a constant, grows by a positive constant in every
// round, and is held against a constant by the condition, itself or with a constant added. A part of the state that is a constant at first, and that no round changes, is a constant, too.
type Loop struct {
	Induction         int // of the state
	First, Step, Trip int64
}

// FindLoop recognises a counting loop from its text; false for any other.
func FindLoop(m Computations, while hlo.Instruction) (Loop, bool) {
	cond, body := m.MustComputation(while.Callee(0)), m.MustComputation(while.Callee(1))
	if conditionIsSecond(while) {
		cond, body = body, cond
	}
	init := while.OperandInstr(0)
	if init.Opcode() != hlo.OpTuple || cond.NumParameters() != 1 || body.NumParameters() != 1 || body.Root().Opcode() != hlo.OpTuple {
		return Loop{}, false
	}
	test := cond.Root()
	if test.Opcode() != hlo.OpCompare {
		return Loop{}, false
	}
	known := func(in hlo.Instruction) (int64, bool) { return carriedInt(in, init, body) }
	direction := hlo.AttrsOf[hlo.CompareAttrs](test).Direction
	i, limit, ahead, ok := counterAndLimit(test, 0, known)
	if !ok {
		if i, limit, ahead, ok = counterAndLimit(test, 1, known); !ok {
			return Loop{}, false
		}
		direction = mirrored(direction)
	}
	if i >= init.NumOperands() || i >= body.Root().NumOperands() {
		return Loop{}, false
	}
	first, ok := constantInt(init.OperandInstr(i))
	next := body.Root().OperandInstr(i)
	if !ok || next.Opcode() != hlo.OpAdd {
		return Loop{}, false
	}
	j, step, ok := elementAndConstant(next, 0, known)
	if !ok {
		j, step, ok = elementAndConstant(next, 1, known)
	}
	if !ok || j != i || step <= 0 {
		return Loop{}, false
	}
	switch direction {
	case hlo.LT:
	case hlo.LE:
		if limit == math.MaxInt64 {
			return Loop{}, false
		}
		limit++
	default:
		return Loop{}, false
	}
	l := Loop{Induction: i, First: first, Step: step}
	if first < limit {
		span := uint64(limit) - uint64(first)
		trips := (span-1)/uint64(step) + 1
		last := uint64(first) + trips*uint64(step) // what the counter reaches must not leave its type
		if trips > math.MaxInt64 || !fitsType(next.Shape().Type(), int64(last)) || int64(last) < first || !fitsType(next.Shape().Type(), int64(last)+ahead) {
			return Loop{}, false
		}
		l.Trip = int64(trips)
	}
	return l, true
}

// conditionIsSecond reports the order of the callees of a while.
func conditionIsSecond(while hlo.Instruction) bool {
	roles := hlo.Info(hlo.OpWhile).Callees
	return len(roles) == 2 && roles[1].Name == "condition"
}

// counterAndLimit matches the comparison of a counter, or of what is ahead of it by a constant, with a limit, and gives the limit of the counter itself. A loop whose first
// rounds have been peeled off ends so.
func counterAndLimit(test hlo.Instruction, k int, known func(hlo.Instruction) (int64, bool)) (i int, limit, ahead int64, ok bool) {
	if i, limit, ok = elementAndConstant(test, k, known); ok {
		return i, limit, 0, true
	}
	next := test.OperandInstr(k)
	if next.Opcode() != hlo.OpAdd || !next.Shape().IsScalar() {
		return 0, 0, 0, false
	}
	if limit, ok = known(test.OperandInstr(1 - k)); !ok {
		return 0, 0, 0, false
	}
	for side := range 2 {
		const most = 1 << 32 // far from where sums would wrap around
		if i, ahead, ok = elementAndConstant(next, side, known); ok && ahead > 0 && ahead < most && limit > -most && limit < most {
			return i, limit - ahead, ahead, true
		}
	}
	return 0, 0, 0, false
}

// elementAndConstant matches op(get-tuple-element(parameter), constant), the element being operand k.
func elementAndConstant(in hlo.Instruction, k int, known func(hlo.Instruction) (int64, bool)) (element int, value int64, ok bool) {
	g := in.OperandInstr(k)
	if g.Opcode() == hlo.OpCopy {
		g = g.OperandInstr(0)
	}
	if g.Opcode() != hlo.OpGetTupleElement || g.OperandInstr(0).Opcode() != hlo.OpParameter || !g.Shape().IsScalar() {
		return 0, 0, false
	}
	value, ok = known(in.OperandInstr(1 - k))
	return int(hlo.AttrsOf[hlo.TupleElementAttrs](g).Index), value, ok
}

// carriedInt is the value of a constant, or of a part of a loop's state that is one at first and stays it.
func carriedInt(in, init hlo.Instruction, body hlo.Computation) (int64, bool) {
	if v, ok := constantInt(in); ok {
		return v, true
	}
	i, ok := elementOfParameter(in)
	root := body.Root()
	if !ok || i >= init.NumOperands() || i >= root.NumOperands() {
		return 0, false
	}
	if back, ok := elementOfParameter(root.OperandInstr(i)); !ok || back != i {
		return 0, false
	}
	return constantInt(init.OperandInstr(i))
}

// elementOfParameter is which part of a parameter an instruction takes.
func elementOfParameter(in hlo.Instruction) (int, bool) {
	if in.Opcode() != hlo.OpGetTupleElement || in.OperandInstr(0).Opcode() != hlo.OpParameter {
		return 0, false
	}
	return int(hlo.AttrsOf[hlo.TupleElementAttrs](in).Index), true
}

func constantInt(in hlo.Instruction) (int64, bool) {
	l := in.Literal()
	if in.Opcode() != hlo.OpConstant || l == nil || l.IsElided() || !in.Shape().IsScalar() || !in.Shape().Type().IsInteger() {
		return 0, false
	}
	if in.Shape().Type() == hlo.U64 {
		return 0, false
	}
	return l.ScalarInt()
}

func mirrored(d hlo.Direction) hlo.Direction {
	switch d {
	case hlo.LT:
		return hlo.GT
	case hlo.LE:
		return hlo.GE
	case hlo.GT:
		return hlo.LT
	case hlo.GE:
		return hlo.LE
	}
	return d
}

func fitsType(t hlo.PrimitiveType, v int64) bool {
	bits := t.Bits()
	switch {
	case bits >= 64:
		return true
	case t.IsUnsigned():
		return v >= 0 && v < 1<<bits
	}
	return v >= -1<<(bits-1) && v < 1<<(bits-1)
}
