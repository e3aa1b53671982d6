package emit

import (
	"encoding/binary"
	"math"

	"github.com/gohalo/halo/hlo"
)

// Bits is the scalar of a type with the given representation.
func Bits(t hlo.PrimitiveType, bits uint64) *hlo.Literal {
	var data [16]byte
	binary.LittleEndian.PutUint64(data[:], bits)
	return literal(hlo.MakeShape(t).WithDefaultLayout(), data[:t.ByteSize()])
}

// floats are representations of 1 and of infinity, of the types with infinities that reductions are done in.
var floats = map[hlo.PrimitiveType][2]uint64{
	hlo.F32: {0x3f800000, 0x7f800000}, hlo.F64: {math.Float64bits(1), math.Float64bits(math.Inf(1))},
	hlo.F16: {0x3c00, 0x7c00}, hlo.BF16: {0x3f80, 0x7f80},
}

// Identity is the value that an op combines with any other to that other, bit for bit: minus zero for sums of floats.
func Identity(op hlo.Opcode, t hlo.PrimitiveType) (*hlo.Literal, bool) {
	n := t.Bits()
	ones, top := uint64(1)<<(n-1)<<1-1, uint64(1)<<(n-1)
	if n >= 64 {
		ones = math.MaxUint64
	}
	f, isFloat := floats[t]
	integer := t.IsInteger()
	switch {
	case op == hlo.OpAdd && isFloat:
		return Bits(t, top), true
	case op == hlo.OpAdd && (integer || t == hlo.PRED || t.IsComplex()), op == hlo.OpOr && (integer || t == hlo.PRED), op == hlo.OpXor && (integer || t == hlo.PRED):
		return Bits(t, 0), true
	case op == hlo.OpMultiply && isFloat:
		return Bits(t, f[0]), true
	case op == hlo.OpMultiply && (integer || t == hlo.PRED):
		return Bits(t, 1), true
	case op == hlo.OpAnd && (integer || t == hlo.PRED):
		if t == hlo.PRED {
			return Bits(t, 1), true
		}
		return Bits(t, ones), true
	case op == hlo.OpMaximum && isFloat:
		return Bits(t, f[1]|top), true
	case op == hlo.OpMinimum && isFloat:
		return Bits(t, f[1]), true
	case op == hlo.OpMaximum && (t.IsUnsigned() || t == hlo.PRED):
		return Bits(t, 0), true
	case op == hlo.OpMinimum && t == hlo.PRED:
		return Bits(t, 1), true
	case op == hlo.OpMinimum && t.IsUnsigned():
		return Bits(t, ones), true
	case op == hlo.OpMaximum && integer:
		return Bits(t, top), true
	case op == hlo.OpMinimum && integer:
		return Bits(t, ones>>1), true
	}
	return nil, false
}
