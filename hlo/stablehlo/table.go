package stablehlo

import (
	"strings"
	"sync"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
)

// row is what is known of an operation: how many operands, regions and results it has, and how it becomes HLO.
type row struct {
	min, max int // operands; max < 0: any number
	regions  int
	results  int // < 0: any number
	emit     func(c *comp, op *mlir.Op)
	expanded bool // written out before it is converted
}

// rows has every operation that is read. It is made when it is first wanted: most runs of a command read no StableHLO.
func rows() map[string]*row {
	table.once.Do(func() { table.rows = makeRows() })
	return table.rows
}

// table is filled by rows, as converting a region looks operations up.
var table struct {
	once sync.Once
	rows map[string]*row
}

// rowOf is the row of an operation, nil when it is unknown. The dialect mhlo has the operations of stablehlo.
func rowOf(name string) *row {
	if r := rows()[name]; r != nil {
		return r
	}
	if rest, ok := strings.CutPrefix(name, "mhlo."); ok {
		return rows()["stablehlo."+rest]
	}
	return nil
}

// inStableHLO is the name that an operation of mhlo has in stablehlo, if it has one there only.
func inStableHLO(name string) string {
	if rest, ok := strings.CutPrefix(name, "mhlo."); ok && rows()[name] == nil {
		return "stablehlo." + rest
	}
	return name
}

func isKnownDialect(d string) bool {
	switch d {
	case "stablehlo", "chlo", "mhlo", "sdy", "func", "shape", "tensor", "arith":
		return true
	}
	return false
}

// same is an operation that HLO has too, without attributes.
func same(op hlo.Opcode) func(*comp, *mlir.Op) {
	return func(c *comp, _ *mlir.Op) { c.set(c.add(op, c.resultShape(0), nil, c.operands()...)) }
}

// unary, binary and ternary are the operations of each element.
func unary(op hlo.Opcode) *row  { return op1(same(op)) }
func binary(op hlo.Opcode) *row { return op2(same(op)) }

func op1(emit func(*comp, *mlir.Op)) *row { return &row{1, 1, 0, 1, emit, false} }
func op2(emit func(*comp, *mlir.Op)) *row { return &row{2, 2, 0, 1, emit, false} }
func op3(emit func(*comp, *mlir.Op)) *row { return &row{3, 3, 0, 1, emit, false} }

func makeRows() map[string]*row {
	all := map[string]*row{
		"stablehlo.abs":                   unary(hlo.OpAbs),
		"stablehlo.cbrt":                  op1(realUnary(hlo.OpCbrt)),
		"stablehlo.ceil":                  op1(realUnary(hlo.OpCeil)),
		"stablehlo.cosine":                unary(hlo.OpCosine),
		"stablehlo.count_leading_zeros":   unary(hlo.OpCountLeadingZeros),
		"stablehlo.exponential":           unary(hlo.OpExponential),
		"stablehlo.exponential_minus_one": unary(hlo.OpExponentialMinusOne),
		"stablehlo.floor":                 op1(realUnary(hlo.OpFloor)),
		"stablehlo.imag":                  op1((*comp).imag),
		"stablehlo.is_finite":             unary(hlo.OpIsFinite),
		"stablehlo.log":                   unary(hlo.OpLog),
		"stablehlo.log_plus_one":          unary(hlo.OpLogPlusOne),
		"stablehlo.logistic":              unary(hlo.OpLogistic),
		"stablehlo.negate":                unary(hlo.OpNegate),
		"stablehlo.not":                   unary(hlo.OpNot),
		"stablehlo.popcnt":                unary(hlo.OpPopcnt),
		"stablehlo.real":                  op1((*comp).real),
		"stablehlo.round_nearest_afz":     unary(hlo.OpRoundNearestAfz),
		"stablehlo.round_nearest_even":    unary(hlo.OpRoundNearestEven),
		"stablehlo.rsqrt":                 unary(hlo.OpRsqrt),
		"stablehlo.sign":                  unary(hlo.OpSign),
		"stablehlo.sine":                  unary(hlo.OpSine),
		"stablehlo.sqrt":                  unary(hlo.OpSqrt),
		"stablehlo.tan":                   unary(hlo.OpTan),
		"stablehlo.tanh":                  unary(hlo.OpTanh),

		"stablehlo.add":                    binary(hlo.OpAdd),
		"stablehlo.and":                    binary(hlo.OpAnd),
		"stablehlo.atan2":                  binary(hlo.OpAtan2),
		"stablehlo.complex":                binary(hlo.OpComplex),
		"stablehlo.divide":                 binary(hlo.OpDivide),
		"stablehlo.maximum":                binary(hlo.OpMaximum),
		"stablehlo.minimum":                binary(hlo.OpMinimum),
		"stablehlo.multiply":               binary(hlo.OpMultiply),
		"stablehlo.or":                     binary(hlo.OpOr),
		"stablehlo.power":                  binary(hlo.OpPower),
		"stablehlo.remainder":              binary(hlo.OpRemainder),
		"stablehlo.shift_left":             binary(hlo.OpShiftLeft),
		"stablehlo.shift_right_arithmetic": binary(hlo.OpShiftRightArithmetic),
		"stablehlo.shift_right_logical":    binary(hlo.OpShiftRightLogical),
		"stablehlo.subtract":               binary(hlo.OpSubtract),
		"stablehlo.xor":                    binary(hlo.OpXor),

		"stablehlo.compare":          op2((*comp).compare),
		"stablehlo.select":           op3((*comp).selectOp),
		"stablehlo.clamp":            op3((*comp).clamp),
		"stablehlo.convert":          op1((*comp).convertType),
		"stablehlo.bitcast_convert":  unary(hlo.OpBitcastConvert),
		"stablehlo.reduce_precision": op1((*comp).reducePrecision),
		"stablehlo.constant":         {0, 0, 0, 1, (*comp).constant, false},
		"arith.constant":             {0, 0, 0, 1, (*comp).constant, false},
		"chlo.constant":              {0, 0, 0, 1, (*comp).constant, false},
		"sdy.constant":               {0, 0, 0, 1, (*comp).constant, false},
		"stablehlo.iota":             {0, 0, 0, 1, (*comp).iota, false},
		"mhlo.copy":                  unary(hlo.OpCopy),
		"mhlo.erf":                   unary(hlo.OpErf),
		"mhlo.topk":                  {1, 1, 0, 2, (*comp).topK, false},

		"stablehlo.broadcast":            op1((*comp).broadcastOp),
		"stablehlo.broadcast_in_dim":     op1((*comp).broadcastInDim),
		"stablehlo.reshape":              op1((*comp).reshapeOp),
		"stablehlo.transpose":            op1((*comp).transpose),
		"stablehlo.reverse":              op1((*comp).reverse),
		"stablehlo.concatenate":          {1, -1, 0, 1, (*comp).concatenate, false},
		"stablehlo.slice":                op1((*comp).slice),
		"stablehlo.dynamic_slice":        {1, -1, 0, 1, (*comp).dynamicSlice, false},
		"stablehlo.dynamic_update_slice": {2, -1, 0, 1, same(hlo.OpDynamicUpdateSlice), false},
		"stablehlo.pad":                  op2((*comp).pad),
		"stablehlo.gather":               op2((*comp).gather),
		"stablehlo.torch_index_select":   op2((*comp).torchIndexSelect),
		"stablehlo.get_dimension_size":   op1((*comp).getDimensionSize),
		"stablehlo.set_dimension_size":   op2((*comp).setDimensionSize),

		"stablehlo.dynamic_reshape":          op2((*comp).dynamicReshape),
		"stablehlo.dynamic_broadcast_in_dim": op2((*comp).notRefined),
		"stablehlo.dynamic_iota":             op1((*comp).notRefined),
		"stablehlo.dynamic_pad":              {5, 5, 0, 1, (*comp).notRefined, false},
		"stablehlo.dynamic_gather":           op3((*comp).notRefined),
		"stablehlo.dynamic_conv":             op3((*comp).notRefined),
		"stablehlo.real_dynamic_slice":       {4, 4, 0, 1, (*comp).notRefined, false},

		"stablehlo.dot":              op2((*comp).dot),
		"stablehlo.dot_general":      op2((*comp).dotGeneral),
		"stablehlo.einsum":           op2((*comp).einsum),
		"stablehlo.unary_einsum":     op1((*comp).unaryEinsum),
		"stablehlo.convolution":      op2((*comp).convolution),
		"stablehlo.fft":              op1((*comp).fft),
		"stablehlo.cholesky":         op1((*comp).cholesky),
		"stablehlo.triangular_solve": op2((*comp).triangularSolve),

		"stablehlo.batch_norm_training":  {3, 3, 0, 3, batchNorm(hlo.OpBatchNormTraining), false},
		"stablehlo.batch_norm_inference": {5, 5, 0, 1, batchNorm(hlo.OpBatchNormInference), false},
		"stablehlo.batch_norm_grad":      {5, 5, 0, 3, batchNorm(hlo.OpBatchNormGrad), false},

		"stablehlo.reduce":             {2, -1, 1, -1, (*comp).reduce, false},
		"stablehlo.reduce_window":      {2, -1, 1, -1, (*comp).reduceWindow, false},
		"stablehlo.select_and_scatter": {3, 3, 2, 1, (*comp).selectAndScatter, false},
		"stablehlo.map":                {1, -1, 1, 1, (*comp).mapOp, false},
		"stablehlo.sort":               {1, -1, 1, -1, (*comp).sort, false},
		"stablehlo.scatter":            {3, -1, 1, -1, (*comp).scatter, false},

		"stablehlo.while":                {0, -1, 2, -1, (*comp).while, false},
		"stablehlo.if":                   {1, 1, 2, -1, (*comp).conditional, false},
		"stablehlo.case":                 {1, 1, 1, -1, (*comp).conditional, false},
		"stablehlo.composite":            {0, -1, 0, -1, (*comp).composite, false},
		"stablehlo.custom_call":          {0, -1, 0, -1, (*comp).customCall, false},
		"func.call":                      {0, -1, 0, -1, (*comp).call, false},
		"func.return":                    {0, -1, 0, 0, nil, false},
		"stablehlo.return":               {0, -1, 0, 0, nil, false},
		"sdy.return":                     {0, -1, 0, 0, nil, false},
		"stablehlo.tuple":                {0, -1, 0, 1, (*comp).tupleOp, false},
		"stablehlo.get_tuple_element":    op1((*comp).getTupleElement),
		"stablehlo.optimization_barrier": {0, -1, 0, -1, (*comp).optimizationBarrier, false},

		"stablehlo.rng":               op3((*comp).rng),
		"stablehlo.rng_bit_generator": {1, 1, 0, 2, (*comp).rngBitGenerator, false},
		"stablehlo.partition_id":      {0, 0, 0, 1, same(hlo.OpPartitionId), false},
		"stablehlo.replica_id":        {0, 0, 0, 1, same(hlo.OpReplicaId), false},
		"stablehlo.create_token":      {0, 0, 0, 1, same(hlo.OpAfterAll), false},
		"stablehlo.after_all":         {0, -1, 0, 1, same(hlo.OpAfterAll), false},
		"stablehlo.infeed":            {1, 1, 0, -1, (*comp).infeed, false},
		"stablehlo.outfeed":           {1, -1, 0, 1, (*comp).outfeed, false},
		"stablehlo.send":              {1, -1, 0, 1, (*comp).send, false},
		"stablehlo.recv":              {1, 1, 0, -1, (*comp).recv, false},

		"stablehlo.all_reduce":           {1, -1, 1, -1, (*comp).allReduce, false},
		"stablehlo.cross-replica-sum":    op1((*comp).crossReplicaSum),
		"stablehlo.all_gather":           {1, -1, 0, -1, (*comp).allGather, false},
		"stablehlo.all_to_all":           {1, -1, 0, -1, (*comp).allToAll, false},
		"stablehlo.reduce_scatter":       {1, -1, 1, -1, (*comp).reduceScatter, false},
		"stablehlo.collective_permute":   op1((*comp).collectivePermute),
		"stablehlo.collective_broadcast": {1, -1, 0, -1, (*comp).collectiveBroadcast, false},
		"stablehlo.async_start":          {0, -1, 1, 1, (*comp).asyncStart, false},
		"stablehlo.async_done":           {1, 1, 0, -1, (*comp).asyncDone, false},

		"stablehlo.uniform_quantize":   op1((*comp).quantized),
		"stablehlo.uniform_dequantize": op1((*comp).quantized),

		"sdy.sharding_constraint": op1((*comp).shardingConstraint),
		"sdy.reshard":             op1((*comp).shardingConstraint),
		"sdy.manual_computation":  {0, -1, 1, -1, (*comp).manualComputation, false},
		"sdy.named_computation":   {0, -1, 1, -1, (*comp).namedComputation, false},
		"sdy.sharding_group":      {1, 1, 0, 0, func(*comp, *mlir.Op) {}, false},
		"sdy.propagation_barrier": op1((*comp).identity),
		"sdy.data_flow_edge":      op1((*comp).identity),
	}
	sizeRows(all)
	for name, r := range chloRows() {
		all["chlo."+name] = r
	}
	return all
}

// nearestRow is the known operation most like a name, "" when none is.
func nearestRow(name string) string {
	near := ""
	for other := range rows() {
		if strings.HasPrefix(other, name) || len(other) > 12 && strings.HasPrefix(name, other) {
			if near == "" || len(other) < len(near) || len(other) == len(near) && other < near {
				near = other
			}
		}
	}
	return near
}

func (c *comp) identity(op *mlir.Op) { c.set(c.operand(0)) }

func (c *comp) quantized(op *mlir.Op) { c.fail(op, "'%s': quantized types are not supported", op.Name) }
