package hlo

// Point-to-point and host communication.
func communicationOps() []OpInfo {
	return []OpInfo{
		{Op: OpSend, Name: "send", Arity: exactly(2), NewAttrs: attrs[SendRecvAttrs](), Traits: TraitSideEffect | TraitTokens | TraitNativeAsync,
			Shape: sendShape, Doc: "begin sending a value over a channel"},
		{Op: OpSendDone, Name: "send-done", Arity: exactly(1), NewAttrs: attrs[SendRecvAttrs](), Traits: TraitSideEffect | TraitTokens | TraitAsyncDone | TraitNotWrappable,
			Shape: tokenResult, Doc: "end of a send"},
		{Op: OpRecv, Name: "recv", Arity: exactly(1), NewAttrs: attrs[SendRecvAttrs](), Traits: TraitSideEffect | TraitTokens | TraitNativeAsync,
			Shape: recvShape, Doc: "begin receiving a value over a channel"},
		{Op: OpRecvDone, Name: "recv-done", Arity: exactly(1), NewAttrs: attrs[SendRecvAttrs](), Traits: TraitSideEffect | TraitTokens | TraitAsyncDone | TraitNotWrappable,
			Shape: recvDoneShape, Doc: "the received value"},
		{Op: OpInfeed, Name: "infeed", Arity: exactly(1), NewAttrs: attrs[InfeedAttrs](), Traits: TraitSideEffect | TraitTokens,
			Shape: infeedShape, Doc: "take a value from the host"},
		{Op: OpOutfeed, Name: "outfeed", Arity: exactly(2), NewAttrs: attrs[OutfeedAttrs](), Traits: TraitSideEffect | TraitTokens,
			Shape: outfeedShape, Doc: "give a value to the host"},
	}
}
