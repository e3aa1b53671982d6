package minifloat

import "testing"

func BenchmarkSlices(b *testing.B) {
	const n = 4096
	wide, half, bytes := make([]float32, n), make([]uint16, n), make([]byte, n)
	for i := range wide {
		wide[i] = float32(i-n/2) / 64
	}
	for _, bench := range []struct {
		name string
		run  func()
	}{
		{"NarrowF16", func() { NarrowF16(half, wide) }},
		{"WidenF16", func() { WidenF16(wide, half) }},
		{"NarrowBF16", func() { NarrowBF16(half, wide) }},
		{"WidenBF16", func() { WidenBF16(wide, half) }},
		{"NarrowBytes/f8e4m3fn", func() { F8E4M3FN.NarrowBytes(bytes, wide) }},
		{"WidenBytes/f8e4m3fn", func() { F8E4M3FN.WidenBytes(wide, bytes) }},
		{"Pack/4", func() { pack(half8, bytes, 4) }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(n * 4)
			for b.Loop() {
				bench.run()
			}
		})
	}
}

var half8 = make([]byte, 4096)
