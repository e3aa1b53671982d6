package passes_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/asyncprog"
	"github.com/gohalo/halo/verifier"
)

// TestSchedulesOfRandomGroups: whatever is annotated, and whatever the limits, a schedule is an order of the program.
func TestSchedulesOfRandomGroups(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 7))
		m, err := parser.Parse("random.hlo", asyncprog.New(seed, asyncprog.Options{Size: 20, Sleep: 100}).Text)
		require.NoError(t, err)
		e := m.Edit()
		for c := range m.Computations() {
			for in := range c.Instructions() {
				attrs := &hlo.FrontendAttributes{}
				set := func(key, value string) {
					attrs.Entries = append(attrs.Entries, hlo.FrontendAttribute{Key: key, Value: value})
				}
				switch r.IntN(6) {
				case 0, 1:
					set("_scheduling_group_id", fmt.Sprint(r.IntN(4)))
					if r.IntN(3) == 0 {
						set("keep_original_sequence_order_in_group", "true")
					}
				case 2:
					set("scheduler_hint", []string{"force_early", "force_delay", "force_delay_async"}[r.IntN(3)])
					set("scheduler_delay_priority", fmt.Sprint(r.IntN(3)))
				default:
					continue
				}
				e.Computation(c.ID()).Instr(in.ID()).SetAttr(hlo.KeyFrontendAttributes, attrs)
			}
		}
		m = e.Freeze()
		for _, options := range []string{"", "{limit=1}", "{async-overlap-limit=1}", "{memory-limit=40 rerun=2}"} {
			after := run(t, nil, "latency-hiding-scheduler"+options, m)
			require.NoError(t, verifier.Verify(after, verifier.Config{Profile: verifier.XLA}).Err(), "%s of seed %d", options, seed)
			require.Equal(t, m.NumInstructions(), after.NumInstructions())
		}
	}
}
