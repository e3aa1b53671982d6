package kernels

import (
	"math"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// sortKey is what a comparator orders by: a function of one element of one operand, in ascending or descending order.
type sortKey struct {
	operand    int
	typ        hlo.PrimitiveType
	program    *tile.Program // from an element of the operand to the key
	descending bool
	// canonical says that -0 and +0 are equal, as they are not in the total order by which keys are sorted.
	canonical bool
}

// sortKeys understands comparators of the form key(left) < key(right), whatever the key, and lexicographic ones of several such:
// less(k0) or (equal(k0) and less(k1)). n is the elements of a line. It reports false for all others.
func sortKeys(m hlo.Module, comp hlo.Computation, n int) ([]sortKey, bool) {
	if !comp.Root().Shape().IsScalar() {
		return nil, false
	}
	return lexicographic(m, comp, comp.Root(), n)
}

func lexicographic(m hlo.Module, comp hlo.Computation, in hlo.Instruction, n int) ([]sortKey, bool) {
	if in.Opcode() != hlo.OpOr {
		k, ok := keyOf(m, comp, in, n, true)
		return []sortKey{k}, ok
	}
	for i := range 2 {
		first, rest := in.OperandInstr(i), in.OperandInstr(1-i)
		if first.Opcode() != hlo.OpCompare || rest.Opcode() != hlo.OpAnd {
			continue
		}
		k, ok := keyOf(m, comp, first, n, true)
		for j := range 2 {
			eq, less := rest.OperandInstr(j), rest.OperandInstr(1-j)
			if !ok || eq.Opcode() != hlo.OpCompare {
				continue
			}
			if e, ok := keyOf(m, comp, eq, n, false); !ok || e.operand != k.operand || !sameKeys(first, eq) {
				continue
			}
			if more, ok := lexicographic(m, comp, less, n); ok {
				return append([]sortKey{k}, more...), true
			}
		}
	}
	return nil, false
}

// sameKeys reports whether two comparisons are about the same values, left and right or the other way round.
func sameKeys(a, b hlo.Instruction) bool {
	p := pairing{}
	if p.same(a.OperandInstr(0), b.OperandInstr(0), nil) && p.same(a.OperandInstr(1), b.OperandInstr(1), nil) {
		return true
	}
	return p.same(a.OperandInstr(0), b.OperandInstr(1), nil) && p.same(a.OperandInstr(1), b.OperandInstr(0), nil)
}

// keyOf understands one comparison, for order or for equality.
func keyOf(m hlo.Module, comp hlo.Computation, in hlo.Instruction, n int, order bool) (sortKey, bool) {
	if in.Opcode() != hlo.OpCompare {
		return sortKey{}, false
	}
	a := hlo.AttrsOf[hlo.CompareAttrs](in)
	left, right := in.OperandInstr(0), in.OperandInstr(1)
	p := pairing{}
	// The parameters of operand i are 2i, left, and 2i+1, right.
	var at [2]int64
	if !p.same(left, right, &at) || at[0]/2 != at[1]/2 || at[0] == at[1] {
		return sortKey{}, false
	}
	t := left.Shape().Type()
	typ := a.Type
	if typ == hlo.CompareDefault {
		typ = hlo.DefaultCompareType(t)
	}
	k := sortKey{operand: int(at[0] / 2), typ: t, canonical: t.IsFloat() && typ == hlo.CompareFloat}
	if !tile.Supports(t) || t.IsComplex() || t.IsFloat() && t.Bits() < 16 || t.IsSigned() && typ == hlo.CompareUnsigned {
		return sortKey{}, false
	}
	switch a.Direction {
	case hlo.LT:
	case hlo.GT:
		k.descending = true
	case hlo.EQ:
		if order {
			return sortKey{}, false
		}
	default:
		return sortKey{}, false
	}
	if (a.Direction == hlo.EQ) == order {
		return sortKey{}, false
	}
	if at[0]%2 == 1 {
		k.descending = !k.descending
	}
	if _, is := left.ParameterNumber(); is {
		return k, true // no program: the element itself
	}
	var ok bool
	k.program, ok = compileKey(m, left, at[0], n)
	return k, ok
}

// pairing compares two expressions that may differ in the parameters they are about: one each.
type pairing struct{ steps int }

// same reports whether a and b are the same function, a of parameter params[0] and b of params[1], both stored there. With nil params
// they have to be about the same parameters.
func (p *pairing) same(a, b hlo.Instruction, params *[2]int64) bool {
	if params != nil {
		params[0], params[1] = -1, -1
	}
	return p.walk(a, b, params) && (params == nil || params[0] >= 0)
}

func (p *pairing) walk(a, b hlo.Instruction, params *[2]int64) bool {
	if p.steps++; p.steps > 1000 {
		return false
	}
	if a.Opcode() != b.Opcode() || !a.Shape().EqualIgnoringLayout(b.Shape()) || a.NumOperands() != b.NumOperands() || a.NumCallees() > 0 {
		return false
	}
	if x, ok := a.ParameterNumber(); ok {
		y, _ := b.ParameterNumber()
		if params == nil {
			return x == y
		}
		if params[0] < 0 {
			params[0], params[1] = x, y
		}
		return params[0] == x && params[1] == y
	}
	if !hlo.EqualAttrs(a.Attrs(), b.Attrs()) {
		return false
	}
	for i := range a.NumOperands() {
		if !p.walk(a.OperandInstr(i), b.OperandInstr(i), params) {
			return false
		}
	}
	return true
}

// compileKey compiles a scalar expression of one parameter for n of them.
func compileKey(m hlo.Module, root hlo.Instruction, param int64, n int) (*tile.Program, bool) {
	space := tile.Space{Dims: []int64{int64(n)}}
	c := &compiler{m: m, space: space, b: tile.NewBuilder(space), budget: maxProgram, lanes: true}
	c.leaf = func(in hlo.Instruction) (int, bool) {
		x, ok := in.ParameterNumber()
		return 0, ok && x == param
	}
	v, ok := c.value(root, nil)
	if !ok || c.b.Type(v) != root.Shape().Type() {
		return nil, false
	}
	c.b.Store(0, v)
	return c.b.Build()
}

// orderable writes keys as unsigned numbers in the same order.
func (k *sortKey) orderable(dst []uint64, src []byte) {
	switch k.typ {
	case hlo.F32:
		for i, x := range elems[uint32](src)[:len(dst)] {
			dst[i] = uint64(orderFloat(x, 31, k.canonical))
		}
	case hlo.F64:
		for i, x := range elems[uint64](src)[:len(dst)] {
			if k.canonical && x == 1<<63 {
				x = 0
			}
			dst[i] = x ^ (uint64(int64(x)>>63) | 1<<63)
		}
	case hlo.BF16, hlo.F16:
		for i, x := range elems[uint16](src)[:len(dst)] {
			dst[i] = uint64(orderFloat(uint32(x)<<16, 31, k.canonical) >> 16)
		}
	case hlo.S8:
		for i, x := range src[:len(dst)] {
			dst[i] = uint64(x ^ 0x80)
		}
	case hlo.S16:
		for i, x := range elems[uint16](src)[:len(dst)] {
			dst[i] = uint64(x ^ 0x8000)
		}
	case hlo.S32:
		for i, x := range elems[uint32](src)[:len(dst)] {
			dst[i] = uint64(x ^ 1<<31)
		}
	case hlo.S64:
		for i, x := range elems[uint64](src)[:len(dst)] {
			dst[i] = x ^ 1<<63
		}
	case hlo.U16:
		for i, x := range elems[uint16](src)[:len(dst)] {
			dst[i] = uint64(x)
		}
	case hlo.U32:
		for i, x := range elems[uint32](src)[:len(dst)] {
			dst[i] = uint64(x)
		}
	case hlo.U64:
		copy(dst, elems[uint64](src))
	default: // u8, pred
		for i, x := range src[:len(dst)] {
			dst[i] = uint64(x)
		}
	}
	if k.descending {
		mask := uint64(math.MaxUint64) >> (64 - k.bits())
		for i := range dst {
			dst[i] ^= mask
		}
	}
}

// restores reports whether a key can be made an element again.
func (k *sortKey) restores() bool {
	switch k.typ {
	case hlo.F32, hlo.F64, hlo.S32, hlo.U32, hlo.S64, hlo.U64:
		return true
	}
	return false
}

// orderable32 is orderable for keys of 32 bits.
func (k *sortKey) orderable32(dst, src []uint32) {
	mask := uint32(0)
	if k.descending {
		mask = math.MaxUint32
	}
	switch k.typ {
	case hlo.F32:
		for i, x := range src[:len(dst)] {
			dst[i] = orderFloat(x, 31, false) ^ mask
		}
		return
	case hlo.S32:
		mask ^= 1 << 31
	}
	for i, x := range src[:len(dst)] {
		dst[i] = x ^ mask
	}
}

// unorder is the inverse of orderable and orderable32, for keys as wide as elements, but for zeros that they make equal.
func unorder[K uint32 | uint64](k *sortKey, dst, keys []K) {
	mask, top := K(0), k.bits()-1
	if k.descending {
		mask = ^mask
	}
	dst = dst[:len(keys)]
	switch k.typ {
	case hlo.F32, hlo.F64:
		for i, v := range keys {
			v ^= mask
			dst[i] = v ^ (-(^v >> top) | 1<<top)
		}
		return
	case hlo.S32, hlo.S64:
		mask ^= 1 << top
	}
	for i, v := range keys {
		dst[i] = v ^ mask
	}
}

// bits is the width of an orderable key.
func (k *sortKey) bits() int { return 8 * k.typ.ByteSize() }

func orderFloat(x uint32, sign int, canonical bool) uint32 {
	if canonical && x == 1<<31 {
		x = 0
	}
	return x ^ (uint32(int32(x)>>sign) | 1<<31)
}
