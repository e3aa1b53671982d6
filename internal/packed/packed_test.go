package packed_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/internal/packed"
)

func TestPack(t *testing.T) {
	few := []byte("few")
	assert.Equal(t, few, packed.Pack(few))
	long := bytes.Repeat([]byte("many "), 100)
	small := packed.Pack(long)
	require.True(t, packed.IsGzip(small))
	assert.Less(t, len(small), len(long)/5)

	back, err := packed.Gunzip(small, int64(len(long)))
	require.NoError(t, err)
	assert.Equal(t, long, back)
	_, err = packed.Gunzip(small, int64(len(long))-1)
	assert.EqualError(t, err, "unpacks to more than 499 bytes")
	assert.Len(t, packed.Pack(make([]byte, 1<<20)), 1<<20, "it would shrink too much")
	back, err = packed.Unpack(small)
	require.NoError(t, err)
	assert.Equal(t, long, back)
	for i := range small {
		_, err := packed.Gunzip(small[:i], 1<<20)
		assert.Error(t, err, "%d bytes", i)
	}
}
