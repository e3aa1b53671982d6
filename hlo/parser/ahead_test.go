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

// agreeAhead holds reading with a reader ahead against reading without one. It returns how many instructions were read ahead.
func agreeAhead(tb testing.TB, c parser.Config, id, text string) (read int) {
	tb.Helper()
	type outcome struct {
		warnings  []string
		errors    string
		text      string
		positions []hlo.Position
	}
	of := func(parse func(c parser.Config) (hlo.Module, error)) (o outcome) {
		c.Warn = func(e *parser.Error) { o.warnings = append(o.warnings, e.Error()) }
		m, err := parse(c)
		if err != nil {
			o.errors = err.Error()
			return o
		}
		style, _ := printer.StyleByName("long")
		b, err := printer.Append(nil, m, style)
		require.NoError(tb, err, id)
		o.text = string(b)
		for comp := range m.Computations() {
			for in := range comp.Instructions() {
				o.positions = append(o.positions, in.Position())
			}
		}
		return o
	}
	alone := of(func(c parser.Config) (hlo.Module, error) { return parser.ParseAlone(c, id, text) })
	ahead := of(func(c parser.Config) (m hlo.Module, err error) {
		m, read, err = parser.ParseAhead(c, id, text)
		return m, err
	})
	require.Equal(tb, alone, ahead, id)
	require.Equal(tb, alone, of(func(c parser.Config) (hlo.Module, error) { return parser.ParseByTwo(c, id, text) }), id)
	return read
}

// TestReadAheadCorpus reads every text of the corpus alone and by two, those with faults too.
func TestReadAheadCorpus(t *testing.T) {
	needCorpus(t)
	n, ahead := 0, 0
	check := func(id, text string) {
		if parser.IsSingleInstruction(text) {
			return
		}
		n++
		ahead += agreeAhead(t, parser.Config{}, id, text)
	}
	for _, set := range []string{"modules", "parser", "roundtrip"} {
		for _, r := range rows(t, set+".jsonl") {
			check(r.ID, string(r.Text))
		}
	}
	files(t, check)
	t.Logf("%d texts; %d instructions read ahead", n, ahead)
}

// FuzzReadAhead compares reading alone with reading by two.
func FuzzReadAhead(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
		f.Add(strings.ReplaceAll(s, "\n", " "))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !parser.IsSingleInstruction(text) {
			agreeAhead(t, parser.Config{MaxConstantBytes: 1 << 20, MaxDepth: 256}, "fuzz.hlo", text)
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
