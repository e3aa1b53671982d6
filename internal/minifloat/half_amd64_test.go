package minifloat

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVector holds the assembly to the plain forms, bit for bit: all codes, a stride of all float32,
// every length up to some vectors, and longer than one run.
func TestVector(t *testing.T) {
	if !hasVector {
		t.Skip("no AVX2 and F16C")
	}
	const n = vectorRun + 1000
	codes, narrow := make([]uint16, n), make([]uint16, n)
	wide := make([]float32, n)
	for i := range codes {
		codes[i] = uint16(i)
	}
	WidenF16(wide, codes)
	for i, code := range codes {
		if math.Float32bits(wide[i]) != math.Float32bits(F16ToFloat32(code)) {
			require.Equal(t, F16ToFloat32(code), wide[i], "f16 %#x", code)
		}
	}
	WidenBF16(wide, codes)
	for i, code := range codes {
		if math.Float32bits(wide[i]) != math.Float32bits(BF16ToFloat32(code)) {
			require.Equal(t, BF16ToFloat32(code), wide[i], "bf16 %#x", code)
		}
	}
	for bits := uint64(0); bits < 1<<32; {
		for i := range wide {
			wide[i] = math.Float32frombits(uint32(bits))
			bits += 1021
		}
		NarrowF16(narrow, wide)
		for i, x := range wide {
			if narrow[i] != F16FromFloat32(x) {
				require.Equal(t, F16FromFloat32(x), narrow[i], "f16 of %#x", math.Float32bits(x))
			}
		}
		NarrowBF16(narrow, wide)
		for i, x := range wide {
			if narrow[i] != BF16FromFloat32(x) {
				require.Equal(t, BF16FromFloat32(x), narrow[i], "bf16 of %#x", math.Float32bits(x))
			}
		}
	}
	for length := range 40 {
		out := make([]float32, length+1)
		WidenF16(out, codes[15360:15360+length])
		require.Equal(t, length == 0, out[0] == 0)
		require.Zero(t, out[length], "nothing is written behind the end")
		back := make([]uint16, length+1)
		NarrowBF16(back, out[:length])
		require.Zero(t, back[length], "nothing is written behind the end")
	}
}
