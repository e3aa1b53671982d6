package parser_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/parser"
)

// separatorLine is what Split cuts at, said in another way.
var separatorLine = regexp.MustCompile(`(?m)^// -----.*$`)

// checkSplit holds the parts of a text to their definition.
func checkSplit(t *testing.T, text string) {
	t.Helper()
	want, from := []parser.Part{}, 0
	for _, cut := range append(separatorLine.FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		if !onlyComments(text[from:cut[0]]) {
			want = append(want, parser.Part{Text: text[from:cut[0]], LinesBefore: strings.Count(text[:from], "\n")})
		}
		from = cut[1]
	}
	if !separatorLine.MatchString(text) {
		want = []parser.Part{{Text: text}}
	}
	require.Equal(t, want, append([]parser.Part{}, parser.Split(text)...), "%q", text)
}

// onlyComments reports whether a text is blank but for comments to the end of the line.
func onlyComments(text string) bool {
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = strings.Trim(line, " \t"); line != "" && !strings.HasPrefix(line, "//") {
			return false
		}
	}
	return true
}

func TestSplit(t *testing.T) {
	for _, text := range []string{
		"", "a", "a\n", "// -----", "// -----\n", "a\n// -----", "a\n// -----\n", "a\n// -----\nb", "a\n// ----- next -----\nb\n", "// -----\na",
		"// -----\n// -----\na\n// -----\n\n// -----\nb", "a // -----\nb", " // -----\nb", "a\n// ----\nb", "a\r// -----\nb", "a\n// -----\r\nb",
		"a\r\n// -----\r\nb\r\n", "\n// -----a\n", "a\n\n// -----\n\n\nb\n// -----// -----\nc", "a\n// comment\n// -----\n// comment\n// -----\nb",
		"a\n// ------------\nb", "a\n// -----\xff\nb",
	} {
		checkSplit(t, text)
	}
}

// TestLinesBefore holds positions in a part to those in the whole text.
func TestLinesBefore(t *testing.T) {
	const text = "e { a = f32[] parameter(0) }\n// -----\n\ne {\n  a = f32[] parameter(0)\n  b = f32[] what(a)\n}\n"
	parts := parser.Split(text)
	require.Len(t, parts, 2)
	_, err := parser.Config{LinesBefore: parts[1].LinesBefore}.Parse("two.hlo", parts[1].Text)
	require.ErrorContains(t, err, "two.hlo:6:13: ")
	m, err := parser.Config{LinesBefore: parts[1].LinesBefore}.Parse("two.hlo", strings.Replace(parts[1].Text, "what", "negate", 1))
	require.NoError(t, err)
	require.EqualValues(t, 6, m.Entry().Root().Position().Line)
	require.EqualValues(t, 3, m.Entry().Root().Position().Col)

	_, err = parser.Config{LinesBefore: 10}.Parse("late.hlo", "e {\n  b = f32[] negate(a)\n  a = f32[] parameter(0)\n}\n")
	require.ErrorContains(t, err, "late.hlo:12:20: ")
	require.ErrorContains(t, err, "a is defined below, in line 13") // advice counts the lines of the file, too
}
