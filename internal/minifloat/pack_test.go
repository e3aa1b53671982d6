package minifloat

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPack(t *testing.T) {
	packed := make([]byte, 2)
	pack(packed, []byte{0xf1, 2, 3}, 4)
	assert.Equal(t, []byte{0x21, 0x03}, packed)

	for _, bits := range []int{1, 2, 4, 8} {
		for n := range 40 {
			elements := make([]byte, n)
			for i := range elements {
				elements[i] = byte(i*7+3) & (1<<bits - 1)
			}
			require.Equal(t, (n*bits+7)/8, PackedLen(n, bits))
			packed := make([]byte, PackedLen(n, bits))
			pack(packed, elements, bits)
			back := make([]byte, n)
			Unpack(back, packed, bits)
			require.Equal(t, elements, back)

			pack(elements, elements, bits)
			require.Equal(t, packed, elements[:len(packed)], "in place")
		}
	}
	assert.Panics(t, func() { pack(nil, nil, 3) })
}
