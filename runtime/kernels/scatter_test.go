package kernels

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/vec"
	"github.com/gohalo/halo/runtime/workqueue"
)

// TestScatterLines has lines of all lengths that loops treat differently, and updates whose order shows in the result.
func TestScatterLines(t *testing.T) {
	for level := vec.Portable; level <= vec.Best(); level++ {
		restore := vec.Use(level)
		for typ, ops := range map[string][]string{
			"f32": {"add", "multiply", "maximum", "minimum", ""}, "f64": {"add", "multiply", "maximum", "minimum"}, "bf16": {"add", "maximum", ""}, "f16": {"add", "multiply", "maximum", ""},
			"s32": {"add", "multiply", "maximum", "minimum", "xor"}, "u32": {"add", "maximum", "minimum"}, "s64": {"add", "multiply", "maximum", "minimum", ""},
			"u64": {"maximum", "or"}, "s8": {"add", "multiply", "maximum"}, "u8": {"minimum", ""}, "pred": {"or", "and", "add", ""}, "c64": {"add", "multiply", ""}, "c128": {"add", "multiply"},
		} {
			for _, op := range ops {
				for i, n := range []int{1, 2, 3, 7, 8, 15, 16, 17, 31, 64, 67} {
					index := []string{"s32", "s64", "u32", "s16"}[i%4]
					text := fmt.Sprintf("T[9,%d] scatter(T[9,%[1]d], %[2]s[2000,1], T[2000,%[1]d]), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "+
						"index_vector_dim=1, to_apply=%[3]s", n, index, combining(op))
					kernelCase{text: replaceType(text, typ)}.check(t)
				}
			}
		}
		restore()
	}
}

// TestScatterLong has lines that are done one after the other, with all of their updates, and some that share elements with others.
func TestScatterLong(t *testing.T) {
	for typ, ops := range map[string][]string{"f32": {"add", "multiply", ""}, "bf16": {"add"}, "f16": {"add"}, "s64": {"multiply"}, "u8": {""}, "pred": {"or"}} {
		for _, op := range ops {
			for _, c := range []string{
				"T[40,4100] scatter(T[40,4100], s32[300,1], T[300,4100]), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
				"T[5,7,2100] scatter(T[5,7,2100], u16[2,270], T[270,2100]), update_window_dims={1}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={1,0}, index_vector_dim=0",
				"T[3,2,4,1030] scatter(T[3,2,4,1030], s64[9,1], T[9,2,4,1030]), update_window_dims={1,2,3}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
				"T[9,4,1030] scatter(T[9,4,1030], s32[9,2], T[9,2,1030]), update_window_dims={1,2}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1",
				"T[300,1100] scatter(T[300,1100], s32[3,1], T[3,1100]), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
			} {
				kernelCase{text: replaceType(c+", to_apply="+combining(op), typ)}.check(t)
			}
		}
	}
}

// TestScatterElements has many updates for each element: workers may share them.
func TestScatterElements(t *testing.T) {
	for level := vec.Portable; level <= vec.Best(); level++ {
		restore := vec.Use(level)
		for typ, ops := range map[string][]string{
			"f32": {"add", "maximum", "minimum", ""}, "f64": {"maximum", "minimum"}, "s32": {"add", "multiply", "and", "or", "xor"}, "s8": {"minimum", "maximum"}, "pred": {"or", "and"}, "c64": {"add"}, "c128": {"add"},
		} {
			for i, op := range ops {
				index := []string{"s32", "s64", "u64", "u32"}[i%4]
				text := fmt.Sprintf("T[11] scatter(T[11], %s[40000], T[40000]), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "+
					"index_vector_dim=1, to_apply=%s", index, combining(op))
				kernelCase{text: replaceType(text, typ)}.check(t)
				kernelCase{text: replaceType(text, typ), small: true}.check(t)
			}
		}
		restore()
	}
}

// TestScatterOverlapping has lines that share elements with others.
func TestScatterOverlapping(t *testing.T) {
	for _, op := range []string{"add", "maximum", ""} {
		for _, c := range []string{
			"T[40,12] scatter(T[40,12], s32[90,1], T[40,90]), update_window_dims={0}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, index_vector_dim=1",
			"T[6,5,4,7] scatter(T[6,5,4,7], s32[90,2], T[6,4,90]), update_window_dims={0,1}, inserted_window_dims={1,3}, scatter_dims_to_operand_dims={3,1}, index_vector_dim=1",
			"T[40,12] scatter(T[40,12], s32[90,2], T[20,90]), update_window_dims={0}, inserted_window_dims={1}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1",
			"T[12] scatter(T[12], s32[9000,1], T[9000,4]), update_window_dims={1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
			"T[5,12] scatter(T[5,12], s32[9000,2], T[9000,5]), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1",
			"T[5,7,6] scatter(T[5,7,6], s32[9000,2], T[9000,6]), update_window_dims={1}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={1,0}, index_vector_dim=1",
			"T[3,7,6] scatter(T[3,7,6], s32[3,900], T[3,900,6]), update_window_dims={2}, inserted_window_dims={1}, input_batching_dims={0}, scatter_indices_batching_dims={0}, " +
				"scatter_dims_to_operand_dims={1}, index_vector_dim=2",
		} {
			kernelCase{text: replaceType(c+", to_apply="+combining(op), "f32"), small: true}.check(t)
		}
	}
}

// combining is a scatter's computation: an op, or none if the update replaces the element.
func combining(op string) string {
	if op == "" {
		return "{ a = T[] parameter(0) ROOT b = T[] parameter(1) }"
	}
	return reducer(op)
}

func TestScatterAllocatesNothing(t *testing.T) {
	queue := workqueue.NewMulti(workqueue.Config{Workers: 1})
	defer queue.Close()
	for _, text := range []string{
		"f32[64,16] scatter(f32[64,16], s32[4000,1], f32[4000,16]), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=",
		"f32[64] scatter(f32[64], s32[40000], f32[40000]), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=",
		"f32[8,8] scatter(f32[8,8], s32[40000,2], f32[40000]), update_window_dims={}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=",
	} {
		s := siteOf(t, text+replaceType(reducer("maximum"), "f32"))
		bound, ok := chooseFast(s)
		require.True(t, ok)
		var ins []*runtime.Buffer
		for i := range s.b.In {
			b := s.b.In[i].NewBuffer()
			clear(b.Data)
			ins = append(ins, &b)
		}
		out := s.b.Out[0].NewBuffer()
		f := runtime.NewTensorFrame(&runtime.ExecContext{Queue: queue}, ins, []*runtime.Buffer{&out}, runtime.AlignedBytes(bound.Scratch))
		assert.Zero(t, testing.AllocsPerRun(50, func() { _ = bound.Run(f) }), text)
	}
}
