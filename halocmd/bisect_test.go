package halocmd

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
)

// TestBisectInterrupted: a search that is interrupted says how far it came.
func TestBisectInterrupted(t *testing.T) {
	m, err := parser.Parse("m.hlo", "HloModule m\n\nENTRY main {\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] tanh(x)\n}\n")
	require.NoError(t, err)
	var steps []pass.Report
	for _, path := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		steps = append(steps, pass.Report{Path: path, Before: m, After: m})
	}
	ctx, interrupt := context.WithCancelCause(t.Context())
	trials := 0
	fails := func(hlo.Module) bool {
		trials++
		if trials == 5 {
			interrupt(errInterrupted)
		}
		return trials == 2 // after all passes; then the first half is good, and three quarters are
	}
	_, err = (&bisectCmd{}).search(ctx, m, steps, fails)
	require.ErrorIs(t, err, errInterrupted)
	require.ErrorContains(t, err, "it is among changes 7 to 8 of 8, from g to h")
}
