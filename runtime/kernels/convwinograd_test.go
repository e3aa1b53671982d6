package kernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/winograd"
)

// winogradCases have odd sizes, margins of all kinds, features that fill no panel, several steps of them, and orders of axes.
var winogradCases = []string{
	"T[1,40,40,48] convolution(T[1,40,40,48], T[3,3,48,48]), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
	"T[2,25,37,72] convolution(T[2,27,35,40], T[3,3,72,40]), window={size=3x3 pad=0_0x2_2 rhs_reversal=1x0}, dim_labels=b01f_01oi->b01f",
	"T[3,64,19,21] convolution(T[3,32,19,21], T[64,32,3,3]), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01",
	"T[4,19,21,136] convolution(T[4,21,21,264], T[3,3,264,136]), window={size=3x3 pad=0_0x1_1}, dim_labels=b01f_01io->b01f",
	"T[33,20,3,64] convolution(T[28,30,3,32], T[3,3,32,64]), window={size=3x3 pad=2_5x-3_-5}, dim_labels=01bf_01io->01bf",
	"T[64,48,2,40] convolution(T[40,60,40,2], T[3,3,40,64]), window={size=3x3 pad=1_1x-4_-6}, dim_labels=f01b_01io->f0b1",
}

// gradientCases are gradients of weights, of the same kinds.
var gradientCases = []string{
	"T[3,3,32,32] convolution(T[4,28,28,32], T[4,28,28,32]), window={size=28x28 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf",
	"T[3,3,72,136] convolution(T[2,21,23,72], T[2,19,21,136]), window={size=19x21}, dim_labels=f01b_i01o->01bf",
	"T[40,72,3,3] convolution(T[3,40,27,31], T[3,72,27,31]), window={size=27x31 pad=1_1x1_1}, dim_labels=fb01_io01->bf01",
	"T[64,3,3,40] convolution(T[20,1,60,40], T[21,60,1,64]), window={size=21x60 pad=1_2x3_-1}, dim_labels=0f1b_01io->f01b",
}

// winogradSite is a case, as f32, with both kernels. It skips the test where there is no other kernel than the direct one.
func winogradSite(t *testing.T, text string) (s *site, fast, direct runtime.Bound) {
	t.Helper()
	if !winograd.Has() {
		t.Skip("this processor has no loops for combinations")
	}
	s = siteOf(t, replaceType(text, "f32"))
	fast, ok := winogradAs(s)
	if !ok {
		fast, ok = winogradGradientAs(s)
	}
	require.True(t, ok, text)
	direct, ok = convolutionAs[float32](s, hlo.F32)
	require.True(t, ok, text)
	return s, fast, direct
}

func TestWinograd(t *testing.T) {
	for _, text := range slices.Concat(winogradCases, gradientCases) {
		winogradSite(t, text)
		kernelCase{text: replaceType(text, "f32"), small: true}.check(t)
	}
	kernelCase{text: replaceType(winogradCases[0], "bf16"), small: true}.check(t)
}

// randomArgs are operands of a site, uniform between -1/2 and 1/2, or between 0 and 1.
func randomArgs(t *testing.T, s *site, seed uint64) (args []*hlo.Literal, data [][]float32) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range s.in.NumOperands() {
		shape := s.in.OperandInstr(i).Shape()
		b := runtime.AlignedBytes(shape.ByteSize())
		values := elems[float32](b)
		for k := range values {
			values[k] = rng.Float32() - 0.5*float32(i)
		}
		l, err := hlo.NewLiteral(shape, b)
		require.NoError(t, err)
		args, data = append(args, l), append(data, values)
	}
	return args, data
}

func result(t *testing.T, s *site, b runtime.Bound, args []*hlo.Literal) []float32 {
	return elems[float32](run(t, s, b, args, 2)[0].Data)
}

// TestWinogradErrors holds the errors to those of the direct convolution, whose sums have more numbers: in the mean of squares they are no larger.
func TestWinogradErrors(t *testing.T) {
	for _, text := range slices.Concat(winogradCases, gradientCases) {
		s, fast, direct := winogradSite(t, text)
		args, data := randomArgs(t, s, 1)
		wide := siteOf(t, replaceType(text, "f64"))
		exact, ok := convolutionAs[float64](wide, hlo.F64)
		require.True(t, ok)
		var wideArgs []*hlo.Literal
		for i, values := range data {
			shape := wide.in.OperandInstr(i).Shape()
			b := runtime.AlignedBytes(shape.ByteSize())
			for k, x := range values {
				elems[float64](b)[k] = float64(x)
			}
			l, err := hlo.NewLiteral(shape, b)
			require.NoError(t, err)
			wideArgs = append(wideArgs, l)
		}
		want := elems[float64](run(t, wide, exact, wideArgs, 2)[0].Data)
		off := func(got []float32) float64 {
			sum := 0.0
			for i, x := range got {
				sum += (float64(x) - want[i]) * (float64(x) - want[i])
			}
			return math.Sqrt(sum / float64(len(want)))
		}
		require.LessOrEqual(t, off(result(t, s, fast, args)), off(result(t, s, direct, args)), text)
	}
}

// TestWinogradGradientLeavesNumbers has them in a gradient, whose numbers are compared as a whole. A large gradient of the result is one in each weight.
func TestWinogradGradientLeavesNumbers(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		operand int
		value   float32
		direct  bool
	}{{0, 7, false}, {0, 1e6, true}, {0, -1e6, true}, {0, inf, true}, {0, nan, true}, {0, 2e38, true}, {1, 7, false}, {1, 1e6, false}, {1, inf, true}, {1, nan, true}, {1, 2e38, true}} {
		for _, text := range gradientCases {
			s, fast, direct := winogradSite(t, text)
			args, data := randomArgs(t, s, 3)
			data[c.operand][len(data[c.operand])/2+12345] = c.value
			require.Equal(t, c.direct, sameBits(result(t, s, fast, args), result(t, s, direct, args)), "%s with %v in operand %d", text, c.value, c.operand)
		}
	}
}

func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

// TestWinogradLeavesNumbers has numbers that combinations would lose, or spread: then the result is that of the direct convolution, bit by bit.
func TestWinogradLeavesNumbers(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		operand int
		value   float32
		direct  bool
	}{
		{0, 7, false}, {0, 1000, true}, {0, -1000, true}, {0, inf, true}, {0, -inf, true}, {0, float32(math.NaN()), true}, {0, 1e37, true},
		{1, 1000, false}, {1, inf, true}, {1, float32(math.NaN()), true}, {1, -3e38, true},
	} {
		for i, text := range winogradCases {
			s, fast, direct := winogradSite(t, text)
			args, data := randomArgs(t, s, 2)
			values := data[c.operand]
			if c.operand == 0 { // somewhere that windows see
				values[len(values)/2+i*12345%777] = c.value
			} else {
				values[len(values)-1-i] = c.value
			}
			equal := sameBits(result(t, s, fast, args), result(t, s, direct, args))
			require.Equal(t, c.direct, equal, "%s with %v in operand %d", text, c.value, c.operand)
		}
	}
}

// TestWinogradOnlyWhereItPays has convolutions that have few patches for their filters, few features, or other windows.
func TestWinogradOnlyWhereItPays(t *testing.T) {
	for _, text := range []string{
		"T[1,7,7,512] convolution(T[1,7,7,512], T[3,3,512,512]), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
		"T[1,128,128,16] convolution(T[1,128,128,3], T[3,3,3,16]), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
		"T[1,8,8,32] convolution(T[1,8,8,32], T[3,3,32,32]), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
		"T[1,28,28,64] convolution(T[1,56,56,64], T[3,3,64,64]), window={size=3x3 stride=2x2 pad=0_1x0_1}, dim_labels=b01f_01io->b01f",
		"T[1,56,56,64] convolution(T[1,56,56,64], T[3,3,64,64]), window={size=3x3 pad=2_2x2_2 rhs_dilate=2x2}, dim_labels=b01f_01io->b01f",
		"T[1,56,56,64] convolution(T[1,56,56,128], T[3,3,64,64]), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=2",
		"T[1,54,54,64] convolution(T[1,56,56,64], T[5,5,64,64]), window={size=5x5 pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
		"T[3,3,64,64] convolution(T[1,14,14,64], T[1,14,14,64]), window={size=14x14 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf",
		"T[3,3,512,512] convolution(T[1,7,7,512], T[1,7,7,512]), window={size=7x7 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf",
		"T[3,3,64,64] convolution(T[8,28,28,64], T[8,14,14,64]), window={size=14x14 pad=0_0x0_0 rhs_dilate=2x2}, dim_labels=f01b_i01o->01bf",
	} {
		s := siteOf(t, replaceType(text, "f32"))
		_, ok := winogradAs(s)
		_, isGradient := winogradGradientAs(s)
		require.False(t, ok || isGradient, text)
	}
}
