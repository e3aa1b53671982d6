package arrays_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
)

func tensors(header string, data ...byte) []byte {
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), data...)
}

// TestSafetensors writes arrays, reads them back, and reads what another writer makes.
func TestSafetensors(t *testing.T) {
	x, err := hlo.LiteralOf(hlo.MakeShape(hlo.F32, 2, 1), float32(1), -2)
	require.NoError(t, err)
	b, err := hlo.NewLiteral(hlo.MakeShape(hlo.BF16, 3), []byte{0, 1, 2, 3, 4, 5})
	require.NoError(t, err)
	e, err := hlo.NewLiteral(hlo.MakeShape(hlo.S64, 0, 7), nil)
	require.NoError(t, err)
	s, err := hlo.LiteralOf(hlo.MakeShape(hlo.PRED), true)
	require.NoError(t, err)
	all := []arrays.Named{{Key: "x", Literal: x}, {Key: "p['b']", Literal: b}, {Key: "empty", Literal: e}, {Key: "scalar", Literal: s}}
	var file bytes.Buffer
	require.NoError(t, arrays.WriteFile(&file, "w.safetensors", all))
	given, err := arrays.ReadSafetensors(bytes.NewReader(file.Bytes()), int64(file.Len()))
	require.NoError(t, err)
	require.Len(t, given, len(all))
	for _, want := range all {
		got, err := arrays.Literal(given[want.Key], want.Literal.Shape())
		require.NoError(t, err, want.Key)
		assert.True(t, got.Equal(want.Literal), want.Key)
	}
	assert.Error(t, arrays.WriteSafetensors(&file, append(all, all[0])))

	foreign := tensors(`{"__metadata__":{"format":"pt"}, "w": {"dtype":"I16","shape":[2],"data_offsets":[0,4]}}   `, 1, 0, 2, 0)
	given, err = arrays.ReadSafetensors(bytes.NewReader(foreign), int64(len(foreign)))
	require.NoError(t, err)
	l, err := arrays.Literal(given["w"], hlo.MakeShape(hlo.S16, 2))
	require.NoError(t, err)
	assert.Equal(t, []int16{1, 2}, hlo.Values[int16](l))
}

// TestBrokenSafetensors has every fault of a file.
func TestBrokenSafetensors(t *testing.T) {
	entry := func(text string) []byte { return tensors(`{"w":`+text+`}`, 1, 2, 3, 4) }
	for want, data := range map[string][]byte{
		"cut short":                     []byte("abc"),
		"got a header of":               binary.LittleEndian.AppendUint64(nil, 1<<63),
		"header: ":                      tensors("{]"),
		"array \"w\": json":             entry(`7`),
		"type \"F4\" are not supported": entry(`{"dtype":"F4","shape":[4],"data_offsets":[0,4]}`),
		"got offsets [0 5]":             entry(`{"dtype":"U8","shape":[5],"data_offsets":[0,5]}`),
		"got offsets [3 2]":             entry(`{"dtype":"U8","shape":[1],"data_offsets":[3,2]}`),
		"got shape [-1 -4]":             entry(`{"dtype":"U8","shape":[-1,-4],"data_offsets":[0,4]}`),
		"got 4 bytes, want 8":           entry(`{"dtype":"F32","shape":[2],"data_offsets":[0,4]}`),
		"those of another array":        tensors(`{"v":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"w":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}`, 1, 2, 3, 4),
		"got 4 bytes, want 9223372036":  entry(`{"dtype":"F32","shape":[4611686018427387904,4611686018427387904],"data_offsets":[0,4]}`),
	} {
		_, err := arrays.ReadSafetensors(bytes.NewReader(data), int64(len(data)))
		assert.ErrorContains(t, err, want, strings.ToValidUTF8(string(data), "?"))
	}
}

// FuzzSafetensors reads anything.
func FuzzSafetensors(f *testing.F) {
	f.Add(tensors(`{"w":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}`, 1, 2, 3, 4))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := arrays.ReadSafetensors(bytes.NewReader(data), int64(len(data)))
		if err == nil {
			for _, a := range all {
				assert.LessOrEqual(t, len(a.Data), len(data))
			}
		}
	})
}
