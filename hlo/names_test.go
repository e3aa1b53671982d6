package hlo

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFreshNames compares a table that begins as a set of whole names with one that never is one, over names of all shapes, and over
// sessions that come after.
func TestFreshNames(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	part := []string{"x", "y", ".", ".0", ".00", ".1", ".2", ".01", ".+1", ".-1", "-1", "+1", "5", ".64", ".9223372036854775807", ".9223372036854775808", "a.b"}
	for range 3000 {
		var fresh *nameTable
		fresh = fresh.layer(1)
		eager := &nameTable{epoch: 1}
		plain := rng.IntN(2) == 0 // mostly different names, as in a text
		for i := range 1 + rng.IntN(60) {
			var b strings.Builder
			b.WriteString(part[rng.IntN(2)])
			if plain && rng.IntN(20) > 0 {
				b.WriteString("n" + strconv.Itoa(i) + "." + strconv.Itoa(i))
			} else {
				for range rng.IntN(3) {
					b.WriteString(part[rng.IntN(len(part))])
				}
			}
			name := b.String()
			require.Equal(t, eager.unique(name), fresh.unique(name), "name %d, %s", i, name)
			if rng.IntN(40) == 0 {
				fresh, eager = fresh.layer(uint64(i)+2), eager.layer(uint64(i)+2)
			}
		}
	}
}
