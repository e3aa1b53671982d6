package vec

import (
	"flag"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/internal/elementary"
)

// functions32 gives each function in float64, and how many units of the last place the loop may be off. Around worst, where a run with -stride 1 found
// the largest error, every number is tried.
var functions32 = []struct {
	name  string
	want  func(float64) float64
	ulp   float64
	worst float32
}{
	{"exponential", math.Exp, 0.9, 0x1.4e963p+02},
	{"exponential-minus-one", math.Expm1, 1.77, 0x1.0e7eaep+00}, // what XLA's is off by; see TestExpm1AsXLA
	{"log", math.Log, 0.9, 0x1.697dc8p+00},
	{"log-plus-one", math.Log1p, 1.4, 0x1.c4771ap-02},
	{"tanh", math.Tanh, 1.5, 0x1.bb8dfap+01},
	{"increased-tanh", func(x float64) float64 { return 2 / (1 + math.Exp(-2*x)) }, 4.4, -0x1.4f7d02p+05},
	{"logistic", func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, 2, -0x1.f4b726p+00},
	{"erf", math.Erf, 1.2, 0x1.dbbf7ap-01},
	{"sine", math.Sin, 1.5, 0x1.3886a2p+09},
	{"cosine", math.Cos, 1.5, 0x1.fda6d8p+14},
	// These are computed in f64.
	{"tan", math.Tan, 0.51, 0x1.467a5ep+03},
	{"cbrt", math.Cbrt, 0.51, 1},
	{"cosh", math.Cosh, 0.51, 1},
	{"sinh", math.Sinh, 0.51, 1},
	{"asinh", math.Asinh, 0.51, 1},
	{"acosh", math.Acosh, 0.51, 1},
	{"atanh", math.Atanh, 0.51, 1},
	{"asin", math.Asin, 0.51, 1},
	{"acos", math.Acos, 0.51, 1},
}

// outOfRange reports whether a function is not for x: sine, cosine and tangent are not for large numbers, and what would be little more than denormal is 0.
func outOfRange(name string, x float64) bool {
	return name == "increased-tanh" && -100 < x && x < -43 || (name == "sine" || name == "cosine" || name == "tan") && !(math.Abs(x) < 1<<16)
}

var stride = flag.Uint64("stride", 4999, "try every stride-th float32; 1 for all, which takes minutes")

func TestFunctions32(t *testing.T) {
	if Best() == Portable {
		t.Skip("no assembly for this processor")
	}
	for _, f := range functions32 {
		t.Run(f.name, func(t *testing.T) {
			var results [][]float32
			x := make([]float32, 1<<16)
			worst, at := 0.0, float32(0)
			try := func() {
				results = results[:0]
				for l := AVX2; l <= Best(); l++ {
					restore := Use(l)
					y := make([]float32, len(x))
					Find(named(f.name+".f32"), nil)(len(x), pointer(y), pointer(x), nil, nil)
					restore()
					results = append(results, y)
				}
				for i, y := range results[0] {
					if outOfRange(f.name, float64(x[i])) {
						continue
					}
					for _, other := range results[1:] {
						if !sameBits(y, other[i]) {
							t.Fatalf("%v: instruction sets disagree: %v and %v", x[i], y, other[i])
						}
					}
					if d := distance32(f.want(float64(x[i])), y); !(d <= worst) {
						worst, at = d, x[i]
					}
				}
			}
			for i := range x {
				x[i] = math.Float32frombits(math.Float32bits(f.worst) + uint32(i-len(x)/2))
			}
			try()
			for first := uint64(0); first < 1<<32; first += uint64(len(x)) * *stride {
				for i := range x {
					x[i] = math.Float32frombits(uint32(first + uint64(i)**stride))
				}
				copy(x, []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), -1, 1, 0.93, math.MaxFloat32})
				try()
			}
			t.Logf("%.3f units at %v (%x)", worst, at, at)
			require.LessOrEqual(t, worst, f.ulp, "at %v", at)
		})
	}
}

// TestExpm1AsXLA wants the bits of XLA's function where it is that.
func TestExpm1AsXLA(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		x := make([]float32, 1<<16)
		for i := range x {
			x[i] = float32(i)*(174.0/(1<<16)) - 86
		}
		y := make([]float32, len(x))
		Find(named("exponential-minus-one.f32"), nil)(len(x), pointer(y), pointer(x), nil, nil)
		for i, v := range x {
			if want := elementary.Exp32(v) - 1; math.Abs(float64(v)) > 0.5 && y[i] != want {
				t.Fatalf("expm1(%v) = %v, want %v", v, y[i], want)
			}
		}
	})
}

// distance32 is the distance in units of the last place of want; it is infinite where one is NaN or has another sign of zero.
func distance32(want float64, got float32) float64 {
	rounded := float32(want)
	switch {
	case want != want && got != got, sameBits(rounded, got) && (math.IsInf(want, 0) || want == 0):
		return 0
	case want != want || got != got || want == 0:
		return math.Inf(1)
	case math.IsInf(float64(got), 0) && math.Abs(want) < math.MaxFloat32*(1+0x1p-22):
		if math.Abs(want) > math.MaxFloat32*(1-0x1p-22) {
			return 1
		}
		return math.Inf(1)
	case math.IsInf(float64(rounded), 0) && math.IsInf(float64(got), 0):
		return 0
	}
	_, e := math.Frexp(want)
	return math.Abs(float64(got)-want) / math.Ldexp(1, max(e, -125)-24)
}

// TestBinaryFunctions32 tries pairs of numbers, among them all pairs of those at which powers and angles turn.
func TestBinaryFunctions32(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(9, 8))
		var a, b []float32
		for _, x := range edges() {
			for _, y := range edges() {
				a, b = append(a, float32(x)), append(b, float32(y))
			}
		}
		for range 200000 {
			a = append(a, float32((rng.Float64()*2-1)*math.Exp(rng.Float64()*20-10)))
			b = append(b, float32(math.Trunc((rng.Float64()*2-1)*20)/float64(1+rng.IntN(2))))
		}
		for name, want := range map[string]func(x, y float64) float64{"power": math.Pow, "atan2": math.Atan2} {
			got := make([]float32, len(a))
			Find(named(name+".f32"), nil)(len(a), pointer(got), pointer(a), pointer(b), nil)
			for i := range a {
				exact := want(float64(a[i]), float64(b[i]))
				if sameBits(float32(exact), got[i]) {
					continue
				}
				d := distance32(exact, got[i])
				require.LessOrEqual(t, d, 0.51, "%s of %v and %v is %v", name, a[i], b[i], got[i])
			}
		}
	})
}

func TestFunctions64(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		for _, f := range functions32 {
			if !Has(named(f.name + ".f64")) {
				continue
			}
			x := append(edges(), make([]float64, 100000)...)
			for i := len(edges()); i < len(x); i++ {
				x[i] = (rng.Float64()*2 - 1) * math.Exp(rng.Float64()*20-13)
				if strings.HasSuffix(f.name, "sine") && i%2 == 0 { // next to a zero
					x[i] = math.Round(x[i]*10) * (math.Pi / 2)
				}
			}
			y := make([]float64, len(x))
			Find(named(f.name+".f64"), nil)(len(x), pointer(y), pointer(x), nil, nil)
			worst, at := 0.0, 0.0
			for i := range x {
				want := reference64(f.name, f.want, x[i])
				if sameBits(want, y[i]) || outOfRange(f.name, x[i]) {
					continue
				}
				_, e := math.Frexp(want)
				if d := math.Abs(want-y[i]) / math.Ldexp(1, max(e, -1021)-53); !(d <= worst) {
					worst, at = d, x[i]
				}
			}
			t.Logf("%s: %v units at %v", f.name, worst, at)
			assert.LessOrEqual(t, worst, f.ulp+2, "%s at %v", f.name, at) // package math has errors too
		}
	})
}

// reference64 is the function, where package math or the formula has it not right: near the ends of the range.
func reference64(name string, f func(float64) float64, x float64) float64 {
	switch {
	case name == "sine":
		return elementary.Sin(x)
	case name == "cosine":
		return elementary.Cos(x)
	case name == "logistic" && x < 0:
		e := math.Exp(x)
		return e / (1 + e)
	case name == "exponential" && x > 709:
		return math.Exp(x-1) * math.E
	case name == "log" && x > 0 && x < 0x1p-1022:
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return f(x)
}

// FuzzFunctions tries single numbers.
func FuzzFunctions(f *testing.F) {
	for _, x := range edges() {
		f.Add(math.Float32bits(float32(x)))
	}
	f.Fuzz(func(t *testing.T, bits uint32) {
		x := []float32{math.Float32frombits(bits)}
		for l := AVX2; l <= Best(); l++ {
			restore := Use(l)
			for _, f := range functions32 {
				if outOfRange(f.name, float64(x[0])) {
					continue
				}
				y := make([]float32, 1)
				Find(named(f.name+".f32"), nil)(1, pointer(y), pointer(x), nil, nil)
				assert.LessOrEqual(t, distance32(f.want(float64(x[0])), y[0]), f.ulp, "%s of %v is %v", f.name, x[0], y[0])
			}
			restore()
		}
	})
}
