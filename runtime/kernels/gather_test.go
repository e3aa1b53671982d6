package kernels

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/eval"
)

func TestGatherAndScatter(t *testing.T) {
	for _, typ := range []string{"pred", "f32", "bf16", "f64", "s32", "c64"} {
		for _, c := range []string{
			"T[5,4] gather(T[10,4], s32[5,1]), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}",
			"T[5] gather(T[10], s64[5]), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}",
			"T[7,6] gather(T[10,6], u32[7]), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}",
			"T[7] gather(T[10], s32[7]), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}",
			"T[7,6] gather(T[10,6], u16[7]), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}",
			"T[] gather(T[10], u8[]), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=0, slice_sizes={1}",
			"T[3,2,4] gather(T[10,6,4], u8[3,2]), offset_dims={1,2}, collapsed_slice_dims={0}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,2,4}",
			"T[2,3,4] gather(T[10,6,4], s32[2,3]), offset_dims={0,2}, collapsed_slice_dims={0}, start_index_map={0,1}, index_vector_dim=0, slice_sizes={1,2,4}",
			"T[6,5] gather(T[6,10], s32[6,5,1]), offset_dims={}, collapsed_slice_dims={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, start_index_map={1}, index_vector_dim=2, slice_sizes={1,1}",
			"T[700] gather(T[30,40], s32[700,2]), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={1,0}, index_vector_dim=1, slice_sizes={1,1}",
			"T[30,500] gather(T[30,40], s64[500]), offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, slice_sizes={30,1}",
			"T[300,3,2] gather(T[30,40], u64[2,300]), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0,1}, index_vector_dim=0, slice_sizes={3,2}",
			"T[300,4] gather(T[30,4], s32[300]), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}",
			"T[10,400] gather(T[7,400], s32[10,400]), offset_dims={}, collapsed_slice_dims={0}, operand_batching_dims={1}, start_indices_batching_dims={1}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,1}",
			"T[6,300] gather(T[6,10], s32[6,300]), offset_dims={}, collapsed_slice_dims={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, start_index_map={1}, index_vector_dim=2, slice_sizes={1,1}",
			"T[5,6,3,4] gather(T[6,5,9], u32[5,6,3,4]), offset_dims={}, collapsed_slice_dims={2}, operand_batching_dims={0,1}, start_indices_batching_dims={1,0}, start_index_map={2}, index_vector_dim=4, slice_sizes={1,1,1}",
			"T[5,6,3,4] gather(T[5,6,9], s64[5,6,3,4]), offset_dims={}, collapsed_slice_dims={2}, operand_batching_dims={0,1}, start_indices_batching_dims={0,1}, start_index_map={2}, index_vector_dim=4, slice_sizes={1,1,1}",
			"T[3,6,70] gather(T[6,8,9], s32[3,6,70,2]), offset_dims={}, collapsed_slice_dims={1,2}, operand_batching_dims={0}, start_indices_batching_dims={1}, start_index_map={1,2}, index_vector_dim=3, slice_sizes={1,1,1}",
			"T[600] gather(T[9,8,7], s32[600,3]), offset_dims={}, collapsed_slice_dims={0,1,2}, start_index_map={0,1,2}, index_vector_dim=1, slice_sizes={1,1,1}",
			"T[600] gather(T[9,8,7], s64[3,600]), offset_dims={}, collapsed_slice_dims={0,1,2}, start_index_map={2,1,0}, index_vector_dim=0, slice_sizes={1,1,1}",
			"T[600] gather(T[3,4,3,4,3], s32[600,5]), offset_dims={}, collapsed_slice_dims={0,1,2,3,4}, start_index_map={0,1,2,3,4}, index_vector_dim=1, slice_sizes={1,1,1,1,1}",
			"T[300,2] gather(T[9,8,2], s32[300,2]), offset_dims={1}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1,2}",
			"T[300,2] gather(T[9,8,3], s32[300,2]), offset_dims={1}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1,2}",
			"T[60,3,300] gather(T[60,40,3], s32[300]), offset_dims={0,1}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, slice_sizes={60,1,3}",
			"T[300,64] gather(T[9,8,64], s32[300,2]), offset_dims={1}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1,64}",
			"T[300,32] gather(T[9,8,32], s64[300,2]), offset_dims={1}, collapsed_slice_dims={0,1}, start_index_map={1,0}, index_vector_dim=1, slice_sizes={1,1,32}",
			"T[300,16] gather(T[9,8,16], u32[300,2]), offset_dims={1}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1,16}",
			"T[300,70] gather(T[9,8,7,80], s32[300,4]), offset_dims={1}, collapsed_slice_dims={0,1,2}, start_index_map={0,1,2,3}, index_vector_dim=1, slice_sizes={1,1,1,70}",
			"T[1] gather(T[9,8], s32[1,2]), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1}",
		} {
			kernelCase{text: replaceType(c, typ)}.check(t)
		}
		for _, c := range []string{
			"T[10,4] scatter(T[10,4], s32[5,1], T[5,4]), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
			"T[10] scatter(T[10], s64[7], T[7]), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
			"T[10] scatter(T[10], s32[7], T[7]), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
			"T[10,6] scatter(T[10,6], s32[3,2], T[3,2,3]), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1",
			"T[30,40] scatter(T[30,40], s16[700,2], T[700]), update_window_dims={}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={1,0}, index_vector_dim=1",
			"T[30,40] scatter(T[30,40], s32[700,2], T[700]), update_window_dims={}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={1,0}, index_vector_dim=1",
			"T[7,8,9,3] scatter(T[7,8,9,3], s32[700,3], T[700,3]), update_window_dims={1}, inserted_window_dims={0,1,2}, scatter_dims_to_operand_dims={0,1,2}, index_vector_dim=1",
			"T[3,4,5,6] scatter(T[3,4,5,6], s32[700,4], T[700]), update_window_dims={}, inserted_window_dims={0,1,2,3}, scatter_dims_to_operand_dims={0,1,2,3}, index_vector_dim=1",
			"T[3,4,5,6] scatter(T[3,4,5,6], u64[700,4], T[700]), update_window_dims={}, inserted_window_dims={0,1,2,3}, scatter_dims_to_operand_dims={0,1,2,3}, index_vector_dim=1",
			"T[10,3] scatter(T[10,3], s32[500], T[500,3]), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
			"T[10,2600] scatter(T[10,2600], s32[50], T[50,2600]), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
			"T[10,20] scatter(T[10,20], s32[500], T[500,20]), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
			"T[6,10] scatter(T[6,10], s32[6,5,1], T[6,5]), update_window_dims={}, inserted_window_dims={1}, input_batching_dims={0}, scatter_indices_batching_dims={0}, scatter_dims_to_operand_dims={1}, index_vector_dim=2",
		} {
			combine := ", to_apply=" + reducer("add")
			switch typ {
			case "pred":
				combine = ", to_apply=" + reducer("or")
			case "bf16", "c64":
				combine = ", to_apply={ a = T[] parameter(0) ROOT b = T[] parameter(1) }"
			}
			kernelCase{text: replaceType(c+combine, typ), small: true}.check(t)
		}
	}
}

// What has no meaning, or no elements to move, is left to the evaluator, which refuses it or gives 0.
func TestGathersThatAreLeftToTheEvaluator(t *testing.T) {
	const batched = "s32[5] gather(s32[5], s32[5,1]), offset_dims={}, start_index_map={0}, collapsed_slice_dims={}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1}"
	nothing := siteOf(t, "s32[5,4] gather(s32[7,4], s32[5,1]), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={0,4}")
	indexed := siteOf(t, batched)
	for name, s := range map[string]*site{"nothing": nothing, "indexed": indexed} {
		_, ok := gather(s)
		assert.False(t, ok, name)
	}
	table := hlo.MakeShape(hlo.S32, 7, 4)
	x, err := hlo.NewLiteral(table, bytes.Repeat([]byte{1}, int(table.ByteSize())))
	require.NoError(t, err)
	at, err := hlo.LiteralOf(hlo.MakeShape(hlo.S32, 5, 1), int32(0), 3, 6, 7, -1)
	require.NoError(t, err)
	got, err := eval.Instruction(t.Context(), nothing.m, nothing.in, []*hlo.Literal{x, at})
	require.NoError(t, err)
	assert.Equal(t, make([]byte, 5*4*4), got.Bytes())

	five, err := hlo.LiteralOf(hlo.MakeShape(hlo.S32, 5), int32(0), 1, 2, 3, 4)
	require.NoError(t, err)
	_, err = eval.Instruction(t.Context(), indexed.m, indexed.in, []*hlo.Literal{five, at})
	assert.ErrorContains(t, err, "batching axis 0 of operand 0, s32[5]{0}, is also left out of the windows or indexed")
}
