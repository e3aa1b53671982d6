package memory_test

import (
	"context"
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/internal/shadow"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

var (
	seeds = flag.Int("seeds", 150, "random modules to rematerialize")
	first = flag.Uint64("first", 0, "the seed of the first")
)

// TestRandomModules limits the memory of random modules, a third of them of dynamic sizes, to less and less: they verify, compute the same, and need
// no more than before; what the pass says they need is what it says when it is run on them again.
//
//	go test ./passes/memory -run RandomModules -seeds 10000 -v
func TestRandomModules(t *testing.T) {
	changed, reached, runs := 0, 0, 0
	for i := range *seeds {
		seed := *first + uint64(i)
		m, err := []func(uint64, int) (hlo.Module, error){hlotest.Random, hlotest.Wide, hlotest.Dynamic}[seed%3](seed, 6+int(seed%41))
		require.NoError(t, err)
		ref := shadow.NewReference(m, shadow.Config{})
		_, needs := rematerialize(t, m, "rematerialization")
		for _, limit := range []int64{needs * 9 / 10, needs * 6 / 10, 1} {
			text := fmt.Sprintf("rematerialization{memory-limit-bytes=%d}", max(limit, 1))
			after, peak := rematerialize(t, m, text)
			err := ref.Compare(context.Background(), after)
			if _, again := rematerialize(t, after, "rematerialization"); err == nil && again != peak {
				err = fmt.Errorf("said to need %d bytes, and then %d", peak, again)
			}
			if err == nil && peak > needs {
				err = fmt.Errorf("needed %d bytes, and needs %d", needs, peak)
			}
			if !assert.NoError(t, err, "seed %d", seed) {
				t.Fatalf("%s\nbefore:\n%s\nafter:\n%s", text, printer.String(m), printer.String(after))
			}
			runs++
			if after != m {
				changed++
			}
			if peak <= limit {
				reached++
			}
		}
	}
	t.Logf("%d runs: %d changed something, %d limits reached", runs, changed, reached)
	assert.Positive(t, changed)
	assert.Positive(t, reached)
}

// rematerialize runs the pass, and returns the memory that it says is needed now.
func rematerialize(t *testing.T, m hlo.Module, text string) (after hlo.Module, peak int64) {
	t.Helper()
	p, err := passes.Parse(text)
	require.NoError(t, err)
	r := &pass.Runner{Check: func(m hlo.Module) error { return verifier.Verify(m, verifier.Config{}).Err() }}
	r.Instruments = []pass.Instrument{{After: func(o pass.Report) { peak = o.Statistics["needed-bytes"] }}}
	after, err = r.Run(context.Background(), p, m)
	require.NoError(t, err, "%s", text)
	return after, peak
}
