package printer_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/archives"
	"github.com/gohalo/halo/printer"
)

func ExampleFprint() {
	m, err := parser.Parse("", `HloModule sum
		ENTRY e { x = f32[4] parameter(0) ROOT y = add(x, x) }`)
	if err != nil {
		panic(err)
	}
	if err := printer.Fprint(os.Stdout, m, printer.Short); err != nil {
		panic(err)
	}
	// Output:
	// HloModule sum, entry_computation_layout={(f32[4]{0})->f32[4]{0}}
	//
	// ENTRY e {
	//   x = f32[4]{0} parameter(0)
	//   ROOT y = f32[4]{0} add(x, x)
	// }
}

func parse(t *testing.T, text string) hlo.Module {
	t.Helper()
	m, err := parser.Parse("test", text)
	require.NoError(t, err)
	return m
}

// TestSingle prints parts of a module by themselves.
func TestSingle(t *testing.T) {
	m := parse(t, `HloModule m
plus { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = add(a, b) }
ENTRY e { x = f32[4,8] parameter(0) z = f32[] constant(0) ROOT r = f32[4] reduce(x, z), dimensions={1}, to_apply=plus }`)
	root := m.Entry().Root()
	for _, c := range []struct {
		cfg  printer.Config
		want string
	}{
		{printer.Default, "%r = f32[4]{0} reduce(%x, %z), dimensions={1}, to_apply=%plus"},
		{printer.Short, "r = f32[4]{0} reduce(x, z), dimensions={1}, to_apply=plus"},
		{printer.Canonical, `f32[4]{0} reduce(f32[4,8]{1,0}, f32[]), dimensions={1}, to_apply=
{
  tmp_0 = f32[] parameter(0)
  tmp_1 = f32[] parameter(1)
  ROOT tmp_2 = f32[] add(f32[] tmp_0, f32[] tmp_1)
}`},
	} {
		got, err := printer.AppendInstruction([]byte("> "), m, root, c.cfg)
		require.NoError(t, err)
		assert.Equal(t, "> "+c.want, string(got))
	}
	entry := printer.Short
	entry.Entry = true
	for _, c := range []struct {
		cfg  printer.Config
		want string
	}{
		{printer.Short, "e {\n  x = f32[4,8]{1,0} parameter(0)\n  z = f32[] constant(0)\n  ROOT r = f32[4]{0} reduce(x, z), dimensions={1}, to_apply=plus\n}"},
		{entry, "ENTRY e {\n  x = f32[4,8]{1,0} parameter(0)\n  z = f32[] constant(0)\n  ROOT r = f32[4]{0} reduce(x, z), dimensions={1}, to_apply=plus\n}"},
	} {
		got, err := printer.AppendComputation(nil, m, m.Entry(), c.cfg)
		require.NoError(t, err)
		assert.Equal(t, c.want, string(got))
	}
}

// TestLimit prints bodies of calls that double at each of many levels.
func TestLimit(t *testing.T) {
	var b strings.Builder
	b.WriteString("HloModule m\ng0 { a = f32[] parameter(0) ROOT n = negate(a) }\n")
	for i := 1; i <= 60; i++ {
		fmt.Fprintf(&b, "g%d { a = f32[] parameter(0) c = f32[] call(a), to_apply=g%d ROOT d = f32[] call(c), to_apply=g%d }\n", i, i-1, i-1)
	}
	b.WriteString("ENTRY e { a = f32[] parameter(0) ROOT c = f32[] call(a), to_apply=g60 }")
	m := parse(t, b.String())
	cfg := printer.Canonical
	cfg.MaxBytes = 1 << 20
	var limit *printer.LimitError
	require.ErrorAs(t, printer.Fprint(io.Discard, m, cfg), &limit)
	assert.Equal(t, int64(1<<20), limit.Limit)
	text, err := printer.Append(nil, m, cfg)
	require.ErrorAs(t, err, &limit)
	assert.Less(t, len(text), 2<<20)
	require.NoError(t, printer.Fprint(io.Discard, m, printer.Default))
}

// TestCircle prints computations that call each other, which no text can say but an editor can.
func TestCircle(t *testing.T) {
	m := parse(t, `HloModule m
f { a = f32[] parameter(0) ROOT n = negate(a) }
g { a = f32[] parameter(0) ROOT c = f32[] call(a), to_apply=f }
ENTRY e { a = f32[] parameter(0) ROOT c = f32[] call(a), to_apply=g }`)
	g, _ := m.ComputationByName("g")
	e := m.Edit()
	call := e.Computation(g.ID()).Instr(g.Root().ID())
	call.SetCallees(g.ID())
	m = e.Freeze()
	var limit *printer.LimitError
	require.ErrorAs(t, printer.Fprint(io.Discard, m, printer.Canonical), &limit)
	assert.Contains(t, printer.String(m), "to_apply=%g")
}

var errFull = errors.New("disk full")

type fullDisk struct{ room int }

func (d *fullDisk) Write(b []byte) (int, error) {
	if d.room -= len(b); d.room < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// TestWriteError stops at the first error of the writer.
func TestWriteError(t *testing.T) {
	var b strings.Builder
	b.WriteString("HloModule m\nENTRY e {\n a0 = f32[] parameter(0)\n")
	for i := 1; i < 5000; i++ {
		fmt.Fprintf(&b, " a%d = f32[] negate(a%d)\n", i, i-1)
	}
	m := parse(t, b.String()+"}")
	for _, room := range []int{0, 100_000} {
		assert.ErrorIs(t, printer.Fprint(&fullDisk{room}, m, printer.Default), errFull)
	}
}

// TestStyles finds every style by its name.
func TestStyles(t *testing.T) {
	for _, s := range printer.Styles() {
		cfg, ok := printer.StyleByName(s.Name)
		assert.True(t, ok)
		assert.Equal(t, s.Config, cfg)
		assert.NotEmpty(t, s.Doc)
	}
	_, ok := printer.StyleByName("pretty")
	assert.False(t, ok)
}

// FuzzPrint reads arbitrary text; what is accepted must print, read back, and print the same from the second print on.
func FuzzPrint(f *testing.F) {
	for _, archive := range archives.All(f, "testdata/*.txtar") {
		f.Add(string(archive.Files[0].Data))
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := parser.Parse("fuzz", text)
		if err != nil {
			return
		}
		var prints [3]string
		for i := range prints {
			b, err := printer.Append(nil, m, printer.Long)
			require.NoError(t, err)
			prints[i] = string(b)
			m, err = parser.Parse("fuzz", prints[i])
			require.NoError(t, err, "%s", prints[i])
		}
		require.Equal(t, prints[1], prints[2])
	})
}
