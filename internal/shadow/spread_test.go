package shadow_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo/parser"
	"github.com/gohalo/halo/hlo/pass"
	"github.com/gohalo/halo/internal/shadow"
)

// TestSpread compares programs in which a rounding more is amplified, by cancellation or a conversion to integers, with versions that round
// differently and with versions that are wrong by more than any rounding.
func TestSpread(t *testing.T) {
	const (
		cancels = "HloModule m\nENTRY e {\n  x = bf16[8] parameter(0)\n  y = bf16[8] parameter(1)\n  s = bf16[8] sine(y)\n  a = bf16[8] multiply(x, s)\n  b = bf16[8] add(a, y)\n  ROOT d = bf16[8] subtract(b, y)\n}\n"
		wide    = "HloModule m\nENTRY e {\n  p = bf16[8] parameter(0)\n  q = bf16[8] parameter(1)\n  x = f32[8] convert(p)\n  y = f32[8] convert(q)\n  s = f32[8] sine(y)\n  a = f32[8] multiply(x, s)\n  b = f32[8] add(a, y)\n  d = f32[8] subtract(b, y)\n  ROOT r = bf16[8] convert(d)\n}\n"
		wrong   = "HloModule m\nENTRY e {\n  x = bf16[8] parameter(0)\n  y = bf16[8] parameter(1)\n  s = bf16[8] cosine(y)\n  a = bf16[8] multiply(x, s)\n  b = bf16[8] add(a, y)\n  ROOT d = bf16[8] subtract(b, y)\n}\n"
		counts  = "HloModule m\nENTRY e {\n  x = f16[8] parameter(0)\n  k = f16[] constant(1000)\n  ks = f16[8] broadcast(k), dimensions={}\n  s = f16[8] sine(x)\n  m = f16[8] multiply(s, ks)\n  ROOT r = s32[8] convert(m)\n}\n"
		counted = "HloModule m\nENTRY e {\n  p = f16[8] parameter(0)\n  x = f32[8] convert(p)\n  k = f32[] constant(1000)\n  ks = f32[8] broadcast(k), dimensions={}\n  s = f32[8] sine(x)\n  m = f32[8] multiply(s, ks)\n  ROOT r = s32[8] convert(m)\n}\n"
		off     = "HloModule m\nENTRY e {\n  p = f16[8] parameter(0)\n  x = f32[8] convert(p)\n  k = f32[] constant(1020)\n  ks = f32[8] broadcast(k), dimensions={}\n  s = f32[8] sine(x)\n  m = f32[8] multiply(s, ks)\n  ROOT r = s32[8] convert(m)\n}\n"
		tiny    = "HloModule m\nENTRY e {\n  x = f32[8] parameter(0)\n  k0 = f32[] constant(1e-30)\n  b0 = f32[8] broadcast(k0), dimensions={}\n  m0 = f32[8] multiply(x, b0)\n  k1 = f32[] constant(1e-14)\n  b1 = f32[8] broadcast(k1), dimensions={}\n  ROOT m1 = f32[8] multiply(m0, b1)\n}\n"
		tinier  = "HloModule m\nENTRY e {\n  x = f32[8] parameter(0)\n  k0 = f32[] constant(1e-15)\n  b0 = f32[8] broadcast(k0), dimensions={}\n  m0 = f32[8] multiply(x, b0)\n  k1 = f32[] constant(1.04e-29)\n  b1 = f32[8] broadcast(k1), dimensions={}\n  ROOT m1 = f32[8] multiply(m0, b1)\n}\n"
		huger   = "HloModule m\nENTRY e {\n  x = f32[8] parameter(0)\n  k0 = f32[] constant(1e-30)\n  b0 = f32[8] broadcast(k0), dimensions={}\n  m0 = f32[8] multiply(x, b0)\n  k1 = f32[] constant(4e-13)\n  b1 = f32[8] broadcast(k1), dimensions={}\n  ROOT m1 = f32[8] multiply(m0, b1)\n}\n"
	)
	for _, c := range []struct {
		name, before, after string
		class               pass.FP
		same                bool
	}{
		{"cancellation, exactly", cancels, wide, pass.Exact, false},
		{"cancellation", cancels, wide, pass.Rounding, true},
		{"cancellation, wrong", cancels, wrong, pass.Rounding, false},
		{"integers, exactly", counts, counted, pass.Exact, false},
		{"integers", counts, counted, pass.Rounding, true},
		{"integers, wrong", counts, off, pass.Rounding, false},
		{"denormals, exactly", tiny, tinier, pass.Exact, false},
		{"denormals", tiny, tinier, pass.Rounding, true},
		{"denormals, wrong", tiny, huger, pass.Rounding, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, err := parser.Parse("before", c.before)
			require.NoError(t, err)
			after, err := parser.Parse("after", c.after)
			require.NoError(t, err)
			err = shadow.Compare(context.Background(), before, after, shadow.Config{Rounds: 1, Class: c.class})
			var d *shadow.Difference
			assert.Equal(t, !c.same, errors.As(err, &d), "%v", err)
			if c.same {
				assert.NoError(t, err)
			}
		})
	}
}
