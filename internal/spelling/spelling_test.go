package spelling_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gohalo/halo/internal/spelling"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		limit int
		want  int
	}{
		{"", "", 9, 0},
		{"add", "add", 9, 0},
		{"add", "and", 9, 1},
		{"subtract", "substract", 9, 1},
		{"kitten", "sitting", 9, 3},
		{"kitten", "sitting", 2, 2},
		{"rnu", "run", 9, 1},
		{"abcdef", "bacdfe", 9, 2},
		{"ca", "abc", 9, 3}, // what was exchanged is not changed again
		{"", "abc", 9, 3},
		{"abc", "", 3, 3},
		{strings.Repeat("a", 300), strings.Repeat("a", 300), 9, 9},
	} {
		assert.Equal(t, c.want, spelling.Distance(c.a, c.b, c.limit), "%q to %q", c.a, c.b)
		assert.Equal(t, c.want, spelling.Distance(c.b, c.a, c.limit), "%q to %q", c.b, c.a)
	}
}

func TestElementType(t *testing.T) {
	for word, want := range map[string]string{
		"float32": "f32", "Float64": "f64", "float": "f32", "double": "f64", "bfloat16": "bf16", "int32": "s32", "uint8": "u8", "i32": "s32",
		"si16": "s16", "ui64": "u64", "i1": "pred", "bool": "pred", "complex64": "c64", "float8_e4m3fn": "f8e4m3fn",
		"f32": "", "index": "", "i": "", "intx": "", "": "",
	} {
		assert.Equal(t, want, spelling.ElementType(word), word)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"add", "and", "abs", "atan2", "dot", "negate", "run", "cosine", "subtract", "subtract-all", "kLoop"}
	for _, c := range []struct{ word, want string }{
		{"adds", "add"},
		{"DOT", "dot"},
		{"dot", "dot"},
		{"aad", "add"}, // before and, which is as near
		{"atan", "atan2"},
		{"multiply", ""},
		{"ab", "abs"}, // one insertion; add and and take more
		{"rnu", "run"},
		{"nofile", ""}, // three changes from cosine
		{"neg", "negate"},
		{"sub", "subtract"}, // the shortest that begins so
		{"Neg", "negate"},
		{"ne", ""},
		{"loop", "kLoop"},
		{"a", ""},
	} {
		assert.Equal(t, c.want, spelling.Nearest(c.word, names), c.word)
	}
	assert.Equal(t, "abcd", spelling.Nearest("abcx", []string{"abc", "abcd"}), "of two as near, the one as long")
	assert.Equal(t, "expand", spelling.Nearest("exp", []string{"axe", "expand"}), "what begins so, before two changes")
}
