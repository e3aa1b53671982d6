package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
)

// folding is what joins two elements of a fold.
type folding struct {
	any func(m *machine, x, y vector) vector
	// take puts what any makes in place of x, in one instruction, and y may be in memory; or it is nil.
	take func(m *machine, x vector, y operand.Op)
	// usual does the same in fewer instructions where neither is NaN, or is nil.
	usual      func(m *machine, x, y vector) vector
	isGreatest bool // of extremes
}

// The extremes of floats.
var (
	greatest = folding{any: (*machine).maximum, isGreatest: true, usual: func(m *machine, x, y vector) vector {
		if m.wide {
			return m.ranged(rangedGreatest, x, y)
		}
		return m.bits("AND", m.max(x, y), m.max(y, x))
	}}
	least = folding{any: (*machine).minimum, usual: func(m *machine, x, y vector) vector {
		if m.wide {
			return m.ranged(rangedLeast, x, y)
		}
		return m.bits("OR", m.min(x, y), m.min(y, x))
	}}
)

// Kinds of extremes, with the signs that they have: -0 is less than +0.
const (
	rangedLeast    = 4
	rangedGreatest = 5
)

// ranged is an extreme of numbers that are not NaN.
func (m *machine) ranged(kind uint8, x vector, y operand.Op) vector {
	d := m.vector()
	m.float("VRANGE", operand.U8(kind), y, x, d)
	return d
}

// jumpIfNaN jumps if a lane of some vector is NaN.
func (m *machine) jumpIfNaN(to string, vectors ...vector) {
	var some vector
	for i := 0; i < len(vectors); i += 2 {
		x := m.compare(isUnordered, vectors[i], vectors[min(i+1, len(vectors)-1)])
		switch {
		case i == 0:
			some = x
		case m.wide:
			m.KORW(x.k, some.k, some.k)
		default:
			some = m.bits("OR", some, x)
		}
	}
	m.jumpIfAny(some, to)
}

// jumpIfAny goes to a label if a mask is set in any lane.
func (m *machine) jumpIfAny(mask vector, to string) {
	if m.wide {
		m.KORTESTW(mask.k, mask.k)
	} else {
		m.VPTEST(mask.VecVirtual, mask.VecVirtual)
	}
	m.JNZ(operand.LabelRef(to))
}

// floatCode is a number as the bits of a lane.
func floatCode(x float64, lane int) uint64 {
	if lane == 8 {
		return math.Float64bits(x)
	}
	return uint64(math.Float32bits(float32(x)))
}
