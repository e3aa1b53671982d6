package expand_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/difftest"
)

// TestRandomBits: both engines make the bits of both algorithms out of the arithmetic that they make themselves.
func TestRandomBits(t *testing.T) {
	state, err := hlo.NewLiteral(hlo.MakeShape(hlo.U64, 2).WithDefaultLayout(), []byte{1, 2, 3, 4, 5, 6, 7, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	require.NoError(t, err)
	for _, algorithm := range []string{"rng_three_fry", "rng_philox", "rng_default"} {
		for _, shape := range []string{"u32[3,4,5]", "u64[9]", "f32[7]", "s8[5,5]", "bf16[2,3]", "s32[]"} {
			text := fmt.Sprintf("HloModule m\n\nENTRY e {\n  s = u64[2] parameter(0)\n  ROOT r = (u64[2], %s) rng-bit-generator(s), algorithm=%s\n}\n", shape, algorithm)
			all := difftest.Results(t, text, "rng-bit-generator-expander", state)
			for i, got := range all {
				for leaf := range got {
					assert.Equal(t, all[0][leaf].Bytes(), got[leaf].Bytes(), "%s %s, run %d, leaf %d", algorithm, shape, i, leaf)
				}
			}
		}
	}
}

// TestRandomNumbers looks at many numbers: their limits, and mean and variance within six standard errors. Both engines draw the same
// uniform ones, and each instruction others.
func TestRandomNumbers(t *testing.T) {
	const n = 20001
	for _, test := range []struct {
		typ, distribution, a, b string
		low, high               float64 // limits; high itself is only for integers out of reach
		mean, variance, fourth  float64 // moments about the mean
	}{
		{"f32", "rng_uniform", "-1", "3", -1, 3, 1, 16. / 12, 256. / 80},
		{"f64", "rng_uniform", "0", "1", 0, 1, 0.5, 1. / 12, 1. / 80},
		{"f32", "rng_normal", "2", "3", math.Inf(-1), math.Inf(1), 2, 9, 3 * 81},
		{"f64", "rng_normal", "0", "0.5", math.Inf(-1), math.Inf(1), 0, 0.25, 3. / 16},
		{"s32", "rng_uniform", "-3", "7", -3, 6, 1.5, 99. / 12, 99. * (3*100 - 7) / 240},
		{"u8", "rng_uniform", "200", "210", 200, 209, 204.5, 99. / 12, 99. * (3*100 - 7) / 240},
		{"s64", "rng_uniform", "5", "6", 5, 5, 5, 0, 0},
	} {
		t.Run(test.typ+"_"+test.distribution, func(t *testing.T) {
			text := fmt.Sprintf(`HloModule m

ENTRY e {
  a = %s[] constant(%s)
  b = %[1]s[] constant(%[3]s)
  r = %[1]s[%[4]d] rng(a, b), distribution=%[5]s
  s = %[1]s[%[4]d] rng(a, b), distribution=%[5]s
  x = f64[%[4]d] convert(r)
  y = f64[%[4]d] convert(s)
  ROOT t = (f64[%[4]d], f64[%[4]d]) tuple(x, y)
}
`, test.typ, test.a, test.b, n, test.distribution)
			all := difftest.Results(t, text, "rng-expander")
			if test.distribution == "rng_uniform" { // logarithms and sines have last bits of their own
				assert.Equal(t, all[2][0].Bytes(), all[3][0].Bytes(), "engines")
			}
			if test.variance > 0 {
				assert.NotEqual(t, all[2][0].Bytes(), all[2][1].Bytes(), "instructions")
			}
			for _, leaf := range all[2] {
				mean, variance := 0.0, 0.0
				for b := leaf.Bytes(); len(b) > 0; b = b[8:] {
					x := math.Float64frombits(binary.LittleEndian.Uint64(b))
					require.True(t, test.low <= x && x <= test.high, "%v", x)
					mean += x / n
					variance += (x - test.mean) * (x - test.mean) / n
				}
				assert.InDelta(t, test.mean, mean, 6*math.Sqrt(test.variance/n)+1e-9)
				assert.InDelta(t, test.variance, variance, 6*math.Sqrt((test.fourth-test.variance*test.variance)/n)+1e-9)
			}
		})
	}
}
