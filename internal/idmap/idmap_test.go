package idmap

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A map of ids does what a map does, whatever the order of the edits.
func TestMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m Map[uint32, string]
		want := map[uint32]string{}
		keys := rapid.OneOf(rapid.Uint32Range(0, 10), rapid.Uint32Range(60, 200), rapid.Uint32Range(0, 100_000))
		for range rapid.IntRange(0, 60).Draw(t, "edits") {
			k := keys.Draw(t, "key")
			switch rapid.IntRange(0, 9).Draw(t, "edit") {
			case 0, 1:
				m.Delete(k)
				delete(want, k)
			case 2:
				*m.At(k) += "."
				want[k] += "."
			case 3:
				if rapid.IntRange(0, 9).Draw(t, "clear") == 0 {
					m.Clear()
					clear(want)
				}
			default:
				v := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "value")
				m.Set(k, v)
				want[k] = v
			}
			got, ok := m.Lookup(k)
			v, has := want[k]
			require.Equal(t, []any{v, has, has, v, len(want)}, []any{got, ok, m.Has(k), m.Get(k), m.Len()})
		}
		require.Equal(t, want, maps.Collect(m.All()))
		var order []uint32
		for k := range m.All() {
			order = append(order, k)
		}
		require.True(t, slices.IsSorted(order))
		other := keys.Draw(t, "other")
		require.Equal(t, want[other], m.Get(other))
	})
}

func TestSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Set[uint32]
		want := map[uint32]bool{}
		for range rapid.IntRange(0, 60).Draw(t, "edits") {
			k := rapid.Uint32Range(0, 1000).Draw(t, "key")
			require.Equal(t, want[k], s.Has(k))
			if rapid.IntRange(0, 3).Draw(t, "edit") == 0 {
				require.Equal(t, want[k], s.Remove(k))
				delete(want, k)
				continue
			}
			require.Equal(t, !want[k], s.Add(k))
			want[k] = true
		}
		require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Collect(s.All()))
		require.Equal(t, len(want), s.Len())
	})
}
