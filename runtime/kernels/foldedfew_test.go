package kernels

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/analysis"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// TestFoldsFew: reductions of a few elements within loops, of several arrays, of windows, and one of another; and rows of a few elements that many are folded of.
func TestFoldsFew(t *testing.T) {
	sum, choose := reducer("add"), strings.ReplaceAll(argmax, "T[", "f32[")
	cases := []string{
		"f32[24,21] fusion(f32[24,3], f32[24]), kind=kLoop, calls={ x = f32[24,3] parameter(0) m = f32[24] parameter(1) z = f32[] constant(0) " +
			"a = f32[24,21,3] broadcast(x), dimensions={0,2} s = f32[21,3] slice(x), slice={[3:24],[0:3]} b = f32[24,21,3] broadcast(s), dimensions={1,2} " +
			"d = f32[24,21,3] subtract(a, b) q = f32[24,21,3] multiply(d, d) r = f32[24,21] reduce(q, z), dimensions={2}, to_apply=" + sum +
			" w = f32[24,21] broadcast(m), dimensions={0} ROOT e = f32[24,21] add(r, w) }",
		"(f32[60], s32[60]) fusion(f32[60,4,3], f32[]), kind=kInput, calls={ x = f32[60,4,3] parameter(0) i = f32[] parameter(1) z = f32[] constant(0) n = s32[60,4] iota(), " +
			"iota_dimension=1 k = s32[] constant(0) y = f32[60,4] reduce(x, z), dimensions={2}, to_apply=" + sum +
			" ROOT r = (f32[60], s32[60]) reduce(y, n, i, k), dimensions={1}, to_apply=" + choose + " }",
		"(f32[2,7,7,6], s32[2,7,7,6]) fusion(f32[2,15,15,6], f32[]), kind=kInput, calls={ x = f32[2,15,15,6] parameter(0) i = f32[] parameter(1) n = s32[2,15,15,6] iota(), " +
			"iota_dimension=2 k = s32[] constant(0) ROOT r = (f32[2,7,7,6], s32[2,7,7,6]) reduce-window(x, n, i, k), window={size=1x3x3x1 stride=1x2x2x1}, to_apply=" + choose + " }",
		"f32[3,9,40] reduce-window(f32[3,12,40], f32[]), window={size=1x2x1 rhs_dilate=1x3x1}, to_apply=" + reducer("maximum"),
		"f32[24,3] fusion(f32[24,3], f32[24,24], f32[]), kind=kInput, calls={ x = f32[24,3] parameter(0) w = f32[24,24] parameter(1) z = f32[] parameter(2) " +
			"a = f32[24,24,3] broadcast(x), dimensions={1,2} b = f32[24,24,3] broadcast(x), dimensions={0,2} d = f32[24,24,3] subtract(a, b) " +
			"c = f32[24,24,3] broadcast(w), dimensions={0,1} p = f32[24,24,3] multiply(d, c) ROOT r = f32[24,3] reduce(p, z), dimensions={1}, to_apply=" + sum + " }",
		"s64[2,5] fusion(s64[2,33,5], s64[]), kind=kInput, calls={ x = s64[2,33,5] parameter(0) z = s64[] parameter(1) y = s64[2,33,5] multiply(x, x) " +
			"ROOT r = s64[2,5] reduce(y, z), dimensions={1}, to_apply=" + strings.ReplaceAll(reducer("maximum"), "T[", "s64[") + " }",
	}
	for _, level := range levels() {
		restore := vec.Use(level)
		for _, text := range cases {
			kernelCase{text: strings.ReplaceAll(text, "T[", "f32["), small: true, tol: 1e-4}.check(t)
		}
		restore()
	}
}

// TestFoldedPoints: a few elements of numbers as wide as registers hold them, and windows that lie inside of the array.
func TestFoldedPoints(t *testing.T) {
	for text, want := range map[string][][]int64{
		"f32[4] reduce(f32[2,4,2], f32[]), dimensions={0,2}, to_apply=":                        {{0, -1, 0}, {0, -1, 1}, {1, -1, 0}, {1, -1, 1}},
		"f32[4,3] reduce-window(f32[4,4], f32[]), window={size=1x2}, to_apply=":                {{0, 0}, {0, 1}},
		"f32[4,4] reduce-window(f32[4,4], f32[]), window={size=1x2 pad=0_0x1_0}, to_apply=":    nil,
		"f32[4,6] reduce-window(f32[4,4], f32[]), window={size=1x2 lhs_dilate=1x2}, to_apply=": nil,
		"f32[4] reduce(f32[4,9], f32[]), dimensions={1}, to_apply=":                            nil,
		"bf16[4] reduce(bf16[4,2], bf16[]), dimensions={1}, to_apply=":                         nil,
	} {
		in := siteOf(t, text+strings.ReplaceAll(reducer("add"), "T[", strings.Split(text, "[")[0]+"[")).in
		require.Contains(t, []hlo.Opcode{hlo.OpReduce, hlo.OpReduceWindow}, in.Opcode())
		require.Equal(t, want != nil, analysis.FoldsFew(in), text)
		if want != nil {
			require.Equal(t, want, analysis.FoldedPoints(in), text)
		}
	}
}
