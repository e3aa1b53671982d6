package hlo

// Custom calls.
var customOps = []OpInfo{
	{Op: OpCustomCall, Name: "custom-call", Arity: atLeast(0), NewAttrs: attrs[CustomCallAttrs], Callees: []CalleeRole{{Name: "called_computations", List: true, Optional: true}}, Aliases: []CalleeAlias{{Name: "to_apply"}},
		Traits: TraitMixesPrecision | TraitStays, Match: MatchOwn, Work: WorkUnknown,
		Shape: statedShape, Doc: "call of code that HLO does not know"},
}
