package tile

import (
	"flag"
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
)

var stride = flag.Uint64("stride", 4999, "try every stride-th float32; 1 for all, which takes minutes")

// TestPortableFunctions32 holds the portable loops of f32 that do not call package math to their bounds in units of the last place. Around worst,
// where a run with -stride 1 found the largest error, every number is tried.
func TestPortableFunctions32(t *testing.T) {
	for _, f := range []struct {
		op    hlo.Opcode
		want  func(float64) float64
		ulp   float64
		worst float32
	}{
		{hlo.OpExponential, math.Exp, 0.6, 1},
		{hlo.OpExponentialMinusOne, math.Expm1, 1.77, 0x1.0e7eaep+00}, // what XLA's is off by
		{hlo.OpTanh, math.Tanh, 0.8, 1},
		{hlo.OpLogistic, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, 0.6, 1},
	} {
		t.Run(f.op.String(), func(t *testing.T) {
			x, y := make([]float32, 1<<16), make([]float32, 1<<16)
			worst, at := 0.0, float32(0)
			try := func() {
				floatUnary32[f.op].fn(len(x), unsafe.Pointer(&y[0]), unsafe.Pointer(&x[0]), nil, nil)
				for i, got := range y {
					want := f.want(float64(x[i]))
					if float32(want) == got || want != want && got != got {
						continue
					}
					_, e := math.Frexp(want)
					if d := math.Abs(float64(got)-want) / math.Ldexp(1, max(e, -125)-24); !(d <= worst) {
						worst, at = d, x[i]
					}
				}
			}
			for i := range x {
				x[i] = math.Float32frombits(math.Float32bits(f.worst) + uint32(i-len(x)/2))
			}
			try()
			for first := uint64(0); first < 1<<32; first += *stride << 16 {
				for i := range x {
					x[i] = math.Float32frombits(uint32(first + uint64(i)**stride))
				}
				copy(x, []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), -1, 1, 0.125, -0.125, math.MaxFloat32})
				try()
			}
			t.Logf("%.3f units at %v", worst, at)
			require.LessOrEqual(t, worst, f.ulp, "at %v", at)
		})
	}
}
