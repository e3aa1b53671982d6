package printer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/printer"
)

// TestLines: instructions printed one after the other are what each is alone, in any order and in every form.
func TestLines(t *testing.T) {
	for seed := range uint64(40) {
		m, err := hlotest.Random(seed, 30)
		require.NoError(t, err)
		for _, cfg := range []printer.Config{{}, printer.Canonical, printer.Dump} {
			lines := printer.NewLines(m, cfg)
			for c := range m.Computations() {
				for in := range c.Instructions() {
					want, err := printer.AppendInstruction(nil, m, in, cfg)
					require.NoError(t, err)
					got, err := lines.Append([]byte("> "), in)
					require.NoError(t, err)
					require.Equal(t, "> "+string(want), string(got))
				}
			}
		}
	}
}
