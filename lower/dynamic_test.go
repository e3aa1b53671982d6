package lower_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/lower"
)

// TestBoundedDynamicDimensions runs programs whose parameters and results have sizes that are known at run time only. The engines agree on
// values and sizes.
func TestBoundedDynamicDimensions(t *testing.T) {
	vector := func(n int) *hlo.Literal {
		values := make([]float32, n)
		for i := range values {
			values[i] = float32(i) + 0.5
		}
		l, err := hlo.LiteralOf(hlo.MakeShape(hlo.F32, int64(n)), values...)
		require.NoError(t, err)
		return l
	}
	matrix := func(rows, columns int64) *hlo.Literal {
		values := make([]int8, rows*columns)
		for i := range values {
			values[i] = int8(i + 1)
		}
		l, err := hlo.LiteralOf(hlo.MakeShape(hlo.S8, rows, columns), values...)
		require.NoError(t, err)
		return l
	}
	scalar := func(n int32) *hlo.Literal {
		l, err := hlo.LiteralOf(hlo.MakeShape(hlo.S32), n)
		require.NoError(t, err)
		return l
	}
	const sum = `sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
`
	for _, c := range []struct {
		name, text string
		args       []*hlo.Literal
		want       string // shapes of the results
	}{
		{"a parameter is the result", `ENTRY e { ROOT p = f32[<=5] parameter(0) }`, []*hlo.Literal{vector(3)}, "f32[3]"},
		{"elementwise", `ENTRY e { p = f32[<=5] parameter(0) ROOT n = f32[<=5] negate(p) }`, []*hlo.Literal{vector(3)}, "f32[3]"},
		{"at its bound", `ENTRY e { p = f32[<=5] parameter(0) ROOT n = f32[<=5] negate(p) }`, []*hlo.Literal{vector(5)}, "f32[5]"},
		{"empty", `ENTRY e { p = f32[<=5] parameter(0) ROOT n = f32[<=5] negate(p) }`, []*hlo.Literal{vector(0)}, "f32[0]"},
		{"the size of a parameter", `ENTRY e { p = f32[<=5] parameter(0) ROOT s = s32[] get-dimension-size(p), dimensions={0} }`,
			[]*hlo.Literal{vector(4)}, "s32[]"},
		{"a parameter that gets a size", `ENTRY e { p = f32[5] parameter(0) n = s32[] parameter(1)
  ROOT s = f32[<=5] set-dimension-size(p, n), dimensions={0} }`, []*hlo.Literal{vector(5), scalar(2)}, "f32[2]"},
		{"a fold sees what is there", sum + `ENTRY e { p = f32[<=5] parameter(0) z = f32[] constant(0)
  ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=sum }`, []*hlo.Literal{vector(3)}, "f32[]"},
		{"two dimensions", `ENTRY e { q = s8[<=3,<=4] parameter(0) ROOT t = s8[<=4,<=3] transpose(q), dimensions={1,0} }`,
			[]*hlo.Literal{matrix(2, 3)}, "s8[3,2]"},
		{"static and dynamic results", `ENTRY e { q = s8[<=3,4] parameter(0) c = f32[2] parameter(1)
  n = s8[<=3,4] negate(q) d = f32[2] add(c, c) s = s32[] get-dimension-size(q), dimensions={0}
  t = (f32[2], s32[]) tuple(d, s)
  ROOT r = (s8[<=3,4], (f32[2], s32[])) tuple(n, t) }`, []*hlo.Literal{matrix(1, 4), vector(2)}, "s8[1,4] f32[2]{0} s32[]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := parser.Parse("m", "HloModule m\n"+c.text)
			require.NoError(t, err)
			want, err := eval.Module(t.Context(), m, c.args, eval.Options{})
			require.NoError(t, err)
			p, err := halo.Compile(t.Context(), m, halo.Options{Threads: 1})
			require.NoError(t, err)
			defer p.Close()
			got, err := p.Run(t.Context(), c.args...)
			require.NoError(t, err)
			shapes := ""
			for i, w := range want.Leaves() {
				assert.Equal(t, w.String(), got[i].String())
				shapes += fmt.Sprintf(" %v", got[i].Shape())
			}
			assert.Equal(t, " "+c.want, shapes)
		})
	}
}

// What has no bounds has no place in memory, and what is beyond them is no argument.
func TestDynamicDimensionsThatAreRefused(t *testing.T) {
	m, err := parser.Parse("m", "HloModule m\nENTRY e { p = f32[?] parameter(0) ROOT n = f32[?] negate(p) }")
	require.NoError(t, err)
	_, err = lower.Module(t.Context(), m)
	assert.ErrorContains(t, err, "m:2:11: error: cannot lower parameter p: f32[?]{0} has a dynamic dimension without a bound")

	m, err = parser.Parse("m", "HloModule m\nENTRY e { p = f32[<=5] parameter(0) ROOT n = f32[<=5] negate(p) }")
	require.NoError(t, err)
	_, err = lower.Module(t.Context(), m)
	assert.ErrorContains(t, err, "m:2:42: error: cannot lower negate n: f32[<=5]{0} has a dynamic dimension; pass outline-dynamic was not run")

	p, err := halo.Compile(t.Context(), m, halo.Options{Threads: 1})
	require.NoError(t, err)
	defer p.Close()
	six, err := hlo.LiteralOf(hlo.MakeShape(hlo.F32, 6), make([]float32, 6)...)
	require.NoError(t, err)
	_, err = p.Run(t.Context(), six)
	assert.ErrorContains(t, err, "parameter 0, p: got f32[6], want f32[<=5]")
}

// TestFilledResults: a program whose results passes have filled up to their bounds gives them so.
func TestFilledResults(t *testing.T) {
	m, err := parser.Parse("m", "HloModule m\nENTRY e { p = f32[<=5] parameter(0) ROOT n = f32[<=5] negate(p) }")
	require.NoError(t, err)
	p, err := halo.Compile(t.Context(), m, halo.Options{Threads: 1, Passes: "dynamic-padder{slice-dynamic-output=false},cpu"})
	require.NoError(t, err)
	defer p.Close()
	three, err := hlo.LiteralOf(hlo.MakeShape(hlo.F32, 3), float32(1), 2, 3)
	require.NoError(t, err)
	got, err := p.Run(t.Context(), three)
	require.NoError(t, err)
	assert.Equal(t, "f32[5]{0}", got[0].Shape().String())
	assert.Contains(t, got[0].String(), "{-1, -2, -3, ")
}

// TestSizesThatDoNotFit: a program that is computed on filled arrays is refused, and answered, as if it were not.
func TestSizesThatDoNotFit(t *testing.T) {
	const head = "HloModule m\nsum { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }\nENTRY e { p = s32[5] parameter(0) n = s32[] parameter(1) k = s32[] parameter(2)\n"
	for _, c := range []struct {
		name string
		n, k int32
		want string
	}{
		{"as they should be", 3, 3, "s32[] 6"},
		{"at the bound", 5, 5, "s32[] 20"},
		{"none", 0, 0, "s32[] 0"},
		{"beyond the bound", 6, 6, "m:4:2: error: evaluating set-dimension-size x.1: size 6 of dimension 0 of s32[<=5]{0}"},
		{"below zero", -1, -1, "m:4:2: error: evaluating set-dimension-size x.1: size -1 of dimension 0 of s32[<=5]{0}"},
		{"not of one size", 3, 4, "operands of sizes 3 and 4 in dimension 0"},
		{"one of many", 1, 4, "operands of sizes 1 and 4 in dimension 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := parser.Parse("m", head+` x = s32[<=5] set-dimension-size(p, n), dimensions={0}
 y = s32[<=5] set-dimension-size(p, k), dimensions={0}
 z = s32[<=5] add(x, y) zero = s32[] constant(0)
 ROOT r = s32[] reduce(z, zero), dimensions={0}, to_apply=sum }`)
			require.NoError(t, err)
			p, err := halo.Compile(t.Context(), m, halo.Options{Threads: 1})
			require.NoError(t, err)
			defer p.Close()
			args := make([]*hlo.Literal, 3)
			for i, values := range [][]int32{{0, 1, 2, 3, 4}, {c.n}, {c.k}} {
				s := hlo.MakeShape(hlo.S32)
				if i == 0 {
					s = hlo.MakeShape(hlo.S32, 5)
				}
				args[i], err = hlo.LiteralOf(s, values...)
				require.NoError(t, err)
			}
			got, err := p.Run(t.Context(), args...)
			if err != nil {
				assert.Contains(t, "error: "+err.Error(), c.want)
				return
			}
			assert.Equal(t, c.want, got[0].String())
		})
	}
}
