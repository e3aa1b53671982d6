package kernels_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/internal/difftest"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/async"
)

func checkLoop(t *testing.T, seed uint64) {
	t.Helper()
	text := randomLoop(seed, 3+int(seed%40))
	m, err := parser.Parse("loop.hlo", text)
	require.NoError(t, err, "%s", text)
	pipeline := []string{"cpu", "O0"}[seed%2]
	if seed%3 == 0 {
		defer runtime.LinkAtOnce()()
	}
	o := difftest.Run(t.Context(), m, difftest.Config{Pipeline: pipeline, Fill: arrays.Random, Seed: seed})
	if !o.Verdict.OK() || o.Verdict == difftest.BothRefuse {
		t.Errorf("seed %d: %s: %v\n%s", seed, o.Verdict, o.Err, text)
	}
}

// TestScalarLoops compares random loops with the evaluator.
func TestScalarLoops(t *testing.T) {
	n := uint64(150)
	if testing.Short() {
		n = 30
	}
	for seed := range n {
		checkLoop(t, seed)
	}
}

// turning doubles an angle until it is far beyond what the loops of package vec are for.
const turning = `HloModule turning

body {
  state = (s32[], f32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = f32[] get-tuple-element(state), index=1
  sum = f32[] get-tuple-element(state), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[] add(x, x)
  s = f32[] sine(y)
  c = f32[] cosine(y)
  d = f32[] subtract(s, c)
  t = f32[] add(sum, d)
  ROOT r = (s32[], f32[], f32[]) tuple(j, y, t)
}

condition {
  state = (s32[], f32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  n = s32[] constant(60)
  ROOT r = pred[] compare(i, n), direction=LT
}

ENTRY main {
  zero = s32[] constant(0)
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  init = (s32[], f32[], f32[]) tuple(zero, x, y)
  ROOT w = (s32[], f32[], f32[]) while(init), condition=condition, body=body
}
`

// TestScalarLoopTurns: angles of any size have a sine and a cosine in a loop over scalars.
func TestScalarLoopTurns(t *testing.T) {
	for _, typ := range []string{"f32", "f64"} {
		m, err := parser.Parse("turning.hlo", strings.ReplaceAll(turning, "f32", typ))
		require.NoError(t, err)
		o := difftest.Run(t.Context(), m, difftest.Config{Pipeline: "cpu", Fill: arrays.Random, Seed: 1})
		require.True(t, o.Verdict.OK() && o.Verdict != difftest.BothRefuse, "%s: %v", o.Verdict, o.Err)
	}
}

// pairwise applies an op to each element of two arrays in turn.
const pairwise = `HloModule pairwise

body {
  state = (s32[], T[N], T[N], T[N]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = T[N] get-tuple-element(state), index=1
  y = T[N] get-tuple-element(state), index=2
  z = T[N] get-tuple-element(state), index=3
  one = s32[] constant(1)
  j = s32[] add(i, one)
  a = T[1] dynamic-slice(x, i), dynamic_slice_sizes={1}
  b = T[1] dynamic-slice(y, i), dynamic_slice_sizes={1}
  c = T[1] OP(a, b)
  u = T[N] dynamic-update-slice(z, c, i)
  ROOT r = (s32[], T[N], T[N], T[N]) tuple(j, x, y, u)
}

condition {
  state = (s32[], T[N], T[N], T[N]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  n = s32[] constant(N)
  ROOT r = pred[] compare(i, n), direction=LT
}

ENTRY main {
  zero = s32[] constant(0)
  x = T[N] constant({X})
  y = T[N] constant({Y})
  init = (s32[], T[N], T[N], T[N]) tuple(zero, x, y, x)
  w = (s32[], T[N], T[N], T[N]) while(init), condition=condition, body=body
  ROOT z = T[N] get-tuple-element(w), index=3
}
`

// TestScalarLoopCases: ops whose usual case is written out have the others, too.
func TestScalarLoopCases(t *testing.T) {
	numbers := []string{"0", "-0", "1", "-1", "3", "0.7", "-5.25", "1e4", "6e4", "1e-42", "536870912", "33554431.75", "1e30", "1e-30", "inf", "-inf", "nan"}
	r := rand.New(rand.NewPCG(3, 3))
	for range 8 {
		numbers = append(numbers, fmt.Sprint(float32(r.NormFloat64()*math.Exp(5*r.NormFloat64()))))
	}
	for typ, op := range map[string]string{"f32": "remainder", "f64": "remainder", "f16": "remainder", "c64": "divide"} {
		all := numbers
		if typ == "c64" {
			all = nil
			for i, x := range numbers {
				all = append(all, fmt.Sprintf("(%s, 2)", x), fmt.Sprintf("(%s, %s)", x, numbers[i*7%len(numbers)]))
			}
		}
		if typ == "f16" {
			all = append(slices.Clone(all[:10]), "inf", "-inf", "nan")
		}
		var xs, ys []string
		for _, x := range all {
			for _, y := range all {
				xs, ys = append(xs, x), append(ys, y)
			}
		}
		text := strings.NewReplacer("T[", typ+"[", "OP", op, "{X}", "{"+strings.Join(xs, ", ")+"}", "{Y}", "{"+strings.Join(ys, ", ")+"}").Replace(pairwise)
		text = strings.NewReplacer("[N]", fmt.Sprintf("[%d]", len(xs)), "(N)", fmt.Sprintf("(%d)", len(xs))).Replace(text)
		m, err := parser.Parse("pairwise.hlo", text)
		require.NoError(t, err)
		o := difftest.Run(t.Context(), m, difftest.Config{Pipeline: "O0", Fill: arrays.Random, Seed: 1})
		require.True(t, o.Verdict.OK() && o.Verdict != difftest.BothRefuse, "%s of %s: %s: %v", op, typ, o.Verdict, o.Err)
	}
}

func FuzzScalarLoops(f *testing.F) {
	for seed := range uint64(5) {
		f.Add(1000 + seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { checkLoop(t, seed) })
}

const endless = `HloModule endless

body {
  state = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = f32[] get-tuple-element(state), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[] add(x, x)
  ROOT r = (s32[], f32[]) tuple(j, y)
}

condition {
  state = (s32[], f32[]) parameter(0)
  x = f32[] get-tuple-element(state), index=1
  ROOT r = pred[] compare(x, x), direction=EQ
}

ENTRY main {
  i = s32[] parameter(0)
  x = f32[] parameter(1)
  init = (s32[], f32[]) tuple(i, x)
  ROOT w = (s32[], f32[]) while(init), condition=condition, body=body
}
`

// TestScalarLoopEnds: a loop that never ends by itself ends with its context.
func TestScalarLoopEnds(t *testing.T) {
	m, err := parser.Parse("endless.hlo", endless)
	require.NoError(t, err)
	p, err := halo.Compile(t.Context(), m, halo.Options{})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	defer p.Close()
	x := math.Float32bits(1e-3) // doubles until it is infinite, and then stays
	i, err := hlo.NewLiteral(m.Entry().Parameter(0).Shape(), make([]byte, 4))
	require.NoError(t, err)
	f, err := hlo.NewLiteral(m.Entry().Parameter(1).Shape(), binary.NativeEndian.AppendUint32(nil, x))
	require.NoError(t, err)
	_, err = p.Run(ctx, i, f)
	var st *async.Status
	require.ErrorAs(t, err, &st)
	require.Equal(t, async.DeadlineExceeded, st.Code)
}
