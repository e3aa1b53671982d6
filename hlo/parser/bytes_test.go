package parser_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/parser"
)

// TestBytes reads what no archive of texts should hold: line ends of all kinds, control bytes, bytes beyond ASCII (hlo-text section 1.1).
func TestBytes(t *testing.T) {
	const text = "HloModule m // one\nENTRY e { // two\n  a = f32[] parameter(0)\n  ROOT b = negate(a)\n}\n"
	want, err := parser.Parse("", text)
	require.NoError(t, err)
	for _, end := range []string{"\r\n", "\r", " \t\n\n", "// \u00e9\xff\n"} {
		got, err := parser.Parse("", strings.ReplaceAll(text, "\n", end))
		require.NoError(t, err, "%q", end)
		assert.Equal(t, want.Entry().NumInstructions(), got.Entry().NumInstructions(), "%q", end)
	}
	for _, c := range []string{"\x00", "\x1a", "\f", "\v", "\u00e9", "\ufeff", "@", "$", "&", "`", "|", "!"} {
		for _, at := range []string{"= f32", "parameter(0", "ROOT b", "}"} {
			_, err := parser.Parse("", strings.Replace(text, at, at+" "+c+" ", 1))
			assert.Error(t, err, "%q behind %s", c, at)
		}
	}
}

// TestErrorPlaces counts columns in bytes from the last line feed, whatever else ends the line; the caret stands below tabs as below spaces.
func TestErrorPlaces(t *testing.T) {
	for text, want := range map[string]string{
		"ENTRY e {\r\n  ROOT b = f32[] negate(q)\r\n}\r\n":  "2:25: error: instruction does not exist: q\n  ROOT b = f32[] negate(q)\n                        ^",
		"ENTRY e {\n\tROOT b = f32[] negate(q)\n}\n":        "2:24: error: instruction does not exist: q\n\tROOT b = f32[] negate(q)\n\t                      ^",
		"ENTRY e { /* \u00e9 */ ROOT b = f32[] negate(q) }": "1:42: error: instruction does not exist: q\nENTRY e { /* \u00e9 */ ROOT b = f32[] negate(q) }\n                                        ^",
	} {
		_, err := parser.Parse("", text)
		assert.EqualError(t, err, want)
	}
}
