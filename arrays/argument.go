package arrays

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gohalo/halo/arrays/npz"
	"github.com/gohalo/halo/hlo"
)

// Argument is the literal of an array that is given for a parameter of shape s. It takes what [Literal] takes, and the 64-bit numbers that
// NumPy makes of Python's for a parameter of 32 bits, as JAX does where 64-bit types are off: floats are rounded, and integers have to fit.
func Argument(a *npz.Array, s hlo.Shape) (*hlo.Literal, error) {
	narrow, ok := narrowing[s.Type()]
	if !ok || a.Descr != narrow.from {
		return Literal(a, s)
	}
	data := make([]byte, 0, len(a.Data)/2)
	for i := 0; i+8 <= len(a.Data); i += 8 {
		bits := binary.LittleEndian.Uint64(a.Data[i:])
		half, fits := narrow.item(bits)
		if !fits {
			return nil, fmt.Errorf("element %d of items of type %s does not fit %v", i/8, a.Descr, s.Type())
		}
		data = binary.LittleEndian.AppendUint32(data, half)
	}
	to, _ := npz.Descr(s.Type().String())
	return Literal(&npz.Array{Descr: to, ItemSize: a.ItemSize / 2, Shape: a.Shape, Data: data}, s)
}

// narrowing is, for an element type, the items of twice its width and what becomes of one, or of one half of a complex number.
var narrowing = map[hlo.PrimitiveType]struct {
	from string
	item func(uint64) (half uint32, fits bool)
}{
	hlo.S32: {"<i8", func(bits uint64) (uint32, bool) { return uint32(bits), int64(bits) == int64(int32(bits)) }},
	hlo.U32: {"<u8", func(bits uint64) (uint32, bool) { return uint32(bits), bits <= math.MaxUint32 }},
	hlo.F32: {"<f8", roundItem},
	hlo.C64: {"<c16", roundItem},
}

func roundItem(bits uint64) (uint32, bool) {
	return math.Float32bits(float32(math.Float64frombits(bits))), true
}
