package tile

import (
	"math"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/elementary"
)

// weighted is a loop and how heavy it is compared with an addition.
type weighted struct {
	fn     loop
	weight int
}

// floatUnary32 computes in float64 and rounds once, except where float32 gives the same.
var floatUnary32 = map[hlo.Opcode]weighted{
	hlo.OpNegate:              {negate[float32], 1},
	hlo.OpAbs:                 {abs32, 1},
	hlo.OpSqrt:                {sqrt32, 2},
	hlo.OpRsqrt:               {rsqrt32, 4},
	hlo.OpSign:                {sign[float32], 1},
	hlo.OpExponential:         {exp32Loop, 6},
	hlo.OpLogistic:            {logistic32Loop, 8},
	hlo.OpTanh:                {tanh32Loop, 8},
	hlo.OpFloor:               wide(math.Floor, 2),
	hlo.OpCeil:                wide(math.Ceil, 2),
	hlo.OpRoundNearestAfz:     wide(math.Round, 3),
	hlo.OpRoundNearestEven:    wide(math.RoundToEven, 2),
	hlo.OpAcos:                wide(math.Acos, 20),
	hlo.OpAcosh:               wide(math.Acosh, 20),
	hlo.OpAsin:                wide(math.Asin, 20),
	hlo.OpAsinh:               wide(math.Asinh, 20),
	hlo.OpAtanh:               wide(math.Atanh, 20),
	hlo.OpCbrt:                wide(math.Cbrt, 10),
	hlo.OpCosine:              wide(math.Cos, 12),
	hlo.OpCosh:                wide(math.Cosh, 16),
	hlo.OpErf:                 wide(math.Erf, 16),
	hlo.OpExponentialMinusOne: {expm1of32Loop, 12},
	hlo.OpLog:                 wide(math.Log, 8),
	hlo.OpLogPlusOne:          wide(math.Log1p, 12),
	hlo.OpSine:                wide(math.Sin, 12),
	hlo.OpSinh:                wide(math.Sinh, 16),
	hlo.OpTan:                 wide(math.Tan, 14),
}

var floatUnary64 = map[hlo.Opcode]weighted{
	hlo.OpNegate:              {negate[float64], 1},
	hlo.OpSign:                {sign[float64], 1},
	hlo.OpAbs:                 double(math.Abs, 1),
	hlo.OpSqrt:                double(math.Sqrt, 4),
	hlo.OpRsqrt:               double(func(x float64) float64 { return 1 / math.Sqrt(x) }, 6),
	hlo.OpExponential:         double(elementary.Exp, 8),
	hlo.OpLogistic:            double(func(x float64) float64 { return 1 / (1 + elementary.Exp(-x)) }, 10),
	hlo.OpTanh:                double(math.Tanh, 12),
	hlo.OpFloor:               double(math.Floor, 2),
	hlo.OpCeil:                double(math.Ceil, 2),
	hlo.OpRoundNearestAfz:     double(math.Round, 3),
	hlo.OpRoundNearestEven:    double(math.RoundToEven, 2),
	hlo.OpAcos:                double(math.Acos, 20),
	hlo.OpAcosh:               double(math.Acosh, 20),
	hlo.OpAsin:                double(math.Asin, 20),
	hlo.OpAsinh:               double(math.Asinh, 20),
	hlo.OpAtanh:               double(math.Atanh, 20),
	hlo.OpCbrt:                double(math.Cbrt, 10),
	hlo.OpCosine:              double(elementary.Cos, 12),
	hlo.OpCosh:                double(elementary.Cosh, 16),
	hlo.OpErf:                 double(math.Erf, 16),
	hlo.OpExponentialMinusOne: double(math.Expm1, 12),
	hlo.OpLog:                 double(elementary.Log, 8),
	hlo.OpLogPlusOne:          double(math.Log1p, 12),
	hlo.OpSine:                double(elementary.Sin, 12),
	hlo.OpSinh:                double(elementary.Sinh, 16),
	hlo.OpTan:                 double(elementary.Tan, 14),
}

func wide(f func(float64) float64, weight int) weighted {
	return weighted{func(n int, d, a, _, _ unsafe.Pointer) {
		z, x := vec[float32](d, n), vec[float32](a, n)
		for i := range z {
			z[i] = float32(f(float64(x[i])))
		}
	}, weight}
}

func double(f func(float64) float64, weight int) weighted { return weighted{map1(f), weight} }

func floatBinary[T float](op hlo.Opcode) (loop, int) {
	switch op {
	case hlo.OpAdd:
		return add[T], 1
	case hlo.OpSubtract:
		return subtract[T], 1
	case hlo.OpMultiply:
		return multiply[T], 1
	case hlo.OpDivide:
		return divide[T], 2
	case hlo.OpMaximum:
		return maximum[T], 1
	case hlo.OpMinimum:
		return minimum[T], 1
	case hlo.OpRemainder:
		if single, ok := any(remainder32).(func(x, y T) T); ok {
			return map2(single), 4
		}
		return map2(func(x, y T) T { return T(remainder64(float64(x), float64(y))) }), 5
	case hlo.OpPower:
		return map2(func(x, y T) T { return T(math.Pow(float64(x), float64(y))) }), 24
	case hlo.OpAtan2:
		return map2(func(x, y T) T { return T(elementary.Atan2(float64(x), float64(y))) }), 16
	}
	return nil, 0
}

func abs32(n int, d, a, _, _ unsafe.Pointer) {
	z, x := vec[uint32](d, n), vec[uint32](a, n)
	for i := range z {
		z[i] = x[i] &^ (1 << 31)
	}
}

func sqrt32(n int, d, a, _, _ unsafe.Pointer) {
	z, x := vec[float32](d, n), vec[float32](a, n)
	for i := range z {
		z[i] = float32(math.Sqrt(float64(x[i])))
	}
}

func rsqrt32(n int, d, a, _, _ unsafe.Pointer) {
	z, x := vec[float32](d, n), vec[float32](a, n)
	for i := range z {
		z[i] = float32(1 / math.Sqrt(float64(x[i])))
	}
}

// sign keeps zeros and NaN.
func sign[T float](n int, d, a, _, _ unsafe.Pointer) {
	z, x := vec[T](d, n), vec[T](a, n)
	for i := range z {
		v := x[i]
		switch {
		case v > 0:
			v = 1
		case v < 0:
			v = -1
		}
		z[i] = v
	}
}

func exp32Loop(n int, d, a, _, _ unsafe.Pointer) {
	z, x := vec[float32](d, n), vec[float32](a, n)
	for i := range z {
		z[i] = float32(exp(float64(x[i])))
	}
}

func expm1of32Loop(n int, d, a, _, _ unsafe.Pointer) {
	z, x := vec[float32](d, n), vec[float32](a, n)
	for i := range z {
		z[i] = elementary.Expm1of32(x[i])
	}
}

func logistic32Loop(n int, d, a, _, _ unsafe.Pointer) {
	z, x := vec[float32](d, n), vec[float32](a, n)
	for i := range z {
		z[i] = float32(1 / (1 + exp(-float64(x[i]))))
	}
}

// tanh32Loop uses 1 - 2/(exp(2x)+1), and the series where that cancels.
func tanh32Loop(n int, d, a, _, _ unsafe.Pointer) {
	z, x := vec[float32](d, n), vec[float32](a, n)
	for i := range z {
		v := float64(x[i])
		if v > -0.125 && v < 0.125 {
			s := v * v
			z[i] = float32(v * (1 + s*(-1.0/3+s*(2.0/15+s*(-17.0/315+s*(62.0/2835-s*1382.0/155925))))))
			continue
		}
		z[i] = float32(1 - 2/(exp(2*v)+1))
	}
}

// exp is e^x for a float32 x, or twice one, to about 5e-9 relative: a float32 result is off by at most 0.6 units. The
// exponent is split off with the trick of adding 1.5·2^52, which leaves the integer in the low bits.
func exp(x float64) float64 {
	if !(x > -200 && x < 200) {
		switch {
		case x >= 200:
			return math.Inf(1)
		case x <= -200:
			return 0
		}
		return x // NaN
	}
	const shift = 1.5 * (1 << 52)
	t := x*math.Log2E + shift
	k := t - shift
	r := (x - k*0.693147180369123816490) - k*1.90821492927058770002e-10
	r2 := r * r
	p := (1 + r) + r2*((0.5+r*(1.0/6))+r2*((1.0/24+r*(1.0/120))+r2*(1.0/720+r*(1.0/5040))))
	return p * math.Float64frombits((math.Float64bits(t)+1023)<<52)
}
