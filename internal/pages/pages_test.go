package pages_test

import (
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
