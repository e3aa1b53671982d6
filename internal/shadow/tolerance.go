package shadow

import (
	"math"

	"github.com/gohalo/halo/arrays"
	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/hlo/scalar"
)

// slack is how many times the usual tolerance of a type rewrites may use up: several may follow each other.
const slack = 4

// tolerance is how far elements of an array may differ. Beside the relative part there is an absolute one
// measured by the largest element: where numbers cancel, their rounding errors stay.
func (c Config) tolerance(want *hlo.Literal) (rtol, atol float64) {
	if c.RTol != 0 || c.ATol != 0 || c.Class < pass.Rounding {
		return c.RTol, c.ATol
	}
	rtol = slack * arrays.Tolerance(want.Shape().Type())
	return rtol, max(rtol*largest(want), slack*smallest(want.Shape().Type()))
}

// smallest is the least number above zero: among denormals every rounding may be off by it, whatever the relative tolerance.
func smallest(t hlo.PrimitiveType) float64 {
	if t.IsComplex() {
		t = t.ComponentType()
	}
	if !t.IsFloat() {
		return 0
	}
	x, _ := scalar.Float(scalar.FromBits(t, 1))
	return x
}

// largest is the greatest absolute value of a finite element.
func largest(l *hlo.Literal) (most float64) {
	zero, err := hlo.NewLiteral(l.Shape(), make([]byte, len(l.Bytes())))
	if err != nil {
		return 0
	}
	// Everything is right at this tolerance, and the greatest difference to zero is the greatest element.
	return arrays.Compare(l, zero, 0, math.MaxFloat64).MaxAbs
}
