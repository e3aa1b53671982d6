package tile

import (
	"math/bits"
	"unsafe"

	"github.com/gohalo/halo/hlo"
)

func signedUnary[T signedInt](op hlo.Opcode) loop {
	switch op {
	case hlo.OpAbs:
		return map1(func(x T) T { return max(x, -x) })
	case hlo.OpSign:
		return map1(func(x T) T {
			switch {
			case x > 0:
				return 1
			case x < 0:
				return -1
			}
			return 0
		})
	}
	return integerUnary[T](op)
}

func unsignedUnary[T unsignedInt](op hlo.Opcode) loop {
	switch op {
	case hlo.OpAbs:
		return map1(func(x T) T { return x })
	case hlo.OpSign:
		return map1(func(x T) T { return min(x, 1) })
	}
	return integerUnary[T](op)
}

func integerUnary[T integer](op hlo.Opcode) loop {
	w := int(unsafe.Sizeof(T(0))) * 8
	mask := ^uint64(0) >> (64 - w)
	switch op {
	case hlo.OpNegate:
		return negate[T]
	case hlo.OpNot:
		return map1(func(x T) T { return ^x })
	case hlo.OpPopcnt:
		return map1(func(x T) T { return T(bits.OnesCount64(uint64(x) & mask)) })
	case hlo.OpCountLeadingZeros:
		return map1(func(x T) T { return T(w - bits.Len64(uint64(x)&mask)) })
	}
	return nil
}

func notPred(n int, d, a, _, _ unsafe.Pointer) {
	z, x := vec[uint8](d, n), vec[uint8](a, n)
	for i := range z {
		z[i] = x[i] ^ 1
	}
}

func predBinary(op hlo.Opcode) loop {
	switch op {
	case hlo.OpAdd, hlo.OpMaximum, hlo.OpOr:
		return or[uint8]
	case hlo.OpMultiply, hlo.OpMinimum, hlo.OpAnd:
		return and[uint8]
	case hlo.OpXor:
		return xor[uint8]
	}
	return nil
}

func and[T integer](n int, d, a, b, _ unsafe.Pointer) {
	z, x, y := vec[T](d, n), vec[T](a, n), vec[T](b, n)
	for i := range z {
		z[i] = x[i] & y[i]
	}
}

func or[T integer](n int, d, a, b, _ unsafe.Pointer) {
	z, x, y := vec[T](d, n), vec[T](a, n), vec[T](b, n)
	for i := range z {
		z[i] = x[i] | y[i]
	}
}

func xor[T integer](n int, d, a, b, _ unsafe.Pointer) {
	z, x, y := vec[T](d, n), vec[T](a, n), vec[T](b, n)
	for i := range z {
		z[i] = x[i] ^ y[i]
	}
}

func shiftLeft[T integer, U unsignedInt](n int, d, a, b, _ unsafe.Pointer) {
	z, x, y := vec[T](d, n), vec[T](a, n), vec[U](b, n)
	for i := range z {
		z[i] = x[i] << y[i]
	}
}

// rotateLeft takes amounts modulo the width.
func rotateLeft[T uint32 | uint64](n int, d, a, b, _ unsafe.Pointer) {
	z, x, y := vec[T](d, n), vec[T](a, n), vec[T](b, n)
	width := T(8 * unsafe.Sizeof(T(0)))
	for i := range z {
		by := y[i] % width
		z[i] = x[i]<<by | x[i]>>(width-by)
	}
}

// shiftRight shifts in zeros for unsigned T and the sign for signed T; large amounts leave nothing else.
func shiftRight[T integer, U unsignedInt](n int, d, a, b, _ unsafe.Pointer) {
	z, x, y := vec[T](d, n), vec[T](a, n), vec[U](b, n)
	for i := range z {
		z[i] = x[i] >> y[i]
	}
}

// integerBinary has the loops that do not depend on the sign; U is the unsigned, S the signed type of the width of T.
func integerBinary[T, S, U integer](op hlo.Opcode) loop {
	switch op {
	case hlo.OpAdd:
		return add[T]
	case hlo.OpSubtract:
		return subtract[T]
	case hlo.OpMultiply:
		return multiply[T]
	case hlo.OpAnd:
		return and[T]
	case hlo.OpOr:
		return or[T]
	case hlo.OpXor:
		return xor[T]
	case hlo.OpMaximum:
		return maximum[T]
	case hlo.OpMinimum:
		return minimum[T]
	case hlo.OpMulhi:
		return mulhi[T]()
	}
	return nil
}

// mulhi is the loop for upper halves of products of 8 and 16 bits, or nil.
func mulhi[T integer]() loop {
	bits := 8 * unsafe.Sizeof(T(0))
	if bits > 16 {
		return nil
	}
	return map2(func(x, y T) T { return T(int64(x) * int64(y) >> bits) })
}

func signedBinary[T signedInt, U unsignedInt](op hlo.Opcode) loop {
	switch op {
	case hlo.OpShiftLeft:
		return shiftLeft[T, U]
	case hlo.OpShiftRightArithmetic:
		return shiftRight[T, U]
	case hlo.OpShiftRightLogical:
		return shiftRight[U, U]
	case hlo.OpDivide:
		return map2(func(x, y T) T {
			if y == 0 {
				return -1
			}
			return x / y
		})
	case hlo.OpRemainder:
		return map2(func(x, y T) T {
			if y == 0 {
				return x
			}
			return x % y
		})
	case hlo.OpPower:
		return map2(func(x, y T) T {
			if y < 0 {
				if x == 1 {
					return 1
				}
				return 0
			}
			return power(x, uint64(y))
		})
	}
	return integerBinary[T, T, U](op)
}

func unsignedBinary[T unsignedInt, S signedInt](op hlo.Opcode) loop {
	switch op {
	case hlo.OpShiftLeft:
		return shiftLeft[T, T]
	case hlo.OpShiftRightArithmetic:
		return shiftRight[S, T]
	case hlo.OpShiftRightLogical:
		return shiftRight[T, T]
	case hlo.OpDivide:
		return map2(func(x, y T) T {
			if y == 0 {
				return ^T(0)
			}
			return x / y
		})
	case hlo.OpRemainder:
		return map2(func(x, y T) T {
			if y == 0 {
				return x
			}
			return x % y
		})
	case hlo.OpPower:
		return map2(func(x, y T) T { return power(x, uint64(y)) })
	}
	return integerBinary[T, S, T](op)
}

func power[T integer](x T, y uint64) T {
	r := T(1)
	for ; y > 0; y >>= 1 {
		if y&1 != 0 {
			r *= x
		}
		x *= x
	}
	return r
}
