package gemm

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/cpu"
)

// TestVectorKernels compares the kernels that this processor has but For does not pick.
func TestVectorKernels(t *testing.T) {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		t.Skip("no AVX2")
	}
	kernels32 := []Kernel[float32]{placed(newKernel(6, 16, f32AVX2, f32AVX2Packing, f32AVX2OnRows), f32AVX2InPlace), newKernel(4, 16, f32AVX2Few, f32AVX2FewPacking, f32AVX2FewOnRows)}
	kernels64 := []Kernel[float64]{placed(newKernel(6, 8, f64AVX2, f64AVX2Packing, f64AVX2OnRows), f64AVX2InPlace), newKernel(4, 8, f64AVX2Few, f64AVX2FewPacking, f64AVX2FewOnRows)}
	a, b := make([]float32, 31*70), make([]float32, 70*112)
	for i := range a {
		a[i] = float32(i%7) - 3
	}
	for i := range b {
		b[i] = float32(i%5) - 2
	}
	if cpu.X86.HasAVX512F {
		kernels32 = append(kernels32, anywhere(broad(placed(newKernel(8, 32, f32AVX512Few, f32AVX512FewPacking, f32AVX512FewOnRows), f32AVX512InPlace), f32AVX512FewOnBroad, f32AVX512FewOnHalf), narrow32))
		kernels64 = append(kernels64, anywhere(broad(placed(newKernel(8, 16, f64AVX512Few, f64AVX512FewPacking, f64AVX512FewOnRows), f64AVX512InPlace), f64AVX512FewOnBroad, f64AVX512FewOnHalf), narrow64))
	}
	for _, n := range []int{112, 80, 50, 48, 45, 32, 31, 17, 16, 9, 8, 1} {
		want := multiply(portable[float32](), 31, n, 70, a, b)
		for _, g := range kernels32 {
			for _, m := range []int{1, g.MR/2 - 1, g.MR / 2, g.MR, 31} {
				require.Equal(t, want[:m*n], multiply(g, m, n, 70, a, b))
			}
		}
	}
	x, y := make([]float64, len(a)), make([]float64, len(b))
	for i, v := range a {
		x[i] = float64(v)
	}
	for i, v := range b {
		y[i] = float64(v)
	}
	for _, g := range kernels64 {
		for _, m := range []int{1, g.MR/2 - 1, g.MR / 2, g.MR, 31} {
			for _, n := range []int{56, 40, 24, 45, 16, 9, 8, 1} {
				require.Equal(t, multiply(portable[float64](), m, n, 70, x, y), multiply(g, m, n, 70, x, y))
			}
		}
	}
	p, q := make([]int32, len(a)), make([]int32, len(b))
	for i := range p {
		p[i] = Pair(int16(i*7919), int16(i*104729))
	}
	for i := range q {
		q[i] = Pair(int16(i*15485863), int16(i*31))
	}
	integers := newKernel(6, 16, i32AVX2, i32AVX2Packing, i32AVX2OnRows)
	for _, m := range []int{6, 31} {
		require.Equal(t, multiply(portable[int32](), m, 45, 70, p, q), multiply(integers, m, 45, 70, p, q))
	}
	pairs := newKernel(6, 16, pairsAVX2, pairsAVX2Packing, pairsAVX2OnRows)
	for _, m := range []int{6, 31} {
		require.Equal(t, multiply(portablePairs(), m, 45, 70, p, q), multiply(pairs, m, 45, 70, p, q))
	}
}
