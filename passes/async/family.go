package async

import "github.com/gohalo/halo/hlo/pass"

// Family is the part of the catalogue that is here.
var Family = pass.Family{
	Plain: []*pass.Pass{SyncUselessPairs, Unwrapper},
	Made: map[string]func(pass.Options) (*pass.Pass, error){
		"async-collective-creator":              NewCollectiveCreator,
		"async-collective-custom-call-rewriter": NewPlaceholderRewriter,
		"async-collective-replacer":             NewCollectiveReplacer,
		"async-wrapper":                         NewWrapper,
		"convert-async-collectives-to-sync":     NewConvertToSync,
		"host-memory-transfer-asyncifier":       NewHostTransferAsyncifier,
		"loop-async-carrier":                    NewLoopCarrier,
	},
}
