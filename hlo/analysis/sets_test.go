package analysis

import (
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSets holds sets of several limits against maps.
func TestSets(t *testing.T) {
	for _, limit := range []int{1, 64, 65, 128, 129, 1000} {
		r := rand.New(rand.NewPCG(3, uint64(limit)))
		s := newSets(limit)
		ids, want := []numberSet{{}}, []map[int]bool{{}}
		for range 300 {
			a, b := r.IntN(len(ids)), r.IntN(len(ids))
			m := maps.Clone(want[a])
			if r.IntN(2) == 0 {
				i := r.IntN(limit)
				m[i] = true
				ids = append(ids, s.with(ids[a], i))
			} else {
				maps.Copy(m, want[b])
				ids = append(ids, s.union(ids[a], ids[b]))
			}
			want = append(want, m)
		}
		for a := range ids {
			for i := range limit {
				require.Equal(t, want[a][i], s.has(ids[a], i), "%d in %v", i, want[a])
			}
			b := r.IntN(len(ids))
			require.Equal(t, maps.Equal(want[a], want[b]), ids[a] == ids[b], "%v and %v are one", want[a], want[b])
			in := true
			for i := range want[a] {
				in = in && want[b][i]
			}
			require.Equal(t, in, s.subset(ids[a], ids[b]), "%v in %v", want[a], want[b])
		}
	}
}

// TestSetsOfAChain: sets each of which has one more than the one before take no memory, and those of two chains side by side share their parts.
func TestSetsOfAChain(t *testing.T) {
	const n = 1 << 16
	s, set := newSets(n), numberSet{}
	for i := range n {
		set = s.with(set, i)
	}
	require.Len(t, s.nodes, 1)
	var two [2]numberSet
	for i := range n {
		two[i%2] = s.with(two[i%2], i)
	}
	require.Less(t, len(s.nodes), 14*n)
	require.Equal(t, set, s.union(two[0], two[1]))
}
