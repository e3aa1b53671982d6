package hlo

import "fmt"

// Opcode names an operation. Its values are the positions of the mnemonics in alphabetical order, and mean nothing outside the
// process: files and texts carry mnemonics.
type Opcode uint8

// The opcodes. Each constant is the mnemonic in camel case.
const (
	OpInvalid Opcode = iota
	OpAbs
	OpAcos
	OpAcosh
	OpAdd
	OpAddDependency
	OpAfterAll
	OpAllGather
	OpAllGatherDone
	OpAllGatherStart
	OpAllReduce
	OpAllReduceDone
	OpAllReduceStart
	OpAllToAll
	OpAnd
	OpAsin
	OpAsinh
	OpAsyncDone
	OpAsyncStart
	OpAsyncUpdate
	OpAtan2
	OpAtanh
	OpBatchNormGrad
	OpBatchNormInference
	OpBatchNormTraining
	OpBitcast
	OpBitcastConvert
	OpBroadcast
	OpCall
	OpCbrt
	OpCeil
	OpCholesky
	OpClamp
	OpCollectiveBroadcast
	OpCollectivePermute
	OpCollectivePermuteDone
	OpCollectivePermuteStart
	OpCompare
	OpComplex
	OpConcatenate
	OpConditional
	OpConstant
	OpConvert
	OpConvolution
	OpCopy
	OpCopyDone
	OpCopyStart
	OpCosh
	OpCosine
	OpCountLeadingZeros
	OpCustomCall
	OpDivide
	OpDomain
	OpDot
	OpDynamicReshape
	OpDynamicSlice
	OpDynamicUpdateSlice
	OpErf
	OpExponential
	OpExponentialMinusOne
	OpFft
	OpFloor
	OpFusion
	OpGather
	OpGetDimensionSize
	OpGetTupleElement
	OpImag
	OpInfeed
	OpIota
	OpIsFinite
	OpLog
	OpLogPlusOne
	OpLogistic
	OpMap
	OpMaximum
	OpMinimum
	OpMulhi
	OpMultiply
	OpNegate
	OpNot
	OpOptBarrier
	OpOr
	OpOutfeed
	OpPad
	OpParameter
	OpPartitionId
	OpPopcnt
	OpPower
	OpRaggedAllToAll
	OpRaggedDot
	OpReal
	OpRecv
	OpRecvDone
	OpReduce
	OpReducePrecision
	OpReduceScatter
	OpReduceWindow
	OpRemainder
	OpReplicaId
	OpReshape
	OpReverse
	OpRng
	OpRngBitGenerator
	OpRngGetAndUpdateState
	OpRoundNearestAfz
	OpRoundNearestEven
	OpRsqrt
	OpScaledDot
	OpScan
	OpScatter
	OpSelect
	OpSelectAndScatter
	OpSend
	OpSendDone
	OpSetDimensionSize
	OpShiftLeft
	OpShiftRightArithmetic
	OpShiftRightLogical
	OpSign
	OpSine
	OpSinh
	OpSlice
	OpSort
	OpSqrt
	OpStochasticConvert
	OpSubtract
	OpTan
	OpTanh
	OpTopk
	OpTranspose
	OpTriangularSolve
	OpTuple
	OpWhile
	OpXor

	// NumOpcodes bounds tables indexed by Opcode, entry 0 being OpInvalid.
	NumOpcodes = int(OpXor) + 1
)

// String returns the mnemonic: "get-tuple-element".
func (op Opcode) String() string {
	if op > OpInvalid && int(op) < NumOpcodes {
		return opTable[op].Name
	}
	return fmt.Sprintf("invalid(%d)", uint8(op))
}

// IsValid reports whether op is one of the opcodes.
func (op Opcode) IsValid() bool { return op > OpInvalid && int(op) < NumOpcodes }

// OpcodeByName returns the opcode with the given mnemonic.
func OpcodeByName(name string) (Opcode, bool) {
	op, ok := opByName[name]
	return op, ok
}

// Opcodes calls yield for every opcode in order; it is an iter.Seq.
func Opcodes(yield func(Opcode) bool) {
	for op := OpInvalid + 1; int(op) < NumOpcodes; op++ {
		if !yield(op) {
			return
		}
	}
}
