package kernels

import (
	"fmt"
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
		// The first instructions of both computations are constants.
		"f32[2,40] fusion(f32[2,3,40]), kind=kInput, calls={ z = f32[] constant(-3) x = f32[2,3,40] parameter(0) y = f32[2,3,40] tanh(x) " +
			"ROOT r = f32[2,40] reduce(y, z), dimensions={1}, to_apply={ h = f32[] constant(0.5) a = f32[] parameter(0) b = f32[] parameter(1) " +
			"m = f32[] multiply(b, h) ROOT s = f32[] maximum(a, m) } }",
	}
	for _, level := range levels() {
		restore := vec.Use(level)
		for _, text := range cases {
			kernelCase{text: strings.ReplaceAll(text, "T[", "f32["), small: true, tol: 1e-4}.check(t)
		}
		restore()
	}
}

// TestLongFolds: a reduction that is a long program over a vector of results is one run of it, neither calls nor code element by element; on fewer results it is.
func TestLongFolds(t *testing.T) {
	choose := strings.ReplaceAll(argmax, "T[", "f32[")
	for _, c := range []struct {
		lanes, folded int
		short         bool
	}{{16, 16, false}, {11, 13, false}, {16, 2, true}, {8, 16, true}} {
		text := "(f32[N], s32[N]) fusion(f32[K], f32[K,N], f32[]), kind=kInput, calls={ d = f32[K] parameter(0) x = f32[K,N] parameter(1) i = f32[] parameter(2) " +
			"b = f32[K,N] broadcast(d), dimensions={0} y = f32[K,N] add(b, x) n = s32[K,N] iota(), iota_dimension=0 k = s32[] constant(0) " +
			"ROOT r = (f32[N], s32[N]) reduce(y, n, i, k), dimensions={0}, to_apply=" + choose + " }"
		text = strings.NewReplacer("K", fmt.Sprint(c.folded), "N]", fmt.Sprintf("%d]", c.lanes)).Replace(text)
		onEveryPath(func() { kernelCase{text: text}.check(t) })
		bound, ok := chooseFast(siteOf(t, text))
		require.True(t, ok)
		require.Equal(t, c.short, bound.Small != nil, text)
		require.Equal(t, c.short, bound.Code != nil, text)
	}
}

// TestArgmaxOfShortRows writes out rows of all lengths, of which the columns come one by one or together; and rows whose last columns are not there.
func TestArgmaxOfShortRows(t *testing.T) {
	onEveryPath(func() {
		for _, typ := range []string{"f32", "bf16", "f16", "f64", "s32", "u8", "s16"} {
			choose := strings.ReplaceAll(argmax, "T[", typ+"[")
			for run := 2; run <= 17; run++ {
				for _, rows := range []int{5, 1500} {
					text := "(T[R], s32[R]) fusion(T[R,N], T[]), kind=kInput, calls={ x = T[R,N] parameter(0) i = T[] parameter(1) n = s32[R,N] iota(), iota_dimension=1 k = s32[] constant(0) " +
						"ROOT r = (T[R], s32[R]) reduce(x, n, i, k), dimensions={1}, to_apply=" + choose + " }"
					kernelCase{text: strings.NewReplacer("T[", typ+"[", "R,N", fmt.Sprintf("%d,%d", rows, run), "R]", fmt.Sprintf("%d]", rows)).Replace(text), small: rows > 5}.check(t)
				}
			}
		}
	})
}

// TestExtremesOfShortRows begins with what every element is behind of, for which elements need only be compared; some are NaN, or zeros of both signs.
func TestExtremesOfShortRows(t *testing.T) {
	bounds := map[string][2]string{"f32": {"-inf", "inf"}, "bf16": {"-inf", "inf"}, "f16": {"-inf", "inf"}, "f64": {"-inf", "inf"}, "pred": {"false", "true"}, "s8": {"-128", "127"}, "u8": {"0", "255"},
		"s16": {"-32768", "32767"}, "s32": {"-2147483648", "2147483647"}, "s64": {"-9223372036854775808", "9223372036854775807"}, "u64": {"0", "18446744073709551615"}}
	onEveryPath(func() {
		for typ, bound := range bounds {
			makes, zero := []string{"copy(x)"}, "0"
			if typ == "pred" {
				zero = "false"
			}
			if strings.Contains(typ, "f") {
				makes = append(makes, "divide(x, x)", "multiply(x, zeros)")
			}
			for i, direction := range []string{"GT", "LT"} {
				choose := strings.ReplaceAll(strings.ReplaceAll(argmax, "T[", typ+"["), "=GT", "="+direction)
				for _, run := range []int{2, 3, 8, 16} {
					for _, made := range makes {
						text := "(T[R], s32[R]) fusion(T[R,N]), kind=kInput, calls={ x = T[R,N] parameter(0) z = T[] constant(ZERO) zeros = T[R,N] broadcast(z), dimensions={} y = T[R,N] " + made +
							" i = T[] constant(" + bound[i] + ") n = s32[R,N] iota(), iota_dimension=1 k = s32[] constant(0) ROOT r = (T[R], s32[R]) reduce(y, n, i, k), dimensions={1}, to_apply=" + choose + " }"
						kernelCase{text: strings.NewReplacer("ZERO", zero, "T[", typ+"[", "R,N", fmt.Sprintf("200,%d", run), "R]", "200]").Replace(text), small: true}.check(t)
					}
				}
			}
		}
	})
}

// TestColumns computes with most columns of rows, that the array ends in the middle of or not, and with few of them.
func TestColumns(t *testing.T) {
	for _, level := range levels() {
		restore := vec.Use(level)
		for _, typ := range []string{"f32", "bf16", "u8", "f64", "c64"} {
			for _, columns := range []int{3, 5, 7, 8} {
				text := &strings.Builder{}
				fmt.Fprintf(text, "T[2100] fusion(T[2100,8]), kind=kLoop, calls={ x = T[2100,8] parameter(0) ")
				for i := range columns {
					fmt.Fprintf(text, "p%d = T[2100,1] slice(x), slice={[0:2100],[%d:%d]} c%d = T[2100] reshape(p%d) ", i, i, i+1, i, i)
				}
				text.WriteString("t1 = T[2100] add(c0, c1) ")
				for i := 2; i < columns; i++ {
					fmt.Fprintf(text, "t%d = T[2100] add(t%d, c%d) ", i, i-1, i)
				}
				fmt.Fprintf(text, "ROOT r = T[2100] subtract(t%d, c0) }", columns-1)
				kernelCase{text: strings.ReplaceAll(text.String(), "T[", typ+"["), small: true}.check(t)
			}
			// Columns of an array that is read as rows of five from its third element on, and whose last row is not whole.
			rows := "T[400] fusion(T[2001]), kind=kLoop, calls={ x = T[2001] parameter(0) a = T[400] slice(x), slice={[3:1999:5]} b = T[400] slice(x), slice={[4:2000:5]} " +
				"c = T[400] slice(x), slice={[5:2001:5]} d = T[400] slice(x), slice={[2:1998:5]} e = T[400] add(a, b) f = T[400] add(c, d) ROOT r = T[400] subtract(e, f) }"
			kernelCase{text: strings.ReplaceAll(rows, "T[", typ+"["), small: true}.check(t)
			// Pairs, beside what repeats itself: the first can be read without regard to rows.
			pairs := "T[6,5,40] fusion(T[6,5,80], T[6,40]), kind=kLoop, calls={ x = T[6,5,80] parameter(0) y = T[6,40] parameter(1) a = T[6,5,40] slice(x), slice={[0:6],[0:5],[0:80:2]} " +
				"b = T[6,5,40] slice(x), slice={[0:6],[0:5],[1:80:2]} c = T[6,5,40] broadcast(y), dimensions={0,2} d = T[6,5,40] add(a, c) ROOT r = T[6,5,40] subtract(d, b) }"
			kernelCase{text: strings.ReplaceAll(pairs, "T[", typ+"["), small: true}.check(t)
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
	for text, want := range map[string]bool{
		"(bf16[4], s32[4]) reduce(bf16[4,16], s32[4,16], bf16[], s32[]), dimensions={1}, to_apply=": true,
		"(bf16[4], s32[4]) reduce(bf16[4,17], s32[4,17], bf16[], s32[]), dimensions={1}, to_apply=": false,
	} {
		require.Equal(t, want, analysis.FoldsFew(siteOf(t, text+strings.ReplaceAll(argmax, "T[", "bf16[")).in), text)
	}
}
