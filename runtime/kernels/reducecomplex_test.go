package kernels

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestComplexReductions compares sums and products with the evaluator: along rows of one number and of many, of several parts, and behind initial values.
func TestComplexReductions(t *testing.T) {
	for _, of := range [][2]string{{"c64", "add"}, {"c128", "add"}, {"c64", "multiply"}, {"c128", "multiply"}} {
		typ, op := of[0], of[1]
		tol := map[string]float64{"c64": 1e-4, "c128": 1e-12}[typ]
		for _, n := range []int{1, 2, 3, 7, 16, 63, 64, 65, 1000} {
			kernelCase{text: replaceType(fmt.Sprintf("T[9] reduce(T[9,%d], T[]), dimensions={1}, to_apply=%s", n, reducer(op)), typ), tol: tol, small: op == "add", unit: op == "multiply"}.check(t)
		}
		for _, text := range []string{"T[] reduce(T[3,20000], T[]), dimensions={0,1}, to_apply=", "T[2] reduce(T[2,40001], T[]), dimensions={1}, to_apply=", "T[] reduce(T[], T[]), dimensions={}, to_apply=",
			"T[9,4] reduce(T[9,5,4], T[]), dimensions={1}, to_apply="} {
			kernelCase{text: replaceType(text+reducer(op), typ), tol: tol, small: op == "add", unit: op == "multiply"}.check(t)
		}
		// Behind a constant, rows are added up whatever lies behind them.
		for _, shape := range [][3]string{{"7", "3,7", "0"}, {"8", "5000,8", "0"}, {"6,3", "6,40,3", "1"}, {"2,1100", "2,70,1100", "1"}, {"3", "9,3,20", "0,2"}} {
			for _, first := range []string{"(0, 0)", "(2, 2)", "(1, 2)"} {
				text := strings.NewReplacer("[R]", "["+shape[0]+"]", "[S]", "["+shape[1]+"]", "{D}", "{"+shape[2]+"}", "(I)", "("+first+")").Replace(
					"T[R] fusion(T[S]), kind=kInput, calls={ x = T[S] parameter(0) i = T[] constant(I) ROOT r = T[R] reduce(x, i), dimensions={D}, to_apply=") + reducer(op) + " }"
				kernelCase{text: replaceType(text, typ), tol: tol, small: op == "add", unit: op == "multiply"}.check(t)
			}
		}
		s := siteOf(t, replaceType("T[9] reduce(T[9,100], T[]), dimensions={1}, to_apply="+reducer(op), typ))
		_, ok := reduce(s)
		require.True(t, ok, typ)
	}
}

// BenchmarkComplexSums adds up rows, and all.
func BenchmarkComplexSums(b *testing.B) {
	for _, text := range []string{"T[512] reduce(T[512,1024], T[]), dimensions={1}, to_apply=", "T[] reduce(T[512,1024], T[]), dimensions={0,1}, to_apply="} {
		for _, typ := range []string{"c64", "c128"} {
			b.Run(typ, func(b *testing.B) { benchmarkSite(b, replaceType(text+reducer("add"), typ)) })
		}
	}
}
