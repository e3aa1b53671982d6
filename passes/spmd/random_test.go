package spmd_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/passes"
	"github.com/gohalo/halo/passes/spmd"
	"github.com/gohalo/halo/verifier"
)

// programs are whole programs, which TestRandomShardings splits in random ways. Numbers are small integers: sums are exact in any order.
var programs = map[string]string{
	"elementwise": `x = f32[6,10] parameter(0)
  y = f32[6,10] parameter(1)
  a = f32[6,10] add(x, y)
  m = f32[6,10] multiply(a, x)
  z = f32[] constant(0)
  b = f32[6,10] broadcast(z), dimensions={}
  p = pred[6,10] compare(m, b), direction=GT
  ROOT s = f32[6,10] select(p, m, y)`,
	"dot": `x = f32[6,10] parameter(0)
  y = f32[10,8] parameter(1)
  ROOT d = f32[6,8] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}`,
	"batch-dot": `x = f32[4,6,5] parameter(0)
  y = f32[4,5,3] parameter(1)
  ROOT d = f32[4,6,3] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}`,
	"reduce": `x = f32[6,10,4] parameter(0)
  i = f32[] constant(3)
  ROOT r = f32[6,4] reduce(x, i), dimensions={1}, to_apply=add`,
	"maximum": `x = f32[6,10,4] parameter(0)
  i = f32[] constant(-inf)
  ROOT r = f32[10] reduce(x, i), dimensions={0,2}, to_apply=max`,
	"argmax": `x = f32[6,10] parameter(0)
  n = s32[6,10] iota(), iota_dimension=1
  i = f32[] constant(-inf)
  j = s32[] constant(0)
  ROOT r = (f32[6], s32[6]) reduce(x, n, i, j), dimensions={1}, to_apply=pick`,
	"reshape": `x = f32[6,10,4] parameter(0)
  a = f32[60,4] reshape(x)
  b = f32[6,40] reshape(a)
  c = f32[2,3,40] reshape(b)
  d = f32[3,2,40] transpose(c), dimensions={1,0,2}
  ROOT e = f32[1,6,1,40] reshape(d)`,
	"move": `x = f32[6,10] parameter(0)
  s = f32[4,10] slice(x), slice={[1:5], [0:10]}
  t = f32[4,5] slice(s), slice={[0:4], [1:10:2]}
  z = f32[] constant(7)
  p = f32[7,6] pad(t, z), padding=1_2x0_1
  r = f32[7,6] reverse(p), dimensions={0}
  ROOT c = f32[7,12] concatenate(r, p), dimensions={1}`,
	"rotate": `x = f32[13,6] parameter(0)
  a = f32[3,6] slice(x), slice={[10:13], [0:6]}
  b = f32[10,6] slice(x), slice={[0:10], [0:6]}
  c = f32[13,6] concatenate(a, b), dimensions={0}
  d = f32[13,2] slice(c), slice={[0:13], [0:2]}
  e = f32[13,4] slice(c), slice={[0:13], [2:6]}
  ROOT f = f32[13,6] concatenate(e, d), dimensions={1}`,
	"interleave": `x = f32[17,5] parameter(0)
  z = f32[] constant(0)
  a = f32[9,5] slice(x), slice={[0:17:2], [0:5]}
  b = f32[8,5] slice(x), slice={[1:17:2], [0:5]}
  c = f32[17,5] pad(a, z), padding=0_0_1x0_0
  d = f32[17,5] pad(b, z), padding=1_1_1x0_0
  e = f32[17,5] add(c, d)
  ROOT f = f32[12,7] pad(e, z), padding=-3_-2x3_-9_2`,
	"parts": `x = f32[24,4] parameter(0)
  a = f32[6,4] slice(x), slice={[0:6], [0:4]}
  b = f32[6,4] slice(x), slice={[6:12], [0:4]}
  c = f32[12,4] slice(x), slice={[12:24], [0:4]}
  d = f32[6,4] multiply(a, b)
  e = f32[18,4] concatenate(d, c), dimensions={0}
  y = f32[1,4] slice(x), slice={[23:24], [0:4]}
  ROOT r = f32[19,4] concatenate(e, y), dimensions={0}`,
	"row": `x = f32[11,9] parameter(0)
  a = f32[1,9] slice(x), slice={[8:9], [0:9]}
  b = f32[9] reshape(a)
  c = f32[3,2] slice(x), slice={[4:7], [7:9]}
  ROOT t = (f32[9], f32[3,2]) tuple(b, c)`,
	"dynamic-of-old": `x = f32[6,10] parameter(0)
  i = s32[2] parameter(1)
  s = f32[2,10] dynamic-slice(x, i), dynamic_slice_sizes={2,10}
  ROOT u = f32[6,10] dynamic-update-slice(x, s, i)`,
	"dynamic-parts": `x = f32[13,10] parameter(0)
  i = s32[] parameter(1)
  j = s8[] parameter(2)
  k = s8[] constant(2)
  a = f32[5,3] dynamic-slice(x, i, i), dynamic_slice_sizes={5,3}
  b = f32[12,1] dynamic-slice(x, j, k), dynamic_slice_sizes={12,1}
  c = f32[13,10] dynamic-update-slice(x, a, i, i)
  d = f32[13,10] dynamic-update-slice(c, b, j, j)
  u = u8[] constant(255)
  ROOT e = f32[13,10] dynamic-update-slice(d, a, u, u)`,
	"reverse": `x = f32[21] parameter(0)
  a = f32[21] reverse(x), dimensions={0}
  b = f32[24] parameter(1)
  ROOT r = f32[45] concatenate(a, b), dimensions={0}`,
	"reverse-both": `x = f32[10,12] parameter(0)
  ROOT r = f32[10,12] reverse(x), dimensions={0,1}`,
	"cumulate": `x = f32[8,12] parameter(0)
  a = f32[8,12] reverse(x), dimensions={1}
  s = f32[8,12] sort(a), dimensions={1}, is_stable=true, to_apply=less
  ROOT c = f32[8,24] concatenate(s, x), dimensions={1}`,
	"concatenate": `x = f32[21] parameter(0)
  y = f32[7] parameter(1)
  z = f32[60] parameter(2)
  a = f32[28] concatenate(x, y), dimensions={0}
  ROOT c = f32[109] concatenate(a, z, x), dimensions={0}`,
	"pool-gradient": `x = f32[12,10] parameter(0)
  g = f32[6,10] parameter(1)
  z = f32[] constant(0)
  ROOT c = f32[12,10] select-and-scatter(x, g, z), window={size=2x1 stride=2x1}, select=greater, scatter=add`,
	"dynamic": `x = f32[6,10] parameter(0)
  i = s32[] parameter(1)
  z = s32[] constant(0)
  s = f32[1,10] dynamic-slice(x, i, z), dynamic_slice_sizes={1,10}
  ROOT u = f32[6,10] dynamic-update-slice(x, s, z, z)`,
	"gather": `x = f32[10,6] parameter(0)
  i = s32[4,3] parameter(1)
  ROOT g = f32[4,3,6] gather(x, i), offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,6}`,
	"gather-spanned": `x = f32[10,6] parameter(0)
  i = s32[4,2] parameter(1)
  ROOT g = f32[4,1,6] gather(x, i), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,6}`,
	"scatter-spanned": `x = f32[10,6] parameter(0)
  i = s32[4,2] parameter(1)
  u = f32[4,1,6] parameter(2)
  ROOT s = f32[10,6] scatter(x, i, u), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=add`,
	"batched-gather": `x = f32[4,10,6] parameter(0)
  i = s32[4,3] parameter(1)
  ROOT g = f32[4,3,6] gather(x, i), offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1,6}`,
	"scatter": `x = f32[10,6] parameter(0)
  i = s32[4,1] parameter(1)
  u = f32[4,6] parameter(2)
  ROOT s = f32[10,6] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add`,
	"counted-gather": `x = f32[6,10] parameter(0)
  c = s32[1,6,3] parameter(1)
  r = s32[1,6,3] iota(), iota_dimension=1
  i = s32[2,6,3] concatenate(r, c), dimensions={0}
  ROOT g = f32[6,3] gather(x, i), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=0, slice_sizes={1,1}`,
	"diagonal": `x = f32[6,6] parameter(0)
  i = s32[6,1,1] iota(), iota_dimension=0
  ROOT g = f32[6,1] gather(x, i), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1}`,
	"counted-broadcast-gather": `x = f32[6,10] parameter(0)
  i = s32[6] iota(), iota_dimension=0
  r = s32[1,6,3] broadcast(i), dimensions={1}
  c = s32[1,6,3] parameter(1)
  j = s32[2,6,3] concatenate(r, c), dimensions={0}
  ROOT g = f32[6,3] gather(x, j), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=0, slice_sizes={1,1}`,
	"counted-broadcast-scatter": `x = f32[6,10] parameter(0)
  u = f32[6,3] parameter(1)
  i = s32[6] iota(), iota_dimension=0
  r = s32[1,6,3] broadcast(i), dimensions={1}
  c = s32[1,6,3] parameter(2)
  j = s32[2,6,3] concatenate(r, c), dimensions={0}
  ROOT s = f32[6,10] scatter(x, j, u), update_window_dims={}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=0, to_apply=add`,
	"dot-as-convolution": `x = f32[4,3,8,1] parameter(0)
  y = f32[4,6,8,6] parameter(1)
  ROOT c = f32[4,3,6,6] convolution(x, y), window={size=4x6 stride=3x1 pad=0_0x5_5 lhs_dilate=4x1 rhs_reversal=0x1}, dim_labels=0bf1_0oi1->0bf1`,
	"counted-scatter": `x = f32[6,10] parameter(0)
  c = s32[1,6,3] parameter(1)
  r = s32[1,6,3] iota(), iota_dimension=1
  i = s32[2,6,3] concatenate(r, c), dimensions={0}
  u = f32[6,3] parameter(2)
  ROOT s = f32[6,10] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=0, to_apply=add`,
	"batch-convolution": `x = f32[6,4,5] parameter(0)
  k = f32[6,3,5] parameter(1)
  ROOT c = f32[6,4,3] convolution(x, k), window={size=6 stride=5 lhs_dilate=6}, dim_labels=0bf_0oi->0bf`,
	"pool-from-five": `x = f32[12,3] parameter(0)
  z = f32[] constant(5)
  ROOT c = f32[7,3] reduce-window(x, z), window={size=3x1 stride=2x1 pad=1_2x0_0}, to_apply=add`,
	"sort": `x = f32[6,10] parameter(0)
  ROOT s = f32[6,10] sort(x), dimensions={1}, is_stable=true, to_apply=less`,
	"convolution": `x = f32[4,9,6] parameter(0)
  k = f32[3,6,8] parameter(1)
  ROOT c = f32[4,9,8] convolution(x, k), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f`,
	"strided-convolution": `x = f32[2,13,3] parameter(0)
  k = f32[4,3,5] parameter(1)
  ROOT c = f32[2,6,5] convolution(x, k), window={size=4 stride=2 pad=1_0}, dim_labels=b0f_0io->b0f`,
	"dilated-convolution": `x = f32[2,8,3] parameter(0)
  k = f32[3,3,5] parameter(1)
  ROOT c = f32[2,13,5] convolution(x, k), window={size=3 pad=1_1 lhs_dilate=2 rhs_dilate=2}, dim_labels=b0f_0io->b0f`,
	"transposed-convolution": `x = f32[2,8,3] parameter(0)
  k = f32[3,3,5] parameter(1)
  ROOT c = f32[2,16,5] convolution(x, k), window={size=3 pad=2_1 lhs_dilate=2}, dim_labels=b0f_0io->b0f`,
	"transposed-convolution-of-three": `x = f32[1,16,3] parameter(0)
  k = f32[5,3,2] parameter(1)
  ROOT c = f32[1,24,2] convolution(x, k), window={size=5 stride=2 pad=1_5 lhs_dilate=3 rhs_reversal=1}, dim_labels=b0f_0io->b0f`,
	"cumulative": `x = f32[10,3] parameter(0)
  z = f32[] constant(0)
  ROOT c = f32[10,3] reduce-window(x, z), window={size=10x1 pad=9_0x0_0}, to_apply=add`,
	"pool": `x = f32[12,3] parameter(0)
  z = f32[] constant(-inf)
  ROOT c = f32[6,3] reduce-window(x, z), window={size=3x1 stride=2x1 pad=0_1x0_0}, to_apply=max`,
	"loop": `x = f32[6,4] parameter(0)
  n = s32[] constant(0)
  t = (s32[], f32[6,4]) tuple(n, x)
  w = (s32[], f32[6,4]) while(t), condition=condition, body=body
  ROOT r = f32[6,4] get-tuple-element(w), index=1`,
	"counting": `i = s32[6,10] iota(), iota_dimension=1
  j = s32[6,10] iota(), iota_dimension=0
  ROOT a = s32[6,10] add(i, j)`,
}

const applied = `
add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }
max { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] maximum(x, y) }
less { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = pred[] compare(x, y), direction=LT }
greater { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = pred[] compare(x, y), direction=GE }
pick {
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  p = pred[] compare(a, b), direction=GE
  v = f32[] select(p, a, b)
  k = s32[] select(p, i, j)
  ROOT t = (f32[], s32[]) tuple(v, k)
}
condition { p = (s32[], f32[6,4]) parameter(0) i = s32[] get-tuple-element(p), index=0 n = s32[] constant(3) ROOT c = pred[] compare(i, n), direction=LT }
body {
  p = (s32[], f32[6,4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[6,4] get-tuple-element(p), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[6,4] add(x, x)
  ROOT t = (s32[], f32[6,4]) tuple(j, y)
}
`

// TestRandomShardings: a program computes the same, whatever it is split into.
func TestRandomShardings(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	for name, text := range programs {
		t.Run(name, func(t *testing.T) {
			whole, err := parser.Parse(name, "HloModule m\n"+applied+"ENTRY main {\n  "+text+"\n}\n")
			require.NoError(t, err)
			for seed := range rounds {
				checkSplit(t, whole, rand.New(rand.NewPCG(1, uint64(seed))), seed)
			}
		})
	}
}

// TestEveryType: what moves elements moves those of every type.
func TestEveryType(t *testing.T) {
	for kind := range hlo.PrimitiveType(hlo.NumPrimitiveTypes) {
		if !kind.IsArray() {
			continue
		}
		t.Run(kind.String(), func(t *testing.T) {
			pad := "constant(1)"
			switch {
			case kind.IsComplex():
				pad = "constant((1, -2))"
			case kind == hlo.S1:
				pad = "constant(-1)"
			}
			for _, name := range []string{"move", "reshape", "reverse-both", "dynamic", "gather"} {
				text := strings.NewReplacer("f32", kind.String(), "constant(7)", pad).Replace(programs[name])
				whole, err := parser.Parse(name, "HloModule m\nENTRY main {\n  "+text+"\n}\n")
				require.NoError(t, err)
				for seed := range 12 {
					checkSplit(t, whole, rand.New(rand.NewPCG(2, uint64(seed))), seed)
				}
			}
		})
	}
}

func checkSplit(t *testing.T, whole hlo.Module, r *rand.Rand, seed int) {
	t.Helper()
	n := []int64{2, 3, 4, 6, 8, 12}[r.IntN(6)]
	given := withShardings(whole, r, n)
	var args []*hlo.Literal
	for i := range whole.Entry().NumParameters() {
		l, err := arrays.Fill("random", uint64(seed), i, whole.Entry().Parameter(i).Shape())
		require.NoError(t, err)
		if s := l.Shape(); s.Type() == hlo.F32 {
			v := slices.Clone(hlo.Values[float32](l))
			for k := range v {
				v[k] = float32(int(v[k] * 8))
			}
			l, err = hlo.LiteralOf(s, v...)
			require.NoError(t, err)
		}
		args = append(args, l)
	}
	want, err := eval.Module(context.Background(), whole, args, eval.Options{})
	require.NoError(t, err)
	text := "spmd"
	if seed%2 == 1 { // arrays are small here: where messages cost nothing, those that send little are chosen
		text = "sdy-import,sharding-propagation,spmd-partitioning{latency=0}"
	}
	p, err := passes.Parse(text)
	require.NoError(t, err)
	check := func(m hlo.Module) error { return verifier.Verify(m, verifier.Config{Profile: verifier.XLA}).Err() }
	local, err := (&pass.Runner{Check: check}).Run(t.Context(), p, given)
	require.NoError(t, err, "seed %d\n%v", seed, given)
	b, err := spmd.NewBoundary(whole, local)
	require.NoError(t, err)
	parts := make([][]*hlo.Literal, n)
	for d := range parts {
		for i, a := range args {
			part, err := b.Params[i].Part(a, int64(d))
			require.NoError(t, err)
			parts[d] = append(parts[d], poisoned(t, &b.Params[i], part, int64(d)))
		}
	}
	got, err := eval.Devices(context.Background(), local, parts, 1, int(n), eval.Options{})
	require.NoError(t, err, "seed %d\n%v\n%v", seed, given, local)
	for i, w := range want.Leaves() {
		var pieces []*hlo.Literal
		for d := range got {
			pieces = append(pieces, got[d].Leaves()[i])
		}
		joined, err := b.Results[i].Whole(pieces)
		require.NoError(t, err, "seed %d\n%v\n%v", seed, given, local)
		require.Equal(t, w.Bytes(), joined.Bytes(), "seed %d, result %d\n%v\n%v", seed, i, given, local)
	}
}

// poisoned is a part whose padding is what no result may depend on.
func poisoned(t *testing.T, l *spmd.Leaf, part *hlo.Literal, device int64) *hlo.Literal {
	t.Helper()
	if l.Shape.IsScalar() {
		return part
	}
	ones := bytes.Repeat([]byte{1}, int(l.Shape.ByteSize()))
	whole, err := hlo.NewLiteral(l.Shape, ones)
	require.NoError(t, err)
	inside, err := l.Part(whole, device)
	require.NoError(t, err)
	data, width := slices.Clone(part.Bytes()), l.Shape.Type().ByteSize()
	for i := 0; i < len(data); i += width {
		if inside.Bytes()[i] == 0 && width >= 4 {
			copy(data[i+width-4:], []byte{0, 0, 0xf8, 0x7f}) // NaN, or a large integer
		}
	}
	out, err := hlo.NewLiteral(part.Shape(), data)
	require.NoError(t, err)
	return out
}

// withShardings gives most instructions of the entry a random sharding over n devices.
func withShardings(m hlo.Module, r *rand.Rand, n int64) hlo.Module {
	e := m.Edit()
	cfg := *m.Config()
	cfg.NumPartitions = n
	e.SetConfig(&cfg)
	for in := range m.Entry().Instructions() {
		if !in.Shape().IsArray() && !in.IsRoot() || r.IntN(4) == 0 {
			continue
		}
		var s *hlo.Sharding
		if in.Shape().IsTuple() {
			s = &hlo.Sharding{Kind: hlo.ShardingTuple}
			for _, leaf := range in.Shape().Elems() {
				s.Elements = append(s.Elements, randomSharding(r, leaf, n))
			}
		} else {
			s = randomSharding(r, in.Shape(), n)
		}
		e.Computation(m.Entry().ID()).Instr(in.ID()).SetCommon(&hlo.Common{Sharding: s})
	}
	return e.Freeze()
}

// randomSharding splits dimensions by random factors of n, over devices in some order.
func randomSharding(r *rand.Rand, s hlo.Shape, n int64) *hlo.Sharding {
	if r.IntN(12) == 0 {
		return &hlo.Sharding{Kind: hlo.ShardingMaximal, Devices: []int64{int64(r.IntN(int(n)))}}
	}
	left := n
	dims := make([]int64, s.Rank())
	for k := range dims {
		dims[k] = 1
	}
	for range 4 {
		for _, p := range []int64{2, 3} {
			if s.Rank() > 0 && left%p == 0 && r.IntN(3) > 0 {
				dims[r.IntN(s.Rank())] *= p
				left /= p
			}
		}
	}
	out := &hlo.Sharding{Kind: hlo.ShardingTiled, TileDims: dims}
	if left == n {
		return &hlo.Sharding{Kind: hlo.ShardingReplicated}
	}
	if left > 1 {
		out.TileDims = append(out.TileDims, left)
		out.ReplicateOnLastTileDim = true
	}
	switch r.IntN(4) {
	case 0: // any order
		for _, d := range r.Perm(int(n)) {
			out.Devices = append(out.Devices, int64(d))
		}
	case 1:
		for _, p := range []int64{2, 3} {
			if n%p == 0 && n > p {
				out.Iota = &hlo.IotaTile{Reshape: []int64{p, n / p}, Transpose: []int{1, 0}}
			}
		}
	}
	if out.Iota == nil && out.Devices == nil {
		out.Iota = &hlo.IotaTile{Reshape: []int64{n}}
	}
	return out
}

func ExampleDevices() {
	m, err := parser.Parse("m", `HloModule m
ENTRY main { ROOT x = f32[8] parameter(0), sharding={devices=[4]<=[4]} }`)
	fmt.Println(spmd.Devices(m), err)
	// Output: 4 <nil>
}
