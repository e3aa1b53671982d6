package elementary

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTrigonometryOfLargeNumbers(t *testing.T) {
	for _, c := range []struct{ x, sin, cos float64 }{
		{1e22, -0.8522008497671888, 0.5232147853951389},
		{math.Pi, 1.2246467991473532e-16, -1},
		{22, -0.008851309290403876, -0.9999608263946371},
		{710, 6.0288706691585265e-05, 0.999999998182636},
		{math.Inf(1), math.NaN(), math.NaN()},
	} {
		if math.IsNaN(c.sin) {
			assert.True(t, math.IsNaN(Sin(c.x)) && math.IsNaN(Cos(c.x)))
			continue
		}
		assert.InEpsilon(t, c.sin, Sin(c.x), 1e-15)
		assert.InEpsilon(t, c.cos, Cos(c.x), 1e-15)
		assert.InEpsilon(t, c.sin/c.cos, Tan(c.x), 1e-15)
	}
}

// TestAtan2 is math.Atan2, and keeps the sign of points next to the negative axis.
func TestAtan2(t *testing.T) {
	for _, y := range []float64{0, math.Copysign(0, -1), 1, -1, 1e-30, -1e-30, 5e-324, math.Inf(1), math.Inf(-1), math.NaN()} {
		for _, x := range []float64{0, math.Copysign(0, -1), 1, -1, math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()} {
			want, got := math.Atan2(y, x), Atan2(y, x)
			if want != got && !(want != want && got != got) && !(y < 0 && want == math.Pi && got == -math.Pi) || math.Signbit(got) != math.Signbit(y) && got == got {
				t.Errorf("angle of (%v, %v) is %v, not %v", x, y, got, want)
			}
		}
	}
}
