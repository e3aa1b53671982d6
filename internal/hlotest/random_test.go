package hlotest_test

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/proto"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/internal/shadow"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

var modules = flag.Uint64("modules", 60, "random modules of each kind")

// TestRandomModules: what the generators make is legal, the same every time, evaluates, and passes through text and protos unchanged.
func TestRandomModules(t *testing.T) {
	kinds := map[string]func(uint64, int) (hlo.Module, error){"random": hlotest.Random, "wide": hlotest.Wide, "dynamic": hlotest.Dynamic}
	ops := map[hlo.Opcode]bool{}
	for name, make := range kinds {
		for seed := range *modules {
			m, err := make(seed, 5+int(seed%50))
			require.NoError(t, err, "%s %d", name, seed)
			text := printer.String(m)
			require.Empty(t, verifier.Verify(m, verifier.Config{}), "%s %d\n%s", name, seed, text)
			again, err := make(seed, 5+int(seed%50))
			require.NoError(t, err)
			require.Equal(t, m.Digest(), again.Digest(), "%s %d", name, seed)
			require.True(t, m.Equal(again))

			read, err := parser.Parse(name, text)
			require.NoError(t, err, "%s %d\n%s", name, seed, text)
			require.True(t, read.Equal(m), "%s %d\n%s", name, seed, text) // the printer orders computations by traversal, so texts may differ
			require.Equal(t, m.Hash(), read.Hash(), "%s %d", name, seed)
			decoded, err := proto.Decode(proto.Encode(m))
			require.NoError(t, err, "%s %d", name, seed)
			require.True(t, decoded.Equal(m), "%s %d\n%s", name, seed, text)

			args, err := shadow.Inputs(m, arrays.Random, seed)
			require.NoError(t, err)
			_, err = eval.Module(t.Context(), m, args, eval.Options{MaxSteps: 2_000_000, MaxBytes: 64 << 20})
			require.NoError(t, err, "%s %d\n%s", name, seed, text)
			require.NoError(t, m.Recheck())
			for c := range m.Computations() {
				for in := range c.Instructions() {
					ops[in.Opcode()] = true
				}
			}
		}
	}
	require.Greater(t, len(ops), 75, "kinds of op")
}
