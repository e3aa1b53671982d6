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
		{"", "abc", 9, 3},
		{"abc", "", 3, 3},
		{strings.Repeat("a", 300), strings.Repeat("a", 300), 9, 9},
	} {
		assert.Equal(t, c.want, spelling.Distance(c.a, c.b, c.limit), "%q to %q", c.a, c.b)
		assert.Equal(t, c.want, spelling.Distance(c.b, c.a, c.limit), "%q to %q", c.b, c.a)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"add", "and", "abs", "atan2", "dot"}
	for _, c := range []struct {
		word string
		most int
		want string
	}{
		{"adds", 2, "add"},
		{"DOT", 2, "dot"},
		{"dot", 0, "dot"},
		{"aad", 2, "add"}, // before and, which is as near
		{"atan", 2, "atan2"},
		{"atan", 0, ""},
		{"multiply", 2, ""},
		{"ab", 2, "abs"}, // one insertion; add and and take more
	} {
		assert.Equal(t, c.want, spelling.Nearest(c.word, names, c.most), c.word)
	}
	assert.Equal(t, "abcd", spelling.Nearest("abcx", []string{"abc", "abcd"}, 2), "of two as near, the one as long")
}
