package parser_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/printer"
)

// agree holds the two readers of a module against each other: the one that reads in place, and the one that reads by statements, whose
// outline is participle's grammar. What one reads the other reads, with the same warnings, as the same module.
func agree(tb testing.TB, c parser.Config, id, text string) (ok bool) {
	tb.Helper()
	var warnings, warnings2 []string
	c.Warn = func(e *parser.Error) { warnings = append(warnings, e.Error()) }
	m, ok := parser.ParseInPlace(c, id, text)
	c.Warn = func(e *parser.Error) { warnings2 = append(warnings2, e.Error()) }
	want, err := parser.ParseByStatements(c, id, text)
	require.Equal(tb, err == nil, ok, "%s: read in place: %t, by statements: %v\n%s", id, ok, err, text)
	if !ok {
		return false
	}
	assert.Equal(tb, warnings2, warnings, id)
	style, _ := printer.StyleByName("long")
	a, err := printer.Append(nil, m, style)
	require.NoError(tb, err, id)
	b, err := printer.Append(nil, want, style)
	require.NoError(tb, err, id)
	require.Equal(tb, string(b), string(a), id)
	return true
}

// agreeAhead holds reading with a reader ahead against reading without one. It returns how many instructions were read ahead.
func agreeAhead(tb testing.TB, c parser.Config, id, text string) (read int) {
	tb.Helper()
	type outcome struct {
		ok        bool
		warnings  []string
		text      string
		positions []hlo.Position
	}
	of := func(parse func(c parser.Config) (hlo.Module, bool)) (o outcome) {
		var warnings []string
		c.Warn = func(e *parser.Error) { warnings = append(warnings, e.Error()) }
		m, ok := parse(c)
		if !ok {
			return outcome{}
		}
		style, _ := printer.StyleByName("long")
		b, err := printer.Append(nil, m, style)
		require.NoError(tb, err, id)
		o = outcome{ok: true, warnings: warnings, text: string(b)}
		for comp := range m.Computations() {
			for in := range comp.Instructions() {
				o.positions = append(o.positions, in.Position())
			}
		}
		return o
	}
	alone := of(func(c parser.Config) (hlo.Module, bool) { return parser.ParseInPlace(c, id, text) })
	ahead := of(func(c parser.Config) (m hlo.Module, ok bool) {
		m, ok, read = parser.ParseAhead(c, id, text)
		return m, ok
	})
	require.Equal(tb, alone, ahead, id)
	require.Equal(tb, alone, of(func(c parser.Config) (hlo.Module, bool) { return parser.ParseByTwo(c, id, text) }), id)
	return read
}

// TestInPlace reads every text of the corpus in all ways.
func TestInPlace(t *testing.T) {
	needCorpus(t)
	good, n, ahead := 0, 0, 0
	check := func(id, text string) {
		if parser.IsSingleInstruction(text) {
			return
		}
		n++
		if agree(t, parser.Config{}, id, text) {
			good++
		}
		ahead += agreeAhead(t, parser.Config{}, id, text)
	}
	for _, set := range []string{"modules", "parser", "roundtrip"} {
		for _, r := range rows(t, set+".jsonl") {
			check(r.ID, string(r.Text))
		}
	}
	files(t, check)
	t.Logf("%d texts, %d without faults; %d instructions read ahead", n, good, ahead)
}

// FuzzInPlace compares the two readers.
func FuzzInPlace(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
		f.Add(strings.ReplaceAll(s, "\n", " "))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !parser.IsSingleInstruction(text) {
			c := parser.Config{MaxConstantBytes: 1 << 20, MaxDepth: 256}
			agree(t, c, "fuzz.hlo", text)
			agreeAhead(t, c, "fuzz.hlo", text)
		}
	})
}

// TestReadAhead reads the project's own programs alone and by two.
func TestReadAhead(t *testing.T) {
	read := 0
	err := filepath.WalkDir("../../testdata", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".hlo" {
			return err
		}
		text, err := os.ReadFile(path)
		read += agreeAhead(t, parser.Config{}, path, string(text))
		return err
	})
	require.NoError(t, err)
	assert.Greater(t, read, 100)
	t.Logf("%d instructions read ahead", read)
}
