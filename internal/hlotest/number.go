package hlotest

import (
	"encoding/binary"
	"math"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
)

// number is the small integer v as a scalar of type t, of the types that random modules use.
func number(t hlo.PrimitiveType, v int, scalar hlo.Shape) *hlo.Literal {
	var data []byte
	switch t {
	case hlo.F32:
		data = binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(v)))
	case hlo.F64:
		data = binary.LittleEndian.AppendUint64(nil, math.Float64bits(float64(v)))
	case hlo.F16:
		data = binary.LittleEndian.AppendUint16(nil, minifloat.F16FromFloat32(float32(v)))
	case hlo.BF16:
		data = binary.LittleEndian.AppendUint16(nil, minifloat.BF16FromFloat32(float32(v)))
	case hlo.C64:
		data = binary.LittleEndian.AppendUint64(nil, uint64(math.Float32bits(float32(v))))
	case hlo.S64, hlo.U64:
		data = binary.LittleEndian.AppendUint64(nil, uint64(v))
	case hlo.S16, hlo.U16:
		data = binary.LittleEndian.AppendUint16(nil, uint16(v))
	case hlo.S32, hlo.U32:
		data = binary.LittleEndian.AppendUint32(nil, uint32(v))
	case hlo.PRED:
		data = []byte{byte(v & 1)}
	default:
		data = []byte{byte(v)}
	}
	l, err := hlo.NewLiteral(scalar, data)
	if err != nil {
		panic(err) // the length is the type's own
	}
	return l
}
