package kernels_test

import (
	"strings"
	"testing"
)

// TestPermuteInPlace sends blocks of one buffer and of several around a ring, in one or two lists of pairs, on both engines.
func TestPermuteInPlace(t *testing.T) {
	const ring, back = "{0,1},{1,2},{2,3},{3,0}", ",{1,0},{2,1},{3,2},{0,3}"
	// Element k of device d is 100*d + k; what a device is not sent stays -1.
	block := func(out []int32, to, from, n, source int) {
		for i := range n {
			out[to+i] = int32(100*((source+4)%4) + from + i)
		}
	}
	for name, c := range map[string]struct {
		text string
		want func(out []int32, d int)
	}{
		"one block": {`p = s32[16] collective-permute(x, o, i4, i8), source_target_pairs={` + ring + `}, slice_sizes={{3}}`,
			func(out []int32, d int) { block(out, 8, 4, 3, d-1) }},
		"offsets of the target": {`at = (s32[]) tuple(id)
 p = s32[16] collective-permute(x, o, at, at), source_target_pairs={` + ring + `}, slice_sizes={{2}}`,
			func(out []int32, d int) { block(out, d, (d+3)%4, 2, d-1) }},
		"two blocks, two rings": {`two = ((s32[]), (s32[])) tuple(i0, i8)
 p = s32[16] collective-permute(x, o, two, two), source_target_pairs={` + ring + back + `}, slice_sizes={{4},{5}}`,
			func(out []int32, d int) { block(out, 0, 0, 4, d-1); block(out, 8, 8, 5, d+1) }},
		"who is no target keeps all": {`two = ((s32[]), (s32[])) tuple(i0, i8)
 p = s32[16] collective-permute(x, o, two, two), source_target_pairs={{0,1},{2,0}}, slice_sizes={{4},{5}}`,
			func(out []int32, d int) {
				if d == 1 {
					block(out, 0, 0, 4, 0)
				} else if d == 0 {
					block(out, 8, 8, 5, 2)
				}
			}},
		"two buffers": {`in = (s32[16], s32[16]) tuple(x, x)
 ou = (s32[16], s32[16]) tuple(o, o)
 at = ((s32[]), (s32[])) tuple(i4, i8)
 b = (s32[16], s32[16]) collective-permute(in, ou, at, at), source_target_pairs={` + ring + `}, slice_sizes={{2},{3}}
 b0 = s32[16] get-tuple-element(b), index=0
 b1 = s32[16] get-tuple-element(b), index=1
 p = s32[16] maximum(b0, b1)`,
			func(out []int32, d int) { block(out, 4, 4, 2, d-1); block(out, 8, 8, 3, d-1) }},
		"two buffers of two blocks": {`in = (s32[16], s32[16]) tuple(x, x)
 ou = (s32[16], s32[16]) tuple(o, o)
 a0 = ((s32[]), (s32[])) tuple(i0, i4)
 a1 = ((s32[]), (s32[])) tuple(i8, i12)
 at = (((s32[]), (s32[])), ((s32[]), (s32[]))) tuple(a0, a1)
 s = ((s32[16], s32[16]), (s32[16], s32[16]), u32[], u32[]) collective-permute-start(in, ou, at, at), source_target_pairs={` + ring + back + `}, slice_sizes={{1},{2},{3},{4}}
 b = (s32[16], s32[16]) collective-permute-done(s)
 b0 = s32[16] get-tuple-element(b), index=0
 b1 = s32[16] get-tuple-element(b), index=1
 p = s32[16] maximum(b0, b1)`,
			func(out []int32, d int) {
				block(out, 0, 0, 1, d-1)
				block(out, 4, 4, 2, d+1)
				block(out, 8, 8, 3, d-1)
				block(out, 12, 12, 4, d+1)
			}},
	} {
		for _, g := range []grid{{4, 1}, {1, 4}} {
			t.Run(name+"/"+map[int]string{4: "replicas", 1: "partitions"}[g.r], func(t *testing.T) {
				x, want := make([][]int32, 4), make([][]int32, 4)
				for d := range x {
					for k := range width {
						x[d] = append(x[d], int32(100*d+k))
						want[d] = append(want[d], -1)
					}
					c.want(want[d], d)
				}
				text := c.text
				if g.p > 1 {
					text = strings.Replace(text, "source_target", "channel_id=1, source_target", 1)
				}
				checkDevices(t, g, module(g, `m = s32[] constant(-1)
 o = s32[16] broadcast(m), dimensions={}
 c0 = s32[] constant(0)
 c4 = s32[] constant(4)
 c8 = s32[] constant(8)
 c12 = s32[] constant(12)
 i0 = (s32[]) tuple(c0)
 i4 = (s32[]) tuple(c4)
 i8 = (s32[]) tuple(c8)
 i12 = (s32[]) tuple(c12)
 `+text+"\n ROOT r = s32[16] copy(p)"), x, want)
			})
		}
	}
}
