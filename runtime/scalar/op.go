package scalar

// op is an instruction. The comment shows it on registers d, a, b, c and e; m is a number in the instruction itself.
type op uint16

const (
	opEnd    op = iota // leave the interpreter
	opCall             // loop m over one element: d from a, b, c
	opInline           // the same, by instructions

	opMove4
	opMove8
	opSelect4 // d = a ? b : c
	opSelect8

	opLoad1 // d = *(place a + register b + m)
	opLoad2
	opLoad4
	opLoad8
	opStore1 // *(place a + register b + m) = c
	opStore2
	opStore4
	opStore8
	opIndexS32 // d = clamp(b, 0, c)·m
	opIndexU32
	opIndexS64
	opIndexU64
	opLoadAt4S32 // d = *(place a + clamp(b, 0, c)·m)
	opLoadAt4S64
	opLoadAt8S32
	opLoadAt8S64

	// Integers of any width.
	opAdd
	opSub
	opMul
	opAnd
	opOr
	opXor
	opAdd3 // d = a + b + c

	opExtS8 // to 64 bits
	opExtS16
	opExtS32
	opExtU8
	opExtU16
	opExtU32

	opDivS32
	opDivU32
	opDivS64
	opDivU64
	opRemS32
	opRemU32
	opRemS64
	opRemU64
	opShl32
	opShl64
	opShr32
	opShr64
	opSar32
	opSar64
	opMaxS32
	opMaxU32
	opMaxS64
	opMaxU64
	opMinS32
	opMinU32
	opMinS64
	opMinU64

	opEq32
	opNe32
	opLtS32
	opLeS32
	opLtU32
	opLeU32
	opEq64
	opNe64
	opLtS64
	opLeS64
	opLtU64
	opLeU64

	opAddF32
	opSubF32
	opMulF32
	opDivF32
	opMaxF32
	opMinF32
	opNegF32
	opAbsF32
	opSqrtF32
	opMulAddF32 // d = a·b + c, rounded twice
	opEqF32
	opNeF32
	opLtF32
	opLeF32
	opTotalF32 // d = a number that orders as a does in the total order
	opRoundF32 // d = a, rounded to an integer as m says

	opAddF64
	opSubF64
	opMulF64
	opDivF64
	opMaxF64
	opMinF64
	opNegF64
	opAbsF64
	opSqrtF64
	opMulAddF64
	opEqF64
	opNeF64
	opLtF64
	opLeF64
	opTotalF64
	opRoundF64

	opS32ToF32
	opS32ToF64
	opS64ToF32
	opS64ToF64
	opF32ToF64
	opF64ToF32
	opF32ToS32
	opF64ToS32

	// Branches to instruction m.
	opJump
	opIf
	opIfNot
	opIfEq32
	opIfNe32
	opIfLtS32
	opIfLeS32
	opIfLtU32
	opIfLeU32
	opIfEq64
	opIfNe64
	opIfLtS64
	opIfLeS64
	opIfLtU64
	opIfLeU64
	opAddIfLtS32 // d = a + b; if d < c
	opAddIfLtS64

	// A comparison and a choice: d = a < b ? c : e.
	opSelectEq32
	opSelectLtS32
	opSelectLeS32
	opSelectEqF32
	opSelectNeF32
	opSelectLtF32
	opSelectLeF32
	opSelectTwice4 // d = a ? b : c ? e : m

	// Choices between floats: see masks.go.
	opMask // d = a ? ones : zeros
	opMaskEqF32
	opMaskNeF32
	opMaskLtF32
	opMaskLeF32
	opMaskEqF64
	opMaskNeF64
	opMaskLtF64
	opMaskLeF64
	opBlend4 // d = a ? b : c, of a mask
	opBlend8

	// Not instructions: the graph's structure.
	opConst
	opVar  // of a loop, or the result of a branch
	opLoop // see control.go
	opBranch

	numOps
)

// opInfo is what is true of an op.
type opInfo struct {
	args     int
	width    uint8 // of the result in bytes, 0 if it has none or that of its operands
	commutes bool
	branch   op // compares: what also jumps
	negated  op // integer compares and branches: what is true where this is not, after exchanging the operands if swaps
	swaps    bool
	choice   op // compares: what also chooses between two values of 32 bits
}

var infos [numOps]opInfo

func init() {
	set := func(i opInfo, ops ...op) {
		for _, o := range ops {
			infos[o] = i
		}
	}
	set(opInfo{args: 3}, opSelect4, opSelect8)
	set(opInfo{args: 1, width: 8}, opMask)
	set(opInfo{args: 2, width: 8}, opMaskEqF32, opMaskNeF32, opMaskLtF32, opMaskLeF32, opMaskEqF64, opMaskNeF64, opMaskLtF64, opMaskLeF64)
	set(opInfo{args: 3, width: 4}, opBlend4)
	set(opInfo{args: 3, width: 8}, opBlend8)
	set(opInfo{args: 3, width: 8}, opAdd3)
	set(opInfo{args: 2, width: 8, commutes: true}, opAdd, opMul, opAnd, opOr, opXor)
	set(opInfo{args: 2, width: 8}, opSub)
	set(opInfo{args: 1, width: 8}, opExtS8, opExtS16, opExtS32, opExtU8, opExtU16, opExtU32)
	set(opInfo{args: 2, width: 4}, opDivS32, opDivU32, opRemS32, opRemU32, opShl32, opShr32, opSar32)
	set(opInfo{args: 2, width: 8}, opDivS64, opDivU64, opRemS64, opRemU64, opShl64, opShr64, opSar64)
	set(opInfo{args: 2, width: 4, commutes: true}, opMaxS32, opMaxU32, opMinS32, opMinU32)
	set(opInfo{args: 2, width: 8, commutes: true}, opMaxS64, opMaxU64, opMinS64, opMinU64)
	set(opInfo{args: 2, width: 4}, opAddF32, opSubF32, opMulF32, opDivF32, opMaxF32, opMinF32)
	set(opInfo{args: 2, width: 8}, opAddF64, opSubF64, opMulF64, opDivF64, opMaxF64, opMinF64)
	set(opInfo{args: 1, width: 4}, opNegF32, opAbsF32, opSqrtF32, opTotalF32, opRoundF32)
	set(opInfo{args: 1, width: 8}, opNegF64, opAbsF64, opSqrtF64, opTotalF64, opRoundF64)
	set(opInfo{args: 3, width: 4}, opMulAddF32)
	set(opInfo{args: 3, width: 8}, opMulAddF64)
	set(opInfo{args: 1, width: 4}, opS32ToF32, opS64ToF32, opF64ToF32, opF32ToS32, opF64ToS32)
	set(opInfo{args: 1, width: 8}, opS32ToF64, opS64ToF64, opF32ToF64)
	set(opInfo{args: 1, width: 8}, opIndexS32, opIndexU32, opIndexS64, opIndexU64)

	compare := opInfo{args: 2, width: 1}
	set(compare, opEqF32, opNeF32, opLtF32, opLeF32, opEqF64, opNeF64, opLtF64, opLeF64)
	for i, o := range []op{opEq32, opNe32, opLtS32, opLeS32, opLtU32, opLeU32, opEq64, opNe64, opLtS64, opLeS64, opLtU64, opLeU64} {
		c := compare
		c.branch = opIfEq32 + op(i)
		c.commutes = i%6 < 2
		c.negated, c.swaps = opEq32+op(i^1), i%6 >= 2
		infos[o] = c
	}
	for o, choice := range map[op]op{opEq32: opSelectEq32, opLtS32: opSelectLtS32, opLeS32: opSelectLeS32,
		opEqF32: opSelectEqF32, opNeF32: opSelectNeF32, opLtF32: opSelectLtF32, opLeF32: opSelectLeF32} {
		infos[o].choice = choice
	}
}

// branches reports whether m of an instruction is where it may go.
func (o op) branches() bool { return o >= opJump && o <= opAddIfLtS64 }

// loads reports whether an op reads an array.
func (o op) loads() bool { return o >= opLoad1 && o <= opLoad8 }

// How opRoundF32 and opRoundF64 round, by the numbers that the processor's instruction has for it.
const (
	toEven int32 = iota
	toFloor
	toCeil
)
