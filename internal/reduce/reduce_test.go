package reduce_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/internal/reduce"
	"github.com/gohalo/halo/passes/simplify"
	"github.com/gohalo/halo/printer"
	"github.com/gohalo/halo/verifier"
)

// has reports whether the program computes with an op.
func has(op hlo.Opcode) reduce.Oracle {
	return func(m hlo.Module) bool {
		for c := range m.Computations() {
			for in := range c.Instructions() {
				if in.Opcode() == op {
					return true
				}
			}
		}
		return false
	}
}

// TestRandomModulesBecomeSmall: of a program only what the oracle asks for is left, and it verifies.
func TestRandomModulesBecomeSmall(t *testing.T) {
	most := map[hlo.Opcode]int{hlo.OpTanh: 8, hlo.OpMaximum: 24, hlo.OpReduce: 12, hlo.OpWhile: 30, hlo.OpAsyncStart: 14, hlo.OpFusion: 20}
	found := 0
	for seed := range uint64(8) {
		m, err := hlotest.Random(seed, 60)
		require.NoError(t, err)
		m, err = simplify.DCE.Apply(pass.NewContext(t.Context()), m)
		require.NoError(t, err)
		for op, n := range most {
			if !has(op)(m) {
				continue
			}
			found++
			small := reduce.Module(t.Context(), m, has(op))
			require.True(t, has(op)(small))
			require.NoError(t, verifier.Verify(small, verifier.Config{Profile: verifier.XLA}).Err())
			_, err := parser.Parse("small", printer.String(small))
			require.NoError(t, err)
			assert.LessOrEqual(t, small.NumInstructions(), n, "seed %d, %v:\n%s", seed, op, printer.String(small))
		}
	}
	assert.Greater(t, found, 5)
}

// TestReduceStops with what there is.
func TestReduceStops(t *testing.T) {
	m, err := hlotest.Random(1, 60)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	small := reduce.Module(ctx, m, func(hlo.Module) bool {
		if asked++; asked == 3 {
			cancel()
		}
		return true
	})
	assert.Equal(t, 3, asked)
	assert.Less(t, small.NumInstructions(), m.NumInstructions())
}
