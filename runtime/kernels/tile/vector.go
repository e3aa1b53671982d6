package tile

import (
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// scalarWeight is how much slower a loop in Go is than one in vector assembly.
const scalarWeight = 8

// vectorize puts the loop in assembly in place of o's, if there is one.
func (o *operation) vectorize(name string) {
	if o.fn == nil {
		return
	}
	portable := o.fn
	if name == "sine.f32" || name == "cosine.f32" || name == "tan.f32" {
		o.fn = turns(name, portable)
	} else {
		o.fn = vectors.Find(name, portable)
	}
	if !vectors.Has(name) {
		o.weight *= scalarWeight
		return
	}
	o.vector = name
	if op, _, _ := strings.Cut(name, "."); !approximated[op] {
		o.short = portable
	}
}

// approximated are the ops that Go and assembly do not compute to the same bits.
var approximated = map[string]bool{
	"exponential": true, "exponential-minus-one": true, "log": true, "log-plus-one": true, "tanh": true, "logistic": true, "erf": true, "rsqrt": true,
	"sine": true, "cosine": true, "tan": true, "cbrt": true, "cosh": true, "sinh": true, "asinh": true, "acosh": true, "atanh": true,
	"asin": true, "acos": true, "atan2": true, "power": true,
}

// turns is the loop in assembly for sine, cosine and tangent, which is not for large numbers: a stretch with one of them is left to Go.
func turns(name string, portable loop) loop {
	fn, magnitude := vectors.Find(name, nil), vectors.Find("magnitude.f32", nil)
	if fn == nil || magnitude == nil {
		return portable
	}
	return func(n int, d, a, _, _ unsafe.Pointer) {
		largest := largestPool.Get().(*float32)
		for at := 0; at < n; at += Size {
			k := min(Size, n-at)
			z, x := unsafe.Add(d, 4*at), unsafe.Add(a, 4*at)
			magnitude(k, unsafe.Pointer(largest), x, nil, nil)
			if *largest < 1<<16 {
				fn(k, z, x, nil, nil)
			} else {
				portable(k, z, x, nil, nil)
			}
		}
		largestPool.Put(largest)
	}
}

// largestPool has room for results of the loop magnitude.f32: what loops are given is on the heap.
var largestPool = sync.Pool{New: func() any { return new(float32) }}

// shortSpace is the number of elements up to which loops in Go are faster than assembly: vectors that are stored under a mask cannot be
// loaded again before they are in the cache.
const shortSpace = 16

// roundedLoop computes an op and rounds its result to narrow type t, or is nil.
func roundedLoop(op hlo.Opcode, t hlo.PrimitiveType) loop {
	return vectors.Find(op.String()+".round."+t.String(), nil)
}

// vectorizeCompare puts the loop in assembly in place of a comparison's. There are loops for less only: greater swaps the operands.
func (o *operation) vectorizeCompare(t hlo.PrimitiveType, dir hlo.Direction, typ hlo.CompareType) {
	if o.fn == nil {
		return
	}
	name, swap := compareName(t, dir)
	if typ == hlo.CompareTotalOrder && t.IsFloat() {
		name = fmt.Sprintf("%.2s.total%d", name, t.Bits())
		if dir == hlo.EQ || dir == hlo.NE {
			name = fmt.Sprintf("%.2s.i%d", name, t.Bits())
		}
	}
	if !swap {
		o.vectorize(name)
		return
	}
	opposite := map[hlo.Direction]hlo.Direction{hlo.GT: hlo.LT, hlo.GE: hlo.LE}[dir]
	o.fn = compareLoop(t, opposite, typ)
	o.vectorize(name)
	o.fn, o.short = swapped(o.fn), swapped(o.short)
	if o.vector != "" {
		o.vector += exchanged
	}
}

// exchanged, behind a name, says that the operands are exchanged.
const exchanged = "#"

// swapped is the loop with its first two operands exchanged.
func swapped(fn loop) loop {
	if fn == nil {
		return nil
	}
	return func(n int, d, a, b, c unsafe.Pointer) { fn(n, d, b, a, c) }
}

// vectorName is how package vec calls an op on lanes of type t.
func vectorName(op hlo.Opcode, t hlo.PrimitiveType) string {
	t = lane(t)
	name := op.String()
	switch {
	case t == hlo.PRED:
		switch op {
		case hlo.OpNot:
			return "not.pred"
		case hlo.OpAdd, hlo.OpMaximum, hlo.OpOr:
			return "or.8"
		case hlo.OpMultiply, hlo.OpMinimum, hlo.OpAnd:
			return "and.8"
		}
		return name + ".8"
	case t.IsFloat():
		return name + "." + t.String()
	case !t.IsInteger(): // complex numbers: their loops count parts
		return ""
	}
	switch op {
	case hlo.OpAnd, hlo.OpOr, hlo.OpXor, hlo.OpNot:
		return fmt.Sprintf("%s.%d", name, t.Bits())
	case hlo.OpMaximum, hlo.OpMinimum, hlo.OpAbs, hlo.OpSign, hlo.OpPower:
		return name + "." + t.String()
	}
	return fmt.Sprintf("%s.i%d", name, t.Bits())
}

// compareName is the loop for a comparison of lanes of type t, and whether the operands have to be swapped.
func compareName(t hlo.PrimitiveType, dir hlo.Direction) (name string, swap bool) {
	t = lane(t)
	if t == hlo.PRED {
		t = hlo.U8
	}
	switch dir {
	case hlo.EQ:
		name = "eq"
	case hlo.NE:
		name = "ne"
	case hlo.LT, hlo.GT:
		name = "lt"
	case hlo.LE, hlo.GE:
		name = "le"
	}
	switch {
	case t.IsFloat():
		name += "." + t.String()
	case t.IsInteger() && (dir == hlo.EQ || dir == hlo.NE):
		name += fmt.Sprintf(".i%d", t.Bits())
	case t.IsInteger():
		name += "." + t.String()
	default: // complex numbers
		name = ""
	}
	return name, dir == hlo.GT || dir == hlo.GE
}

// convertName is the loop that converts lanes of one type to another.
func convertName(from, to hlo.PrimitiveType) string {
	from, to = lane(from), lane(to)
	if from == hlo.PRED {
		from = hlo.U8
	}
	f, t := from.String(), to.String()
	if to == hlo.PRED && from.IsInteger() {
		f = fmt.Sprintf("i%d", from.Bits())
	} else if to.IsInteger() && from.IsInteger() {
		t = fmt.Sprintf("i%d", to.Bits())
		if to.Bits() < from.Bits() {
			f = fmt.Sprintf("i%d", from.Bits())
		}
	}
	return "convert." + f + "." + t
}
