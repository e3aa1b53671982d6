package moddiff_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/hlotest"
	"github.com/gohalo/halo/internal/moddiff"
	"github.com/gohalo/halo/printer"
)

func parse(t *testing.T, text string) hlo.Module {
	t.Helper()
	m, err := parser.Parse("m.hlo", text)
	require.NoError(t, err)
	return m
}

const base = `HloModule m

sum {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] add(p, q)
}

ENTRY main {
  x = f32[8,4] parameter(0)
  y = f32[8,4] parameter(1)
  a = f32[8,4] add(x, y)
  b = f32[8,4] exponential(a)
  c = f32[8,4] multiply(b, x)
  zero = f32[] constant(0)
  r = f32[8] reduce(c, zero), dimensions={1}, to_apply=sum
  ROOT t = (f32[8], f32[8,4]) tuple(r, b)
}
`

func TestFind(t *testing.T) {
	for name, c := range map[string]struct {
		replace []string
		same    int
		want    []string
	}{
		"nothing":        {nil, 11, nil},
		"names":          {[]string{" b = ", " bb = ", "(b, x)", "(bb, x)", "(r, b)", "(r, bb)", "sum", "region_0", "main", "entry"}, 11, nil},
		"order":          {[]string{"  zero = f32[] constant(0)\n", "", "  x = f32[8,4] parameter(0)\n", "  x = f32[8,4] parameter(0)\n  zero = f32[] constant(0)\n"}, 11, nil},
		"an opcode":      {[]string{"exponential(a)", "tanh(a)"}, 8, []string{"- exponential", "+ tanh", "~ multiply operands", "~ tuple operands"}},
		"an attribute":   {[]string{"dimensions={1}", "dimensions={0}", "f32[8] reduce", "f32[4] reduce", "(f32[8], ", "(f32[4], "}, 9, []string{"~ reduce shape attributes", "~ tuple shape"}},
		"one inserted":   {[]string{"exponential(a)", "exponential(n)", "  b = ", "  n = f32[8,4] negate(a)\n  b = "}, 10, []string{"+ negate", "~ exponential operands"}},
		"one removed":    {[]string{"exponential(a)", "exponential(x)", "  a = f32[8,4] add(x, y)\n", ""}, 9, []string{"- add", "~ exponential operands"}},
		"in a callee":    {[]string{"add(p, q)", "maximum(p, q)"}, 10, []string{"- add", "+ maximum"}},
		"operands":       {[]string{"multiply(b, x)", "multiply(b, y)"}, 10, []string{"~ multiply operands"}},
		"a constant":     {[]string{"constant(0)", "constant(1)"}, 10, []string{"~ constant attributes"}},
		"a layout only":  {[]string{"x = f32[8,4] param", "x = f32[8,4]{0,1} param"}, 10, []string{"~ parameter shape"}},
		"the other root": {[]string{"ROOT t = (f32[8], f32[8,4]) tuple(r, b)", "ROOT t = (f32[8,4], f32[8]) tuple(b, r)"}, 10, []string{"~ tuple shape operands"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := moddiff.Find(parse(t, base), parse(t, strings.NewReplacer(c.replace...).Replace(base)))
			var got []string
			for _, ch := range d.Changes {
				switch {
				case ch.Old.IsZero():
					got = append(got, "+ "+ch.New.Opcode().String())
				case ch.New.IsZero():
					got = append(got, "- "+ch.Old.Opcode().String())
				default:
					got = append(got, fmt.Sprintf("~ %v %s", ch.New.Opcode(), strings.Join(ch.What, " ")))
				}
			}
			assert.ElementsMatch(t, c.want, got)
			assert.Equal(t, c.same, d.Same)
			assert.Equal(t, len(c.want) == 0, len(d.Changes) == 0)
		})
	}
}

func TestFindOthers(t *testing.T) {
	other := parse(t, strings.Replace(base, "HloModule m", "HloModule m, is_scheduled=true", 1))
	assert.Equal(t, []string{"is_scheduled"}, moddiff.Find(parse(t, base), other).Header)
	more := parse(t, strings.Replace(base, "sum {", "spare {\n  ROOT p = f32[] parameter(0)\n}\n\nsum {", 1))
	d := moddiff.Find(parse(t, base), more)
	require.Len(t, d.OnlyNew, 1)
	assert.Equal(t, "spare", d.OnlyNew[0].Name())
	assert.False(t, d.Equal())
	assert.Len(t, moddiff.Find(more, parse(t, base)).OnlyOld, 1)
}

// TestFindRandom: a module is equal to what reads back from its text, and every instruction is counted.
func TestFindRandom(t *testing.T) {
	for seed := range uint64(100) {
		m, err := hlotest.Random(seed, 30)
		require.NoError(t, err)
		again := parse(t, printer.String(m))
		d := moddiff.Find(m, again)
		assert.True(t, d.Equal(), "seed %d: %v", seed, d)
		other, err := hlotest.Random(seed+1, 30)
		require.NoError(t, err)
		moddiff.Find(m, other)
	}
}
