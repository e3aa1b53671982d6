package tile

import (
	"math"
	"sync"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// scalarWeight is how much slower a loop in Go is than one in vector assembly.
const scalarWeight = 8

// vectorize puts the loop in assembly in place of o's, if there is one.
func (o *operation) vectorize(name vectors.Name) {
	if o.fn == nil {
		return
	}
	portable := o.fn
	switch {
	case isTurn(name):
		o.fn = turns(name, portable)
	case isFloatRemainder(name):
		o.fn = remainders(name, portable)
	default:
		o.fn = vectors.Find(name, portable)
	}
	if !vectors.Has(name) {
		o.weight *= scalarWeight
		return
	}
	o.vector = name
	if !isApproximated(name.Op) {
		o.short = portable
	}
}

// isApproximated reports whether Go and assembly may differ in the last bits of an op.
func isApproximated(op hlo.Opcode) bool {
	return hlo.Info(op).Work == hlo.WorkFunctions && op != hlo.OpSqrt // which both round once
}

// isTurn reports whether a loop computes angles, for which large numbers are another matter.
func isTurn(name vectors.Name) bool {
	return name.Op == hlo.OpSine || name.Op == hlo.OpCosine || name.Op == hlo.OpTan
}

// turns is the loop in assembly for sine, cosine and tangent, which is not for large numbers: these are left to Go, one by one.
func turns(name vectors.Name, portable loop) loop {
	typ := name.Types[0]
	fn, magnitude := vectors.Find(name, nil), vectors.Find(vectors.Of(hlo.OpAbs, typ).In(vectors.Folding), largest64)
	if fn == nil {
		return portable
	}
	width := typ.ByteSize()
	return func(n int, d, a, _, _ unsafe.Pointer) {
		far := farPool.Get().(*farNumbers)
		for at := 0; at < n; at += Size {
			k := min(Size, n-at)
			z, x := unsafe.Add(d, width*at), unsafe.Add(a, width*at)
			magnitude(k, unsafe.Pointer(&far.largest), x, nil, nil)
			if typ == hlo.F32 && *(*float32)(unsafe.Pointer(&far.largest)) < 1<<mostTurned || typ == hlo.F64 && far.largest < 1<<mostTurned {
				fn(k, z, x, nil, nil)
				continue
			}
			kept := unsafe.Pointer(&far.kept[0]) // d may be a
			copyBytes(kept, x, k*width)
			fn(k, z, x, nil, nil)
			for i := range k {
				x := unsafe.Add(kept, i*width)
				if typ == hlo.F32 && !(math.Abs(float64(*(*float32)(x))) < 1<<mostTurned) || typ == hlo.F64 && !(math.Abs(*(*float64)(x)) < 1<<mostTurned) {
					portable(1, unsafe.Add(z, i*width), x, nil, nil)
				}
			}
		}
		farPool.Put(far)
	}
}

// largest64 is the folding loop of abs where vectors have none for f64: the greatest magnitude, or NaN if there is one.
func largest64(n int, d, a, _, _ unsafe.Pointer) {
	most := uint64(0)
	for _, x := range vec[uint64](a, n) {
		most = max(most, x&^(1<<63))
	}
	*(*uint64)(d) = most
}

// mostTurned is the power of two from which on magnitudes are too large for the loops in assembly.
const mostTurned = 16

// farNumbers are a stretch in which some are too large, and the magnitude of the largest: what loops are given is on the heap.
type farNumbers struct {
	largest float64
	kept    [Size]float64
}

var farPool = sync.Pool{New: func() any { return new(farNumbers) }}

// shortSpace is the number of elements up to which loops in Go are faster than assembly: vectors that are stored under a mask cannot be
// loaded again before they are in the cache.
const shortSpace = 16

// roundedName is the loop that computes an op and rounds its result to narrow type t.
func roundedName(op hlo.Opcode, t hlo.PrimitiveType) vectors.Name {
	return vectors.Of(op, hlo.F32, hlo.F32, t).In(vectors.Rounding)
}

// roundName is the loop that rounds numbers to narrow type t.
func roundName(t hlo.PrimitiveType) vectors.Name {
	return vectors.Of(hlo.OpConvert, hlo.F32, t).In(vectors.Rounding)
}

// vectorizeCompare puts the loop in assembly in place of a comparison's. There are loops for less only: greater swaps the operands.
func (o *operation) vectorizeCompare(t hlo.PrimitiveType, dir hlo.Direction, typ hlo.CompareType) {
	if o.fn == nil {
		return
	}
	o.exchanged = dir == hlo.GT || dir == hlo.GE
	if o.exchanged {
		opposite := map[hlo.Direction]hlo.Direction{hlo.GT: hlo.LT, hlo.GE: hlo.LE}[dir]
		o.fn = compareLoop(t, opposite, typ)
	}
	o.vectorize(compareName(t, dir, typ))
	if o.exchanged {
		o.fn, o.short = swapped(o.fn), swapped(o.short)
	}
}

// swapped is the loop with its first two operands exchanged.
func swapped(fn loop) loop {
	if fn == nil {
		return nil
	}
	return func(n int, d, a, b, c unsafe.Pointer) { fn(n, d, b, a, c) }
}

// vectorName is the loop for an op on lanes of type t.
func vectorName(op hlo.Opcode, t hlo.PrimitiveType) vectors.Name {
	t = lane(t)
	switch {
	case t == hlo.PRED:
		switch op {
		case hlo.OpNot:
			return vectors.Of(op, t)
		case hlo.OpAdd, hlo.OpMaximum:
			op = hlo.OpOr
		case hlo.OpMultiply, hlo.OpMinimum:
			op = hlo.OpAnd
		}
		return vectors.Of(op, hlo.U8)
	case t.IsComplex(): // whose loops count parts
		return vectors.Name{}
	}
	switch op {
	case hlo.OpMaximum, hlo.OpMinimum, hlo.OpAbs, hlo.OpSign, hlo.OpPower, hlo.OpDivide, hlo.OpRemainder, hlo.OpMulhi:
		return vectors.Of(op, t)
	}
	return vectors.Of(op, vectors.Unsigned(t))
}

// compareName is the loop for a comparison of lanes of type t; where operands have to be exchanged, it is that of the opposite direction.
func compareName(t hlo.PrimitiveType, dir hlo.Direction, typ hlo.CompareType) vectors.Name {
	inOrder := typ == hlo.CompareTotalOrder && t.IsFloat()
	if t = lane(t); t == hlo.PRED {
		t = hlo.U8
	}
	var mode vectors.Mode
	switch dir {
	case hlo.EQ:
		mode, t = vectors.Equal, vectors.Unsigned(t)
	case hlo.NE:
		mode, t = vectors.NotEqual, vectors.Unsigned(t)
	case hlo.LT, hlo.GT:
		mode = vectors.Less
	case hlo.LE, hlo.GE:
		mode = vectors.LessOrEqual
	}
	switch {
	case t.IsComplex():
		return vectors.Name{}
	case inOrder && (mode == vectors.Equal || mode == vectors.NotEqual):
		t = vectors.Sized(t.ByteSize()) // bits are compared
	case inOrder:
		mode += vectors.TotalLess - vectors.Less
	}
	return vectors.Of(hlo.OpCompare, t).In(mode)
}

// convertName is the loop that converts lanes of one type to another.
func convertName(from, to hlo.PrimitiveType) vectors.Name {
	from, to = lane(from), lane(to)
	if from == hlo.PRED {
		from = hlo.U8
	}
	if from.IsInteger() {
		if to == hlo.PRED || to.IsInteger() && to.Bits() < from.Bits() {
			from = vectors.Unsigned(from)
		}
		to = vectors.Unsigned(to)
	}
	return vectors.Of(hlo.OpConvert, from, to)
}
