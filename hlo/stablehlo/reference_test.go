package stablehlo_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/stablehlo"
	"github.com/gohalo/halo/hlo/stablehlo/mlir"
	"github.com/gohalo/halo/internal/moddiff"
)

// leftovers are programs of which XLA's converter leaves instructions behind that nothing uses: copies of functions, shapes of operations
// that became others. What is used is the same.
var leftovers = map[string]string{
	"all_to_all": "a constant that nothing uses", "composite": "the decomposition, twice", "private": "a public function that nothing calls",
	"consts": "XLA reads the -0 that it prints as 0", "rng": "a constant that nothing uses", "dynops": "an iota that is known here",
}

// TestReference compares the HLO of single operations with what XLA's converter makes, instruction by instruction.
func TestReference(t *testing.T) {
	rows(t, "ops", func(r opRow) {
		t.Run(r.ID, func(t *testing.T) {
			p, err := mlir.Parse(r.ID, r.MLIR)
			if r.HLO == "" {
				return // refused there; what is refused here is in testdata
			}
			require.NoError(t, err)
			got, err := stablehlo.Convert(p, stablehlo.Options{})
			require.NoError(t, err)
			want, err := parser.Parse(r.ID, r.HLO)
			require.NoError(t, err)
			d := moddiff.Find(want, got)
			// The converter's text does not carry the counts of devices.
			d.Header = slices.DeleteFunc(d.Header, func(h string) bool { return h == "num_partitions" || h == "replica_count" })
			if why, ok := leftovers[r.ID]; ok {
				require.False(t, d.Equal(), why)
				return
			}
			require.True(t, d.Equal(), "%s", describe(d))
		})
	})
}

func describe(d *moddiff.Difference) string {
	var b strings.Builder
	b.WriteString(strings.Join(d.Header, " "))
	for _, c := range d.Changes {
		b.WriteString("\n")
		if !c.Old.IsZero() {
			b.WriteString("- " + c.Old.Opcode().String() + " " + c.Old.Shape().String() + " ")
		}
		if !c.New.IsZero() {
			b.WriteString("+ " + c.New.Opcode().String() + " " + c.New.Shape().String() + " ")
		}
		b.WriteString(strings.Join(c.What, ","))
	}
	return b.String()
}
