package kernels

import (
	"fmt"
	"testing"
)

// TestRepeatedIota holds copies of an iota to the evaluator: as many as one block takes, more, and a last block that is not full.
func TestRepeatedIota(t *testing.T) {
	for _, typ := range []string{"s8", "u16", "s32", "f32", "bf16", "f64"} {
		for _, c := range []struct {
			dims string
			axis int
		}{{"32,12,12", 1}, {"600,1", 1}, {"5,100,3", 1}, {"7001,3", 1}, {"70001,5,2", 1}, {"3,9,40,7,11", 3}, {"30,40", 0}} {
			kernelCase{text: fmt.Sprintf("%s[%s] iota(), iota_dimension=%d", typ, c.dims, c.axis)}.check(t)
		}
	}
}
