package shadow

import (
	"math"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
)

// Hostile fills arrays with the values at which wrong algebra shows.
const Hostile arrays.FillKind = "hostile"

// hostileFloats are representations: ±0, ±1, ±∞, NaN, the least and the greatest positive number, a third.
var hostileFloats = map[hlo.PrimitiveType][]uint64{
	hlo.F32: {0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 1, 0x7f7fffff, 0x3eaaaaab},
	hlo.F64: {0, 1 << 63, math.Float64bits(1), math.Float64bits(-1), math.Float64bits(math.Inf(1)), math.Float64bits(math.Inf(-1)),
		0x7ff8000000000000, 1, math.Float64bits(math.MaxFloat64), math.Float64bits(1.0 / 3)},
	hlo.F16:  {0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 1, 0x7bff, 0x3555},
	hlo.BF16: {0, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0, 1, 0x7f7f, 0x3eab},
}

// hostile is an array of such values, each leaf beginning at another one; nil for types it knows nothing about.
func hostile(s hlo.Shape, leaf int) *hlo.Literal {
	values := hostileFloats[s.Type()]
	if t := s.Type(); t.IsInteger() && t.Bits() >= 8 {
		values = []uint64{0, 1, math.MaxUint64, 1 << (t.Bits() - 1), 1<<(t.Bits()-1) - 1, 2, 8}
	}
	if values == nil || !s.IsStatic() {
		return nil
	}
	width := s.Type().ByteSize()
	data := make([]byte, int(s.NumElements())*width)
	for i := range int(s.NumElements()) {
		v := values[(i+3*leaf)%len(values)]
		for b := range width {
			data[i*width+b] = byte(v >> (8 * b))
		}
	}
	l, err := hlo.NewLiteral(s, data)
	if err != nil {
		return nil
	}
	return l
}
