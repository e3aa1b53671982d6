package tile

import (
	"github.com/gohalo/halo/hlo"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// Compare is the truth values of a comparison of two values of one type: EQ, NE, LT or LE.
func (b *Builder) Compare(dir hlo.Direction, x, y Value) (Value, bool) {
	t := b.values[x].typ
	o := operation{fn: compareLoop(t, dir, hlo.CompareDefault), weight: 1}
	o.vectorizeCompare(t, dir, hlo.CompareDefault)
	return b.chosen(hlo.PRED, &o, x, y)
}

// Either is the truth values of which one of two is.
func (b *Builder) Either(x, y Value) (Value, bool) {
	o := operation{weight: 1}
	o.fn, _ = binaryLoop(hlo.OpOr, hlo.PRED)
	o.vectorize(vectorName(hlo.OpOr, hlo.PRED))
	return b.chosen(hlo.PRED, &o, x, y)
}

// order compares truth values, false being less than true, by ops that machine code has on masks. It reports false for spaces so short that loops in Go are better, and for what is no order.
func (b *Builder) order(in hlo.Instruction, types []hlo.PrimitiveType, args []Value) (Value, bool) {
	if in.Opcode() != hlo.OpCompare || types[0] != hlo.PRED || types[1] != hlo.PRED || b.space.Len() <= shortSpace {
		return 0, false
	}
	dir, greater := hlo.AttrsOf[hlo.CompareAttrs](in).Direction, args[0]
	join, differ := hlo.OpAnd, hlo.NE
	switch dir {
	case hlo.LT, hlo.LE:
		greater = args[1]
	case hlo.GT, hlo.GE:
	default:
		return 0, false
	}
	if dir == hlo.LE || dir == hlo.GE {
		join, differ = hlo.OpOr, hlo.EQ
	}
	v, ok := b.Compare(differ, args[0], args[1])
	if !ok {
		return 0, false
	}
	o := operation{weight: 1}
	o.fn, _ = binaryLoop(join, hlo.PRED)
	o.vectorize(vectorName(join, hlo.PRED))
	return b.chosen(hlo.PRED, &o, greater, v)
}

// Choose is x where p is true, and else y.
func (b *Builder) Choose(p, x, y Value) (Value, bool) {
	t := b.values[x].typ
	width := lane(t).ByteSize()
	o := operation{fn: selectLoop(width), weight: 1}
	o.vectorize(vectors.Of(hlo.OpSelect, vectors.Sized(width)))
	return b.chosen(t, &o, p, x, y)
}

func (b *Builder) chosen(t hlo.PrimitiveType, o *operation, args ...Value) (Value, bool) {
	if o.fn == nil {
		return 0, false
	}
	d := b.step(t, b.loopOf(o), nil, o.weight, args...)
	last := &b.steps[len(b.steps)-1]
	last.vector, last.exchanged = o.vector, o.exchanged
	return d, true
}
