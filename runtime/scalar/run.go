package scalar

import (
	"math"
	"unsafe"
)

// rounds is how many branches Run takes before it returns to let its caller look around: some ten microseconds of work.
const rounds = 4096

// Run goes on from where the state is until the end of the program, where it returns true, or until some thousand branches have been
// taken; call it again then.
func (p *Program) Run(s *State) bool {
	if p.native != nil && p.native.plain().memory != nil {
		return p.runNative(s)
	}
	return p.interpret(s)
}

// interpret is Run without native code.
func (p *Program) interpret(s *State) bool {
	r := unsafe.Pointer(unsafe.SliceData(s.registers))
	places := unsafe.Pointer(unsafe.SliceData(s.places))
	code := unsafe.Pointer(unsafe.SliceData(p.code))
	next := unsafe.Add(code, s.at)
	left := rounds
	for {
		in := (*instr)(next)
		next = unsafe.Add(next, instrSize)
		switch in.op {
		case opEnd:
			return true
		case opCall, opInline:
			p.loops[in.m].loop(1, unsafe.Add(r, in.d), unsafe.Add(r, in.a), unsafe.Add(r, in.b), unsafe.Add(r, in.c))

		case opMove4:
			*at[uint64](r, in.d) = uint64(*at[uint32](r, in.a))
		case opMove8:
			*at[uint64](r, in.d) = *at[uint64](r, in.a)
		case opSelect4, opBlend4:
			x := in.b
			if *at[uint8](r, in.a) == 0 {
				x = in.c
			}
			*at[uint64](r, in.d) = uint64(*at[uint32](r, x))
		case opSelect8, opBlend8:
			x := in.b
			if *at[uint8](r, in.a) == 0 {
				x = in.c
			}
			*at[uint64](r, in.d) = *at[uint64](r, x)

		case opLoad1:
			*at[uint64](r, in.d) = uint64(*(*uint8)(element(r, places, in)))
		case opLoad2:
			*at[uint64](r, in.d) = uint64(*(*uint16)(element(r, places, in)))
		case opLoad4:
			*at[uint64](r, in.d) = uint64(*(*uint32)(element(r, places, in)))
		case opLoad8:
			*at[uint64](r, in.d) = *(*uint64)(element(r, places, in))
		case opStore1:
			*(*uint8)(element(r, places, in)) = *at[uint8](r, in.c)
		case opStore2:
			*(*uint16)(element(r, places, in)) = *at[uint16](r, in.c)
		case opStore4:
			*(*uint32)(element(r, places, in)) = *at[uint32](r, in.c)
		case opStore8:
			*(*uint64)(element(r, places, in)) = *at[uint64](r, in.c)
		case opIndexS32:
			*at[int64](r, in.d) = clamped(int64(*at[int32](r, in.a)), *at[int64](r, in.c)) * int64(in.m)
		case opIndexU32:
			*at[int64](r, in.d) = min(int64(*at[uint32](r, in.a)), *at[int64](r, in.c)) * int64(in.m)
		case opIndexS64:
			*at[int64](r, in.d) = clamped(*at[int64](r, in.a), *at[int64](r, in.c)) * int64(in.m)
		case opIndexU64:
			*at[int64](r, in.d) = int64(min(*at[uint64](r, in.a), *at[uint64](r, in.c))) * int64(in.m)
		case opLoadAt4S32:
			i := clamped(int64(*at[int32](r, in.b)), *at[int64](r, in.c))
			*at[uint64](r, in.d) = uint64(*(*uint32)(unsafe.Add(*at[unsafe.Pointer](places, in.a), i*int64(in.m))))
		case opLoadAt4S64:
			i := clamped(*at[int64](r, in.b), *at[int64](r, in.c))
			*at[uint64](r, in.d) = uint64(*(*uint32)(unsafe.Add(*at[unsafe.Pointer](places, in.a), i*int64(in.m))))
		case opLoadAt8S32:
			i := clamped(int64(*at[int32](r, in.b)), *at[int64](r, in.c))
			*at[uint64](r, in.d) = *(*uint64)(unsafe.Add(*at[unsafe.Pointer](places, in.a), i*int64(in.m)))
		case opLoadAt8S64:
			i := clamped(*at[int64](r, in.b), *at[int64](r, in.c))
			*at[uint64](r, in.d) = *(*uint64)(unsafe.Add(*at[unsafe.Pointer](places, in.a), i*int64(in.m)))

		case opAdd:
			*at[uint64](r, in.d) = *at[uint64](r, in.a) + *at[uint64](r, in.b)
		case opSub:
			*at[uint64](r, in.d) = *at[uint64](r, in.a) - *at[uint64](r, in.b)
		case opMul:
			*at[uint64](r, in.d) = *at[uint64](r, in.a) * *at[uint64](r, in.b)
		case opAnd:
			*at[uint64](r, in.d) = *at[uint64](r, in.a) & *at[uint64](r, in.b)
		case opOr:
			*at[uint64](r, in.d) = *at[uint64](r, in.a) | *at[uint64](r, in.b)
		case opXor:
			*at[uint64](r, in.d) = *at[uint64](r, in.a) ^ *at[uint64](r, in.b)
		case opAdd3:
			*at[uint64](r, in.d) = *at[uint64](r, in.a) + *at[uint64](r, in.b) + *at[uint64](r, in.c)

		case opExtS8:
			*at[int64](r, in.d) = int64(*at[int8](r, in.a))
		case opExtS16:
			*at[int64](r, in.d) = int64(*at[int16](r, in.a))
		case opExtS32:
			*at[int64](r, in.d) = int64(*at[int32](r, in.a))
		case opExtU8:
			*at[uint64](r, in.d) = uint64(*at[uint8](r, in.a))
		case opExtU16:
			*at[uint64](r, in.d) = uint64(*at[uint16](r, in.a))
		case opExtU32:
			*at[uint64](r, in.d) = uint64(*at[uint32](r, in.a))

		case opDivS32:
			q := int32(-1)
			if y := *at[int32](r, in.b); y != 0 {
				q = *at[int32](r, in.a) / y
			}
			*at[int64](r, in.d) = int64(q)
		case opDivU32:
			q := ^uint32(0)
			if y := *at[uint32](r, in.b); y != 0 {
				q = *at[uint32](r, in.a) / y
			}
			*at[uint64](r, in.d) = uint64(q)
		case opDivS64:
			q := int64(-1)
			if y := *at[int64](r, in.b); y != 0 {
				q = *at[int64](r, in.a) / y
			}
			*at[int64](r, in.d) = q
		case opDivU64:
			q := ^uint64(0)
			if y := *at[uint64](r, in.b); y != 0 {
				q = *at[uint64](r, in.a) / y
			}
			*at[uint64](r, in.d) = q
		case opRemS32:
			q := *at[int32](r, in.a)
			if y := *at[int32](r, in.b); y != 0 {
				q %= y
			}
			*at[int64](r, in.d) = int64(q)
		case opRemU32:
			q := *at[uint32](r, in.a)
			if y := *at[uint32](r, in.b); y != 0 {
				q %= y
			}
			*at[uint64](r, in.d) = uint64(q)
		case opRemS64:
			q := *at[int64](r, in.a)
			if y := *at[int64](r, in.b); y != 0 {
				q %= y
			}
			*at[int64](r, in.d) = q
		case opRemU64:
			q := *at[uint64](r, in.a)
			if y := *at[uint64](r, in.b); y != 0 {
				q %= y
			}
			*at[uint64](r, in.d) = q
		case opShl32:
			*at[uint64](r, in.d) = uint64(*at[uint32](r, in.a) << *at[uint32](r, in.b))
		case opShl64:
			*at[uint64](r, in.d) = *at[uint64](r, in.a) << *at[uint64](r, in.b)
		case opShr32:
			*at[uint64](r, in.d) = uint64(*at[uint32](r, in.a) >> *at[uint32](r, in.b))
		case opShr64:
			*at[uint64](r, in.d) = *at[uint64](r, in.a) >> *at[uint64](r, in.b)
		case opSar32:
			*at[int64](r, in.d) = int64(*at[int32](r, in.a) >> *at[uint32](r, in.b))
		case opSar64:
			*at[int64](r, in.d) = *at[int64](r, in.a) >> *at[uint64](r, in.b)
		case opMaxS32:
			*at[int64](r, in.d) = int64(max(*at[int32](r, in.a), *at[int32](r, in.b)))
		case opMaxU32:
			*at[uint64](r, in.d) = uint64(max(*at[uint32](r, in.a), *at[uint32](r, in.b)))
		case opMaxS64:
			*at[int64](r, in.d) = max(*at[int64](r, in.a), *at[int64](r, in.b))
		case opMaxU64:
			*at[uint64](r, in.d) = max(*at[uint64](r, in.a), *at[uint64](r, in.b))
		case opMinS32:
			*at[int64](r, in.d) = int64(min(*at[int32](r, in.a), *at[int32](r, in.b)))
		case opMinU32:
			*at[uint64](r, in.d) = uint64(min(*at[uint32](r, in.a), *at[uint32](r, in.b)))
		case opMinS64:
			*at[int64](r, in.d) = min(*at[int64](r, in.a), *at[int64](r, in.b))
		case opMinU64:
			*at[uint64](r, in.d) = min(*at[uint64](r, in.a), *at[uint64](r, in.b))

		case opEq32:
			*at[uint64](r, in.d) = truth(*at[uint32](r, in.a) == *at[uint32](r, in.b))
		case opNe32:
			*at[uint64](r, in.d) = truth(*at[uint32](r, in.a) != *at[uint32](r, in.b))
		case opLtS32:
			*at[uint64](r, in.d) = truth(*at[int32](r, in.a) < *at[int32](r, in.b))
		case opLeS32:
			*at[uint64](r, in.d) = truth(*at[int32](r, in.a) <= *at[int32](r, in.b))
		case opLtU32:
			*at[uint64](r, in.d) = truth(*at[uint32](r, in.a) < *at[uint32](r, in.b))
		case opLeU32:
			*at[uint64](r, in.d) = truth(*at[uint32](r, in.a) <= *at[uint32](r, in.b))
		case opEq64:
			*at[uint64](r, in.d) = truth(*at[uint64](r, in.a) == *at[uint64](r, in.b))
		case opNe64:
			*at[uint64](r, in.d) = truth(*at[uint64](r, in.a) != *at[uint64](r, in.b))
		case opLtS64:
			*at[uint64](r, in.d) = truth(*at[int64](r, in.a) < *at[int64](r, in.b))
		case opLeS64:
			*at[uint64](r, in.d) = truth(*at[int64](r, in.a) <= *at[int64](r, in.b))
		case opLtU64:
			*at[uint64](r, in.d) = truth(*at[uint64](r, in.a) < *at[uint64](r, in.b))
		case opLeU64:
			*at[uint64](r, in.d) = truth(*at[uint64](r, in.a) <= *at[uint64](r, in.b))

		case opAddF32:
			*at[float32](r, in.d) = *at[float32](r, in.a) + *at[float32](r, in.b)
		case opSubF32:
			*at[float32](r, in.d) = *at[float32](r, in.a) - *at[float32](r, in.b)
		case opMulF32:
			*at[float32](r, in.d) = *at[float32](r, in.a) * *at[float32](r, in.b)
		case opDivF32:
			*at[float32](r, in.d) = *at[float32](r, in.a) / *at[float32](r, in.b)
		case opMaxF32:
			*at[float32](r, in.d) = max(*at[float32](r, in.a), *at[float32](r, in.b))
		case opMinF32:
			*at[float32](r, in.d) = min(*at[float32](r, in.a), *at[float32](r, in.b))
		case opNegF32:
			*at[uint32](r, in.d) = *at[uint32](r, in.a) ^ 1<<31
		case opAbsF32:
			*at[uint32](r, in.d) = *at[uint32](r, in.a) &^ (1 << 31)
		case opSqrtF32:
			*at[float32](r, in.d) = float32(math.Sqrt(float64(*at[float32](r, in.a))))
		case opMulAddF32:
			*at[float32](r, in.d) = float32(*at[float32](r, in.a)**at[float32](r, in.b)) + *at[float32](r, in.c)
		case opEqF32:
			*at[uint64](r, in.d) = truth(*at[float32](r, in.a) == *at[float32](r, in.b))
		case opNeF32:
			*at[uint64](r, in.d) = truth(*at[float32](r, in.a) != *at[float32](r, in.b))
		case opLtF32:
			*at[uint64](r, in.d) = truth(*at[float32](r, in.a) < *at[float32](r, in.b))
		case opLeF32:
			*at[uint64](r, in.d) = truth(*at[float32](r, in.a) <= *at[float32](r, in.b))
		case opTotalF32:
			x := *at[int32](r, in.a)
			*at[int64](r, in.d) = int64(x ^ int32(uint32(x>>31)>>1))
		case opRoundF32:
			*at[float32](r, in.d) = float32(rounded(float64(*at[float32](r, in.a)), in.m))

		case opAddF64:
			*at[float64](r, in.d) = *at[float64](r, in.a) + *at[float64](r, in.b)
		case opSubF64:
			*at[float64](r, in.d) = *at[float64](r, in.a) - *at[float64](r, in.b)
		case opMulF64:
			*at[float64](r, in.d) = *at[float64](r, in.a) * *at[float64](r, in.b)
		case opDivF64:
			*at[float64](r, in.d) = *at[float64](r, in.a) / *at[float64](r, in.b)
		case opMaxF64:
			*at[float64](r, in.d) = max(*at[float64](r, in.a), *at[float64](r, in.b))
		case opMinF64:
			*at[float64](r, in.d) = min(*at[float64](r, in.a), *at[float64](r, in.b))
		case opNegF64:
			*at[uint64](r, in.d) = *at[uint64](r, in.a) ^ 1<<63
		case opAbsF64:
			*at[uint64](r, in.d) = *at[uint64](r, in.a) &^ (1 << 63)
		case opSqrtF64:
			*at[float64](r, in.d) = math.Sqrt(*at[float64](r, in.a))
		case opMulAddF64:
			*at[float64](r, in.d) = float64(*at[float64](r, in.a)**at[float64](r, in.b)) + *at[float64](r, in.c)
		case opEqF64:
			*at[uint64](r, in.d) = truth(*at[float64](r, in.a) == *at[float64](r, in.b))
		case opNeF64:
			*at[uint64](r, in.d) = truth(*at[float64](r, in.a) != *at[float64](r, in.b))
		case opLtF64:
			*at[uint64](r, in.d) = truth(*at[float64](r, in.a) < *at[float64](r, in.b))
		case opLeF64:
			*at[uint64](r, in.d) = truth(*at[float64](r, in.a) <= *at[float64](r, in.b))
		case opTotalF64:
			x := *at[int64](r, in.a)
			*at[int64](r, in.d) = x ^ int64(uint64(x>>63)>>1)
		case opRoundF64:
			*at[float64](r, in.d) = rounded(*at[float64](r, in.a), in.m)

		case opS32ToF32:
			*at[float32](r, in.d) = float32(*at[int32](r, in.a))
		case opS32ToF64:
			*at[float64](r, in.d) = float64(*at[int32](r, in.a))
		case opS64ToF32:
			*at[float32](r, in.d) = float32(*at[int64](r, in.a))
		case opS64ToF64:
			*at[float64](r, in.d) = float64(*at[int64](r, in.a))
		case opF32ToF64:
			*at[float64](r, in.d) = float64(*at[float32](r, in.a))
		case opF64ToF32:
			*at[float32](r, in.d) = float32(*at[float64](r, in.a))
		case opF32ToS32:
			*at[int64](r, in.d) = saturated(float64(*at[float32](r, in.a)))
		case opF64ToS32:
			*at[int64](r, in.d) = saturated(*at[float64](r, in.a))

		case opSelectEq32:
			x := in.e
			if *at[uint32](r, in.a) == *at[uint32](r, in.b) {
				x = in.c
			}
			*at[uint64](r, in.d) = uint64(*at[uint32](r, x))
		case opSelectLtS32:
			x := in.e
			if *at[int32](r, in.a) < *at[int32](r, in.b) {
				x = in.c
			}
			*at[uint64](r, in.d) = uint64(*at[uint32](r, x))
		case opSelectLeS32:
			x := in.e
			if *at[int32](r, in.a) <= *at[int32](r, in.b) {
				x = in.c
			}
			*at[uint64](r, in.d) = uint64(*at[uint32](r, x))
		case opSelectEqF32:
			x := in.e
			if *at[float32](r, in.a) == *at[float32](r, in.b) {
				x = in.c
			}
			*at[uint64](r, in.d) = uint64(*at[uint32](r, x))
		case opSelectNeF32:
			x := in.e
			if *at[float32](r, in.a) != *at[float32](r, in.b) {
				x = in.c
			}
			*at[uint64](r, in.d) = uint64(*at[uint32](r, x))
		case opSelectLtF32:
			x := in.e
			if *at[float32](r, in.a) < *at[float32](r, in.b) {
				x = in.c
			}
			*at[uint64](r, in.d) = uint64(*at[uint32](r, x))
		case opSelectLeF32:
			x := in.e
			if *at[float32](r, in.a) <= *at[float32](r, in.b) {
				x = in.c
			}
			*at[uint64](r, in.d) = uint64(*at[uint32](r, x))

		case opSelectTwice4:
			x := uint16(in.m)
			if *at[uint8](r, in.c) != 0 {
				x = in.e
			}
			if *at[uint8](r, in.a) != 0 {
				x = in.b
			}
			*at[uint64](r, in.d) = uint64(*at[uint32](r, x))

		case opMask:
			*at[uint64](r, in.d) = ones(*at[uint8](r, in.a) != 0)
		case opMaskEqF32:
			*at[uint64](r, in.d) = ones(*at[float32](r, in.a) == *at[float32](r, in.b))
		case opMaskNeF32:
			*at[uint64](r, in.d) = ones(*at[float32](r, in.a) != *at[float32](r, in.b))
		case opMaskLtF32:
			*at[uint64](r, in.d) = ones(*at[float32](r, in.a) < *at[float32](r, in.b))
		case opMaskLeF32:
			*at[uint64](r, in.d) = ones(*at[float32](r, in.a) <= *at[float32](r, in.b))
		case opMaskEqF64:
			*at[uint64](r, in.d) = ones(*at[float64](r, in.a) == *at[float64](r, in.b))
		case opMaskNeF64:
			*at[uint64](r, in.d) = ones(*at[float64](r, in.a) != *at[float64](r, in.b))
		case opMaskLtF64:
			*at[uint64](r, in.d) = ones(*at[float64](r, in.a) < *at[float64](r, in.b))
		case opMaskLeF64:
			*at[uint64](r, in.d) = ones(*at[float64](r, in.a) <= *at[float64](r, in.b))

		case opJump:
			goto taken
		case opIf:
			if *at[uint8](r, in.a) != 0 {
				goto taken
			}
		case opIfNot:
			if *at[uint8](r, in.a) == 0 {
				goto taken
			}
		case opIfEq32:
			if *at[uint32](r, in.a) == *at[uint32](r, in.b) {
				goto taken
			}
		case opIfNe32:
			if *at[uint32](r, in.a) != *at[uint32](r, in.b) {
				goto taken
			}
		case opIfLtS32:
			if *at[int32](r, in.a) < *at[int32](r, in.b) {
				goto taken
			}
		case opIfLeS32:
			if *at[int32](r, in.a) <= *at[int32](r, in.b) {
				goto taken
			}
		case opIfLtU32:
			if *at[uint32](r, in.a) < *at[uint32](r, in.b) {
				goto taken
			}
		case opIfLeU32:
			if *at[uint32](r, in.a) <= *at[uint32](r, in.b) {
				goto taken
			}
		case opIfEq64:
			if *at[uint64](r, in.a) == *at[uint64](r, in.b) {
				goto taken
			}
		case opIfNe64:
			if *at[uint64](r, in.a) != *at[uint64](r, in.b) {
				goto taken
			}
		case opIfLtS64:
			if *at[int64](r, in.a) < *at[int64](r, in.b) {
				goto taken
			}
		case opIfLeS64:
			if *at[int64](r, in.a) <= *at[int64](r, in.b) {
				goto taken
			}
		case opIfLtU64:
			if *at[uint64](r, in.a) < *at[uint64](r, in.b) {
				goto taken
			}
		case opIfLeU64:
			if *at[uint64](r, in.a) <= *at[uint64](r, in.b) {
				goto taken
			}
		case opAddIfLtS32:
			x, limit := *at[uint64](r, in.a)+*at[uint64](r, in.b), *at[int32](r, in.c)
			*at[uint64](r, in.d) = x
			if int32(x) < limit {
				goto taken
			}
		case opAddIfLtS64:
			x, limit := *at[uint64](r, in.a)+*at[uint64](r, in.b), *at[int64](r, in.c)
			*at[uint64](r, in.d) = x
			if int64(x) < limit {
				goto taken
			}
		}
		continue
	taken:
		next = unsafe.Add(code, in.m)
		if left--; left == 0 {
			s.at = int(in.m)
			return false
		}
	}
}
