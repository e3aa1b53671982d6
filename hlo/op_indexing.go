package hlo

// Blocks at indices known at run time.
var indexingOps = []OpInfo{
	{Op: OpDynamicSlice, Name: "dynamic-slice", Arity: atLeast(1), NewAttrs: attrs[DynamicSliceAttrs],
		Traits: TraitMovesData | TraitKeepsLayout, Work: WorkPart,
		Shape: dynamicSliceShape, Doc: "a block at indices known at run time"},
	{Op: OpDynamicUpdateSlice, Name: "dynamic-update-slice", Arity: atLeast(2),
		Traits: TraitMovesData | TraitInPlace | TraitKeepsLayout, Match: MatchInPlace, MatchRule: "GEN-07", Work: WorkUpdate,
		Shape: dynamicUpdateSliceShape, Doc: "an array with a block overwritten at indices known at run time"},
	{Op: OpGather, Name: "gather", Arity: exactly(2), NewAttrs: attrs[GatherAttrs], CanInfer: true, Traits: TraitMovesData, Work: WorkPart,
		Shape: gatherShape, Doc: "blocks at many indices"},
	{Op: OpScatter, Name: "scatter", Arity: atLeast(3), NewAttrs: attrs[ScatterAttrs], Callees: oneCallee("to_apply"), CanInfer: true,
		Traits: TraitApply | TraitInPlace | TraitKeepsLayout, Work: WorkScatter,
		Shape: scatterShape, Doc: "combine updates into an array at many indices"},
}
