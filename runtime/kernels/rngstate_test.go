package kernels_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/lower"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels"
)

// A loop draws three states, and the next execution goes on where the first one ended, as XLA's do. The first execution is the evaluator's.
func TestRngStateLivesInTheProgram(t *testing.T) {
	m, err := parser.Parse("m", `HloModule m
cond {
  s = (s32[], u64[2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], u64[2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  sum = u64[2] get-tuple-element(s), index=1
  state = u64[2] rng-get-and-update-state(), delta=1000
  more = u64[2] add(sum, state)
  ROOT t = (s32[], u64[2]) tuple(j, more)
}
ENTRY main {
  zero = s32[] constant(0)
  none = u64[2] constant({0, 0})
  t = (s32[], u64[2]) tuple(zero, none)
  w = (s32[], u64[2]) while(t), condition=cond, body=body
  ROOT r = u64[2] get-tuple-element(w), index=1
}`)
	require.NoError(t, err)
	file, err := lower.Module(t.Context(), m)
	require.NoError(t, err)
	reg := runtime.NewRegistry()
	kernels.Register(reg)
	p, err := runtime.Load(file, reg, runtime.LoadOptions{})
	require.NoError(t, err)
	run := func(o runtime.RunOptions) uint64 {
		results := p.Entry().NewResults()
		require.NoError(t, p.Entry().Run(t.Context(), o, nil, results))
		l, err := hlo.NewLiteral(m.Entry().Root().Shape(), results[0].Data)
		require.NoError(t, err)
		return hlo.Values[uint64](l)[0]
	}
	const first = 0x7012395
	assert.EqualValues(t, 3*first+3000, run(runtime.RunOptions{}))
	assert.EqualValues(t, 3*first+12000, run(runtime.RunOptions{}))
	assert.EqualValues(t, 3*first+3000, run(runtime.RunOptions{Replica: 1}), "another device has a state of its own")
	want, err := eval.Module(t.Context(), m, nil, eval.Options{})
	require.NoError(t, err)
	assert.EqualValues(t, 3*first+3000, hlo.Values[uint64](want)[0])
}

// What rng draws in a loop is the evaluator's: three different numbers, and others in the next execution.
func TestRngDrawsAnewInEachIteration(t *testing.T) {
	m, err := parser.Parse("m", `HloModule m
cond {
  s = (s32[], u32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], u32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  drawn = u32[3] get-tuple-element(s), index=1
  low = u32[] constant(0)
  high = u32[] constant(1000000)
  number = u32[1] rng(low, high), distribution=rng_uniform
  more = u32[3] dynamic-update-slice(drawn, number, i)
  ROOT t = (s32[], u32[3]) tuple(j, more)
}
ENTRY main {
  zero = s32[] constant(0)
  none = u32[3] constant({0, 0, 0})
  t = (s32[], u32[3]) tuple(zero, none)
  w = (s32[], u32[3]) while(t), condition=cond, body=body
  ROOT r = u32[3] get-tuple-element(w), index=1
}`)
	require.NoError(t, err)
	file, err := lower.Module(t.Context(), m)
	require.NoError(t, err)
	reg := runtime.NewRegistry()
	kernels.Register(reg)
	p, err := runtime.Load(file, reg, runtime.LoadOptions{})
	require.NoError(t, err)
	run := func() []uint32 {
		results := p.Entry().NewResults()
		require.NoError(t, p.Entry().Run(t.Context(), runtime.RunOptions{}, nil, results))
		l, err := hlo.NewLiteral(m.Entry().Root().Shape(), results[0].Data)
		require.NoError(t, err)
		return hlo.Values[uint32](l)
	}
	want, err := eval.Module(t.Context(), m, nil, eval.Options{})
	require.NoError(t, err)
	first, second := run(), run()
	assert.Equal(t, hlo.Values[uint32](want), first)
	numbers := map[uint32]bool{}
	for _, x := range append(first, second...) {
		numbers[x] = true
	}
	assert.Len(t, numbers, 6)
}
