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
