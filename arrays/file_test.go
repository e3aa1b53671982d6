package arrays

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/arrays/npz"
	"github.com/gohalo/halo/hlo"
)

// TestNumPyNumbers reads the keys that numpy.savez gives to arrays without names, as the numbers of parameters and results.
func TestNumPyNumbers(t *testing.T) {
	for name, c := range map[string]struct{ keys, want []string }{
		"all numbered":      {[]string{"arr_0", "arr_1"}, []string{"0", "1"}},
		"one with a name":   {[]string{"arr_0", "w"}, []string{"arr_0", "w"}},
		"one is left out":   {[]string{"arr_0", "arr_2"}, []string{"arr_0", "arr_2"}},
		"numbers as is":     {[]string{"0", "1"}, []string{"0", "1"}},
		"spelled unusually": {[]string{"arr_00"}, []string{"arr_00"}},
	} {
		t.Run(name, func(t *testing.T) {
			var literals []Named
			for i, key := range c.keys {
				l, err := hlo.NewLiteral(hlo.MakeShape(hlo.U8), []byte{byte(i)})
				require.NoError(t, err)
				literals = append(literals, Named{key, l})
			}
			var b bytes.Buffer
			require.NoError(t, WriteNPZ(&b, literals))
			path := filepath.Join(t.TempDir(), "x.npz")
			require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
			all, err := ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, c.want, slices.Sorted(maps.Keys(all)))
			for i, key := range c.want {
				require.Equal(t, []byte{byte(i)}, all[key].Data)
			}
		})
	}
}

// TestReadNPYOnce reads a large file into memory that is made once, and not made again as the array grows.
func TestReadNPYOnce(t *testing.T) {
	const size = 16 << 20
	path := filepath.Join(t.TempDir(), "x.npy")
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, npz.WriteNPY(f, npz.Array{Descr: "|u1", Shape: []int64{size}, Data: make([]byte, size)}))
	require.NoError(t, f.Close())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a, err := ReadNPY(path)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Len(t, a.Data, size)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(size+size/4), "bytes made for an array of %d", size)
}
