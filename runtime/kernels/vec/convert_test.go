package vec

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/minifloat"
)

func convert[D, A Number](t *testing.T, name string, f func(a A) D) {
	t.Helper()
	check(t, "convert."+name, 1, func(a, _, _ A) D { return f(a) })
}

// goes is Go's conversion.
func goes[D, A Number](x A) D { return D(x) }

// TestRoundedFunctions holds functions of bf16 to those of f32, rounded: for all numbers there are.
func TestRoundedFunctions(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		name := Of(hlo.OpExponential, hlo.F32, hlo.F32, hlo.BF16).In(Rounding)
		if InUse() == AVX512 {
			t.Skip("the function is rounded by a loop of its own")
		}
		require.True(t, Has(name))
		var x, got, want [1 << 16]float32
		for i := range x {
			x[i] = minifloat.BF16ToFloat32(uint16(i))
		}
		on := func(name Name, d, a *[1 << 16]float32) {
			Find(name, nil)(len(a), unsafe.Pointer(d), unsafe.Pointer(a), nil, nil)
		}
		on(name, &got, &x)
		on(Of(name.Op, hlo.F32), &want, &x)
		on(Of(hlo.OpConvert, hlo.F32, hlo.BF16).In(Rounding), &want, &want)
		for i := range x {
			require.Equal(t, math.Float32bits(want[i]), math.Float32bits(got[i]), "of %v, %#x", x[i], i)
		}
	})
}

// TestCodes holds equality of codes to that of numbers.
func TestCodes(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		if InUse() == AVX512 {
			t.Skip("numbers are compared as f32")
		}
		for typ, decode := range map[string]func(uint16) float32{"bf16": minifloat.BF16ToFloat32, "f16": minifloat.F16ToFloat32} {
			special := []uint16{0, 1 << 15, minifloat.BF16FromFloat32(float32(math.NaN())), 0x7e00, 0xfc00, 0xff80, 0x7c01, 0x7f81}
			some := func(x uint16) uint16 { // of which many are equal
				if x%16 < 8 {
					return special[x%8]
				}
				return x
			}
			for name, wanted := range map[string]bool{"eq": true, "ne": false} {
				var a, b [1 << 12]uint16
				var got [1 << 12]bool
				for i := range a {
					a[i], b[i] = some(uint16(i*40503)), some(uint16(i*40503>>i%5))
				}
				loop := named(name + "-compare." + typ)
				require.True(t, Has(loop))
				rest := func(int, unsafe.Pointer, unsafe.Pointer, unsafe.Pointer, unsafe.Pointer) { t.Error("there is none") }
				Find(loop, rest)(len(a), unsafe.Pointer(&got), unsafe.Pointer(&a), unsafe.Pointer(&b), nil)
				for i := range a {
					require.Equal(t, (decode(a[i]) == decode(b[i])) == wanted, got[i], "%s: %#x and %#x of %s", name, a[i], b[i], typ)
				}
			}
		}
	})
}

func TestConvert(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		convert(t, "bf16.f32", minifloat.BF16ToFloat32)
		convert(t, "f32.bf16", minifloat.BF16FromFloat32)
		convert(t, "f16.f32", minifloat.F16ToFloat32)
		convert(t, "f32.f16", minifloat.F16FromFloat32)
		unary(t, "round-convert.f32.bf16", func(x float32) float32 { return minifloat.BF16ToFloat32(minifloat.BF16FromFloat32(x)) })
		unary(t, "round-convert.f32.f16", func(x float32) float32 { return minifloat.F16ToFloat32(minifloat.F16FromFloat32(x)) })
		for name, f := range map[string]func(a, b float32) float32{
			"add":      func(a, b float32) float32 { return a + b },
			"subtract": func(a, b float32) float32 { return a - b },
			"multiply": func(a, b float32) float32 { return a * b },
			"divide":   func(a, b float32) float32 { return a / b },
		} {
			binary(t, "round-"+name+".f32.f32.bf16", func(a, b float32) float32 { return minifloat.BF16ToFloat32(minifloat.BF16FromFloat32(f(a, b))) })
			decode, encode := minifloat.BF16ToFloat32, minifloat.BF16FromFloat32
			mixed := func(forms string) string { return name + "." + forms }
			check(t, mixed("bf16.f32.f32"), 2, func(a uint16, b float32, _ uint8) float32 { return f(decode(a), b) })
			check(t, "round-"+mixed("bf16.f32.bf16"), 2, func(a uint16, b float32, _ uint8) float32 { return decode(encode(f(decode(a), b))) })
			check(t, mixed("bf16.f32.bf16"), 2, func(a uint16, b float32, _ uint8) uint16 { return encode(f(decode(a), b)) })
			check(t, "round-"+mixed("bf16.bf16.bf16"), 2, func(a, b uint16, _ uint8) float32 { return decode(encode(f(decode(a), decode(b)))) })
			check(t, mixed("bf16.bf16.bf16"), 2, func(a, b uint16, _ uint8) uint16 { return encode(f(decode(a), decode(b))) })
			check(t, mixed("f32.f32.bf16"), 2, func(a, b float32, _ uint8) uint16 { return encode(f(a, b)) })
		}
		convert(t, "f32.f64", goes[float64, float32])
		convert(t, "f64.f32", goes[float32, float64])
		integers[int8](t, "s8", "u8")
		integers[uint8](t, "u8", "u8")
		integers[int16](t, "s16", "u16")
		integers[uint16](t, "u16", "u16")
		integers[int32](t, "s32", "u32")
		integers[uint32](t, "u32", "u32")
		integers[int64](t, "s64", "u64")
		integers[uint64](t, "u64", "u64")
		floats[float32](t, "f32")
		floats[float64](t, "f64")
	})
}

// integers tries the conversions from one type: narrower ones keep the lowest bits, so they are known by the width.
func integers[T Number](t *testing.T, typ, width string) {
	convert(t, typ+".f32", goes[float32, T])
	convert(t, typ+".f64", goes[float64, T])
	convert(t, width+".pred", func(x T) uint8 { return truth(x != 0) })
	to := func(size int, widen, narrow func()) {
		switch own := int(unsafe.Sizeof(T(0))); {
		case own < size:
			widen()
		case own > size:
			narrow()
		}
	}
	to(1, nil, func() { convert(t, width+".u8", goes[int8, T]) })
	to(2, func() { convert(t, typ+".u16", goes[int16, T]) }, func() { convert(t, width+".u16", goes[int16, T]) })
	to(4, func() { convert(t, typ+".u32", goes[int32, T]) }, func() { convert(t, width+".u32", goes[int32, T]) })
	to(8, func() { convert(t, typ+".u64", goes[int64, T]) }, nil)
}

// floats tries the conversions from one type to integers.
func floats[T float32 | float64](t *testing.T, typ string) {
	convert(t, typ+".pred", func(x T) uint8 { return truth(x != 0) })
	convert(t, typ+".s8", saturate[int8, T](math.MinInt8, math.MaxInt8))
	convert(t, typ+".u8", saturate[uint8, T](0, math.MaxUint8))
	convert(t, typ+".s16", saturate[int16, T](math.MinInt16, math.MaxInt16))
	convert(t, typ+".u16", saturate[uint16, T](0, math.MaxUint16))
	convert(t, typ+".s32", saturate[int32, T](math.MinInt32, math.MaxInt32))
	convert(t, typ+".u32", saturate[uint32, T](0, math.MaxUint32))
	convert(t, typ+".s64", saturate[int64, T](math.MinInt64, math.MaxInt64))
	convert(t, typ+".u64", saturate[uint64, T](0, math.MaxUint64))
}

func saturate[D Number, T float32 | float64](lo, hi D) func(x T) D {
	return func(x T) D {
		switch {
		case x != x:
			return 0
		case x >= T(hi):
			return hi
		case x <= T(lo):
			return lo
		}
		return D(x)
	}
}

// TestComplex compares what is done to complex numbers, which package vec has as pairs.
func TestComplex(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		const n = 101
		a, b, d := make([]complex64, n), make([]complex64, n), make([]complex64, n)
		re, im := make([]float32, n), make([]float32, n)
		for i := range a {
			a[i], b[i] = complex(float32(i)/3, float32(i%7)-3), complex(float32(i%5)/7, 1-float32(i))
		}
		parts := func(n int, d, a, _, _ unsafe.Pointer) {
			for i, x := range unsafe.Slice((*complex64)(a), n) {
				unsafe.Slice((*float32)(d), n)[i] = real(x)
			}
		}
		product := func(n int, d, a, b, _ unsafe.Pointer) {
			for i, x := range unsafe.Slice((*complex64)(a), n/2) {
				unsafe.Slice((*complex64)(d), n/2)[i] = x * unsafe.Slice((*complex64)(b), n/2)[i]
			}
		}
		Find(named("multiply.c64"), product)(2*n, pointer(d), pointer(a), pointer(b), nil)
		for i := range d {
			require.Equal(t, a[i]*b[i], d[i])
		}
		Find(named("real.c64"), parts)(n, pointer(re), pointer(a), nil, nil)
		Find(named("imag.c64"), func(n int, d, a, b, c unsafe.Pointer) { parts(n, d, unsafe.Add(a, 4), b, c) })(n/8*8, pointer(im), pointer(a), nil, nil)
		Find(named("complex.c64"), parts)(n/8*8, pointer(d), pointer(re), pointer(im), nil)
		require.Equal(t, a[:n/8*8], d[:n/8*8])
	})
}

// TestMagnitude compares magnitudes with those of f64 rounded once, at the ends of the range too.
func TestMagnitude(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		inf, nan := float32(math.Inf(1)), float32(math.NaN())
		special := []float32{0, float32(math.Copysign(0, -1)), 1, -3, 4, 5e-324 + 1e-45, 1e-38, -1e-30, 1e19, -3e38, math.MaxFloat32, inf, -inf, nan}
		var a []complex64
		for _, re := range special {
			for _, im := range special {
				a = append(a, complex(re, im))
			}
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 100_000 {
			scale := math.Ldexp(1, r.IntN(250)-125)
			a = append(a, complex(float32(r.NormFloat64()*scale), float32(r.NormFloat64()*scale)))
		}
		for range 10_000 { // exact ones
			a = append(a, complex(float32(3*r.IntN(1<<20)), 0), complex(3, 4)*complex(float32(r.IntN(1<<20)), 0))
		}
		d := make([]float32, len(a))
		magnitude := func(x complex64) float32 {
			re, im := float64(real(x)), float64(imag(x))
			return float32(math.Sqrt(re*re + im*im))
		}
		Find(named("abs.c64"), func(n int, d, a, _, _ unsafe.Pointer) {
			for i, x := range unsafe.Slice((*complex64)(a), n) {
				unsafe.Slice((*float32)(d), n)[i] = magnitude(x)
			}
		})(len(a), pointer(d), pointer(a), nil, nil)
		for i, x := range a {
			if want := magnitude(x); want == want || d[i] == d[i] {
				require.Equal(t, want, d[i], "%v", x)
			}
		}
	})
}
