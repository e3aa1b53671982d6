package hlo

// Blocks at indices known at run time.
func indexingOps() []OpInfo {
	return []OpInfo{
		{Op: OpDynamicSlice, Name: "dynamic-slice", Arity: atLeast(1), NewAttrs: attrs[DynamicSliceAttrs](), Traits: TraitMovesData,
			Doc: "a block at indices known at run time"},
		{Op: OpDynamicUpdateSlice, Name: "dynamic-update-slice", Arity: atLeast(2), Traits: TraitMovesData | TraitInPlace,
			Doc: "an array with a block overwritten at indices known at run time"},
		{Op: OpGather, Name: "gather", Arity: binary, NewAttrs: attrs[GatherAttrs](), CanInfer: true, Traits: TraitMovesData,
			Doc: "blocks at many indices"},
		{Op: OpScatter, Name: "scatter", Arity: atLeast(3), NewAttrs: attrs[ScatterAttrs](), Callees: oneCallee("to_apply"), CanInfer: true, Traits: TraitApply | TraitInPlace,
			Doc: "combine updates into an array at many indices"},
	}
}
