package bef_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime/bef"
)

// emptyFile is a file without functions.
var emptyFile = []byte{0x0b, 0xef, 0, 0, 0, 1, 0, 2, 2, 0, 3, 2, 0, 4, 2, 0, 5, 0}

// withSection appends a section that nobody knows: its number, what says how long it is, and the rest.
func withSection(head []byte, body ...byte) []byte {
	return bytes.Join([][]byte{emptyFile, {0x90}, head, body}, nil)
}

// Lengths of sections are integers of one, two and three bytes, most significant group first.
func TestR13VariableLengthIntegers(t *testing.T) {
	for _, c := range []struct {
		length int
		vbr    []byte
	}{
		{0, []byte{0x00}}, {5, []byte{0x0a}}, {63, []byte{0x7e}},
		{64, []byte{0x81, 0x00}}, {200, []byte{0x83, 0x10}}, {8191, []byte{0xff, 0x7e}},
		{8192, []byte{0x81, 0x80, 0x00}}, {20000, []byte{0x82, 0xb8, 0x40}},
	} {
		body := bytes.Repeat([]byte{7}, c.length)
		f, err := bef.Decode(withSection(c.vbr, body...), bef.DecodeOptions{Strict: true})
		require.NoError(t, err, "%x", c.vbr)
		require.Len(t, f.Extensions, 1)
		assert.Equal(t, body, append([]byte{}, f.Extensions[0].Data...))
		for cut := range c.vbr {
			_, err = bef.Decode(withSection(c.vbr[:cut]), bef.DecodeOptions{})
			assert.Error(t, err, "%x cut to %d", c.vbr, cut)
		}
		_, err = bef.Decode(withSection(c.vbr, body...)[:len(withSection(c.vbr, body...))-1], bef.DecodeOptions{})
		assert.Error(t, err, "a byte is missing")
	}
}

func TestR14AlignmentOfSections(t *testing.T) {
	at := len(emptyFile) + 3 // where the padding begins: after number, length and alignment
	padding := func(align int) []byte { return bytes.Repeat([]byte{0xcc}, (align-at%align)%align) }
	for _, align := range []int{1, 2, 4, 8} {
		b := withSection([]byte{3<<1 | 1, byte(align)}, append(padding(align), 1, 2, 3)...)
		f, err := bef.Decode(b, bef.DecodeOptions{})
		require.NoError(t, err, "alignment %d", align)
		require.Len(t, f.Extensions, 1)
		assert.Equal(t, []byte{1, 2, 3}, f.Extensions[0].Data, "alignment %d", align)
	}
	for name, b := range map[string][]byte{
		"no length":            withSection(nil),
		"no alignment":         withSection([]byte{3<<1 | 1}),
		"not a power of two":   withSection([]byte{3<<1 | 1, 3}, 1, 2, 3, 4, 5, 6),
		"alignment zero":       withSection([]byte{3<<1 | 1, 0}, 1, 2, 3),
		"short":                withSection([]byte{3 << 1}, 1, 2),
		"short after padding":  withSection([]byte{3<<1 | 1, 8}, append(padding(8), 1, 2)...),
		"padding past the end": withSection([]byte{0<<1 | 1, 64}),
	} {
		_, err := bef.Decode(b, bef.DecodeOptions{})
		var format *bef.FormatError
		assert.ErrorAs(t, err, &format, name)
	}
	b := withSection([]byte{3 << 1}, 1, 2, 3)
	f, err := bef.Decode(b, bef.DecodeOptions{Strict: true})
	require.NoError(t, err, "without alignment the body follows at once")
	assert.Equal(t, []byte{1, 2, 3}, f.Extensions[0].Data)
}
