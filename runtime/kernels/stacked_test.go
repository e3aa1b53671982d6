package kernels

import (
	"testing"

	"github.com/gohalo/halo/runtime/kernels/vec"
)

// TestStack: a fusion that ends in a stack computes each array in its place; where nothing is computed, each is moved there.
func TestStack(t *testing.T) {
	cases := []string{
		"f32[3,300] fusion(f32[300,3], f32[300]), kind=kLoop, calls={ x = f32[300,3] parameter(0) y = f32[300] parameter(1) a = f32[300,1] slice(x), slice={[0:300],[0:1]} " +
			"b = f32[300] reshape(a) c = f32[300] multiply(b, y) d = f32[1,300] reshape(c) e = f32[1,300] reshape(y) f = f32[300,1] slice(x), slice={[0:300],[2:3]} " +
			"g = f32[1,300] reshape(f) ROOT r = f32[3,300] concatenate(d, e, g), dimensions={0} }",
		"f32[1,4,90] fusion(f32[90,8]), kind=kLoop, calls={ x = f32[90,8] parameter(0) a = f32[90,2] slice(x), slice={[0:90],[0:8:4]} b = f32[90,2] slice(x), slice={[0:90],[6:8]} " +
			"c = f32[2,90] transpose(a), dimensions={1,0} d = f32[2,90] transpose(b), dimensions={1,0} e = f32[1,2,90] reshape(c) f = f32[1,2,90] reshape(d) " +
			"ROOT r = f32[1,4,90] concatenate(e, f), dimensions={1} }",
		"u8[2,70000] fusion(u8[70000]), kind=kLoop, calls={ x = u8[70000] parameter(0) y = u8[70000] add(x, x) a = u8[1,70000] reshape(x) b = u8[1,70000] reshape(y) " +
			"ROOT r = u8[2,70000] concatenate(a, b), dimensions={0} }",
		"bf16[130] fusion(bf16[65]), kind=kLoop, calls={ x = bf16[65] parameter(0) y = bf16[65] multiply(x, x) z = bf16[65] negate(y) ROOT r = bf16[130] concatenate(y, z), dimensions={0} }",
	}
	for _, level := range levels() {
		restore := vec.Use(level)
		for _, text := range cases {
			onEveryPath(func() { kernelCase{text: text}.check(t) })
		}
		restore()
	}
}
