package hlo

// Point-to-point and host communication.
func communicationOps() []OpInfo {
	return []OpInfo{
		{Op: OpSend, Name: "send", Arity: binary, NewAttrs: attrs[SendRecvAttrs](), Traits: TraitSideEffect | TraitTokens | TraitNativeAsync,
			Shape: sendShape, Doc: "begin sending a value over a channel"},
		{Op: OpSendDone, Name: "send-done", Arity: unary, NewAttrs: attrs[SendRecvAttrs](), Traits: TraitSideEffect | TraitTokens | TraitAsyncDone | TraitNotWrappable,
			Shape: tokenResult, Doc: "end of a send"},
		{Op: OpRecv, Name: "recv", Arity: unary, NewAttrs: attrs[SendRecvAttrs](), Traits: TraitSideEffect | TraitTokens | TraitNativeAsync,
			Shape: recvShape, Doc: "begin receiving a value over a channel"},
		{Op: OpRecvDone, Name: "recv-done", Arity: unary, NewAttrs: attrs[SendRecvAttrs](), Traits: TraitSideEffect | TraitTokens | TraitAsyncDone | TraitNotWrappable,
			Shape: recvDoneShape, Doc: "the received value"},
		{Op: OpInfeed, Name: "infeed", Arity: unary, NewAttrs: attrs[InfeedAttrs](), Traits: TraitSideEffect | TraitTokens,
			Shape: infeedShape, Doc: "take a value from the host"},
		{Op: OpOutfeed, Name: "outfeed", Arity: binary, NewAttrs: attrs[OutfeedAttrs](), Traits: TraitSideEffect | TraitTokens,
			Shape: outfeedShape, Doc: "give a value to the host"},
	}
}
