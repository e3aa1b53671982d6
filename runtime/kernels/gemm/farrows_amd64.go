package gemm

import "sync"

// ReadsFarRows reports whether [Kernel.BlockInPlace] is as fast as [Kernel.Block] on this processor where each row is read for hundreds of columns, so that packing the rows
// is time lost. It is on Zen 5, where products of 512 to 1024 columns take 0.95 of the time in place. Emerald Rapids keeps up with the loads of eight rows only
// while nothing else runs on the core: else they take 1.1 to 1.25 of the time.
var ReadsFarRows = sync.OnceValue(func() bool {
	const auth = 'A' | 'u'<<8 | 't'<<16 | 'h'<<24 // AuthenticAMD
	return maker() == auth
})
