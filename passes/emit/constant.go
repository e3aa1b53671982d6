package emit

import (
	"fmt"
	"math"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
)

// Constant makes a constant of a literal.
func (a At) Constant(l *hlo.Literal) hlo.InstrID {
	return a.OpOf(hlo.OpConstant, l.Shape(), &hlo.ConstantAttrs{Literal: l})
}

// Int makes an integer scalar, or a number of another type that has that value.
func (a At) Int(t hlo.PrimitiveType, v int64) hlo.InstrID { return a.Constant(Number(t, v)) }

// Float makes a floating-point scalar, rounded to its type.
func (a At) Float(t hlo.PrimitiveType, v float64) hlo.InstrID { return a.Constant(Real(t, v)) }

// Ints makes a vector of integers.
func (a At) Ints(t hlo.PrimitiveType, v ...int64) hlo.InstrID {
	var data []byte
	for _, x := range v {
		data = append(data, Number(t, x).Bytes()...)
	}
	return a.Vector(t, data)
}

// Vector makes a vector of the elements that data holds.
func (a At) Vector(t hlo.PrimitiveType, data []byte) hlo.InstrID {
	return a.Constant(literal(hlo.MakeShape(t, int64(len(data)/t.ByteSize())).WithDefaultLayout(), data))
}

// Number is the scalar literal of a small integer in any type that has it; of pred, whether it is not 0.
func Number(t hlo.PrimitiveType, v int64) *hlo.Literal {
	switch {
	case t == hlo.PRED:
		if v != 0 {
			v = 1
		}
	case t.IsFloat() || t.IsComplex():
		return Real(t, float64(v))
	}
	data := make([]byte, t.ByteSize())
	if bits := t.Bits(); bits < 8 {
		v &= 1<<bits - 1
	}
	for i := range data {
		data[i] = byte(v >> (8 * i))
	}
	return literal(hlo.MakeShape(t).WithDefaultLayout(), data)
}

// Real is the scalar literal of a number, rounded to its type; of a complex type, that without an imaginary part.
func Real(t hlo.PrimitiveType, v float64) *hlo.Literal {
	if part := t.ComponentType(); t.IsComplex() {
		data := append(Real(part, v).Bytes(), make([]byte, part.ByteSize())...)
		return literal(hlo.MakeShape(t).WithDefaultLayout(), data)
	}
	var bits uint64
	switch t {
	case hlo.F64:
		bits = math.Float64bits(v)
	case hlo.F32:
		bits = uint64(math.Float32bits(float32(v)))
	default:
		bits = uint64(narrow(t, v))
	}
	data := make([]byte, t.ByteSize())
	for i := range data {
		data[i] = byte(bits >> (8 * i))
	}
	return literal(hlo.MakeShape(t).WithDefaultLayout(), data)
}

func narrow(t hlo.PrimitiveType, v float64) uint16 {
	for _, f := range minifloat.Formats() {
		if f.String() == t.String() {
			return f.FromFloat64(v)
		}
	}
	panic(fmt.Sprintf("emit: %v is no floating-point type", t))
}

func literal(s hlo.Shape, data []byte) *hlo.Literal {
	l, err := hlo.NewLiteral(s, data)
	if err != nil {
		panic(err) // the length is the type's own
	}
	return l
}

// Zero is the scalar 0 of a type.
func Zero(t hlo.PrimitiveType) *hlo.Literal {
	return literal(hlo.MakeShape(t).WithDefaultLayout(), make([]byte, t.ByteSize()))
}

// Lowest is the scalar that is below all others of its type, minus infinity where there is one.
func Lowest(t hlo.PrimitiveType) *hlo.Literal {
	switch {
	case t.IsFloat():
		return Real(t, math.Inf(-1))
	case t == hlo.PRED || t.IsUnsigned():
		return Number(t, 0)
	}
	return Number(t, math.MinInt64>>(64-t.Bits()))
}

// Highest is the scalar that is above all others of its type.
func Highest(t hlo.PrimitiveType) *hlo.Literal {
	switch {
	case t.IsFloat():
		return Real(t, math.Inf(1))
	case t == hlo.PRED:
		return Number(t, 1)
	case t.IsUnsigned():
		return Number(t, -1)
	}
	return Number(t, math.MaxInt64>>(64-t.Bits()))
}
