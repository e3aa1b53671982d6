package analysis_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/hlo/parser"
)

// TestWays adds random edges to random programs, and holds the answers against a closure of all edges.
func TestWays(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 5))
		n := 2 + r.IntN(24)
		var text strings.Builder
		text.WriteString("ENTRY main {\n  v0 = f32[] parameter(0)\n")
		for i := 1; i < n; i++ {
			fmt.Fprintf(&text, "  v%d = f32[] add(v%d, v%d)\n", i, r.IntN(i), r.IntN(i))
		}
		text.WriteString("}\n")
		m, err := parser.Parse("m.hlo", text.String())
		require.NoError(t, err)

		c := m.Entry()
		ids := make([]hlo.InstrID, n)
		before := map[[2]int]bool{}
		numbers := map[hlo.InstrID]int{}
		for in := range c.Instructions() {
			var i int
			_, err := fmt.Sscanf(in.Name(), "v%d", &i)
			require.NoError(t, err)
			ids[i], numbers[in.ID()] = in.ID(), i
		}
		for in := range c.Instructions() {
			for o := range in.OperandIDs() {
				before[[2]int{numbers[o], numbers[in.ID()]}] = true
			}
		}
		close := func() {
			for k := range n {
				for i := range n {
					for j := range n {
						if before[[2]int{i, k}] && before[[2]int{k, j}] {
							before[[2]int{i, j}] = true
						}
					}
				}
			}
		}
		close()
		w := analysis.FindWays(c)
		for range 40 {
			for i := range n {
				for j := range n {
					require.Equal(t, before[[2]int{i, j}], w.Precedes(ids[i], ids[j]), "seed %d: v%d before v%d in\n%s", seed, i, j, text.String())
				}
			}
			a, b := r.IntN(n), r.IntN(n)
			refused := a == b || before[[2]int{b, a}]
			require.Equal(t, !refused, w.Add(ids[a], ids[b]), "seed %d: v%d → v%d", seed, a, b)
			if !refused {
				before[[2]int{a, b}] = true
				close()
			}
		}
	}
}
