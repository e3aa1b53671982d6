package kernels

import (
	"strings"
	"testing"
)

func TestSort(t *testing.T) {
	plain := ", to_apply={ a = T[] parameter(0) b = T[] parameter(1) ROOT r = pred[] compare(a, b), direction="
	pairs := ", to_apply={ a = T[] parameter(0) b = T[] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3) "
	for _, typ := range []string{"f32", "bf16", "s32", "u8", "f64", "s64", "u16", "u32", "u64"} {
		order := ""
		if strings.Contains(typ, "f") {
			order = ", type=TOTALORDER"
		}
		for _, c := range []string{
			"T[9] sort(T[9]), dimensions={0}" + plain + "LT" + order + " }",
			"T[1000] sort(T[1000]), dimensions={0}" + plain + "GT" + order + " }",
			"T[1000] sort(T[1000]), dimensions={0}, is_stable=true" + plain + "LT }",
			"T[3000,2] sort(T[3000,2]), dimensions={0}" + plain + "LT" + order + " }",
			"T[7,300] sort(T[7,300]), dimensions={0}" + plain + "LT" + order + " }",
			"T[7,300,2] sort(T[7,300,2]), dimensions={1}" + plain + "GT" + order + " }",
			"( T[600], s32[600]) sort( T[600], s32[600]), dimensions={0}, is_stable=true" + pairs + "ROOT r = pred[] compare(a, b), direction=LT" + order + " }",
			"( T[600], s32[600]) sort( T[600], s32[600]), dimensions={0}" + pairs + "x = T[] negate(a) y = T[] negate(b) ROOT r = pred[] compare(y, x), direction=GT" + order + " }",
			"( T[600], s32[600]) sort( T[600], s32[600]), dimensions={0}" + pairs + "l = pred[] compare(a, b), direction=LT e = pred[] compare(a, b), direction=EQ " +
				"k = pred[] compare(i, j), direction=LT m = pred[] and(e, k) ROOT r = pred[] or(l, m) }",
		} {
			kernelCase{text: replaceType(c, typ), small: true}.check(t)
			if strings.Contains(c, "TOTALORDER") || !strings.Contains(typ, "f") { // without a total order NaNs are anywhere
				kernelCase{text: replaceType(c, typ)}.check(t)
			}
		}
	}
}

// TestSortBySignedBits has the total order of floats as XLA writes it once it has expanded it.
func TestSortBySignedBits(t *testing.T) {
	for _, typ := range [][3]string{{"f32", "s32", "2147483647"}, {"f64", "s64", "9223372036854775807"}, {"bf16", "s16", "32767"}, {"f16", "s16", "32767"}} {
		text := "T[7,300] sort(T[7,300]), dimensions={1}, to_apply={ x = T[] parameter(0) y = T[] parameter(1) " +
			signedBits("x", "l", typ[2]) + signedBits("y", "r", typ[2]) + "ROOT less = pred[] compare(l, r), direction=LT }"
		kernelCase{text: strings.NewReplacer("T[", typ[0]+"[", "I[", typ[1]+"[").Replace(text)}.check(t)
	}
}

// signedBits is text that makes k of x: an integer that is ordered as the float, which is one of two compared.
func signedBits(x, k, ones string) string {
	return strings.NewReplacer("X", x, "K", k, "ONES", ones).Replace(
		"bK = I[] bitcast-convert(X) zK = I[] constant(0) oK = I[] constant(ONES) nK = pred[] compare(bK, zK), direction=LT mK = I[] xor(oK, bK) K = I[] select(nK, mK, bK) ")
}
