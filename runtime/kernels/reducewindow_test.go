package kernels

import (
	"testing"

	"github.com/gohalo/halo/runtime/kernels/vec"
)

func TestReduceWindow(t *testing.T) {
	for _, level := range levels() {
		restore := vec.Use(level)
		testReduceWindow(t)
		restore()
	}
}

func testReduceWindow(t *testing.T) {
	t.Helper()
	for _, typ := range []string{"f32", "s32", "bf16", "f16", "u8", "f64", "c64", "c128"} {
		for _, c := range []string{
			"T[2,4,5,3] reduce-window(T[2,8,10,3], T[]), window={size=1x2x2x1 stride=1x2x2x1}",
			"T[2,4,5,3] reduce-window(T[2,8,10,3], T[]), window={size=1x3x3x1 stride=1x2x2x1 pad=0_0x0_1x1_0x0_0}",
			"T[2,4,5,1100] reduce-window(T[2,8,10,1100], T[]), window={size=1x2x3x1 stride=1x2x2x1 pad=0_0x0_0x1_1x0_0}",
			"T[2,6,7,70] reduce-window(T[2,10,11,70], T[]), window={size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_2x2_2x0_0}",
			"T[3,9,2,19] reduce-window(T[3,4,6,19], T[]), window={size=1x2x3x1 stride=1x1x2x1 pad=0_0x4_2x0_0x0_0 rhs_dilate=1x1x2x1}",
			"T[2,3,4,5] reduce-window(T[2,3,8,10], T[]), window={size=1x1x2x2 stride=1x1x2x2}",
			"T[3,9] reduce-window(T[3,9], T[]), window={size=1x9 pad=0_0x8_0}", "T[3,9] reduce-window(T[3,9], T[]), window={size=1x9 pad=0_0x0_8}",
			"T[3,9,4] reduce-window(T[3,9,4], T[]), window={size=1x9x1 pad=0_0x8_0x0_0}", "T[9,4] reduce-window(T[9,4], T[]), window={size=9x1 pad=8_0x0_0}",
			"T[7,9,4] reduce-window(T[7,9,4], T[]), window={size=7x1x1 pad=0_6x0_0x0_0}",
			"T[6] reduce-window(T[9], T[]), window={size=3 rhs_dilate=2 pad=1_0}", "T[8] reduce-window(T[5], T[]), window={size=2 pad=2_2}",
			"T[3,5,7] reduce-window(T[3,12,15], T[]), window={size=1x3x3 stride=1x3x2 pad=0_0x2_3x0_0 rhs_dilate=1x1x2}", "T[2,600] reduce-window(T[2,1200], T[]), window={size=1x3 stride=1x2 pad=0_0x1_0}",
			"T[2,71] reduce-window(T[2,144], T[]), window={size=1x3 stride=1x2}", "T[2,300] reduce-window(T[2,1203], T[]), window={size=1x5 stride=1x4 pad=0_0x1_0}",
			"T[4,6] reduce-window(T[4,5], T[]), window={size=1x2 pad=0_0x1_1}", "T[9,5] reduce-window(T[9,20], T[]), window={size=2x4 stride=1x4 pad=1_0x0_0}",
			"T[16,2] reduce-window(T[16,48], T[]), window={size=1x32 stride=1x32 pad=0_0x8_8}", "T[1,2] reduce-window(T[16,48], T[]), window={size=16x32 stride=16x32 pad=0_0x8_8}",
			"T[60,6] reduce-window(T[60,11], T[]), window={size=1x3 stride=1x2 pad=0_0x1_1}", "T[3,5,3] reduce-window(T[3,9,6], T[]), window={size=1x5x4 pad=0_0x0_0x1_0}",
			"T[2,9,11,3] reduce-window(T[2,9,11,3], T[]), window={size=1x3x3x1 pad=0_0x1_1x1_1x0_0}", "T[5,8,2] reduce-window(T[3,9,2], T[]), window={size=1x4x1 pad=1_1x2_3x0_0 rhs_dilate=1x2x1}",
			"T[2,9,11,8] reduce-window(T[2,5,4,8], T[]), window={size=1x2x4x1 pad=0_0x1_0x2_2x0_0 lhs_dilate=1x2x3x1}", "T[2,6,3] reduce-window(T[2,5,3], T[]), window={size=1x2x1 pad=0_0x-2_-1x0_0 lhs_dilate=1x2x1 rhs_dilate=1x1x1}",
			"T[] reduce-window(T[], T[]), window={}",
			"T[2,9,11,4] reduce-window(T[2,5,4,4], T[]), window={size=1x3x2x1 pad=0_0x1_1x1_1x0_0 lhs_dilate=1x2x3x1}",
			"T[3,14,15,9] reduce-window(T[3,7,8,9], T[]), window={size=1x2x2x1 pad=0_0x1_1x1_1x0_0 lhs_dilate=1x2x2x1}",
			"T[3,16,18,9] reduce-window(T[3,7,8,9], T[]), window={size=1x4x5x1 pad=0_0x3_3x1_7x0_0 lhs_dilate=1x2x3x1 rhs_dilate=1x1x2x1}",
			"T[700] reduce-window(T[300], T[]), window={size=4 pad=51_53 lhs_dilate=2 rhs_dilate=1}",
			"T[7,19] reduce-window(T[4,18], T[]), window={size=3x3 pad=1_1x1_2 lhs_dilate=2x1}", "T[3,6] reduce-window(T[4,18], T[]), window={size=4x5 pad=-1_2x1_1 lhs_dilate=2x1 stride=2x3}",
			"T[4] reduce-window(T[3], T[]), window={size=2 stride=3 pad=4_3 lhs_dilate=3 rhs_dilate=2}", "T[7] reduce-window(T[3], T[]), window={size=5 pad=4_2 lhs_dilate=2 rhs_dilate=1}",
			"T[9] reduce-window(T[3], T[]), window={size=3 stride=2 pad=10_7 lhs_dilate=4 rhs_dilate=2}",
			// Lines of several pieces: windows that are whole, at both ends, nowhere, with holes, apart, on two axes, of runs and over dilated arrays.
			"T[9007] reduce-window(T[9000], T[]), window={size=5 pad=4_7}", "T[2,9010] reduce-window(T[2,9000], T[]), window={size=1x6 pad=0_0x11_9 rhs_dilate=1x2}",
			"T[4,9000] reduce-window(T[5,9000], T[]), window={size=3x3 pad=1_0x1_1}", "T[9005] reduce-window(T[18000], T[]), window={size=3 stride=2 pad=6_5}",
			"T[2,5001,3] reduce-window(T[2,5000,3], T[]), window={size=1x4x1 pad=0_0x2_2x0_0}", "T[9999,2] reduce-window(T[5000,2], T[]), window={size=3x1 pad=1_1x0_0 lhs_dilate=2x1}",
			"T[2504] reduce-window(T[3], T[]), window={size=2000 pad=2500_2000}",
		} {
			for _, op := range []string{"add", "maximum", "minimum"} {
				if op == "add" || typ[0] != 'c' { // complex numbers have no order
					kernelCase{text: replaceType(c+", to_apply="+reducer(op), typ), small: true}.check(t)
				}
			}
		}
	}
}

// TestReduceWindowOfComplexProducts multiplies complex numbers along rows and columns.
func TestReduceWindowOfComplexProducts(t *testing.T) {
	for _, typ := range []string{"c64", "c128"} {
		for _, c := range []string{
			"T[3,90] reduce-window(T[3,90], T[]), window={size=1x90 pad=0_0x89_0}", "T[90,3] reduce-window(T[90,3], T[]), window={size=90x1 pad=0_89x0_0}",
			"T[2,9,11,3] reduce-window(T[2,9,11,3], T[]), window={size=1x3x3x1 pad=0_0x1_1x1_1x0_0}",
		} {
			kernelCase{text: replaceType(c+", to_apply="+reducer("multiply"), typ), unit: true, tol: 1e-5}.check(t)
		}
	}
}

// TestReduceWindowLanes: windows over several arrays, by computations that are no op, and large ones with base dilation.
func TestReduceWindowLanes(t *testing.T) {
	kernelCase{text: replaceType("T[3,700] reduce-window(T[3,300], T[]), window={size=1x1100 pad=0_0x600_600 lhs_dilate=1x2}, to_apply="+reducer("maximum"), "f32"), small: true}.check(t)
	const pairs = `to_apply={ p = f32[] parameter(0) i = s32[] parameter(1) q = f32[] parameter(2) j = s32[] parameter(3) x = f32[] multiply(p, q)
 y = f32[] subtract(x, q) less = pred[] compare(q, p), direction=LT k = s32[] select(less, i, j) ROOT r = (f32[], s32[]) tuple(y, k) }`
	kernelCase{text: "(f32[3,7,600], s32[3,7,600]) reduce-window(f32[3,9,599], s32[3,9,599], f32[], s32[]), window={size=1x3x2 pad=0_0x0_0x1_1}, " + pairs, small: true}.check(t)
	const rounded = "to_apply={ p = f32[] parameter(0) q = f32[] parameter(1) s = f32[] add(p, q) b = bf16[] convert(s) ROOT r = f32[] convert(b) }"
	kernelCase{text: "f32[16,4] reduce-window(f32[16,3], f32[]), window={size=1x3 pad=0_0x3_0}, " + rounded}.check(t)
	kernelCase{text: "f32[] reduce-window(f32[], f32[]), window={}, " + rounded}.check(t)

	// Windows that reach from the first element to the position are one fold.
	kernelCase{text: "f32[16,3,16] reduce-window(f32[16,3,16], f32[]), window={size=1x1x16 pad=0_0x0_0x15_0}, " + rounded}.check(t)
	kernelCase{text: "f32[3,17,700] reduce-window(f32[3,17,700], f32[]), window={size=1x17x1 pad=0_0x16_0x0_0}, " + rounded}.check(t)
	kernelCase{text: "f32[5] reduce-window(f32[5], f32[]), window={size=5 pad=0_4}, " + rounded}.check(t)
	kernelCase{text: "f32[5,4] reduce-window(f32[5,4], f32[]), window={size=5x4 pad=4_0x3_0}, " + rounded}.check(t)
	kernelCase{text: "(f32[3,7,6], s32[3,7,6]) reduce-window(f32[3,7,6], s32[3,7,6], f32[], s32[]), window={size=1x7x1 pad=0_0x6_0x0_0}, " + pairs}.check(t)
}
