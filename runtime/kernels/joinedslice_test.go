package kernels

import "testing"

// TestJoinedSlice: a dynamic-slice of a concatenation copies what it takes of each array, wherever it begins, and however starts are given.
func TestJoinedSlice(t *testing.T) {
	for _, text := range []string{
		"f32[30,40] fusion(f32[30,40], s32[], s32[]), kind=kCustom, calls={ x = f32[30,40] parameter(0) z = s32[] parameter(1) k = s32[] parameter(2) " +
			"c = f32[30,80] concatenate(x, x), dimensions={1} ROOT r = f32[30,40] dynamic-slice(c, z, k), dynamic_slice_sizes={30,40} }",
		"u8[2,5,700] fusion(u8[2,3,700], u8[2,0,700], u8[2,1,700], u8[2,4,700], s64[3]), kind=kCustom, calls={ x = u8[2,3,700] parameter(0) none = u8[2,0,700] parameter(1) " +
			"y = u8[2,1,700] parameter(2) v = u8[2,4,700] parameter(3) k = s64[3] parameter(4) " +
			"c = u8[2,8,700] concatenate(x, none, y, v), dimensions={1} ROOT r = u8[2,5,700] dynamic-slice(c, k), dynamic_slice_sizes={2,5,700} }",
		"c128[90000] fusion(c128[70000], u8[1]), kind=kCustom, calls={ x = c128[70000] parameter(0) k = u8[1] parameter(1) " +
			"c = c128[140000] concatenate(x, x), dimensions={0} ROOT r = c128[90000] dynamic-slice(c, k), dynamic_slice_sizes={90000} }",
		"bf16[3,1000] fusion(bf16[2,1000], bf16[3,1000], s8[], s8[]), kind=kCustom, calls={ x = bf16[2,1000] parameter(0) y = bf16[3,1000] parameter(1) k = s8[] parameter(2) z = s8[] parameter(3) " +
			"c = bf16[5,1000] concatenate(x, y), dimensions={0} ROOT r = bf16[3,1000] dynamic-slice(c, k, z), dynamic_slice_sizes={3,1000} }",
	} {
		onEveryPath(func() { kernelCase{text: text}.check(t) })
	}
}
