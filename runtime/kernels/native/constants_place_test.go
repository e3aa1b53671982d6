package native

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/internal/amd64"
)

// TestPlaceOfConstants puts constants behind code of many lengths: whole vectors and elements, none of them where chains begin.
func TestPlaceOfConstants(t *testing.T) {
	repeated, order := [16]byte{3: 0x3f, 7: 0x3f, 11: 0x3f, 15: 0x3f}, [16]byte{1: 1, 2: 2}
	for length := 0; length < 2*Page; length += 17 {
		c := &amd64.Code{}
		e := &expansion{wide: true, pool: [][16]byte{repeated, order, repeated}, whole: make(map[int]bool), isMask: make([]bool, 1)}
		a := newAssigner(e, c, nil, nil, nil)
		a.labels = e.newLabels(c)
		var sum, shuffle amd64.Vector
		sum.Op, sum.Wide, shuffle.Op, shuffle.Wide = amd64.VADDPS, true, amd64.VPSHUFB, true
		a.takeConstant(&sum, 0)
		a.takeConstant(&shuffle, 1)
		require.True(t, sum.Broadcast)
		require.False(t, shuffle.Broadcast)
		c.Data(make([]byte, length)...)
		a.writeConstants(c)
		end := c.Len()
		const size = 64 + 2*8
		require.GreaterOrEqual(t, (end-size)%Page, ChainBytes, "behind %d bytes", length)
		require.Equal(t, (end-size)/Page, (end-1)/Page, "behind %d bytes", length)
	}
}
