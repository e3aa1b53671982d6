package hlo

// Point-to-point and host communication.
var communicationOps = []OpInfo{
	{Op: OpSend, Name: "send", Arity: exactly(2), NewAttrs: attrs[SendRecvAttrs],
		Traits: TraitSideEffect | TraitTokens | TraitMixesPrecision, Match: MatchOrder, MatchRule: "PAIR-09", Pair: Pair{Start: OpSend, Done: OpSendDone},
		Shape: sendShape, Doc: "begin sending a value over a channel"},
	{Op: OpSendDone, Name: "send-done", Arity: exactly(1), NewAttrs: attrs[SendRecvAttrs],
		Traits: TraitSideEffect | TraitTokens | TraitAsyncDone | TraitNotWrappable | TraitMixesPrecision, Match: MatchExact, MatchRule: "PAIR-10", Work: WorkNone,
		Shape: tokenResult, Doc: "end of a send"},
	{Op: OpRecv, Name: "recv", Arity: exactly(1), NewAttrs: attrs[SendRecvAttrs],
		Traits: TraitSideEffect | TraitTokens | TraitMixesPrecision, Match: MatchOrder, MatchRule: "PAIR-09", Pair: Pair{Start: OpRecv, Done: OpRecvDone},
		Shape: recvShape, Doc: "begin receiving a value over a channel"},
	{Op: OpRecvDone, Name: "recv-done", Arity: exactly(1), NewAttrs: attrs[SendRecvAttrs],
		Traits: TraitSideEffect | TraitTokens | TraitAsyncDone | TraitNotWrappable | TraitMixesPrecision, Match: MatchExact, MatchRule: "PAIR-10", Work: WorkNone,
		Shape: recvDoneShape, Doc: "the received value"},
	{Op: OpInfeed, Name: "infeed", Arity: exactly(1), NewAttrs: attrs[InfeedAttrs],
		Traits: TraitSideEffect | TraitTokens | TraitMixesPrecision, Match: MatchOrder, MatchRule: "TOK-02",
		Shape: infeedShape, Doc: "take a value from the host"},
	{Op: OpOutfeed, Name: "outfeed", Arity: exactly(2), NewAttrs: attrs[OutfeedAttrs],
		Traits: TraitSideEffect | TraitTokens | TraitMixesPrecision, Match: MatchExact, MatchRule: "TOK-04",
		Shape: outfeedShape, Doc: "give a value to the host"},
}
