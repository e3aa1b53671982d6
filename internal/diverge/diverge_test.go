package diverge_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/diverge"
)

const loop = `HloModule m
body {
  s = (s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[3] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  f = f32[] constant(FACTOR)
  fs = f32[3] broadcast(f), dimensions={}
  w = f32[3] multiply(v, fs)
  ROOT t = (s32[], f32[3]) tuple(j, w)
}
cond {
  s = (s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  x = f32[3] parameter(0)
  y = f32[3] OP(x)
  z = s32[] constant(0)
  t = (s32[], f32[3]) tuple(z, y)
  l = (s32[], f32[3]) while(t), condition=cond, body=body
  g = f32[3] get-tuple-element(l), index=1
  ROOT r = f32[3] add(g, y)
}
`

func module(t *testing.T, op, factor string) hlo.Module {
	t.Helper()
	m, err := parser.Parse("m.hlo", strings.NewReplacer("OP", op, "FACTOR", factor).Replace(loop))
	require.NoError(t, err)
	return m
}

func numbers(t *testing.T, x ...float32) []*hlo.Literal {
	t.Helper()
	l, err := hlo.LiteralOf(hlo.MakeShape(hlo.F32, 3), x...)
	require.NoError(t, err)
	return []*hlo.Literal{l}
}

func TestFind(t *testing.T) {
	m := module(t, "negate", "2")
	for name, c := range map[string]struct {
		b           diverge.Side
		instruction string // "" for no departure
		execution   int
	}{
		"same":               {diverge.Side{Module: m, Engine: halo.Eval}, "", 0},
		"same on bef":        {diverge.Side{Module: m, Engine: halo.BEF}, "", 0},
		"another op":         {diverge.Side{Module: module(t, "abs", "2"), Engine: halo.Eval}, "y", 1},
		"another op on bef":  {diverge.Side{Module: module(t, "abs", "2"), Engine: halo.BEF}, "y", 1},
		"within a loop":      {diverge.Side{Module: module(t, "negate", "3"), Engine: halo.Eval}, "fs", 1},
		"a loop on bef":      {diverge.Side{Module: module(t, "negate", "3"), Engine: halo.BEF}, "l", 1},
		"within a tolerance": {diverge.Side{Module: module(t, "negate", "2.000001"), Engine: halo.Eval}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := diverge.Find(t.Context(), diverge.Side{Module: m, Engine: halo.Eval}, c.b, numbers(t, 1, -2, 3), diverge.Config{})
			require.NoError(t, err)
			if c.instruction == "" {
				require.Nil(t, r.First)
				return
			}
			require.NotNil(t, r.First)
			assert.Equal(t, c.instruction, r.First.Instruction.Name())
			assert.Equal(t, c.execution, r.First.Execution)
		})
	}
}

// TestOpen goes into a loop whose second iteration departs: a rounding that only one engine makes there shows with no tolerance at all.
func TestOpen(t *testing.T) {
	m, err := parser.Parse("m.hlo", strings.NewReplacer("OP", "negate", "FACTOR", "2", "w = f32[3] multiply(v, fs)",
		"a = f32[3] tanh(v)\n  w = f32[3] multiply(a, fs)").Replace(loop))
	require.NoError(t, err)
	exact := func(hlo.PrimitiveType) (rtol, atol float64) { return 0, 0 }
	args := numbers(t, 0.1, 0.7, 1.3)
	r, err := diverge.Find(t.Context(), diverge.Side{Module: m, Engine: halo.Eval}, diverge.Side{Module: m, Engine: halo.BEF}, args,
		diverge.Config{Tolerance: exact})
	require.NoError(t, err)
	if r.First == nil {
		t.Skip("the engines agree on tanh to the last bit")
	}
	assert.Equal(t, "a", r.First.Instruction.Name())
	assert.NotEmpty(t, r.First.Within)
}

func TestBirthOfNaN(t *testing.T) {
	inf := float32(math.Inf(1))
	nan := float32(math.NaN())
	m := module(t, "negate", "0")
	for _, engine := range []halo.Engine{halo.Eval, halo.BEF} {
		side := diverge.Side{Module: m, Engine: engine}
		r, err := diverge.Find(t.Context(), side, side, numbers(t, 1, inf, 2), diverge.Config{})
		require.NoError(t, err)
		require.NotNil(t, r.NaNA)
		if engine == halo.Eval {
			assert.Equal(t, "w", r.NaNA.Instruction.Name())
			assert.Equal(t, []string{"-Inf", "0"}, r.NaNA.Operands)
			assert.Equal(t, 1, r.NaNA.Element)
		} else {
			assert.Equal(t, "l", r.NaNA.Instruction.Name())
		}
		r, err = diverge.Find(t.Context(), side, side, numbers(t, 1, 2, nan), diverge.Config{})
		require.NoError(t, err)
		require.NotNil(t, r.NaNA)
		assert.True(t, r.NaNA.Parameter)
		r, err = diverge.Find(t.Context(), side, side, numbers(t, 1, 2, 3), diverge.Config{})
		require.NoError(t, err)
		assert.Nil(t, r.NaNA)
	}
}
