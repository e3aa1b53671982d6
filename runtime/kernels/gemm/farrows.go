package gemm

import "github.com/gohalo/halo/internal/processor"

// ReadsFarRows reports whether [Kernel.BlockInPlace] is as fast as [Kernel.Block] on this processor where each row is read for hundreds of columns, so that packing the rows
// is time lost. It is on Zen 5, where a product of 1024 by 1024 takes 0.95 of the time in place. On Zen 3 it takes 1.2 of it. On Emerald Rapids it is while nothing else
// runs on the core: else products in place take 1.1 to 1.3 of the time. Other processors are taken for slow, since they lose less by that.
func ReadsFarRows() bool { return processor.AMDFamily() > processor.Zen4 }
