package kernels

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPieces: a fusion with a concatenation inside computes what it needs of each array where that goes, whatever lies between its rows.
func TestPieces(t *testing.T) {
	for _, text := range []string{
		// One array behind the other.
		"f32[5001] fusion(f32[5000], f32[1]), kind=kLoop, calls={ x = f32[5000] parameter(0) y = f32[1] parameter(1) a = f32[5000] multiply(x, x) ROOT r = f32[5001] concatenate(y, a), dimensions={0} }",
		// Halves of rows, and something that goes on with them.
		rotary("f32", 32), rotary("bf16", 32), rotary("f16", 20), rotary("f64", 17), rotary("c64", 16), rotary("s8", 5),
		// Single columns.
		"u16[90,3] fusion(u16[90,1], u16[90,2]), kind=kLoop, calls={ x = u16[90,1] parameter(0) y = u16[90,2] parameter(1) a = u16[90,1] add(x, x) b = u16[90,2] multiply(y, y) " +
			"ROOT r = u16[90,3] concatenate(a, b), dimensions={1} }",
		"c128[70,2] fusion(c128[70,1]), kind=kLoop, calls={ x = c128[70,1] parameter(0) a = c128[70,1] negate(x) ROOT r = c128[70,2] concatenate(a, x), dimensions={1} }",
		// Edges that mirror what is inside, along two axes, one inside of the other.
		"f32[14,50] fusion(f32[10,40]), kind=kLoop, calls={ x = f32[10,40] parameter(0) y = f32[10,40] multiply(x, x) a = f32[2,40] slice(y), slice={[1:3],[0:40]} b = f32[2,40] reverse(a), dimensions={0} " +
			"c = f32[2,40] slice(y), slice={[7:9],[0:40]} d = f32[14,40] concatenate(b, y, c), dimensions={0} e = f32[14,5] slice(d), slice={[0:14],[1:6]} f = f32[14,5] reverse(e), dimensions={1} " +
			"g = f32[14,5] slice(d), slice={[0:14],[34:39]} h = f32[14,50] concatenate(f, d, g), dimensions={1} ROOT r = f32[14,50] abs(h) }",
		// A rotation, which is cut too, and the concatenation seen from behind.
		"s32[7,30] fusion(s32[7,12], s32[7,18]), kind=kLoop, calls={ x = s32[7,12] parameter(0) y = s32[7,18] parameter(1) a = s32[7,13] slice(y), slice={[0:7],[5:18]} b = s32[7,5] slice(y), slice={[0:7],[0:5]} " +
			"c = s32[7,18] concatenate(a, b), dimensions={1} d = s32[7,30] concatenate(x, c), dimensions={1} e = s32[7,30] reverse(d), dimensions={1} ROOT r = s32[7,30] add(e, d) }",
		// Elements that are picked, counted, the same everywhere.
		"f32[6,80] fusion(f32[500], s32[6,40,1]), kind=kLoop, calls={ x = f32[500] parameter(0) i = s32[6,40,1] parameter(1) " +
			"a = f32[6,40] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1} " +
			"n = s32[6,24] iota(), iota_dimension=1 b = f32[6,24] convert(n) one = f32[] constant(1) c = f32[6,16] broadcast(one), dimensions={} d = f32[6,80] concatenate(a, b, c), dimensions={1} ROOT r = f32[6,80] negate(d) }",
		// Transposed, so that the pieces are columns.
		"pred[300,3] fusion(f32[2,300], pred[1,300]), kind=kLoop, calls={ x = f32[2,300] parameter(0) y = pred[1,300] parameter(1) zero = f32[] constant(0) z = f32[2,300] broadcast(zero), dimensions={} " +
			"a = pred[2,300] compare(x, z), direction=LT b = pred[3,300] concatenate(a, y), dimensions={0} ROOT r = pred[300,3] transpose(b), dimensions={1,0} }",
	} {
		_, ok := fusedPieces(siteOf(t, text))
		require.True(t, ok, text)
		onEveryPath(func() { kernelCase{text: text}.check(t) })
	}
}

// rotary turns pairs of numbers, which are in the halves of rows, by angles that several rows have in common.
func rotary(typ string, half int) string {
	r := strings.NewReplacer("ROOT", "ROOT", "T", typ, "H", strconv.Itoa(half), "W", strconv.Itoa(2*half))
	return r.Replace("T[2,9,3,W] fusion(T[2,9,3,W], T[9,W]), kind=kLoop, calls={ x = T[2,9,3,W] parameter(0) s = T[9,W] parameter(1) a = T[2,9,3,H] slice(x), slice={[0:2],[0:9],[0:3],[0:H]} " +
		"b = T[2,9,3,H] slice(x), slice={[0:2],[0:9],[0:3],[H:W]} c = T[2,9,3,H] negate(b) d = T[2,9,3,W] concatenate(c, a), dimensions={3} e = T[2,9,3,W] broadcast(s), dimensions={1,3} " +
		"f = T[2,9,3,W] multiply(d, e) ROOT r = T[2,9,3,W] add(f, x) }")
}
