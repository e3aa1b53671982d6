package kernels

import (
	"strings"
	"testing"

	"github.com/gohalo/halo/runtime/kernels/vec"
)

// TestPickedInLoops computes indices, gathers and goes on in one loop: by one to three indices of several types, with windows and batching axes, inside of the array and outside, one
// gather behind the other, with code of the stages and without.
func TestPickedInLoops(t *testing.T) {
	const point = "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}"
	const pair = "offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1}"
	pairOf := func(x, y string) string {
		return strings.NewReplacer("X", x, "Y", y).Replace("XY0 = I[1500,1] reshape(X) XY1 = I[1500,1] reshape(Y) XY = I[1500,2] concatenate(XY0, XY1), dimensions={1} ")
	}
	cases := []string{
		"T[1500] fusion(T[40], I[1500]), kind=kLoop, calls={ t = T[40] parameter(0) i = I[1500] parameter(1) j = I[1500] add(i, i) g = T[1500] gather(t, j), " + point + " ROOT r = T[1500] maximum(g, g) }",
		"T[3,500] fusion(T[40], I[3,500]), kind=kLoop, calls={ t = T[40] parameter(0) i = I[3,500] parameter(1) c = I[3,500,1] reshape(i) " +
			"ROOT g = T[3,500] gather(t, c), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1} }",
		"T[1500] fusion(T[7,9], I[1500], I[1500]), kind=kLoop, calls={ t = T[7,9] parameter(0) i = I[1500] parameter(1) j = I[1500] parameter(2) k = I[1500] multiply(i, j) " +
			pairOf("k", "j") + "g = T[1500] gather(t, kj), " + pair + " " + pairOf("j", "i") + "h = T[1500] gather(t, ji), " + pair + " m = T[1500] maximum(g, h) ROOT r = T[1500] minimum(m, h) }",
		"T[200,3] fusion(T[50,3], I[200]), kind=kLoop, calls={ t = T[50,3] parameter(0) i = I[200] parameter(1) " +
			"g = T[200,3] gather(t, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3} ROOT r = T[200,3] maximum(g, g) }",
		"T[4,600] fusion(T[4,30], I[600]), kind=kLoop, calls={ t = T[4,30] parameter(0) i = I[600] parameter(1) k = I[600] add(i, i) " +
			"g = T[4,600] gather(t, k), offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, slice_sizes={4,1} ROOT r = T[4,600] minimum(g, g) }",
		"T[5,300] fusion(T[5,30], I[5,300]), kind=kLoop, calls={ t = T[5,30] parameter(0) i = I[5,300] parameter(1) c = I[5,300,1] reshape(i) g = T[5,300] gather(t, c), " +
			"offset_dims={}, collapsed_slice_dims={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, start_index_map={1}, index_vector_dim=2, slice_sizes={1,1} ROOT r = T[5,300] maximum(g, g) }",
		"(T[1500], T[1500]) fusion(T[8,3,5], I[1500], T[1500]), kind=kLoop, calls={ t = T[8,3,5] parameter(0) i = I[1500] parameter(1) x = T[1500] parameter(2) j = I[1500] add(i, i) c = I[1500,1] reshape(i) d = I[1500,1] reshape(j) " +
			"at = I[1500,3] concatenate(c, d, c), dimensions={1} g = T[1500] gather(t, at), offset_dims={}, collapsed_slice_dims={0,1,2}, start_index_map={2,0,1}, index_vector_dim=1, slice_sizes={1,1,1} " +
			"a = T[1500] maximum(x, x) b = T[1500] minimum(g, a) ROOT r = (T[1500], T[1500]) tuple(a, b) }",
		// The index is picked itself.
		"T[1500] fusion(T[40], I[40], I[1500]), kind=kLoop, calls={ t = T[40] parameter(0) u = I[40] parameter(1) i = I[1500] parameter(2) k = I[1500] gather(u, i), " + point +
			" l = I[1500] add(k, k) ROOT g = T[1500] gather(t, l), " + point + " }",
		"T[20] fusion(T[40], I[20]), kind=kLoop, calls={ t = T[40] parameter(0) i = I[20] parameter(1) j = I[20] add(i, i) g = T[20] gather(t, j), " + point + " ROOT r = T[20] maximum(g, g) }",
		"T[1700] fusion(T[3], I[1700]), kind=kLoop, calls={ t = T[3] parameter(0) i = I[1700] parameter(1) j = I[1700] add(i, i) ROOT g = T[1700] gather(t, j), " + point + " }",
	}
	onEveryPath(func() {
		for _, typ := range []string{"f32", "bf16", "u8", "s16", "f64", "pred", "f8e5m2"} {
			for _, index := range []string{"s32", "u32", "s64", "u8", "s16"} {
				for _, c := range cases {
					if typ == "pred" {
						c = strings.NewReplacer("maximum", "and", "minimum", "or").Replace(c)
					}
					kernelCase{text: strings.NewReplacer("T[", typ+"[", "I[", index+"[").Replace(c)}.check(t)
				}
			}
		}
	})
}

// TestShortLines gathers lines of few elements from every row of an array.
func TestShortLines(t *testing.T) {
	for _, typ := range []string{"u8", "bf16", "f32", "f64"} {
		for _, line := range []string{"1", "2", "3", "4", "5", "6", "8", "16"} {
			c := "T[40,90,L] gather(T[40,70,L], s32[90,1]), offset_dims={0,2}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, slice_sizes={40,1,L}"
			kernelCase{text: replaceType(strings.NewReplacer(",L]", ","+line+"]", ",L}", ","+line+"}").Replace(c), typ)}.check(t)
		}
	}
}

// TestThirds reads columns of three, which vector loops take from the array as it is.
func TestThirds(t *testing.T) {
	for _, level := range levels() {
		restore := vec.Use(level)
		for _, n := range []string{"16", "17", "35", "1500"} {
			for _, column := range []string{"[0:1]", "[1:2]", "[2:3]"} {
				text := "f32[N] fusion(f32[N,3]), kind=kLoop, calls={ x = f32[N,3] parameter(0) s = f32[N,1] slice(x), slice={[0:N], COLUMN} c = f32[N] reshape(s) ROOT r = f32[N] negate(c) }"
				kernelCase{text: strings.NewReplacer("[N", "["+n, ":N]", ":"+n+"]", "COLUMN", column).Replace(text)}.check(t)
			}
		}
		restore()
	}
}
