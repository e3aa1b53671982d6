package kernels_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo"
	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
)

// keptSteps is a loop that keeps the results of its rounds, which count from FIRST to ROUNDS, as rows.
const keptSteps = `HloModule kept

body {
  p = (s32[], f32[300], f32[8,300]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  h = f32[300] get-tuple-element(p), index=1
  y = f32[8,300] get-tuple-element(p), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  zero = s32[] constant(0)
  two = f32[] constant(2)
  twos = f32[300] broadcast(two), dimensions={}
  g = f32[300] multiply(h, twos)
  u = f32[1,300] reshape(g)
  z = f32[8,300] dynamic-update-slice(y, u, i, zero)
  ROOT r = (s32[], f32[300], f32[8,300]) tuple(next, g, z)
}

condition {
  p = (s32[], f32[300], f32[8,300]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(ROUNDS)
  ROOT c = pred[] compare(i, n), direction=LT
}

ENTRY main {
  x = f32[300] parameter(0)
  first = s32[] constant(FIRST)
  seven = f32[] constant(7)
  fill = f32[8,300] broadcast(seven), dimensions={}
  t = (s32[], f32[300], f32[8,300]) tuple(first, x, fill)
  w = (s32[], f32[300], f32[8,300]) while(t), condition=condition, body=body, backend_config={"known_trip_count":{"n":"STATED"}}
  ROOT y = f32[8,300] get-tuple-element(w), index=2
}
`

// TestUnfilled runs loops that write over what they begin with, and others that leave rows of it, into memory that has other contents. They state how many rounds they have, one of
// them wrongly.
func TestUnfilled(t *testing.T) {
	x, err := arrays.Fill(arrays.Model, 1, 0, hlo.MakeShape(hlo.F32, 300).WithDefaultLayout())
	require.NoError(t, err)
	for _, c := range []struct{ first, rounds, stated string }{{"0", "8", "8"}, {"0", "7", "7"}, {"1", "8", "7"}, {"0", "0", "0"}, {"0", "9", "9"}, {"0", "8", "3"}} {
		m, err := halo.LoadBytes("kept.hlo", []byte(strings.NewReplacer("ROUNDS", c.rounds, "FIRST", c.first, "STATED", c.stated).Replace(keptSteps)))
		require.NoError(t, err)
		e, err := halo.Compile(t.Context(), m, halo.Options{Engine: halo.Eval})
		require.NoError(t, err)
		defer e.Close()
		want, err := e.Run(t.Context(), x)
		require.NoError(t, err)
		for threads := 1; threads <= 2; threads++ {
			p, err := halo.Compile(t.Context(), m, halo.Options{Threads: threads})
			require.NoError(t, err)
			defer p.Close()
			for seed := range uint64(3) {
				given, err := arrays.Fill(arrays.Model, seed, 0, want[0].Shape())
				require.NoError(t, err)
				got, err := p.RunInto(t.Context(), []*hlo.Literal{given}, x)
				require.NoError(t, err)
				require.True(t, bytes.Equal(want[0].Bytes(), got[0].Bytes()), "rounds %s to %s, said to be %s, %d threads", c.first, c.rounds, c.stated, threads)
			}
		}
	}
}
