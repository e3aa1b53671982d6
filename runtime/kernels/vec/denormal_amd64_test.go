package vec

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gohalo/halo/internal/floatflags"
)

// TestFunctionsAvoidDenormals wants that functions whose results, or arguments, are often denormal do no arithmetic on denormals, nor round numbers to them. Comparisons of
// denormals, which cost nothing, are told from arithmetic on them by nothing that a processor keeps.
func TestFunctionsAvoidDenormals(t *testing.T) {
	powers := []float64{-10, -87.3, -87.34, -90, -95, -100, -103, -104, -105, -150, -1e30, -707, -708.3, -708.5, -720, -740, -746, -800, math.Inf(-1)}
	small := []float64{0, 1, 1e-8, 1e-9, 1e-12, 1e-15, 1e-25, 1e-35, 1e-39, 1e-44, 1e-160, 1e-300}
	smallest := append(slices.Clone(small), 1e-310, 5e-324)
	cases := []struct {
		op string
		at []float64
	}{
		{"exponential", powers}, {"logistic", append([]float64{80, 90, 100, 120}, powers...)}, {"exponential-minus-one", append(slices.Clone(small), powers...)},
		{"log", smallest}, {"log-plus-one", smallest},
	}
	eachLevel(t, func(t *testing.T) {
		for _, c := range cases {
			for _, v := range c.at {
				x, y := repeated(float32(v)), repeated[float32](0)
				check := func(typ string, compared bool, met uint32) {
					if compared {
						met &^= floatflags.Denormal
					}
					assert.Zero(t, met&(floatflags.Denormal|floatflags.Underflow), "%s of %s %v", c.op, typ, v)
				}
				f := Find(named(c.op+".f32"), nil)
				check("f32", math.Abs(v) < 0x1p-126, floatflags.Of(func() { f(len(x), pointer(y), pointer(x), nil, nil) }))
				if c.op == "logistic" { // of f64 it is a quotient
					continue
				}
				x64, y64 := repeated(v), repeated[float64](0)
				f = Find(named(c.op+".f64"), nil)
				check("f64", math.Abs(v) < 0x1p-1022, floatflags.Of(func() { f(len(x64), pointer(y64), pointer(x64), nil, nil) }))
			}
		}
	})
}

// repeated is a vector of x.
func repeated[T any](x T) []T {
	r := make([]T, 16)
	for i := range r {
		r[i] = x
	}
	return r
}
