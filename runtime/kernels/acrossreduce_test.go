package kernels

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/runtime/kernels/vec"
)

// TestAcrossReductions folds what is computed of all pairs of elements of two arrays, from an initial value that counts.
func TestAcrossReductions(t *testing.T) {
	const pairs = "%[1]s[%[2]s] fusion(%[3]s[%[2]s], %[3]s[%[4]d], %[1]s[]), kind=kInput, calls={ x = %[3]s[%[2]s] parameter(0) y = %[3]s[%[4]d] parameter(1) " +
		"i = %[1]s[] parameter(2) a = %[3]s[%[2]s,%[4]d] broadcast(x), dimensions={%[5]s} b = %[3]s[%[2]s,%[4]d] broadcast(y), dimensions={%[6]d} %[7]s " +
		"ROOT r = %[1]s[%[2]s] reduce(v, i), dimensions={%[6]d}, to_apply=%[8]s }"
	for _, level := range levels() {
		restore := vec.Use(level)
		for _, c := range []struct{ out, in, compute, fold string }{
			{"pred", "s32", "v = pred[D] compare(a, b), direction=EQ", "or"},
			{"pred", "f32", "v = pred[D] compare(a, b), direction=LT", "and"},
			{"pred", "u8", "v = pred[D] compare(a, b), direction=GE", "or"},
			{"f32", "f32", "d = f32[D] subtract(a, b) v = f32[D] abs(d)", "minimum"},
			{"f32", "f32", "v = f32[D] multiply(a, b)", "add"},
			{"f64", "f64", "v = f64[D] subtract(a, b)", "maximum"},
			{"s32", "f32", "c = pred[D] compare(a, b), direction=GT v = s32[D] convert(c)", "add"},
		} {
			for _, shape := range []struct {
				dims, kept string
				last       int
			}{{"700", "0", 1}, {"2,300", "0,1", 2}} {
				const folded = 260
				compute := strings.ReplaceAll(c.compute, "[D]", fmt.Sprintf("[%s,%d]", shape.dims, folded))
				text := fmt.Sprintf(pairs, c.out, shape.dims, c.in, folded, shape.kept, shape.last, compute, replaceType(reducer(c.fold), c.out))
				k := kernelCase{text: text, tol: 1e-4}
				k.check(t)
				bound, ok := fusedAcross(siteOf(t, text))
				require.True(t, ok && bound.Run != nil, text)
			}
		}
		restore()
	}
}

// TestAcrossRowsInFront folds rows that lie one behind the other, in one unit and in several, where columns are no whole number of chains.
func TestAcrossRowsInFront(t *testing.T) {
	const rows = "T[%[1]s] fusion(T[%[2]s], T[%[3]s], T[]), kind=kInput, calls={ x = T[%[2]s] parameter(0) y = T[%[3]s] parameter(1) i = T[] parameter(2) " +
		"b = T[%[2]s] broadcast(y), dimensions={%[4]s} v = T[%[2]s] multiply(x, b) ROOT r = T[%[1]s] reduce(v, i), dimensions={%[5]d}, to_apply=%[6]s }"
	for _, level := range levels() {
		restore := vec.Use(level)
		for typ, folds := range map[string][]string{"f32": {"add", "maximum"}, "f64": {"add", "minimum"}, "s32": {"add"}} {
			for _, fold := range folds {
				for _, c := range []struct {
					out, in, each, along string
					axis                 int
					serves               bool
				}{
					{"64", "64,64", "64", "0", 0, true},
					{"70", "600,70", "600", "0", 0, true},
					{"70", "600,70", "70", "1", 0, true},
					{"1100", "20,1100", "20", "0", 0, true},
					{"3,100", "3,30,100", "3,30", "0,1", 1, true},
					{"12,300", "12,300,300", "300", "1", 1, true},
					{"64", "2000,64", "64", "1", 0, false}, // its rows are divided
					{"20", "600,20", "600", "0", 0, false},
				} {
					text := replaceType(fmt.Sprintf(rows, c.out, c.in, c.each, c.along, c.axis, reducer(fold)), typ)
					kernelCase{text: text, tol: 1e-4}.check(t)
					_, ok := fusedAcross(siteOf(t, text))
					require.Equal(t, c.serves, ok, text)
				}
			}
		}
		restore()
	}
}
