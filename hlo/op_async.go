package hlo

// Asynchronous wrappers.
var asyncOps = []OpInfo{
	{Op: OpAsyncStart, Name: "async-start", Arity: atLeast(0), NewAttrs: attrs[AsyncStartAttrs], Callees: oneCallee("calls"),
		Traits: TraitControl | TraitAsyncStart | TraitNotWrappable | TraitMixesPrecision, Match: MatchOwn, Work: WorkCall,
		Shape: asyncStartShape, Doc: "begin a computation asynchronously"},
	{Op: OpAsyncUpdate, Name: "async-update", Arity: atLeast(1), NewAttrs: attrs[AsyncUpdateAttrs], Aliases: []CalleeAlias{{Name: "calls"}},
		Traits: TraitNotWrappable | TraitMixesPrecision, Match: MatchOwn, Work: WorkNone,
		Shape: asyncUpdateShape, Doc: "bind more operands, or wait a stage, of an asynchronous computation"},
	{Op: OpAsyncDone, Name: "async-done", Arity: exactly(1), NewAttrs: attrs[AsyncDoneAttrs], Aliases: []CalleeAlias{{Name: "calls"}},
		Traits: TraitAsyncDone | TraitNotWrappable | TraitMixesPrecision, Match: MatchOwn, Work: WorkNone,
		Shape: asyncDoneShape, Doc: "result of an asynchronous computation"},
	{Op: OpCopyStart, Name: "copy-start", Arity: exactly(1), NewAttrs: attrs[CopyStartAttrs],
		Traits: TraitAsyncStart | TraitNotWrappable | TraitMixesPrecision, Match: MatchOrder, MatchRule: "PAIR-07", Pair: Pair{Plain: OpCopy, Start: OpCopyStart, Done: OpCopyDone, Context: 1},
		Shape: copyStartShape, Doc: "begin a copy"},
	{Op: OpCopyDone, Name: "copy-done", Arity: exactly(1),
		Traits: TraitAsyncDone | TraitNotWrappable | TraitMixesPrecision, Match: MatchExact, MatchRule: "PAIR-08", Work: WorkNone,
		Shape: copyDoneShape, Doc: "result of a copy"},
}
