package kernels

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gohalo/halo/hlo"
)

func TestRaggedDot(t *testing.T) {
	const free = "lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}"
	for _, typ := range []string{"f32", "f64", "bf16", "s32"} {
		for _, c := range []string{
			"T[70,9] ragged-dot(T[70,20], T[5,20,9], SIZES), " + free,
			"T[3,2] ragged-dot(T[3,500], T[5,500,2], SIZES), " + free,
			"T[70,9] ragged-dot(T[20,70], T[9,5,20], SIZES), lhs_contracting_dims={0}, rhs_contracting_dims={2}, lhs_ragged_dims={1}, rhs_group_dims={1}",
			"T[2,70,9] ragged-dot(T[2,70,20], T[5,2,20,9], SIZES), lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={2}, lhs_ragged_dims={1}, rhs_group_dims={0}",
			"T[5,20,9] ragged-dot(T[20,70], T[70,9], SIZES), lhs_contracting_dims={1}, rhs_contracting_dims={0}, lhs_ragged_dims={1}",
			"T[5,2,20,9] ragged-dot(T[2,20,70], T[2,70,9], SIZES), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}, lhs_ragged_dims={2}",
		} {
			for _, sizes := range []string{"s32[5]", "s64[5]"} {
				kernelCase{text: replaceType(strings.ReplaceAll(c, "SIZES", sizes), typ), small: true}.check(t)
			}
		}
	}
}

func TestGroupEnds(t *testing.T) {
	for sizes, want := range map[[4]int8]string{
		{3, 0, 2, 9}: "[3 3 5 10]", {20, 1, 1, 1}: "[10 10 10 10]", {-5, 7, -1, 3}: "[0 2 2 4]", {0, 0, 0, 0}: "[0 0 0 0]",
	} {
		ends, b := make([]int, 4), make([]byte, 4)
		for i, x := range sizes {
			b[i] = byte(x)
		}
		groupEnds(ends, b, hlo.S8, 10)
		if got := fmt.Sprint(ends); got != want {
			t.Errorf("ends of %v are %s, want %s", sizes, got, want)
		}
	}
}
