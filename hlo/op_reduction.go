package hlo

// Ops that apply a computation to elements: folds, scans, sorts.
var reductionOps = []OpInfo{
	{Op: OpReduce, Name: "reduce", Arity: atLeast(2), NewAttrs: attrs[DimensionsAttrs], Callees: oneCallee("to_apply"), CanInfer: true,
		Traits: TraitApply, Work: WorkFold,
		Shape: reduceShape, Doc: "fold axes with a computation"},
	{Op: OpReduceWindow, Name: "reduce-window", Arity: atLeast(2), NewAttrs: attrs[WindowAttrs], Callees: oneCallee("to_apply"), CanInfer: true,
		Traits: TraitApply | TraitMixesPrecision | TraitKeepsLayout, Work: WorkWindow,
		Shape: reduceWindowShape, Doc: "fold windows with a computation"},
	{Op: OpSelectAndScatter, Name: "select-and-scatter", Arity: exactly(3), NewAttrs: attrs[WindowAttrs], Callees: []CalleeRole{{Name: "select"}, {Name: "scatter"}}, CanInfer: true,
		Traits: TraitApply | TraitKeepsLayout, Work: WorkScatter,
		Shape: selectAndScatterShape, Doc: "scatter each source value to the element its window selects"},
	{Op: OpMap, Name: "map", Arity: atLeast(0), NewAttrs: attrs[MapAttrs], Callees: oneCallee("to_apply"), CanInfer: true,
		Traits: TraitApply | TraitKeepsLayout, Work: WorkFold,
		Shape: mapShape, Doc: "apply a computation to elements at the same index"},
	{Op: OpScan, Name: "scan", Arity: atLeast(0), NewAttrs: attrs[ScanAttrs], Callees: oneCallee("to_apply"), CanInfer: true, Aliases: []CalleeAlias{{Name: "calls", Full: true}},
		Traits: TraitApply, Match: MatchOwn, Work: WorkFold,
		Shape: scanShape, Doc: "step a computation along an axis, carrying values"},
	{Op: OpSort, Name: "sort", Arity: atLeast(0), NewAttrs: attrs[SortAttrs], Callees: oneCallee("to_apply"), CanInfer: true,
		Traits: TraitApply | TraitMixesPrecision | TraitKeepsLayout, Work: WorkSort,
		Shape: sortShape, Doc: "order elements along an axis by a comparator, several arrays together"},
	{Op: OpTopk, Name: "topk", Arity: exactly(1), NewAttrs: attrs[TopKAttrs], CanInfer: true, Traits: TraitKeepsLayout, MatchRule: "RED-18",
		Shape: onOrdered(topkShape), Doc: "largest (or smallest) k of the last axis and their indices"},
}
