package arrays

import (
	"bytes"

	"github.com/gohalo/halo/hlo"
)

// Exactness says what of values that are equal as numbers, or that are no numbers, counts as a difference.
type Exactness struct {
	ZeroSigns        bool // zeros of different sign differ
	NaNBits          bool // NaNs of different bits differ
	IgnoreInfinities bool // elements of which either side is infinite are not compared
}

func sameBits(got, want *hlo.Literal, i int) bool {
	w := got.Shape().Type().ByteSize()
	return bytes.Equal(got.Bytes()[i*w:(i+1)*w], want.Bytes()[i*w:(i+1)*w])
}

// Reason says why [Tolerance] is what it is for a type.
func Reason(t hlo.PrimitiveType) string {
	switch t {
	case hlo.F64, hlo.C128:
		return "sums of f64 in another order"
	case hlo.F32, hlo.C64:
		return "sums of f32 in another order"
	}
	if _, ok := narrowFormat(t); ok {
		return "one unit in the last place of " + t.String()
	}
	return "integers are exact"
}
