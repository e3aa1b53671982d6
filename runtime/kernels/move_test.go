package kernels

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSmallColumns: columns that are taken and replaced at an index, as loops over time steps do, are small calls as rows are.
func TestSmallColumns(t *testing.T) {
	for _, typ := range []string{"f32", "f64", "bf16", "u8", "c128"} {
		for _, text := range []string{
			"T[6,1] dynamic-slice(T[6,7], s32[], s32[]), dynamic_slice_sizes={6,1}",
			"T[6,3] dynamic-slice(T[6,7], s64[], u32[]), dynamic_slice_sizes={6,3}",
			"T[6,7] dynamic-update-slice(T[6,7], T[6,1], s32[], s32[])",
			"T[4,6,7] dynamic-update-slice(T[4,6,7], T[4,1,7], s32[], s64[], s32[])",
		} {
			text = strings.ReplaceAll(text, "T[", typ+"[")
			bound, ok := chooseFast(siteOf(t, text))
			require.True(t, ok)
			require.NotNil(t, bound.Small, text)
			kernelCase{text: text}.check(t)
		}
	}
}

func TestMoves(t *testing.T) {
	for _, typ := range []string{"pred", "bf16", "f32", "f64", "c64", "c128"} {
		for _, c := range []string{
			"T[5,7] concatenate(T[2,7], T[3,7]), dimensions={0}", "T[3,9] concatenate(T[3,2], T[3,0], T[3,7]), dimensions={1}",
			"T[4,6,5] concatenate(T[4,2,5], T[4,4,5]), dimensions={1}", "T[700,5] concatenate(T[700,2], T[700,3]), dimensions={1}",
			"T[300,4,2] concatenate(T[300,3,2], T[300,1,2]), dimensions={1}", "T[300,16] concatenate(T[300,8], T[300,8]), dimensions={1}",
			"T[700,3] concatenate(T[700,1], T[700,1], T[700,1]), dimensions={1}", "T[90,5,61] concatenate(T[90,5,30], T[90,5,1], T[90,5,0], T[90,5,30]), dimensions={2}",
			"T[3,9,700] concatenate(T[3,2,700], T[3,3,700], T[3,4,700]), dimensions={1}", "T[1,9,7] concatenate(T[1,2,7], T[1,3,7], T[1,4,7]), dimensions={1}",
			"T[10] pad(T[4], T[]), padding=2_1_1", "T[5,6] pad(T[3,4], T[]), padding=1_1x0_2", "T[2,3] pad(T[4,4], T[]), padding=-1_-1x-1_0",
			"T[5] pad(T[5], T[]), padding=-2_-2_1", "T[3] pad(T[0], T[]), padding=1_2", "T[1] pad(T[5], T[]), padding=-3_-5_1",
			"T[4,3,2] pad(T[2,3,1], T[]), padding=1_1x0_0x1_0",
			"T[12,150] pad(T[9,140], T[]), padding=2_1x4_6", "T[11,40,9] pad(T[9,30,8], T[]), padding=1_1x-2_12x0_1", "T[40,130] pad(T[20,140], T[]), padding=0_1_1x-3_-7",
			"T[2,3] dynamic-slice(T[6,7], s32[], s32[]), dynamic_slice_sizes={2,3}",
			"T[2,7] dynamic-slice(T[6,7], s64[], u8[]), dynamic_slice_sizes={2,7}",
			"T[6,7] dynamic-update-slice(T[6,7], T[2,3], s32[], s32[])",
			"T[9] dynamic-update-slice(T[9], T[4], u32[])", "T[] dynamic-update-slice(T[], T[])",
		} {
			kernelCase{text: replaceType(c, typ)}.check(t)
		}
	}
}

// TestRunMoves moves runs of all sizes that are copied in a way of their own, and others, with the axes around them permuted, reversed, and cut with strides.
func TestRunMoves(t *testing.T) {
	for _, typ := range []string{"u8", "bf16", "f32", "c64", "c128"} {
		for _, run := range []int{2, 3, 4, 6, 7, 12, 16, 24, 32, 48, 64, 65, 128, 512} {
			for _, c := range []string{
				"T[3,7,5,R] transpose(T[3,5,7,R]), dimensions={0,2,1,3}",
				"T[9,4,6,R] transpose(T[6,4,9,R]), dimensions={2,1,0,3}",
				"T[9,40,R] fusion(T[40,9,R]), kind=kLoop, calls={ x = T[40,9,R] parameter(0) y = T[9,40,R] transpose(x), dimensions={1,0,2} ROOT z = T[9,40,R] reverse(y), dimensions={1} }",
				"T[5,3,R] fusion(T[9,7,R]), kind=kLoop, calls={ x = T[9,7,R] parameter(0) y = T[5,3,R] slice(x), slice={[0:9:2], [1:7:2], [0:R]} ROOT z = T[5,3,R] reverse(y), dimensions={0} }",
				"T[33,21] transpose(T[21,33]), dimensions={1,0}",
				"T[7,9,2,R] broadcast(T[7,9,R]), dimensions={0,1,3}", "T[5,2,9,2,R] broadcast(T[5,9,R]), dimensions={0,2,4}", "T[11,R] broadcast(T[R]), dimensions={1}",
				"T[90,R] broadcast(T[90]), dimensions={0}", "T[3,5,7,R] broadcast(T[5,7]), dimensions={1,2}", "T[7,5,2,R] broadcast(T[5,7]), dimensions={1,0}",
				"T[9,11,R] fusion(T[11,9]), kind=kLoop, calls={ x = T[11,9] parameter(0) y = T[9,11] transpose(x), dimensions={1,0} z = T[9,11] reverse(y), dimensions={0,1} ROOT w = T[9,11,R] broadcast(z), dimensions={0,1} }",
				"T[4,9,3,R] transpose(T[3,9,4,R]), dimensions={2,1,0,3}", "T[11,R] slice(T[11,700]), slice={[0:11], [0:R]}",
			} {
				kernelCase{text: strings.ReplaceAll(replaceType(c, typ), "R]", strconv.Itoa(run)+"]")}.check(t)
			}
		}
	}
}
