package tile

import (
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	vectors "github.com/gohalo/halo/runtime/kernels/vec"
)

// smith divides one number in the plain way.
func smith(z, w [2]float64) [2]float64 {
	a, b, c, d := z[0], z[1], w[0], w[1]
	var re, im float64
	if math.Abs(c) < math.Abs(d) {
		r := c / d
		t := d + float64(c*r)
		re, im = (float64(a*r)+b)/t, (float64(b*r)-a)/t
	} else {
		r := d / c
		t := c + float64(d*r)
		re, im = (a+float64(b*r))/t, (b-float64(a*r))/t
	}
	if re != re && im != im {
		re, im = recoverQuotient128(re, im, z, w)
	}
	return [2]float64{re, im}
}

// TestWholeComplex holds the loops over numbers of two f64 to what is done to one number, for all numbers and all pairs of such parts.
func TestWholeComplex(t *testing.T) {
	parts := []float64{0, math.Copysign(0, -1), 1, -2.5, 0.7, 5e-324, -1e-308, 1.7e308, math.Inf(1), math.Inf(-1), math.NaN()}
	var x, y [][2]float64
	for _, a := range parts {
		for _, b := range parts {
			for _, c := range parts {
				for _, d := range parts {
					x, y = append(x, [2]float64{a, b}), append(y, [2]float64{c, d})
				}
			}
		}
	}
	same := func(want, got float64) bool {
		return math.Float64bits(want) == math.Float64bits(got) || want != want && got != got
	}
	n := len(x)
	at := func(v [][2]float64) unsafe.Pointer { return unsafe.Pointer(&v[0]) }
	for level := vectors.Portable; level <= vectors.Best(); level++ {
		t.Run(level.String(), func(t *testing.T) {
			defer vectors.Use(level)()
			quotients, joined := make([][2]float64, n), make([][2]float64, n)
			re, im, lengths := make([]float64, n), make([]float64, n), make([]float64, n)
			quotient128()(n, at(quotients), at(x), at(y), nil)
			partOf(0)(n, unsafe.Pointer(&re[0]), at(x), nil, nil)
			partOf(1)(n, unsafe.Pointer(&im[0]), at(x), nil, nil)
			joinParts()(n, at(joined), unsafe.Pointer(&im[0]), unsafe.Pointer(&re[0]), nil)
			magnitude128()(n, unsafe.Pointer(&lengths[0]), at(x), nil, nil)
			for i, z := range x {
				want := smith(z, y[i])
				require.True(t, same(want[0], quotients[i][0]) && same(want[1], quotients[i][1]), "%v / %v: %v, want %v", z, y[i], quotients[i], want)
				require.True(t, same(z[0], re[i]) && same(z[1], im[i]) && same(z[1], joined[i][0]) && same(z[0], joined[i][1]), "%v", z)
				require.True(t, same(modulus(z), lengths[i]), "|%v|: %v", z, lengths[i])
			}
		})
	}
}
