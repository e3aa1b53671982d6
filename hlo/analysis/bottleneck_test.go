package analysis_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/parser"
)

// TestBottlenecks holds what is found around instructions of random programs against what is found in all of the program.
func TestBottlenecks(t *testing.T) {
	narrower := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 6))
		n, reach := 2+r.IntN(40), 1+r.IntN(6)
		var text strings.Builder
		text.WriteString("ENTRY main {\n  v0 = f32[] parameter(0)\n  unused = f32[] sine(v0)\n")
		for i := 1; i < n; i++ {
			a, b := max(0, i-1-r.IntN(reach)), max(0, i-1-r.IntN(reach))
			fmt.Fprintf(&text, "  k%d = f32[] constant(%[1]d)\n  w%[1]d = f32[] %[2]s(v%[3]d, k%[1]d)\n  v%[1]d = f32[] %[4]s(w%[1]d, v%[5]d)\n",
				i, []string{"add", "multiply"}[r.IntN(2)], a, []string{"add", "multiply"}[r.IntN(2)], b)
		}
		text.WriteString("}\n")
		m, err := parser.Parse("m.hlo", text.String())
		require.NoError(t, err)
		d := analysis.FindDependencies(m.Entry())
		counts := func(in hlo.Instruction) bool { return in.Opcode() == hlo.OpMultiply }
		bottlenecks := d.FindBottlenecks(counts)
		for at, in := range d.Order {
			if !counts(in) {
				continue
			}
			all := d.Related(in.ID())
			low, high := bottlenecks.Around(at, at)
			require.True(t, low <= at && at < high)
			if high-low < len(all) {
				narrower++
			}
			assert.Equal(t, all[low:high], d.RelatedWithin(in.ID(), low, high), "seed %d: %s", seed, in.Name())
			for i, other := range d.Order {
				if (i < low || i >= high) && counts(other) {
					assert.True(t, all[i], "seed %d: %s is independent of %s, and not in %d:%d", seed, other.Name(), in.Name(), low, high)
				}
			}
			for last := at; last < len(d.Order); last++ {
				if counts(d.Order[last]) {
					low, high := bottlenecks.Around(at, last)
					ofLast := d.Related(d.Order[last].ID())
					for i, other := range d.Order {
						assert.False(t, (i < low || i >= high) && counts(other) && !(all[i] && ofLast[i]), "seed %d: %s", seed, other.Name())
					}
				}
			}
		}
	}
	assert.Greater(t, narrower, 1000, "programs have bottlenecks")
}
