package hlo

// Communication between the devices of a program.
func collectiveOps() []OpInfo {
	return []OpInfo{
		{Op: OpAllGather, Name: "all-gather", Arity: atLeast(0), NewAttrs: attrs[AllGatherAttrs](), Traits: TraitCollective | TraitNativeAsync,
			Shape: allGatherShape, Doc: "concatenation of the operands of all devices of a group"},
		{Op: OpAllGatherStart, Name: "all-gather-start", Arity: atLeast(0), NewAttrs: attrs[AllGatherAttrs](), Traits: TraitCollective | TraitAsyncStart | TraitNotWrappable,
			Shape: allGatherStartShape, Doc: "begin an all-gather"},
		{Op: OpAllGatherDone, Name: "all-gather-done", Arity: exactly(1), Traits: TraitCollective | TraitAsyncDone | TraitNotWrappable,
			Shape: secondElement("COLL-07"), Doc: "result of an all-gather"},
		{Op: OpAllReduce, Name: "all-reduce", Arity: atLeast(0), NewAttrs: attrs[AllReduceAttrs](), Callees: oneCallee("to_apply"), Traits: TraitCollective | TraitNativeAsync | TraitApply,
			Shape: allReduceShape, Doc: "fold of the operands of all devices of a group"},
		{Op: OpAllReduceStart, Name: "all-reduce-start", Arity: atLeast(0), NewAttrs: attrs[AllReduceAttrs](), Callees: oneCallee("to_apply"), Traits: TraitCollective | TraitAsyncStart | TraitNotWrappable | TraitApply,
			Shape: allReduceShape, Doc: "begin an all-reduce"},
		{Op: OpAllReduceDone, Name: "all-reduce-done", Arity: exactly(1), Traits: TraitCollective | TraitAsyncDone | TraitNotWrappable,
			Shape: sameAsOperand, Doc: "result of an all-reduce"},
		{Op: OpReduceScatter, Name: "reduce-scatter", Arity: atLeast(0), NewAttrs: attrs[ReduceScatterAttrs](), Callees: oneCallee("to_apply"), Traits: TraitCollective | TraitApply,
			Shape: reduceScatterShape, Doc: "all-reduce of which each device keeps its part"},
		{Op: OpAllToAll, Name: "all-to-all", Arity: atLeast(0), NewAttrs: attrs[AllToAllAttrs](), Traits: TraitCollective,
			Shape: allToAllShape, Doc: "each device sends a part to each other"},
		{Op: OpRaggedAllToAll, Name: "ragged-all-to-all", Arity: atLeast(0), NewAttrs: attrs[RaggedAllToAllAttrs](), Traits: TraitCollective,
			Shape: raggedAllToAllShape, Doc: "all-to-all with sizes known at run time"},
		{Op: OpCollectiveBroadcast, Name: "collective-broadcast", Arity: atLeast(0), NewAttrs: attrs[CollectiveBroadcastAttrs](), Traits: TraitCollective,
			Shape: collectiveBroadcastShape, Doc: "value of the first device of a group"},
		{Op: OpCollectivePermute, Name: "collective-permute", Arity: atLeast(0), NewAttrs: attrs[CollectivePermuteAttrs](), Traits: TraitCollective | TraitNativeAsync,
			Shape: collectivePermuteShape, Doc: "values sent from sources to targets"},
		{Op: OpCollectivePermuteStart, Name: "collective-permute-start", Arity: atLeast(0), NewAttrs: attrs[CollectivePermuteAttrs](), Traits: TraitCollective | TraitAsyncStart | TraitNotWrappable,
			Shape: collectivePermuteStartShape, Doc: "begin a collective-permute"},
		{Op: OpCollectivePermuteDone, Name: "collective-permute-done", Arity: exactly(1), Traits: TraitCollective | TraitAsyncDone | TraitNotWrappable,
			Shape: secondElement("CPERM-07"), Doc: "result of a collective-permute"},
		{Op: OpPartitionId, Name: "partition-id", Arity: exactly(0), CanInfer: true,
			Shape: deviceID, Doc: "number of this partition"},
		{Op: OpReplicaId, Name: "replica-id", Arity: exactly(0), CanInfer: true,
			Shape: deviceID, Doc: "number of this replica"},
	}
}
