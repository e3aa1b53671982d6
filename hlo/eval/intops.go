package eval

import (
	"math/bits"

	"github.com/gohalo/halo/hlo"
)

// intUnary and intBinary compute in 64 bits on extended numbers; the caller cuts to the width. The result may depend on the type.
var intUnary = map[hlo.Opcode]func(t hlo.PrimitiveType) laneOp{
	hlo.OpAbs:    anyInt(func(x int64) int64 { return max(x, -x) }),
	hlo.OpNegate: anyInt(func(x int64) int64 { return -x }),
	hlo.OpSign:   signOp,
	hlo.OpNot: func(t hlo.PrimitiveType) laneOp {
		if t == hlo.PRED {
			return intFunc(func(x int64) int64 { return 1 - x })
		}
		return intFunc(func(x int64) int64 { return ^x })
	},
	hlo.OpPopcnt: func(t hlo.PrimitiveType) laneOp {
		mask := ^uint64(0) >> (64 - t.Bits())
		return intFunc(func(x int64) int64 { return int64(bits.OnesCount64(uint64(x) & mask)) })
	},
	hlo.OpCountLeadingZeros: func(t hlo.PrimitiveType) laneOp {
		w := t.Bits()
		mask := ^uint64(0) >> (64 - w)
		return intFunc(func(x int64) int64 { return int64(w - bits.Len64(uint64(x)&mask)) })
	},
}

var intBinary = map[hlo.Opcode]func(t hlo.PrimitiveType) laneOp{
	hlo.OpAdd: func(hlo.PrimitiveType) laneOp {
		return func(d, a, b, _ *lanes) {
			x, y := a.i[:len(d.i)], b.i[:len(d.i)]
			for k := range d.i {
				d.i[k] = x[k] + y[k]
			}
		}
	},
	hlo.OpSubtract: func(hlo.PrimitiveType) laneOp {
		return func(d, a, b, _ *lanes) {
			x, y := a.i[:len(d.i)], b.i[:len(d.i)]
			for k := range d.i {
				d.i[k] = x[k] - y[k]
			}
		}
	},
	hlo.OpMultiply: func(hlo.PrimitiveType) laneOp {
		return func(d, a, b, _ *lanes) {
			x, y := a.i[:len(d.i)], b.i[:len(d.i)]
			for k := range d.i {
				d.i[k] = x[k] * y[k]
			}
		}
	},
	hlo.OpAnd:       anyInt2(func(x, y int64) int64 { return x & y }),
	hlo.OpOr:        anyInt2(func(x, y int64) int64 { return x | y }),
	hlo.OpXor:       anyInt2(func(x, y int64) int64 { return x ^ y }),
	hlo.OpMaximum:   byOrder(func(x, y int64) int64 { return max(x, y) }, func(x, y uint64) uint64 { return max(x, y) }),
	hlo.OpMinimum:   byOrder(func(x, y int64) int64 { return min(x, y) }, func(x, y uint64) uint64 { return min(x, y) }),
	hlo.OpDivide:    byOrder(divide, divideUnsigned),
	hlo.OpRemainder: byOrder(remainder, remainderUnsigned),
	hlo.OpPower:     byOrder(power, powerUnsigned),
	hlo.OpMulhi:     mulhiOp,

	hlo.OpShiftLeft: shift(func(x int64, s uint64, w int) int64 { return x << s }),
	hlo.OpShiftRightLogical: shift(func(x int64, s uint64, w int) int64 {
		return int64(uint64(x) & (^uint64(0) >> (64 - w)) >> s)
	}),
	hlo.OpShiftRightArithmetic: func(t hlo.PrimitiveType) laneOp {
		w := t.Bits()
		up := 64 - w
		return intFunc2(func(x, y int64) int64 {
			s := min(uint64(y)&(^uint64(0)>>up), uint64(w-1))
			return x << up >> up >> s
		})
	},
}

func intFunc(g func(int64) int64) laneOp {
	return func(d, a, _, _ *lanes) {
		for k, x := range a.i {
			d.i[k] = g(x)
		}
	}
}

func intFunc2(g func(x, y int64) int64) laneOp {
	return func(d, a, b, _ *lanes) {
		for k, x := range a.i {
			d.i[k] = g(x, b.i[k])
		}
	}
}

func anyInt(g func(int64) int64) func(hlo.PrimitiveType) laneOp {
	return func(hlo.PrimitiveType) laneOp { return intFunc(g) }
}

func anyInt2(g func(x, y int64) int64) func(hlo.PrimitiveType) laneOp {
	return func(hlo.PrimitiveType) laneOp { return intFunc2(g) }
}

// byOrder chooses between the forms for signed and unsigned types.
func byOrder(s func(x, y int64) int64, u func(x, y uint64) uint64) func(hlo.PrimitiveType) laneOp {
	return func(t hlo.PrimitiveType) laneOp {
		if t.IsSigned() {
			return intFunc2(s)
		}
		return intFunc2(func(x, y int64) int64 { return int64(u(uint64(x), uint64(y))) })
	}
}

// shift reads the amount as unsigned in the width of the type; amounts of the width and more give 0.
func shift(g func(x int64, s uint64, w int) int64) func(hlo.PrimitiveType) laneOp {
	return func(t hlo.PrimitiveType) laneOp {
		w := t.Bits()
		mask := ^uint64(0) >> (64 - w)
		return intFunc2(func(x, y int64) int64 {
			s := uint64(y) & mask
			if s >= uint64(w) {
				return 0
			}
			return g(x, s, w)
		})
	}
}

func signOp(t hlo.PrimitiveType) laneOp {
	if t.IsSigned() {
		return intFunc(func(x int64) int64 { return fromBool(x > 0) - fromBool(x < 0) })
	}
	return intFunc(func(x int64) int64 { return fromBool(x != 0) })
}

// divide truncates; x/0 is -1, and MIN/-1 wraps to MIN.
func divide(x, y int64) int64 {
	if y == 0 {
		return -1
	}
	return x / y
}

func divideUnsigned(x, y uint64) uint64 {
	if y == 0 {
		return ^uint64(0)
	}
	return x / y
}

func remainder(x, y int64) int64 {
	if y == 0 {
		return x
	}
	return x % y
}

func remainderUnsigned(x, y uint64) uint64 {
	if y == 0 {
		return x
	}
	return x % y
}

// power with a negative exponent is 0, unless the base is 1.
func power(x, y int64) int64 {
	if y < 0 {
		return fromBool(x == 1)
	}
	return int64(powerUnsigned(uint64(x), uint64(y)))
}

func powerUnsigned(x, y uint64) uint64 {
	r := uint64(1)
	for ; y > 0; y >>= 1 {
		if y&1 != 0 {
			r *= x
		}
		x *= x
	}
	return r
}

func mulhiOp(t hlo.PrimitiveType) laneOp {
	switch {
	case t == hlo.U64:
		return intFunc2(func(x, y int64) int64 {
			hi, _ := bits.Mul64(uint64(x), uint64(y))
			return int64(hi)
		})
	case t == hlo.S64:
		return intFunc2(func(x, y int64) int64 {
			hi, _ := bits.Mul64(uint64(x), uint64(y))
			return int64(hi) - x>>63&y - y>>63&x
		})
	}
	w := t.Bits()
	return intFunc2(func(x, y int64) int64 { return x * y >> w })
}
