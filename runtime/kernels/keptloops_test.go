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

// recurrent is a network of ROUNDS rounds with the weights w, and u + d as another result, where u are the weights at its end. Both results may be in the memory of the
// arguments. NEXT is w, or v, which is w but for round TURN, from which on w + d are the weights. LOOP is the body, or the function outer, which has a loop of it.
const recurrent = `HloModule recurrent, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }

body {
  state = (s32[], f32[8,256], f32[256,256], f32[256,256]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  h = f32[8,256] get-tuple-element(state), index=1
  w = f32[256,256] get-tuple-element(state), index=2
  d = f32[256,256] get-tuple-element(state), index=3
  one = s32[] constant(1)
  j = s32[] add(i, one)
  product = f32[8,256] dot(h, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  g = f32[8,256] tanh(product)
  turn = s32[] constant(TURN)
  isTurn = pred[] compare(j, turn), direction=EQ
  turns = pred[256,256] broadcast(isTurn), dimensions={}
  sum = f32[256,256] add(w, d)
  v = f32[256,256] select(turns, sum, w)
  ROOT r = (s32[], f32[8,256], f32[256,256], f32[256,256]) tuple(j, g, NEXT, d)
}

condition {
  state = (s32[], f32[8,256], f32[256,256], f32[256,256]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  n = s32[] constant(ROUNDS)
  ROOT r = pred[] compare(i, n), direction=LT
}

outer {
  state = (s32[], f32[8,256], f32[256,256], f32[256,256]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  h = f32[8,256] get-tuple-element(state), index=1
  w = f32[256,256] get-tuple-element(state), index=2
  d = f32[256,256] get-tuple-element(state), index=3
  zero = s32[] constant(0)
  start = (s32[], f32[8,256], f32[256,256], f32[256,256]) tuple(zero, h, w, d)
  end = (s32[], f32[8,256], f32[256,256], f32[256,256]) while(start), condition=condition, body=body
  g = f32[8,256] get-tuple-element(end), index=1
  v = f32[256,256] add(w, d)
  some = s32[] constant(3)
  j = s32[] add(i, some)
  ROOT r = (s32[], f32[8,256], f32[256,256], f32[256,256]) tuple(j, g, v, d)
}

ENTRY main {
  h = f32[8,256] parameter(0)
  w = f32[256,256] parameter(1)
  d = f32[256,256] parameter(2)
  zero = s32[] constant(0)
  start = (s32[], f32[8,256], f32[256,256], f32[256,256]) tuple(zero, h, w, d)
  end = (s32[], f32[8,256], f32[256,256], f32[256,256]) while(start), condition=condition, body=LOOP
  g = f32[8,256] get-tuple-element(end), index=1
  u = f32[256,256] get-tuple-element(end), index=2
  v = f32[256,256] add(u, d)
  ROOT r = (f32[8,256], f32[256,256]) tuple(g, v)
}
`

// TestKeptLoops: what a loop keeps of its weights is that of the present ones. They change halfway through a loop, between the executions of a loop in another one, between
// runs of one program, and when a result is computed where they were; on one worker and on two, the bits are always those of a loop that keeps nothing.
func TestKeptLoops(t *testing.T) {
	shapes := []hlo.Shape{hlo.MakeShape(hlo.F32, 8, 256), hlo.MakeShape(hlo.F32, 256, 256), hlo.MakeShape(hlo.F32, 256, 256)}
	fill := func(seed uint64) (args []*hlo.Literal) {
		for i, s := range shapes {
			a, err := arrays.Fill(arrays.Model, seed, i, s.WithDefaultLayout())
			require.NoError(t, err)
			args = append(args, a)
		}
		return args
	}
	compile := func(threads int, next, turn, rounds, loop string) *halo.Program {
		text := strings.NewReplacer("NEXT", next, "TURN", turn, "ROUNDS", rounds, "LOOP", loop).Replace(recurrent)
		m, err := halo.LoadBytes("recurrent.hlo", []byte(text))
		require.NoError(t, err)
		p, err := halo.Compile(t.Context(), m, halo.Options{Threads: threads})
		require.NoError(t, err)
		t.Cleanup(p.Close)
		return p
	}
	run := func(p *halo.Program, args []*hlo.Literal) []*hlo.Literal {
		results, err := p.Run(t.Context(), args...)
		require.NoError(t, err)
		return results
	}
	same := func(want, got []*hlo.Literal, what string) {
		t.Helper()
		for i := range want {
			require.True(t, bytes.Equal(want[i].Bytes(), got[i].Bytes()), "result %d %s", i, what)
		}
	}
	plain := compile(1, "v", "100", "5", "body")
	for threads := 1; threads <= 2; threads++ {
		p := compile(threads, "w", "100", "5", "body")
		for _, seed := range []uint64{1, 2, 1} {
			args := fill(seed)
			first := run(plain, args)
			second := run(plain, []*hlo.Literal{first[0], first[1], args[2]})
			same(first, run(p, args), "of five rounds")
			same(second, run(p, []*hlo.Literal{first[0], first[1], args[2]}), "of five more")
			same(second, run(compile(threads, "v", "5", "10", "body"), args), "of weights that change halfway")
			same(second[:1], run(compile(threads, "w", "100", "5", "outer"), args), "of a loop in a loop")
			for range 2 {
				given, err := p.RunInto(t.Context(), args[:2], args...)
				require.NoError(t, err)
				same(first, given, "in the memory of arguments")
				args = fill(seed)
			}
		}
	}
}
