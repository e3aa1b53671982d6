package profile

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gohalo/halo/hlo/analysis"
)

// TestLimit: what takes less time than memory needs for its bytes has them in the caches, and is limited by what it computes, if that is much.
func TestLimit(t *testing.T) {
	b := builder{config: Config{Threads: 1, Rates: analysis.Rates{Flops: 1e9, Transcendentals: 1e9, Bytes: 1e9, Dispatch: 1e-8}}}
	for _, c := range []struct {
		flops, functions, bytes int64
		want                    Limit
	}{
		{100, 100, 900, ByMemory}, {800, 0, 900, ByMemory}, {950, 0, 900, ByCompute},
		{90, 0, 3000, ByMemory}, {0, 0, 3000, ByMemory}, // of 1 µs, too little to be the limit
		{0, 600, 3000, ByFunctions}, {300, 0, 3000, ByCompute},
		{20, 0, 50, ByNothing},
	} {
		o := Op{Kind: Kernel, Calls: 2, Seconds: 2e-6, Flops: c.flops, Transcendentals: c.functions, Bytes: c.bytes}
		b.limit(&o)
		assert.Equal(t, c.want, o.Limit, "%+v", c)
	}
}

// TestAdviceShare says what part of the machine's rate ops reach, and of which machine.
func TestAdviceShare(t *testing.T) {
	p := &Profile{OpSeconds: 2, Machine: analysis.OneCore, Ops: []Op{
		{Seconds: 1.5, Share: 0.2, Limit: ByCompute}, {Seconds: 0.5, Share: 0.6, Limit: ByCompute},
	}}
	p.Ops[0].Name, p.Ops[1].Name = "dot", "exp"
	advice := p.advise()
	assert.Len(t, advice, 1)
	assert.Contains(t, advice[0].Text, "100.0 % of the time is compute-bound (dot, exp), at 30 % of a typical core's peak: ")
	p.Machine.Flops *= 2
	assert.Contains(t, p.advise()[0].Text, "at 30 % of this machine's peak: ")
}
