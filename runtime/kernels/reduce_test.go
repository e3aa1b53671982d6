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
				if strings.HasSuffix(typ, "16") && op == "add" && strings.Contains(s, "00") {
					continue // the evaluator rounds every sum to the narrow type
				}
				kernelCase{text: replaceType(s+", to_apply="+reducer(op), typ), small: true, tol: 1e-2}.check(t)
			}
		}
	}
}

// argmax is JAX's reducer: the greater value, NaN above all, and of equals the one with the lower index.
const argmax = `{ a = T[] parameter(0) i = s32[] parameter(1) b = T[] parameter(2) j = s32[] parameter(3)
 gt = pred[] compare(a, b), direction=GT
 ne = pred[] compare(a, a), direction=NE
 keep = pred[] or(gt, ne)
 eq = pred[] compare(a, b), direction=EQ
 lt = pred[] compare(i, j), direction=LT
 tie = pred[] and(eq, lt)
 first = pred[] or(keep, tie)
 v = T[] select(keep, a, b)
 n = s32[] select(first, i, j)
 ROOT r = (T[], s32[]) tuple(v, n) }`

func TestReduceLanes(t *testing.T) {
	for _, typ := range []string{"f32", "s32", "bf16"} {
		for _, s := range []string{
			"(T[6], s32[6]) reduce(T[4,6], s32[4,6], T[], s32[]), dimensions={0}", "(T[4], s32[4]) reduce(T[4,6], s32[4,6], T[], s32[]), dimensions={1}",
			"(T[], s32[]) reduce(T[7003], s32[7003], T[], s32[]), dimensions={0}", "(T[3], s32[3]) reduce(T[3,100], s32[3,100], T[], s32[]), dimensions={1}",
			"(T[300], s32[300]) reduce(T[300,9], s32[300,9], T[], s32[]), dimensions={1}", "(T[2,700], s32[2,700]) reduce(T[2,30,700], s32[2,30,700], T[], s32[]), dimensions={1}",
			"(T[5], s32[5]) reduce(T[4,5,6], s32[4,5,6], T[], s32[]), dimensions={0,2}",
		} {
			c := strings.ReplaceAll(s+", to_apply="+argmax, "(T[", "( T[")
			kernelCase{text: strings.ReplaceAll(c, "T[", typ+"["), small: true}.check(t)
		}
	}
	kernelCase{text: "f32[5] reduce(f32[900,5], f32[]), dimensions={0}, to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) " +
		"p = f32[] multiply(a, b) q = f32[] add(p, a) ROOT r = f32[] add(q, b) }", small: true, tol: 1e-3}.check(t)
}
