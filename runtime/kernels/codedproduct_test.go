package kernels

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/gemm"
	"github.com/gohalo/halo/runtime/kernels/native"
	"github.com/gohalo/halo/runtime/kernels/vec"
	"github.com/gohalo/halo/runtime/workqueue"
)

// TestCodedProducts runs products until they are machine code, which gives the bits that the kernel gave.
func TestCodedProducts(t *testing.T) {
	for level := vec.AVX2; level <= vec.Best(); level++ {
		restore := vec.Use(level)
		for _, c := range []string{
			"T[3,5] dot(T[3,4], T[4,5]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
			"T[4,96] dot(T[4,24], T[24,96]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
			"T[4,3] dot(T[60,4], T[60,3]), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
			"T[10,32] dot(T[10,7], T[32,7]), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
			"T[33,17] dot(T[19,33], T[17,19]), lhs_contracting_dims={0}, rhs_contracting_dims={1}",
			"T[65,16] dot(T[65,1], T[1,16]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
			"T[2,100] dot(T[2,256], T[256,100]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
			"T[3,9,13] dot(T[3,9,11], T[3,11,13]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
			"T[4,10,9] dot(T[10,4,8], T[9,4,8]), lhs_batch_dims={1}, rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={2}",
			"T[5,6,12] dot(T[5,6,8], T[8,12]), lhs_contracting_dims={2}, rhs_contracting_dims={0}",
		} {
			checkCoded[float32](t, replaceType(c, "f32"), hlo.F32)
			checkCoded[float64](t, replaceType(c, "f64"), hlo.F64)
		}
		restore()
	}
	if vec.Best() == vec.AVX512 {
		for _, c := range []string{ // in strips, the last of which may be shorter
			"T[1500,33] dot(T[1500,40], T[40,33]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
			"T[1260,16] dot(T[64,1260], T[64,16]), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
			"T[2,900,16] dot(T[2,900,64], T[2,64,16]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
		} {
			checkCoded[float32](t, replaceType(c, "f32"), hlo.F32)
			checkCoded[float64](t, replaceType(c, "f64"), hlo.F64)
		}
	}
}

func checkCoded[T gemm.Number](t *testing.T, text string, typ hlo.PrimitiveType) {
	t.Helper()
	s := siteOf(t, text)
	p := newDot[T](s)
	bound, ok := p.bind(s, typ)
	require.True(t, ok, text)
	require.NotNil(t, p.code, text)
	rng := rand.New(rand.NewPCG(1, 2))
	buffers := make([]runtime.Buffer, 3)
	for i, shape := range []hlo.Shape{s.shape(0), s.shape(1), s.in.Shape()} {
		buffers[i] = runtime.Buffer{Data: runtime.AlignedBytes(shape.ByteSize()), Type: uint8(typ), Dims: shape.Dimensions()}
		v := make([]float64, shape.NumElements())
		for k := range v {
			v[k] = rng.NormFloat64()
		}
		encode(buffers[i].Data, typ, v)
	}
	queue := workqueue.NewMulti(workqueue.Config{Workers: 2})
	defer queue.Close()
	f := runtime.NewTensorFrame(&runtime.ExecContext{Queue: queue}, []*runtime.Buffer{&buffers[0], &buffers[1]}, []*runtime.Buffer{&buffers[2]}, runtime.AlignedBytes(bound.Scratch))
	require.NoError(t, bound.Run(f))
	want := slices.Clone(buffers[2].Data)
	for range payingCalls + 1 {
		clear(buffers[2].Data)
		require.NoError(t, bound.Run(f))
		require.Equal(t, want, buffers[2].Data, text)
	}
	lanes := map[vec.Level]int{vec.AVX2: 32, vec.AVX512: 64}[vec.InUse()] / (int(typ.Bits()) / 8)
	if _, can := (&native.Product{M: 1, N: 32, K: 1, RightRow: 256}).Compile(); can && (p.n >= lanes || vec.InUse() == vec.AVX512) {
		require.NotNil(t, p.code.code.Load(), text)
	}
}
