package copies_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/passes/copies"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// TestNothingIsOverwritten inserts copies into random modules. Copies do not change what is computed, so no evaluation shows one that is missing;
// the order in which values have the memory that they share does.
func TestNothingIsOverwritten(t *testing.T) {
	check := func(m hlo.Module) error { return verifier.Verify(m, verifier.Config{}).Err() }
	wrong := 0
	for seed := range uint64(600) {
		make := []func(uint64, int) (hlo.Module, error){hlotest.Random, hlotest.Wide, hlotest.Dynamic}[seed%3]
		m, err := make(seed, 10+int(seed%40))
		require.NoError(t, err)
		if copies.Check(m) != nil {
			wrong++
		}
		for _, regions := range []string{"0", "-1"} {
			p, err := copies.NewInsertion(pass.Options{{Key: "use-region-based-live-range-analysis", Value: regions}})
			require.NoError(t, err)
			after, err := (&pass.Runner{Check: check}).Run(context.Background(), pass.Of("", p), m)
			require.NoError(t, err, "seed %d\n%s", seed, printer.String(m))
			require.NoError(t, copies.Check(after), "seed %d, regions %s\nbefore:\n%s\nafter:\n%s", seed, regions, printer.String(m), printer.String(after))
		}
	}
	require.Greater(t, wrong, 300, "modules that need copies")
}
