package lsp

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReplaced: the lines of an edited document are those of its text.
func TestReplaced(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	parts := []string{"", "\n", "a", "ab\n", "\n\nc", "d\ne\nf"}
	d := newDocument("m.hlo", 0, "a\nbc\n\nd", hloText, &shared{})
	for n := range 2000 {
		from := r.IntN(len(d.text) + 1)
		to := from + r.IntN(min(len(d.text)-from, 6)+1)
		d = d.replaced(n, span{from, to}, parts[r.IntN(len(parts))])
		require.Equal(t, newDocument("m.hlo", 0, d.text, hloText, &shared{}).lines, d.lines, "%q", d.text)
	}
}
