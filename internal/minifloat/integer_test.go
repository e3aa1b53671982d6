package minifloat

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInteger(t *testing.T) {
	for i, want := range map[Integer]struct {
		name     string
		bits     int
		min, max int8
	}{
		S1: {"s1", 1, -1, 0}, U1: {"u1", 1, 0, 1}, S2: {"s2", 2, -2, 1},
		U2: {"u2", 2, 0, 3}, S4: {"s4", 4, -8, 7}, U4: {"u4", 4, 0, 15},
	} {
		assert.Equal(t, want.name, i.String())
		assert.Equal(t, want.bits, i.Bits())
		assert.Equal(t, want.min, i.Min())
		assert.Equal(t, want.max, i.Max())
		for b := range 256 {
			x := i.Decode(byte(b))
			assert.True(t, i.Min() <= x && x <= i.Max())
			assert.Equal(t, byte(b)&(1<<i.Bits()-1), i.Encode(int64(x)))
		}
		for x := int64(i.Min()); x <= int64(i.Max()); x++ {
			assert.Equal(t, int8(x), i.Decode(i.Encode(x)))
			assert.Equal(t, i.Encode(x), i.Encode(x+1<<i.Bits()), "wraps")
		}
	}
	assert.Equal(t, "Integer(9)", Integer(9).String())
}

func TestPack(t *testing.T) {
	packed := make([]byte, 2)
	Pack(packed, []byte{0xf1, 2, 3}, 4)
	assert.Equal(t, []byte{0x21, 0x03}, packed)

	for _, bits := range []int{1, 2, 4, 8} {
		for n := range 40 {
			elements := make([]byte, n)
			for i := range elements {
				elements[i] = byte(i*7+3) & (1<<bits - 1)
			}
			require.Equal(t, (n*bits+7)/8, PackedLen(n, bits))
			packed := make([]byte, PackedLen(n, bits))
			Pack(packed, elements, bits)
			back := make([]byte, n)
			Unpack(back, packed, bits)
			require.Equal(t, elements, back)

			Pack(elements, elements, bits)
			require.Equal(t, packed, elements[:len(packed)], "in place")
		}
	}
	assert.Panics(t, func() { Pack(nil, nil, 3) })
}
