package hlo

// Random numbers.
var randomOps = []OpInfo{
	{Op: OpRng, Name: "rng", Arity: atLeast(0), NewAttrs: attrs[RngAttrs], Traits: TraitRandom | TraitSideEffect, Match: MatchOwn,
		Shape: rngShape, Doc: "random numbers of a distribution"},
	{Op: OpRngBitGenerator, Name: "rng-bit-generator", Arity: exactly(1), NewAttrs: attrs[RngBitGeneratorAttrs], Match: MatchOwn,
		Shape: rngBitGeneratorShape, Doc: "random bits from a state, and the next state"},
	{Op: OpRngGetAndUpdateState, Name: "rng-get-and-update-state", Arity: exactly(0), NewAttrs: attrs[RngStateAttrs],
		Traits: TraitRandom | TraitSideEffect, Match: MatchOwn,
		Shape: rngStateShape, Doc: "advance the state of the process"},
}
