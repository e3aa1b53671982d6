package kernels

import (
	"fmt"
	"strings"
	"testing"
)

// reducer is the text of a computation of one op.
func reducer(op string) string {
	return fmt.Sprintf("{ a = T[] parameter(0) b = T[] parameter(1) ROOT c = T[] %s(a, b) }", op)
}

func TestReduce(t *testing.T) {
	shapes := []string{
		"T[4] reduce(T[4,5], T[]), dimensions={1}", "T[5] reduce(T[4,5], T[]), dimensions={0}", "T[] reduce(T[4,5], T[]), dimensions={0,1}",
		"T[] reduce(T[], T[]), dimensions={}", "T[3] reduce(T[3,0], T[]), dimensions={1}", "T[4,6] reduce(T[4,5,6], T[]), dimensions={1}",
		"T[5] reduce(T[4,5,6], T[]), dimensions={0,2}", "T[4,6] reduce(T[4,3,6,2], T[]), dimensions={1,3}", "T[] reduce(T[100000], T[]), dimensions={0}",
		"T[3] reduce(T[30000,3], T[]), dimensions={0}", "T[2] reduce(T[300,2,300], T[]), dimensions={0,2}", "T[2,1500] reduce(T[2,300,1500], T[]), dimensions={1}",
		"T[200] reduce(T[200,1000], T[]), dimensions={1}", "T[4,1] reduce(T[4,1,1], T[]), dimensions={2}",
	}
	for typ, ops := range map[string]string{
		"f32": "add maximum minimum", "f64": "add maximum", "bf16": "add maximum", "f16": "add", "s32": "add multiply maximum minimum and or xor",
		"u8": "add maximum and", "pred": "and or add xor maximum", "s64": "minimum add", "u32": "maximum",
	} {
		for _, op := range strings.Fields(ops) {
			for _, s := range shapes {
				kernelCase{text: replaceType(s+", to_apply="+reducer(op), typ), small: true, tol: 1e-2}.check(t)
			}
		}
	}
}
