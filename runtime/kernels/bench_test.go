package kernels

import (
	"testing"

	"github.com/gohalo/halo/runtime"
)

// BenchmarkKernel times single kernels on one thread.
func BenchmarkKernel(b *testing.B) {
	for _, text := range []string{
		"s32[] add(s32[], s32[])",
		"f32[] reduce(f32[4096], f32[]), dimensions={0}, to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }",
		"f32[] reduce(f32[65536], f32[]), dimensions={0}, to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }",
		"f32[] reduce(f32[1024,4096], f32[]), dimensions={0,1}, to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }",
		"f32[4096] reduce(f32[1024,4096], f32[]), dimensions={0}, to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }",
		"f32[64] add(f32[64], f32[64])",
		"f32[1048576] add(f32[1048576], f32[1048576])",
		"f32[1048576] exponential(f32[1048576])",
		"f32[1048576] tanh(f32[1048576])",
		"bf16[1048576] add(bf16[1048576], bf16[1048576])",
		"f32[1048576] convert(bf16[1048576])",
		"f32[1024,1024] broadcast(f32[1024]), dimensions={1}",
		"f32[1024,1024] transpose(f32[1024,1024]), dimensions={1,0}",
		"f32[512,512] dot(f32[512,512], f32[512,512]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
		"f32[4096] dot(f32[1024], f32[1024,4096]), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
		"f32[1,56,56,64] convolution(f32[1,56,56,64], f32[3,3,64,64]), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
		"f32[] reduce(f32[1048576], f32[]), dimensions={0}, to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }",
		"f32[1024] reduce(f32[1024,1024], f32[]), dimensions={0}, to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }",
	} {
		b.Run(text[:min(len(text), 70)], func(b *testing.B) {
			benchmarkSite(b, text)
		})
	}
}

// benchmarkSite times one kernel on one thread.
func benchmarkSite(b *testing.B, text string) {
	s := siteOf(b, text)
	bound, ok := chooseFast(s)
	if !ok {
		b.Fatal("no fast kernel")
	}
	var ins, outs []*runtime.Buffer
	bytes := int64(0)
	for _, t := range s.b.In {
		x := t.NewBuffer()
		clear(x.Data) // else all of it may be one page of zeros
		ins = append(ins, &x)
		bytes += t.Bytes
	}
	for _, t := range s.b.Out {
		x := t.NewBuffer()
		outs = append(outs, &x)
		bytes += t.Bytes
	}
	f := runtime.NewTensorFrame(&runtime.ExecContext{}, ins, outs, runtime.AlignedBytes(bound.Scratch))
	b.SetBytes(bytes)
	b.ReportAllocs()
	for b.Loop() {
		if err := bound.Run(f); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMemcpy is what the machine can do at the moment, to compare the others with.
func BenchmarkMemcpy(b *testing.B) {
	src, dst := make([]byte, 4<<20), make([]byte, 4<<20)
	b.SetBytes(2 * int64(len(src)))
	for b.Loop() {
		copy(dst, src)
	}
}
