package kernels

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSmallReductions folds few elements by calls, alone, of what is computed on the way, and as a part of a sequence; check holds the calls against the kernel.
func TestSmallReductions(t *testing.T) {
	for _, text := range []string{
		"T[5] reduce(T[5,7], T[]), dimensions={1}, to_apply=F",
		"T[5] reduce(T[5,40], T[]), dimensions={1}, to_apply=F",
		"T[7] reduce(T[5,7], T[]), dimensions={0}, to_apply=F",
		"T[3,24] reduce(T[3,6,24], T[]), dimensions={1}, to_apply=F",
		"T[5] fusion(T[5,20]), kind=kInput, calls={ x = T[5,20] parameter(0) i = T[] constant(1) y = T[5,20] multiply(x, x) ROOT r = T[5] reduce(y, i), dimensions={1}, to_apply=F }",
		"T[24] fusion(T[17,24], T[]), kind=kInput, calls={ x = T[17,24] parameter(0) i = T[] parameter(1) y = T[17,24] multiply(x, x) ROOT r = T[24] reduce(y, i), dimensions={0}, to_apply=F }",
		"T[5] fusion(T[5,17], T[]), kind=kInput, calls={ x = T[5,17] parameter(0) i = T[] parameter(1) y = T[5,17] multiply(x, x) r = T[5] reduce(y, i), dimensions={1}, to_apply=F ROOT s = T[5] negate(r) }",
	} {
		for typ, op := range map[string]string{"f32": "add", "f64": "maximum", "s32": "add", "u8": "or"} {
			c := kernelCase{text: replaceType(replaceReducer(text, op), typ), small: true, tol: 1e-6}
			c.check(t)
			bound, _ := chooseFast(siteOf(t, c.text))
			require.NotNil(t, bound.Small, c.text)
		}
	}
}

func replaceReducer(text, op string) string {
	return strings.ReplaceAll(text, "to_apply=F", "to_apply="+reducer(op))
}
