package kernels

import (
	"strings"
	"testing"

	"github.com/gohalo/halo/runtime/kernels/vec"
)

func TestConvolution(t *testing.T) {
	for _, level := range levels() {
		restore := vec.Use(level)
		testConvolution(t)
		restore()
	}
}

func testConvolution(t *testing.T) {
	t.Helper()
	for _, typ := range []string{"f32", "f64", "bf16", "s32", "s8", "c64"} {
		for _, c := range []string{
			"T[2,8,9,6] convolution(T[2,8,9,5], T[3,3,5,6]), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
			"T[2,8,9,6] convolution(T[2,8,9,5], T[1,1,5,6]), window={size=1x1}, dim_labels=b01f_01io->b01f",
			"T[2,6,8,9] convolution(T[2,5,8,9], T[6,5,3,3]), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01",
			"T[2,4,4,6] convolution(T[2,8,9,5], T[3,3,5,6]), window={size=3x3 stride=2x2 pad=0_1x0_0}, dim_labels=b01f_01io->b01f",
			"T[1,17,6] convolution(T[1,9,5], T[2,5,6]), window={size=2 pad=1_0 lhs_dilate=2}, dim_labels=b0f_0io->b0f",
			"T[1,4,6] convolution(T[1,9,5], T[3,5,6]), window={size=3 pad=-1_0 rhs_dilate=2}, dim_labels=b0f_0io->b0f",
			"T[1,7,6] convolution(T[1,9,5], T[3,5,6]), window={size=3 rhs_reversal=1}, dim_labels=b0f_0io->b0f",
			"T[2,8,9,6] convolution(T[2,8,9,4], T[3,3,2,6]), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=2",
			"T[2,8,9,4] convolution(T[2,8,9,4], T[3,3,1,4]), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=4",
			"T[2,8,9,8] convolution(T[2,8,9,4], T[3,3,1,8]), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=4",
			"T[2,4,4,5] convolution(T[2,4,8,9], T[4,1,3,3]), window={size=3x3 stride=2x2 pad=1_0x1_1}, dim_labels=bf01_oi01->bf01, feature_group_count=4",
			"T[1,8,9,6] convolution(T[2,8,9,5], T[3,3,5,6]), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, batch_group_count=2",
			"T[1,24,20,1] convolution(T[1,26,22,1], T[3,3,1,1]), window={size=3x3}, dim_labels=b01f_01io->b01f",
			"T[2,9,1,1] convolution(T[2,8,3,1], T[3,3,1,1]), window={size=3x3 pad=1_2x0_0}, dim_labels=b01f_01io->b01f",
			"T[3,1,1,1] convolution(T[3,3,3,1], T[3,3,1,1]), window={size=3x3}, dim_labels=b01f_01io->b01f",
			"T[1,1,1,1] convolution(T[1,3,3,1], T[3,3,1,1]), window={size=3x3}, dim_labels=b01f_01io->b01f",
			"T[3,1,12,16] convolution(T[3,1,12,16], T[1,1,5,5]), window={size=5x5 pad=2_2x2_2}, dim_labels=bf01_oi01->bf01",
			"T[2,2,9,70] convolution(T[2,1,8,70], T[2,1,3,4]), window={size=3x4 stride=2x1 pad=4_8x1_2 rhs_reversal=0x1}, dim_labels=bf01_oi01->bf01",
			"T[2,6,7,9] convolution(T[2,3,8,9], T[6,1,3,3]), window={size=3x3 pad=-1_2x2_2 rhs_dilate=1x2}, dim_labels=bf01_oi01->bf01, feature_group_count=3",
			"T[2,3,11] convolution(T[2,3,3], T[3,1,4]), window={size=4 pad=7_4}, dim_labels=bf0_oi0->bf0, feature_group_count=3",
			"T[2,200,5,6] convolution(T[2,30,5,6], T[200,30,3,3]), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01",
			"T[2,20,5,6] convolution(T[2,30,5,6], T[20,30,3,3]), window={size=3x3 pad=1_1x1_1 rhs_reversal=1x0}, dim_labels=bf01_oi01->bf01",
			"T[1,200,3,3] convolution(T[1,30,5,6], T[200,30,3,3]), window={size=3x3 stride=2x2 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01",
			"T[1,200,2,3] convolution(T[1,2,16,17], T[200,2,16,17]), window={size=16x17 pad=1_0x1_1}, dim_labels=bf01_oi01->bf01",
			"T[1,400,3,4] convolution(T[1,8,3,4], T[400,4,3,3]), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01, feature_group_count=2",
			"T[1,200,9] convolution(T[1,5,5], T[200,5,3]), window={size=3 pad=1_1 lhs_dilate=2}, dim_labels=bf0_oi0->bf0",
			"T[1,6,15,18] convolution(T[1,5,8,9], T[6,5,3,4]), window={size=3x4 pad=1_1x2_2 lhs_dilate=2x2}, dim_labels=bf01_oi01->bf01",
			"T[2,6] convolution(T[2,5], T[5,6]), dim_labels=bf_io->bf",
			"T[2,6] convolution(T[2,3], T[1,6]), dim_labels=bf_io->bf, feature_group_count=3",
			"T[2,15,18,6] convolution(T[2,8,9,5], T[3,4,5,6]), window={size=3x4 pad=1_1x2_2 lhs_dilate=2x2}, dim_labels=b01f_01io->b01f",
			"T[1,15,18,6] convolution(T[1,8,9,5], T[3,4,5,6]), window={size=3x4 pad=1_1x2_2 lhs_dilate=2x2 rhs_reversal=1x1}, dim_labels=b01f_01io->b01f",
			"T[1,9,6] convolution(T[1,9,5], T[4,5,6]), window={size=4 stride=3 pad=2_3 lhs_dilate=3}, dim_labels=b0f_0io->b0f",
			"T[1,12,6] convolution(T[1,9,5], T[4,5,6]), window={size=4 stride=4 pad=3_5 lhs_dilate=6 rhs_dilate=3}, dim_labels=b0f_0io->b0f",
			"T[1,45,6] convolution(T[1,9,5], T[1,5,6]), window={size=1 pad=0_4 lhs_dilate=5}, dim_labels=b0f_0io->b0f",
			"T[1,22,6] convolution(T[1,9,4], T[3,2,6]), window={size=3 pad=-1_8 lhs_dilate=2 rhs_dilate=2}, dim_labels=b0f_0io->b0f, feature_group_count=2",
			"T[1,17,6] convolution(T[2,9,5], T[2,5,6]), window={size=2 pad=1_0 lhs_dilate=2}, dim_labels=b0f_0io->b0f, batch_group_count=2",
			"T[1,4,17] convolution(T[1,4,9], T[4,1,3]), window={size=3 pad=1_1 lhs_dilate=2}, dim_labels=bf0_oi0->bf0, feature_group_count=4",
			"T[3,3,7,6] convolution(T[2,8,9,7], T[2,8,9,6]), window={size=8x9 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf",
			"T[19,6,3,3] convolution(T[2,8,9,19], T[2,8,9,6]), window={size=8x9 pad=1_1x1_1}, dim_labels=f01b_i01o->bf01",
			"T[3,2,17,6] convolution(T[2,8,9,17], T[2,4,5,6]), window={size=4x5 pad=1_0x0_1 rhs_dilate=2x2}, dim_labels=f01b_i01o->01bf",
			"T[3,4,6,6] convolution(T[5,9,9,6], T[5,3,3,6]), window={size=3x3 stride=3x2}, dim_labels=f01b_i01o->01bf",
			"T[2,9,10,6] convolution(T[2,18,21,3], T[7,5,3,6]), window={size=7x5 stride=2x2 pad=3_2x2_1}, dim_labels=b01f_01io->b01f",
			"T[2,18,11,6] convolution(T[2,18,21,3], T[3,5,3,6]), window={size=3x5 stride=1x2 pad=1_1x2_2 rhs_dilate=1x1}, dim_labels=b01f_01io->b01f",
			"T[2,15,6] convolution(T[2,17,2], T[3,2,6]), window={size=3 rhs_reversal=1}, dim_labels=b0f_0io->b0f",
			"T[8,9,6,2] convolution(T[8,9,5,2], T[3,3,5,6]), window={size=3x3 pad=1_1x1_1}, dim_labels=01fb_01io->01fb",
		} {
			kernelCase{text: replaceType(c, typ), small: true}.check(t)
		}
	}
}

// TestConvolutionOfBytes has input features in fours, which are read where they are or packed, and others.
func TestConvolutionOfBytes(t *testing.T) {
	for _, types := range [][3]string{{"s32", "s8", "s8"}, {"s32", "u8", "s8"}, {"s32", "s8", "u8"}, {"u32", "u8", "u8"}, {"s8", "s8", "s8"}, {"s16", "u8", "s8"}} {
		for _, c := range []string{
			"[2,8,9,6] convolution([2,8,9,8], [3,3,8,6]), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
			"[2,8,9,37] convolution([2,8,9,12], [37,3,2,12]), window={size=3x2 pad=1_1x1_0}, dim_labels=b01f_o01i->b01f",
			"[3,8,9,70] convolution([3,8,9,4], [1,1,4,70]), window={size=1x1}, dim_labels=b01f_01io->b01f",
			"[2,4,4,66] convolution([2,8,9,260], [3,3,260,66]), window={size=3x3 stride=2x2 pad=0_1x0_0}, dim_labels=b01f_01io->b01f",
			"[2,8,9,6] convolution([2,8,9,8], [3,3,4,6]), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=2",
			"[1,8,9,6] convolution([2,8,9,4], [3,3,4,6]), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, batch_group_count=2",
			"[1,4,6] convolution([1,9,8], [3,8,6]), window={size=3 pad=-1_0 rhs_dilate=2 rhs_reversal=1}, dim_labels=b0f_0io->b0f",
			"[6,4,1] convolution([9,8,1], [3,8,6]), window={size=3 pad=-1_0 rhs_dilate=2}, dim_labels=0fb_0io->f0b",
			"[1,17,6] convolution([1,9,4], [2,4,6]), window={size=2 pad=1_0 lhs_dilate=2}, dim_labels=b0f_0io->b0f",
			"[2,8,5,6] convolution([2,8,5,3], [3,3,3,6]), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
			"[2,8,5,600] convolution([2,8,5,4], [2,2,4,600]), window={size=2x2 pad=1_0x0_1}, dim_labels=b01f_01io->b01f",
		} {
			kernelCase{text: typed(c, types)}.check(t)
		}
	}
}

// typed writes the types of a result and its two operands before their dimensions.
func typed(text string, types [3]string) string {
	out, rest, _ := strings.Cut(types[0]+text, "([")
	first, second, _ := strings.Cut(rest, ", [")
	return out + "(" + types[1] + "[" + first + ", " + types[2] + "[" + second
}
