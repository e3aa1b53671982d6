package hlo

// Control flow, calls and ordering.
var controlOps = []OpInfo{
	{Op: OpCall, Name: "call", Arity: atLeast(0), NewAttrs: attrs[CallAttrs], Callees: oneCallee("to_apply"), CanInfer: true,
		Traits: TraitControl | TraitMixesPrecision | TraitCarriesAsync, Match: MatchExact, MatchRule: "CALL-03", Work: WorkCall,
		Shape: callShape, Doc: "run a computation"},
	{Op: OpConditional, Name: "conditional", Arity: atLeast(1), Callees: []CalleeRole{{Name: "branch_computations", List: true}}, CanInfer: true, Aliases: []CalleeAlias{{Name: "true_computation"}, {Name: "false_computation", Index: 1}},
		Traits: TraitControl | TraitMixesPrecision | TraitKeepsLayout | TraitCarriesAsync, Match: MatchExact, MatchRule: "CND-07", Work: WorkBranch,
		Shape: conditionalShape, Doc: "run one of several computations"},
	{Op: OpWhile, Name: "while", Arity: exactly(1), Callees: []CalleeRole{{Name: "body", Print: 1}, {Name: "condition", Print: 0}}, CanInfer: true,
		Traits: TraitControl | TraitMixesPrecision | TraitKeepsLayout | TraitCarriesAsync, Match: MatchExact, MatchRule: "WHL-06", Work: WorkLoop,
		Shape: whileShape, Doc: "run a body as long as a condition holds"},
	{Op: OpFusion, Name: "fusion", Arity: atLeast(0), NewAttrs: attrs[FusionAttrs], Callees: oneCallee("calls"),
		Traits: TraitMixesPrecision, Match: MatchOwn, Work: WorkFused,
		Shape: fusionShape, Doc: "run a computation as one kernel"},
	{Op: OpOptBarrier, Name: "opt-barrier", Arity: exactly(1), CanInfer: true,
		Traits: TraitForwards | TraitMixesPrecision | TraitKeepsLayout | TraitStays | TraitCarriesAsync, Match: MatchExact, MatchRule: "BAR-01", Work: WorkNone,
		Shape: sameAsOperand, Doc: "identity that optimisations must not move things across"},
	{Op: OpDomain, Name: "domain", Arity: exactly(1), NewAttrs: attrs[DomainAttrs], CanInfer: true,
		Traits: TraitForwards | TraitMixesPrecision | TraitStays | TraitCarriesAsync, Work: WorkNone,
		Shape: sameAsOperand, Doc: "identity between regions of different sharding"},
	{Op: OpAfterAll, Name: "after-all", Arity: atLeast(0), CanInfer: true, Traits: TraitTokens, MatchRule: "TOK-06",
		Shape: tokenResult, Doc: "a token after all operand tokens"},
	{Op: OpAddDependency, Name: "add-dependency", Arity: exactly(2), CanInfer: true,
		Traits: TraitTokens | TraitForwards | TraitKeepsLayout, MatchRule: "TOK-05", Work: WorkNone,
		Shape: addDependencyShape, Doc: "first operand, not before the token"},
}
