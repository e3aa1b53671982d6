package pages_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/internal/pages"
)

func TestBytes(t *testing.T) {
	for _, n := range []int64{0, 1, 63, 64, 4096, 1<<20 + 1, 4<<20 - 1, 4 << 20, 4<<20 + 1, 16<<20 - 1, 16 << 20, 17<<20 + 5} {
		for _, align := range []int64{1, 64, 4096, 4 << 20} {
			b := pages.Bytes(n, align)
			require.Len(t, b, int(n))
			require.Equal(t, len(b), cap(b), "%d bytes", n)
			if n == 0 {
				continue
			}
			require.Zero(t, pages.Address(b)%uintptr(align), "%d bytes at a multiple of %d", n, align)
			for i := 0; i < len(b); i += 4096 {
				require.Zero(t, b[i])
				b[i] = 1
			}
			b[n-1] = 1
		}
	}
}

// TestRoom makes arrays that were expected and some that were not: none shares a byte with another.
func TestRoom(t *testing.T) {
	sizes := []int64{1, 100, 0, 1 << 20, 63, 3 << 20, 4 << 20, 2<<20 + 1, 5 << 20}
	for _, rounds := range []int{0, 1, 2, 8} {
		var room pages.Room
		for range rounds {
			for _, n := range sizes {
				room.Expect(n)
			}
		}
		var all [][]byte
		for range rounds + 1 {
			for _, n := range sizes {
				b := room.Bytes(n)
				require.Len(t, b, int(n))
				require.Equal(t, len(b), cap(b), "%d bytes", n)
				if n > 0 {
					require.Zero(t, pages.Address(b)%pages.Line)
				}
				require.Equal(t, len(b), bytes.Count(b, []byte{0}))
				all = append(all, b)
				for i := range b {
					b[i] = byte(len(all))
				}
			}
		}
		for k, b := range all {
			require.Equal(t, len(b), bytes.Count(b, []byte{byte(k + 1)}), "array %d of %d rounds", k, rounds)
		}
	}
}

// TestRoomShares has two small arrays lie behind each other where there are enough for large pages.
func TestRoomShares(t *testing.T) {
	for _, n := range []int64{64, 2 << 20} {
		var room pages.Room
		room.Expect(n)
		room.Expect(n)
		a, b := room.Bytes(n), room.Bytes(n)
		require.Equal(t, n == 2<<20, pages.Address(b) == pages.Address(a)+uintptr(n), "two arrays of %d bytes", n)
	}
}
