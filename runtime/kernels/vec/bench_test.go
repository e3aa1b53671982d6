package vec

import (
	"strings"
	"testing"
	"unsafe"
)

// BenchmarkLoop times loops on tiles that fit the nearest cache; copy is what there is to compare with.
func BenchmarkLoop(b *testing.B) {
	const n = 1024
	x, y, z, d := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range x {
		x[i], y[i], z[i] = float32(i%17)/4+1, float32(i%5)+1, 3
	}
	run := func(name string, loop Loop) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(4 * n)
			b.ReportAllocs()
			for b.Loop() {
				loop(n, pointer(d), pointer(x), pointer(y), pointer(z))
			}
		})
	}
	run("copy", func(n int, d, a, _, _ unsafe.Pointer) {
		copy(unsafe.Slice((*float32)(d), n), unsafe.Slice((*float32)(a), n))
	})
	names := "add.f32 divide.f32 maximum.f32 sqrt.f32 rsqrt.f32 lt-compare.f32 select.u32 clamp.f32 exponential.f32 log.f32 tanh.f32 logistic.f32 " +
		"erf.f32 convert.bf16.f32 convert.f32.bf16 round-convert.f32.bf16 broadcast.u32 fold-add.f32 fold-maximum.f32 multiply.u32"
	for l := AVX2; l <= Best(); l++ {
		restore := Use(l)
		for _, name := range strings.Fields(names) {
			run(l.String()+"/"+name, Find(named(name), func(int, unsafe.Pointer, unsafe.Pointer, unsafe.Pointer, unsafe.Pointer) {}))
		}
		restore()
	}
}
