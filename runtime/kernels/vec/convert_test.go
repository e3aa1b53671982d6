package vec

import (
	"math"
	"testing"

	"github.com/gohalo/halo/internal/minifloat"
)

func convert[D, A Number](t *testing.T, name string, f func(a A) D) {
	t.Helper()
	check(t, "convert."+name, 1, func(a, _, _ A) D { return f(a) })
}

// goes is Go's conversion.
func goes[D, A Number](x A) D { return D(x) }

func TestConvert(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		convert(t, "bf16.f32", minifloat.BF16ToFloat32)
		convert(t, "f32.bf16", minifloat.BF16FromFloat32)
		convert(t, "f16.f32", minifloat.F16ToFloat32)
		convert(t, "f32.f16", minifloat.F16FromFloat32)
		unary(t, "round.bf16", func(x float32) float32 { return minifloat.BF16ToFloat32(minifloat.BF16FromFloat32(x)) })
		unary(t, "round.f16", func(x float32) float32 { return minifloat.F16ToFloat32(minifloat.F16FromFloat32(x)) })
		for name, f := range map[string]func(a, b float32) float32{
			"add":      func(a, b float32) float32 { return a + b },
			"subtract": func(a, b float32) float32 { return a - b },
			"multiply": func(a, b float32) float32 { return a * b },
			"divide":   func(a, b float32) float32 { return a / b },
		} {
			binary(t, name+".round.bf16", func(a, b float32) float32 { return minifloat.BF16ToFloat32(minifloat.BF16FromFloat32(f(a, b))) })
		}
		convert(t, "s8.i32", goes[int32, int8])
		convert(t, "u8.i32", goes[int32, uint8])
		convert(t, "s16.i32", goes[int32, int16])
		convert(t, "u16.i32", goes[int32, uint16])
		convert(t, "s8.f32", goes[float32, int8])
		convert(t, "u8.f32", goes[float32, uint8])
		convert(t, "s16.f32", goes[float32, int16])
		convert(t, "u16.f32", goes[float32, uint16])
		convert(t, "s32.i64", goes[int64, int32])
		convert(t, "u32.i64", goes[int64, uint32])
		convert(t, "i32.i8", goes[int8, int32])
		convert(t, "i32.i16", goes[int16, int32])
		convert(t, "i64.i32", goes[int32, int64])
		convert(t, "s32.f32", goes[float32, int32])
		convert(t, "u32.f32", goes[float32, uint32])
		convert(t, "s32.f64", goes[float64, int32])
		convert(t, "s64.f64", goes[float64, int64])
		convert(t, "f32.f64", goes[float64, float32])
		convert(t, "f64.f32", goes[float32, float64])
		convert(t, "f32.s32", func(x float32) int32 {
			switch {
			case x != x:
				return 0
			case x >= 1<<31:
				return math.MaxInt32
			case x < -1<<31:
				return math.MinInt32
			}
			return int32(x)
		})
	})
}
