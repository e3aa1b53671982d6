package kernels

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/kernels/gemm"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// TestSumsAside has products whose rows are whole pages apart, with and without part of a page more, and less than a panel of rows at the end.
func TestSumsAside(t *testing.T) {
	for level := vec.Portable; level <= vec.Best(); level++ {
		restore := vec.Use(level)
		for _, c := range []string{
			"T[20,1024] dot(T[20,260], T[1024,260]), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
			"T[2,9,2048] dot(T[2,9,300], T[2,2048,300]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}",
		} {
			checkAside[float32](t, level, replaceType(c, "f32"), hlo.F32)
			checkAside[float64](t, level, replaceType(c, "f64"), hlo.F64)
		}
		restore()
	}
}

func checkAside[T gemm.Number](t *testing.T, level vec.Level, text string, typ hlo.PrimitiveType) {
	t.Helper()
	s := siteOf(t, text)
	p := newDot[T](s)
	_, ok := p.bind(s, typ)
	require.True(t, ok, text)
	aside := level < vec.AVX512 && p.placed == nil
	require.Equal(t, aside, p.sumsApart > 0, text)
	if aside {
		require.NotZero(t, p.sumsApart*sizeOf(*new(T))%page, text)
	}
	kernelCase{text: text, small: true, tol: 1e-5}.check(t)
}
