package eval

import (
	"fmt"
	"math"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/elementary"
)

// floatUnary and floatBinary compute in float64; the caller rounds.
var floatUnary = map[hlo.Opcode]laneOp{
	hlo.OpAbs:                 floatFunc(math.Abs),
	hlo.OpAcos:                floatFunc(math.Acos),
	hlo.OpAcosh:               floatFunc(math.Acosh),
	hlo.OpAsin:                floatFunc(math.Asin),
	hlo.OpAsinh:               floatFunc(math.Asinh),
	hlo.OpAtanh:               floatFunc(math.Atanh),
	hlo.OpCbrt:                floatFunc(math.Cbrt),
	hlo.OpCeil:                floatFunc(math.Ceil),
	hlo.OpCosine:              floatFunc(elementary.Cos),
	hlo.OpCosh:                floatFunc(elementary.Cosh),
	hlo.OpErf:                 floatFunc(math.Erf),
	hlo.OpExponential:         floatFunc(elementary.Exp),
	hlo.OpExponentialMinusOne: floatFunc(math.Expm1),
	hlo.OpFloor:               floatFunc(math.Floor),
	hlo.OpLog:                 floatFunc(elementary.Log),
	hlo.OpLogPlusOne:          floatFunc(math.Log1p),
	hlo.OpLogistic:            floatFunc(func(x float64) float64 { return 1 / (1 + elementary.Exp(-x)) }),
	hlo.OpRoundNearestAfz:     floatFunc(math.Round),
	hlo.OpRoundNearestEven:    floatFunc(math.RoundToEven),
	hlo.OpRsqrt:               floatFunc(func(x float64) float64 { return 1 / math.Sqrt(x) }),
	hlo.OpSign:                floatFunc(sign),
	hlo.OpSine:                floatFunc(elementary.Sin),
	hlo.OpSinh:                floatFunc(elementary.Sinh),
	hlo.OpSqrt:                floatFunc(math.Sqrt),
	hlo.OpTan:                 floatFunc(elementary.Tan),
	hlo.OpTanh:                floatFunc(math.Tanh),
	hlo.OpNegate: func(d, a, _, _ *lanes) {
		x := a.f[:len(d.f)]
		for k := range d.f {
			d.f[k] = -x[k]
		}
	},
}

var floatBinary = map[hlo.Opcode]laneOp{
	hlo.OpAdd: func(d, a, b, _ *lanes) {
		x, y := a.f[:len(d.f)], b.f[:len(d.f)]
		for k := range d.f {
			d.f[k] = x[k] + y[k]
		}
	},
	hlo.OpSubtract: func(d, a, b, _ *lanes) {
		x, y := a.f[:len(d.f)], b.f[:len(d.f)]
		for k := range d.f {
			d.f[k] = x[k] - y[k]
		}
	},
	hlo.OpMultiply: func(d, a, b, _ *lanes) {
		x, y := a.f[:len(d.f)], b.f[:len(d.f)]
		for k := range d.f {
			d.f[k] = x[k] * y[k]
		}
	},
	hlo.OpDivide: func(d, a, b, _ *lanes) {
		x, y := a.f[:len(d.f)], b.f[:len(d.f)]
		for k := range d.f {
			d.f[k] = x[k] / y[k]
		}
	},
	// The built-in max and min are IEEE 754-2019 maximum and minimum: NaN from either side, -0 below +0.
	hlo.OpMaximum: func(d, a, b, _ *lanes) {
		x, y := a.f[:len(d.f)], b.f[:len(d.f)]
		for k := range d.f {
			d.f[k] = max(x[k], y[k])
		}
	},
	hlo.OpMinimum: func(d, a, b, _ *lanes) {
		x, y := a.f[:len(d.f)], b.f[:len(d.f)]
		for k := range d.f {
			d.f[k] = min(x[k], y[k])
		}
	},
	hlo.OpRemainder: floatFunc2(math.Mod),
	hlo.OpPower:     floatFunc2(math.Pow),
	hlo.OpAtan2:     floatFunc2(elementary.Atan2),
}

func floatFunc(g func(float64) float64) laneOp {
	return func(d, a, _, _ *lanes) {
		for k, x := range a.f {
			d.f[k] = g(x)
		}
	}
}

func floatFunc2(g func(x, y float64) float64) laneOp {
	return func(d, a, b, _ *lanes) {
		for k, x := range a.f {
			d.f[k] = g(x, b.f[k])
		}
	}
}

// sign keeps zeros and NaN.
func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x
}

func isFiniteOp(in hlo.Instruction, types []hlo.PrimitiveType) (laneOp, error) {
	if classOf(types[0]) != floats || in.Shape().Type() != hlo.PRED {
		return nil, fmt.Errorf("is-finite is not defined on %v", types[0])
	}
	return func(d, a, _, _ *lanes) {
		for k, x := range a.f {
			d.i[k] = fromBool(x-x == 0)
		}
	}, nil
}

func fromBool(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// bitFormat describes a floating type with sign, exponent and mantissa for arithmetic on its codes.
type bitFormat struct {
	t                  hlo.PrimitiveType
	exponent, mantissa int
}

func formatOf(t hlo.PrimitiveType) bitFormat {
	switch t {
	case hlo.F64:
		return bitFormat{t, 11, 52}
	case hlo.F32:
		return bitFormat{t, 8, 23}
	}
	info := formats[t].Info()
	return bitFormat{t, info.ExponentBits, info.MantissaBits}
}

func (f bitFormat) code(x float64) uint64 {
	switch f.t {
	case hlo.F64:
		return math.Float64bits(x)
	case hlo.F32:
		return uint64(math.Float32bits(float32(x)))
	}
	return uint64(formats[f.t].FromFloat64(x))
}

func (f bitFormat) value(code uint64) float64 {
	switch f.t {
	case hlo.F64:
		return math.Float64frombits(code)
	case hlo.F32:
		return float64(math.Float32frombits(uint32(code)))
	}
	return formats[f.t].Float64(uint16(code))
}

// reducePrecisionOp rounds the code of a number to fewer mantissa bits, then applies the exponent range of an IEEE format with fewer
// exponent bits: what is above becomes infinity, what would be denormal there becomes zero.
func reducePrecisionOp(in hlo.Instruction, types []hlo.PrimitiveType) (laneOp, error) {
	t := in.Shape().Type()
	if types[0] != t || classOf(t) != floats {
		return nil, fmt.Errorf("reduce-precision is not defined on %v", types[0])
	}
	a := hlo.AttrsOf[hlo.ReducePrecisionAttrs](in)
	if a.ExponentBits < 1 || a.MantissaBits < 0 {
		return nil, fmt.Errorf("%d exponent and %d mantissa bits", a.ExponentBits, a.MantissaBits)
	}
	f := formatOf(t)
	return func(d, a1, _, _ *lanes) {
		for k, x := range a1.f {
			d.f[k] = f.reduce(x, a.ExponentBits, a.MantissaBits)
		}
		roundFloats(d.f, t)
	}, nil
}

func (f bitFormat) reduce(x float64, exponent, mantissa int64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	signBit := uint64(1) << (f.exponent + f.mantissa)
	code := f.code(x)
	magnitude := code &^ signBit
	if drop := int64(f.mantissa) - mantissa; drop > 0 {
		odd := magnitude >> drop & 1
		magnitude = (magnitude + 1<<(drop-1) - 1 + odd) >> drop << drop
	}
	if exponent < int64(f.exponent) {
		bias, reduced := uint64(1)<<(f.exponent-1)-1, uint64(1)<<(exponent-1)-1
		switch field := magnitude >> f.mantissa; {
		case field > bias+reduced:
			return math.Copysign(math.Inf(1), x)
		case field <= bias-reduced:
			return math.Copysign(0, x)
		}
	}
	return math.Copysign(f.value(magnitude), x)
}
