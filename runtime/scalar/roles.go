package scalar

// role is what an instruction takes a register for.
type role uint8

const (
	roleNone  role = iota
	roleAny        // bits, wherever they are
	roleInt        // an integer, an index or a truth value
	roleFloat      // a float
)

// roles are what an instruction does with the registers of its fields; the fifth operand is in m.
type roles struct{ d, a, b, c, e, m role }

var rolesOf [numOps]roles

func init() {
	set := func(r roles, first, last op) {
		for o := first; o <= last; o++ {
			rolesOf[o] = r
		}
	}
	const any, whole, float = roleAny, roleInt, roleFloat
	set(roles{d: float, a: float, b: float, c: float}, opInline, opInline)
	set(roles{d: any, a: any}, opMove4, opMove8)
	set(roles{d: any, a: whole, b: any, c: any}, opSelect4, opSelect8)
	set(roles{d: any, b: whole}, opLoad1, opLoad8)
	set(roles{b: whole, c: any}, opStore1, opStore8)
	set(roles{d: whole, a: whole, c: whole}, opIndexS32, opIndexU64)
	set(roles{d: any, b: whole, c: whole}, opLoadAt4S32, opLoadAt8S64)
	set(roles{d: whole, a: whole, b: whole}, opAdd, opXor)
	set(roles{d: whole, a: whole, b: whole, c: whole}, opAdd3, opAdd3)
	set(roles{d: whole, a: whole}, opExtS8, opExtU32)
	set(roles{d: whole, a: whole, b: whole}, opDivS32, opLeU64)
	for _, first := range []op{opAddF32, opAddF64} {
		set(roles{d: float, a: float, b: float}, first, first+opMinF32-opAddF32)
		set(roles{d: float, a: float}, first+opNegF32-opAddF32, first+opSqrtF32-opAddF32)
		set(roles{d: float, a: float, b: float, c: float}, first+opMulAddF32-opAddF32, first+opMulAddF32-opAddF32)
		set(roles{d: whole, a: float, b: float}, first+opEqF32-opAddF32, first+opLeF32-opAddF32)
		set(roles{d: float, a: float}, first+opRoundF32-opAddF32, first+opRoundF32-opAddF32)
		set(roles{d: whole, a: any}, first+opTotalF32-opAddF32, first+opTotalF32-opAddF32)
	}
	set(roles{d: float, a: whole}, opS32ToF32, opS64ToF64)
	set(roles{d: float, a: float}, opF32ToF64, opF64ToF32)
	set(roles{d: whole, a: float}, opF32ToS32, opF64ToS32)
	set(roles{a: whole}, opIf, opIfNot)
	set(roles{a: whole, b: whole}, opIfEq32, opIfLeU64)
	set(roles{d: whole, a: whole, b: whole, c: whole}, opAddIfLtS32, opAddIfLtS64)
	set(roles{d: any, a: whole, b: whole, c: any, e: any}, opSelectEq32, opSelectLeS32)
	set(roles{d: any, a: float, b: float, c: any, e: any}, opSelectEqF32, opSelectLeF32)
	set(roles{d: any, a: whole, b: any, c: whole, e: any, m: any}, opSelectTwice4, opSelectTwice4)
	set(roles{d: float, a: whole}, opMask, opMask)
	set(roles{d: float, a: float, b: float}, opMaskEqF32, opMaskLeF64)
	set(roles{d: float, a: float, b: float, c: float}, opBlend4, opBlend8)
}
