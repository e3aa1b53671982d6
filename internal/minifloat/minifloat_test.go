package minifloat

import (
	"fmt"
	"math"
	"math/big"
	"sort"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestInfo states every format in full, so that a slip in the derivation shows.
func TestInfo(t *testing.T) {
	type edge struct {
		bits, exponent, mantissa, bias                  int
		sign, zero, negativeZero, inf, nan, negativeNaN bool
		max, minNormal, minPositive, epsilon            float64
	}
	const y, n = true, false
	for f, want := range map[Format]edge{
		F16:           {16, 5, 10, 15, y, y, y, y, y, y, 65504, 0x1p-14, 0x1p-24, 0x1p-10},
		BF16:          {16, 8, 7, 127, y, y, y, y, y, y, 0x1.fep127, 0x1p-126, 0x1p-133, 0x1p-7},
		F8E5M2:        {8, 5, 2, 15, y, y, y, y, y, y, 57344, 0x1p-14, 0x1p-16, 0.25},
		F8E4M3:        {8, 4, 3, 7, y, y, y, y, y, y, 240, 0x1p-6, 0x1p-9, 0.125},
		F8E3M4:        {8, 3, 4, 3, y, y, y, y, y, y, 15.5, 0x1p-2, 0x1p-6, 0.0625},
		F8E4M3FN:      {8, 4, 3, 7, y, y, y, n, y, y, 448, 0x1p-6, 0x1p-9, 0.125},
		F8E5M2FNUZ:    {8, 5, 2, 16, y, y, n, n, y, n, 57344, 0x1p-15, 0x1p-17, 0.25},
		F8E4M3FNUZ:    {8, 4, 3, 8, y, y, n, n, y, n, 240, 0x1p-7, 0x1p-10, 0.125},
		F8E4M3B11FNUZ: {8, 4, 3, 11, y, y, n, n, y, n, 30, 0x1p-10, 0x1p-13, 0.125},
		F8E8M0FNU:     {8, 8, 0, 127, n, n, n, n, y, n, 0x1p127, 0x1p-127, 0x1p-127, 1},
		F6E3M2FN:      {6, 3, 2, 3, y, y, y, n, n, n, 28, 0x1p-2, 0x1p-4, 0.25},
		F6E2M3FN:      {6, 2, 3, 1, y, y, y, n, n, n, 7.5, 1, 0x1p-3, 0.125},
		F4E2M1FN:      {4, 2, 1, 1, y, y, y, n, n, n, 6, 1, 0.5, 0.5},
	} {
		i := f.Info()
		assert.Equal(t, want, edge{i.Bits, i.ExponentBits, i.MantissaBits, i.Bias,
			i.HasSign, i.HasZero, i.HasNegativeZero, i.HasInf, i.HasNaN, i.HasNegativeNaN,
			i.Max, i.MinNormal, i.MinPositive, i.Epsilon}, f.String())
	}
	assert.Len(t, Formats(), 13)
	assert.Equal(t, "Format(200)", Format(200).String())
}

// TestRoundTrip takes every code through float32 and float64 and back.
func TestRoundTrip(t *testing.T) {
	for _, f := range Formats() {
		t.Run(f.String(), func(t *testing.T) {
			nans, infs, zeros := 0, 0, 0
			for c := range 1 << f.Bits() {
				code := uint16(c)
				x, y := f.Float32(code), f.Float64(code)
				require.Equal(t, math.IsNaN(y), f.IsNaN(code), "%#x", code)
				require.Equal(t, math.IsInf(y, 0), f.IsInf(code), "%#x", code)
				back32, back64 := f.FromFloat32(x), f.FromFloat64(y)
				switch {
				case f.IsNaN(code):
					nans++
					require.True(t, x != x)
					require.True(t, f.IsNaN(back32) && f.IsNaN(back64))
					require.Equal(t, back32, back64, "%#x", code)
					if f.Info().PayloadBits > 0 { // quiet or made so, the rest kept
						require.Equal(t, code|f.NaN(), back32, "%#x", code)
					} else {
						require.Equal(t, code, back32, "%#x", code)
					}
					continue
				case f.IsInf(code):
					infs++
				case y == 0:
					zeros++
				}
				require.Equal(t, y, float64(x), "%#x", code)
				require.Equal(t, code, back32, "%#x is %v", code, x)
				require.Equal(t, code, back64, "%#x is %v", code, y)
				// Whatever else the caller's word holds does not matter.
				if f.Bits() < 16 {
					require.Equal(t, y, f.Float64(code|0xffff<<f.Bits()))
				}
			}
			i := f.Info()
			assert.Equal(t, i.HasInf, infs == 2)
			assert.Equal(t, i.HasNaN, nans > 0)
			assert.Equal(t, i.HasNegativeNaN, nans > 1)
			assert.Equal(t, i.HasZero, zeros > 0)
			assert.Equal(t, i.HasNegativeZero, zeros > 1)
		})
	}
}

// nearest rounds by exact arithmetic: among the finite values of f and the one that would
// follow the largest, it looks for the two that enclose x.
type nearest struct {
	format Format
	values []float64 // positive, ascending, then one beyond
	codes  []uint16
}

func newNearest(f Format) nearest {
	r := nearest{format: f}
	for c := range 1 << f.Bits() {
		code := uint16(c)
		if x := f.Float64(code); !math.IsNaN(x) && !math.IsInf(x, 0) && !math.Signbit(x) {
			r.values, r.codes = append(r.values, x), append(r.codes, code)
		}
	}
	sort.Float64s(r.values) // codes of positive values ascend with them
	last := len(r.values) - 1
	step := r.values[last] - r.values[last-1]
	if f == F8E8M0FNU {
		step = r.values[last]
	}
	r.values, r.codes = append(r.values, r.values[last]+step), append(r.codes, r.codes[last]+1)
	return r
}

func (r nearest) of(x float64) uint16 {
	f, info := r.format, r.format.Info()
	negative := math.Signbit(x)
	if f == F8E8M0FNU && x <= 0x1p-150 {
		return f.NaN()
	}
	a := math.Abs(x)
	i := sort.SearchFloat64s(r.values, a)
	switch {
	case i == len(r.values):
		i-- // beyond beyond
	case r.values[i] == a || i == 0:
	default:
		exact := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
		below := new(big.Rat).Sub(exact(a), exact(r.values[i-1]))
		above := new(big.Rat).Sub(exact(r.values[i]), exact(a))
		c := below.Cmp(above)
		// An even mantissa wins; in f8e8m0fnu every mantissa is 1 and the tie carries.
		if c < 0 || c == 0 && r.codes[i-1]%2 == 0 && f != F8E8M0FNU {
			i--
		}
	}
	if i == len(r.values)-1 {
		return r.overflow(negative)
	}
	code := r.codes[i]
	if negative && (code != 0 || info.HasNegativeZero) {
		code = f.Negate(code)
	}
	return code
}

// overflow is what stands for numbers that are too large: infinity; without one NaN; without that the largest value.
func (r nearest) overflow(negative bool) (code uint16) {
	f, info := r.format, r.format.Info()
	hasSign := info.HasSign
	switch {
	case info.HasInf:
		for !math.IsInf(f.Float64(code), 1) {
			code++
		}
	case info.HasNaN:
		code, hasSign = f.NaN(), info.HasNegativeNaN
	default:
		code = r.codes[len(r.codes)-2]
	}
	if negative && hasSign {
		code |= 1 << (f.Bits() - 1)
	}
	return code
}

// TestRounding checks every midpoint of every format and its neighbours on both sides,
// against exact arithmetic.
func TestRounding(t *testing.T) {
	for _, f := range Formats() {
		t.Run(f.String(), func(t *testing.T) {
			r := newNearest(f)
			for i := range len(r.values) - 1 {
				lo, hi := r.values[i], r.values[i+1]
				mid := lo + (hi-lo)/2 // exact in float64
				for _, x := range []float64{lo, math.Nextafter(lo, hi), math.Nextafter(mid, lo), mid,
					math.Nextafter(mid, hi), math.Nextafter(hi, lo)} {
					for _, x := range []float64{x, -x} {
						require.Equal(t, r.of(x), f.FromFloat64(x), "%v (%x)", x, x)
						if float64(float32(x)) == x {
							require.Equal(t, r.of(x), f.FromFloat32(float32(x)), "%v (%x)", x, x)
						}
					}
				}
				// float32 has neighbours of its own, closer than a midpoint's float64 ones.
				for _, to := range []float32{0, math.MaxFloat32} {
					x := math.Nextafter32(float32(mid), to)
					require.Equal(t, r.of(float64(x)), f.FromFloat32(x), "%v (%x)", x, x)
				}
			}
			for _, x := range []float64{math.SmallestNonzeroFloat64, 0x1p-1022, 0x1p-200, 0x1p-149, 1e300, math.MaxFloat64, math.MaxFloat32} {
				for _, x := range []float64{x, -x} {
					require.Equal(t, r.of(x), f.FromFloat64(x), "%v", x)
				}
			}
		})
	}
}

// TestNoDoubleRounding shows a float64 that two roundings get wrong.
func TestNoDoubleRounding(t *testing.T) {
	x := 1 + 0x1p-8 + 0x1p-40 // just above a tie of bf16, on it in float32
	assert.Equal(t, uint16(0x3f81), BF16.FromFloat64(x))
	assert.Equal(t, uint16(0x3f80), BF16.FromFloat32(float32(x)))
	assert.Equal(t, F8E5M2.FromFloat64(1.25), F8E5M2.FromFloat64(1.125+0x1p-40))
}

// TestStated holds the results written down in the semantics of the operations.
func TestStated(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	zero, negativeZero := 0.0, math.Copysign(0, -1)
	for f, pairs := range map[Format][][2]float64{
		F8E4M3FN: {{448, 448}, {464, 448}, {465, nan}, {inf, nan}, {0x1p-10, 0}, {0.00098, 0x1p-9}, {1.0625, 1}, {1.1875, 1.25},
			{-464, -448}, {-inf, nan}, {negativeZero, negativeZero}},
		F8E5M2:        {{57344, 57344}, {61439, 57344}, {61440, inf}, {1.125, 1}, {-61440, -inf}, {inf, inf}},
		F8E4M3:        {{240, 240}, {247, 240}, {248, inf}},
		F8E3M4:        {{15.5, 15.5}, {15.74, 15.5}, {15.75, inf}},
		F8E4M3FNUZ:    {{247, 240}, {248, nan}, {negativeZero, zero}, {-0x1p-20, zero}, {-248, nan}, {inf, nan}},
		F8E5M2FNUZ:    {{57344, 57344}, {61440, nan}},
		F8E4M3B11FNUZ: {{30, 30}, {31, nan}},
		F8E8M0FNU:     {{1, 1}, {1.5, 2}, {3, 4}, {1.4, 1}, {0x1.8p127, nan}, {0, nan}, {negativeZero, nan}, {-1, nan}, {inf, nan}, {-inf, nan}, {0x1p-149, 0x1p-127}, {0x1p-150, nan}},
		F4E2M1FN:      {{0.25, 0}, {0.26, 0.5}, {2.5, 2}, {5, 4}, {7, 6}, {1e9, 6}, {-inf, -6}, {nan, negativeZero}, {-nan, negativeZero}},
		F6E2M3FN:      {{9, 7.5}, {inf, 7.5}, {nan, negativeZero}},
		F6E3M2FN:      {{100, 28}, {-100, -28}},
		BF16:          {{1.00390625, 1}, {1.01171875, 1.015625}, {3.4e38, inf}, {-3.4e38, -inf}, {0x1p-134, 0}},
		F16:           {{65519, 65504}, {65520, inf}, {0x1p-25, 0}, {3 * 0x1p-26, 0x1p-24}, {-0x1p-26, negativeZero}},
	} {
		for _, p := range pairs {
			for _, code := range []uint16{f.FromFloat64(p[0]), f.FromFloat32(float32(p[0]))} {
				got := f.Float64(code)
				assert.True(t, got == p[1] && math.Signbit(got) == math.Signbit(p[1]) || got != got && p[1] != p[1],
					"%v of %v: got %v, want %v", f, p[0], got, p[1])
			}
		}
	}
}

func TestNaN(t *testing.T) {
	payload := math.Float32frombits(0xffa01234)
	for f, want := range map[Format]uint16{
		F16: 0xff00, BF16: 0xffe0, F8E5M2: 0xff, F8E4M3: 0xfe, F8E3M4: 0xfc, F8E4M3FN: 0xff,
		F8E5M2FNUZ: 0x80, F8E4M3FNUZ: 0x80, F8E4M3B11FNUZ: 0x80, F8E8M0FNU: 0xff,
		F6E3M2FN: 0x20, F6E2M3FN: 0x20, F4E2M1FN: 0x8,
	} {
		assert.Equal(t, want, f.FromFloat32(payload), f.String())
		assert.Equal(t, want, f.FromFloat64(float64(payload)), f.String())
	}

	code, ok := F16.NaNWithPayload(true, 3)
	assert.True(t, ok)
	assert.Equal(t, uint16(0xfc03), code)
	assert.Equal(t, uint64(3), F16.Payload(code))
	for _, c := range []struct {
		f        Format
		negative bool
		payload  uint64
	}{{F8E5M2, false, 4}, {F8E5M2, false, 0}, {F8E4M3FN, true, 1}, {F8E8M0FNU, false, 1}, {F16, false, 1 << 10}} {
		_, ok := c.f.NaNWithPayload(c.negative, c.payload)
		assert.False(t, ok, "%v", c)
	}
}

// TestNegate compares negate with what it means on values.
func TestNegate(t *testing.T) {
	for _, f := range Formats() {
		for c := range 1 << f.Bits() {
			a := uint16(c)
			if !f.IsNaN(a) && f.Info().HasSign {
				require.Equal(t, -f.Float64(a), f.Float64(f.Negate(a)), "%v %#x", f, a)
			} else {
				require.Equal(t, f.IsNaN(a), f.IsNaN(f.Negate(a)), "%v %#x", f, a)
			}
		}
	}
}

func TestSlices(t *testing.T) {
	all := make([]uint16, 1<<16)
	for i := range all {
		all[i] = uint16(i)
	}
	wide, back := make([]float32, len(all)), make([]uint16, len(all))
	same := func(want func(uint16) float32, narrow func(float32) uint16) {
		t.Helper()
		for i, code := range all {
			require.Equal(t, math.Float32bits(want(code)), math.Float32bits(wide[i]), "%#x", code)
			require.Equal(t, narrow(wide[i]), back[i], "%#x", code)
		}
	}
	WidenF16(wide, all)
	NarrowF16(back, wide)
	same(F16ToFloat32, F16FromFloat32)
	WidenBF16(wide, all)
	NarrowBF16(back, wide)
	same(BF16ToFloat32, BF16FromFloat32)

	bytes := make([]byte, 256)
	for i := range bytes {
		bytes[i] = byte(i)
	}
	narrow := make([]byte, 256)
	for _, f := range Formats()[F8E5M2:] {
		f.WidenBytes(wide, bytes)
		f.NarrowBytes(narrow, wide[:256])
		for i, x := range wide[:256] {
			assert.Equal(t, math.Float32bits(f.Float32(uint16(i))), math.Float32bits(x), "%v %#x", f, i)
			assert.Equal(t, byte(f.FromFloat32(x)), narrow[i], "%v %#x", f, i)
		}
	}
	assert.Panics(t, func() { BF16.Table32() })
	assert.Panics(t, func() { WidenBF16(wide[:3:3], all) })
}

// TestNarrowBytes holds the table to rounding one by one, over a stride of all float32 bits and around the places where rounding turns.
func TestNarrowBytes(t *testing.T) {
	var src []float32
	for b := uint64(0); b < 1<<32; b += 20011 {
		src = append(src, math.Float32frombits(uint32(b)))
	}
	for b := uint64(0); b < 1<<32; b += 1 << 16 {
		src = append(src, math.Float32frombits(uint32(b)), math.Float32frombits(uint32(b+1)), math.Float32frombits(uint32(b+0xffff)))
	}
	got := make([]byte, len(src))
	for f := F8E5M2; f < numFormats; f++ {
		f.NarrowBytes(got, src)
		for i, x := range src {
			if want := byte(f.FromFloat32(x)); got[i] != want {
				t.Fatalf("%v of %x is %#x, want %#x", f, math.Float32bits(x), got[i], want)
			}
		}
	}
}

// TestHalfAgreesWithGeneric holds the fast forms to the general one over a stride of all float32 bits.
func TestHalfAgreesWithGeneric(t *testing.T) {
	for bits := uint64(0); bits < 1<<32; bits += 4093 {
		x := math.Float32frombits(uint32(bits))
		if a, b := F16.FromFloat64(float64(x)), F16FromFloat32(x); a != b {
			require.Equal(t, a, b, "f16 of %#x", bits)
		}
		if a, b := BF16.FromFloat64(float64(x)), BF16FromFloat32(x); a != b {
			require.Equal(t, a, b, "bf16 of %#x", bits)
		}
	}
}

func ExampleFormat() {
	f := F8E4M3FN
	for _, x := range []float64{0.3, 464, 465} {
		code := f.FromFloat64(x)
		fmt.Printf("%v as %v is %#02x, which is %v\n", x, f, code, f.Float64(code))
	}
	// Output:
	// 0.3 as f8e4m3fn is 0x2a, which is 0.3125
	// 464 as f8e4m3fn is 0x7e, which is 448
	// 465 as f8e4m3fn is 0x7f, which is NaN
}
