package kernels

import (
	"encoding/binary"
	"math"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/tile"
)

// Integers that are computed from where an element is, as the counters of random numbers are, mostly grow by one number along each axis. One series replaces
// whatever computes them, in the type that is wanted: a counter of 64 bits that is cut into halves needs no lanes of 64 bits.

// counted is what an instruction gives at an access, if that is such a number and nothing on the way to it leaves the range of its type.
func (c *compiler) counted(in hlo.Instruction, at access) (index, bool) {
	if t := in.Shape().Type(); c.lanes || !in.Shape().IsArray() || !t.IsInteger() || !tile.Supports(t) || at.turns() {
		return index{}, false
	}
	if x, ok := c.counts.find(in.ID(), at); ok {
		return x, x.factors != nil
	}
	x, ok := c.count(in, at)
	if ok {
		low, high, fits := x.bounds(c.space)
		least, most := limits(in.Shape().Type())
		ok = fits && low >= least && high <= most
	}
	if !ok {
		x = index{}
	}
	c.counts.add(in.ID(), at, x)
	return x, ok
}

func (c *compiler) count(in hlo.Instruction, at access) (index, bool) {
	if _, isInput := c.leaf(in); isInput {
		return index{}, false
	}
	//halo:allow opswitch these make numbers that grow evenly of such numbers
	switch in.Opcode() {
	case hlo.OpIota:
		return at[hlo.AttrsOf[hlo.IotaAttrs](in).Dimension], true
	case hlo.OpConstant:
		n, ok := wholeNumber(in)
		return index{offset: n, factors: make([]int64, len(c.space.Dims))}, ok
	case hlo.OpConvert:
		return c.counted(in.OperandInstr(0), at)
	case hlo.OpAdd, hlo.OpSubtract, hlo.OpMultiply, hlo.OpShiftLeft, hlo.OpShiftRightLogical, hlo.OpAnd:
		x, ok := c.counted(in.OperandInstr(0), at)
		if !ok {
			return index{}, false
		}
		y, ok := c.counted(in.OperandInstr(1), at)
		if !ok {
			return index{}, false
		}
		return x.computed(c.space, in.Opcode(), y, in.Shape().Type())
	}
	if in.NumOperands() == 0 {
		return index{}, false
	}
	a, _, _, ok := at.through(c.space, in)
	if !ok {
		return index{}, false
	}
	return c.counted(in.OperandInstr(0), a)
}

// computed is an op on two of them, of a type.
func (x index) computed(s tile.Space, op hlo.Opcode, y index, t hlo.PrimitiveType) (index, bool) {
	if _, _, fits := x.bounds(s); !fits {
		return x, false
	}
	isConstant := y.isConstant()
	none := index{factors: make([]int64, len(x.factors))}
	low, high, _ := x.bounds(s)
	//halo:allow opswitch the arithmetic of numbers that grow evenly
	switch op {
	case hlo.OpAdd:
		return x.plus(y), true
	case hlo.OpSubtract:
		return x.plus(y.scaled(-1, 0)), true
	case hlo.OpMultiply:
		if !isConstant {
			x, y = y, x
			low, high, _ = x.bounds(s)
		}
		return x.times(y.offset, low, high, y.isConstant())
	case hlo.OpShiftLeft:
		return x.times(1<<max(0, y.offset), low, high, isConstant && y.offset >= 0 && y.offset < min(62, int64(t.Bits())))
	case hlo.OpShiftRightLogical:
		return none, isConstant && y.offset >= 0 && low >= 0 && (y.offset > 62 || high < 1<<y.offset)
	case hlo.OpAnd: // with ones for all bits that may be set
		return x, isConstant && low >= 0 && y.offset >= high && y.offset&(y.offset+1) == 0
	}
	return x, false
}

// times is a multiple, if ok says so and it is far from overflow as x is, which lies between low and high.
func (x index) times(by, low, high int64, ok bool) (index, bool) {
	if most := max(high, -low); !ok || by == math.MinInt64 || most > 0 && max(by, -by) > mostCounted/most {
		return x, false
	}
	return x.scaled(by, 0), true
}

// mostCounted bounds the numbers that are computed with, so that sums of two are exact.
const mostCounted = 1 << 61

func (x index) isConstant() bool {
	for _, f := range x.factors {
		if f != 0 {
			return false
		}
	}
	return true
}

// bounds are the least and greatest number over a space; fits says that they are far from overflow.
func (x index) bounds(s tile.Space) (low, high int64, fits bool) {
	low, high = x.offset, x.offset
	for k, f := range x.factors {
		if n := s.Dims[k] - 1; n > 0 && (f > mostCounted/n || f < -mostCounted/n) {
			return 0, 0, false
		}
		if by := f * (s.Dims[k] - 1); by > 0 {
			high += by
		} else {
			low += by
		}
		if low < -mostCounted || high > mostCounted {
			return 0, 0, false
		}
	}
	return low, high, low >= -mostCounted && high <= mostCounted
}

// limits are the range of an integer type, or of what 64 bits can hold of it.
func limits(t hlo.PrimitiveType) (least, most int64) {
	bits := min(t.Bits(), 63)
	if t.IsSigned() {
		bits = t.Bits() - 1
		return -1 << bits, 1<<bits - 1
	}
	return 0, int64(uint64(1)<<bits - 1)
}

// series defines such a number.
func (c *compiler) series(t hlo.PrimitiveType, x index) (tile.Value, bool) {
	if x.isConstant() {
		return c.b.Constant(t, binary.LittleEndian.AppendUint64(nil, uint64(x.offset))), true
	}
	return c.b.Iota(t, tile.View{Base: x.offset, Strides: x.factors})
}

// wholeNumber is the value of an integer constant that is the same everywhere.
func wholeNumber(in hlo.Instruction) (int64, bool) {
	l := in.Literal()
	if l == nil || l.IsElided() || l.Shape().NumElements() == 0 || !(l.Shape().IsScalar() || l.IsSplat()) || in.Shape().Type().Bits() < 8 {
		return 0, false
	}
	t := in.Shape().Type()
	var b [8]byte
	copy(b[:], l.Bytes()[:t.ByteSize()])
	unused := 64 - t.Bits()
	n := binary.LittleEndian.Uint64(b[:]) << unused
	if t.IsSigned() {
		return int64(n) >> unused, true
	}
	return int64(n >> unused), n>>unused <= math.MaxInt64
}
