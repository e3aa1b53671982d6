package hlo

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParseMnemonic(t *testing.T) {
	for op := range Opcodes {
		got, wrapped, err := ParseMnemonic(op.String())
		assert.NoError(t, err)
		assert.Equal(t, op, got)
		assert.Equal(t, OpInvalid, wrapped)
		for _, async := range []Opcode{OpAsyncStart, OpAsyncUpdate, OpAsyncDone} {
			word, ok := AsyncMnemonic(async, op)
			if !ok {
				continue
			}
			got, wrapped, err := ParseMnemonic(word)
			assert.NoError(t, err, word)
			assert.Equal(t, async, got, word)
			assert.Equal(t, op, wrapped, word)
		}
	}
	native := 0
	for op := range Opcodes {
		if HasNativeAsync(op) {
			native++
		}
	}
	assert.Equal(t, 6, native)
	for word, want := range map[string]string{
		"copy-update":       "Unknown opcode: copy-update",
		"send-start":        "Unknown opcode: send-start",
		"nothing-start":     "expects async wrapped opcode but sees: nothing-start, error: Unknown opcode: nothing",
		"nothing":           "expects opcode but sees: nothing",
		"parameter-start":   "parameter cannot be wrapped",
		"copy-start-start":  "copy-start cannot be wrapped",
		"async-start-start": "async-start cannot be wrapped",
	} {
		_, _, err := ParseMnemonic(word)
		assert.ErrorContains(t, err, want)
	}
	op, wrapped, err := ParseMnemonic("reduce-scatter-start")
	assert.NoError(t, err)
	assert.Equal(t, []Opcode{OpAsyncStart, OpReduceScatter}, []Opcode{op, wrapped})
}
