package kernels

import (
	"strings"
	"testing"
)

// TestSelectAndScatter compares bit for bit: each result is a sum in the order of the windows.
func TestSelectAndScatter(t *testing.T) {
	for _, typ := range []string{"f32", "f64", "bf16", "f16", "s32"} {
		for _, shape := range []struct{ in, out, window string }{
			{"2,6,8,5", "2,3,4,5", "size=1x2x2x1 stride=1x2x2x1"},
			{"2,3,7,9", "2,3,4,5", "size=1x1x3x3 stride=1x1x2x2 pad=0_0x0_0x1_1x1_1"},
			{"2,7,9,3", "2,7,9,3", "size=1x3x3x1 pad=0_0x1_1x1_1x0_0"},
			{"40", "20", "size=2 stride=2"},
			{"12", "5", "size=3 stride=2 rhs_dilate=2"},
			{"5", "9", "size=2 stride=1 pad=3_2"},
			{"4,3", "4,3", "size=1x1"},
		} {
			for _, direction := range []string{"GE", "GT", "LE", "LT"} {
				for _, op := range []string{"add", "multiply", "maximum"} {
					text := strings.NewReplacer("T[", typ+"[", "IN", shape.in, "OUT", shape.out, "W", shape.window, "DIRECTION", direction, "OP", op).Replace(
						"T[IN] select-and-scatter(T[IN], T[OUT], T[]), window={W}, select={ a = T[] parameter(0) b = T[] parameter(1) ROOT c = pred[] compare(a, b), direction=DIRECTION }, " +
							"scatter={ a = T[] parameter(0) b = T[] parameter(1) ROOT c = T[] OP(a, b) }")
					kernelCase{text: text}.check(t)
					kernelCase{text: strings.Replace(text, "compare(a, b)", "compare(b, a)", 1), small: true}.check(t)
				}
			}
		}
	}
}
