package kernels

import "github.com/gohalo/halo/hlo"

// fast lists, for each opcode, the fast implementations in the order in which they are tried.
var fast [hlo.NumOpcodes][]chooser

func init() {
	for op := range hlo.Opcodes {
		if hlo.Info(op).Traits.Has(hlo.TraitElementwise) {
			fast[op] = []chooser{copyBytes, elementwise}
		}
	}
	for op, choosers := range map[hlo.Opcode][]chooser{
		hlo.OpAllGather:            {newCollective(allGather)},
		hlo.OpAllReduce:            {newCollective(allReduce)},
		hlo.OpAllToAll:             {newCollective(allToAll)},
		hlo.OpBatchNormGrad:        {batchNorm(batchNormGrad)},
		hlo.OpBatchNormInference:   {batchNorm(batchNormInference)},
		hlo.OpBatchNormTraining:    {batchNorm(batchNormTraining)},
		hlo.OpBitcast:              {copyBytes},
		hlo.OpBitcastConvert:       {copyBytes, elementwise},
		hlo.OpBroadcast:            {copyBytes, elementwise},
		hlo.OpCholesky:             {cholesky},
		hlo.OpCollectiveBroadcast:  {newCollective(collectiveBroadcast)},
		hlo.OpCollectivePermute:    {newCollective(collectivePermute)},
		hlo.OpCompare:              {elementwise, compareNarrow},
		hlo.OpConcatenate:          {concatenate},
		hlo.OpConvolution:          {convolution},
		hlo.OpCopy:                 {copyBytes, elementwise},
		hlo.OpCustomCall:           {instrument, noContents, lapackCall, topKCall, csrDense},
		hlo.OpDot:                  {dotOfVectors, dotWithoutSums, dot},
		hlo.OpDynamicSlice:         {dynamicSlice},
		hlo.OpDynamicUpdateSlice:   {dynamicUpdateSlice},
		hlo.OpFft:                  {fft},
		hlo.OpFusion:               {fusedFirst, fusedJoinedSlice, fusedTruthFolds, fusedStack, fusedLoop, fusedPieces, fusedFolds, fusedAcross, fusedRowFolds, fusedReduce, fusedRowLanes, fusedRows, fusedSequence},
		hlo.OpGather:               {gather},
		hlo.OpInfeed:               {needsMesh},
		hlo.OpIota:                 {repeatedIota, elementwise},
		hlo.OpMap:                  {mapElements},
		hlo.OpOutfeed:              {needsMesh},
		hlo.OpPad:                  {pad},
		hlo.OpRecv:                 {needsMesh},
		hlo.OpRecvDone:             {recvDone},
		hlo.OpRaggedAllToAll:       {newCollective(raggedAllToAll)},
		hlo.OpReduceScatter:        {newCollective(reduceScatter)},
		hlo.OpRaggedDot:            {raggedDot},
		hlo.OpReduce:               {reduce, reduceFolds, reduceRowLanes, reduceLanes},
		hlo.OpReduceWindow:         {reduceWindow, reduceFolds, reduceWindowLanes},
		hlo.OpReshape:              {copyBytes},
		hlo.OpReverse:              {elementwise},
		hlo.OpRngBitGenerator:      {rngBitGenerator},
		hlo.OpRngGetAndUpdateState: {rngGetAndUpdateState},
		hlo.OpScatter:              {scatter},
		hlo.OpSelectAndScatter:     {selectAndScatter},
		hlo.OpSend:                 {send, needsMesh},
		hlo.OpSlice:                {copyBytes, elementwise},
		hlo.OpSort:                 {sortLines},
		hlo.OpTopk:                 {topK},
		hlo.OpTranspose:            {copyBytes, transpose, elementwise},
		hlo.OpTriangularSolve:      {triangularSolve},
	} {
		fast[op] = choosers
	}
}

// HasFast reports whether some implementation of op is made for speed.
func HasFast(op hlo.Opcode) bool { return len(fast[op]) > 0 }
