package kernels

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/vec"
	"github.com/gohalo/halo/runtime/workqueue"
)

// TestKeptProducts prepares products, takes their right side away, and asks for the bits that they have otherwise: right sides as rows and transposed, of several blocks
// and steps, with and without part of a panel, and in batches.
func TestKeptProducts(t *testing.T) {
	for level := vec.Portable; level <= vec.Best(); level++ {
		restore := vec.Use(level)
		for _, c := range []string{
			"T[8,256] dot(T[8,256], T[256,256]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
			"T[8,256] dot(T[8,256], T[256,256]), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
			"T[3,512] dot(T[3,300], T[300,512]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
			"T[21,1100] dot(T[21,530], T[530,1100]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
			"T[40,333] dot(T[17,40], T[333,17]), lhs_contracting_dims={0}, rhs_contracting_dims={1}",
			"T[2,9,130] dot(T[2,9,300], T[2,300,130]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
		} {
			for _, typ := range []string{"f32", "f64", "s32"} {
				checkKept(t, level, replaceType(c, typ))
			}
		}
		restore()
	}
}

func checkKept(t *testing.T, level vec.Level, text string) {
	t.Helper()
	s := siteOf(t, text)
	bound, ok := chooseFast(s)
	require.True(t, ok, text)
	if bound.Prepare == nil {
		require.Greater(t, vec.Best(), vec.AVX2, "%s is not prepared at level %v", text, level) // whose kernels have other panels
		return
	}
	require.Equal(t, 1, bound.Prepare.In)
	var args []*hlo.Literal
	for i := range 2 {
		args = append(args, kernelCase{}.operand(t, rand.New(rand.NewPCG(7, uint64(i))), s.in.OperandInstr(i).Shape(), i))
	}
	want := run(t, s, bound, args, 1)[0].Data
	for workers := 1; workers <= 3; workers++ {
		kept := bound
		kept.Run = func(f *runtime.TensorFrame) error {
			bound.Prepare.Prepare(f)
			right := f.In(1).Data
			defer copy(right, append([]byte(nil), right...))
			clear(right)
			for range 2 {
				clear(f.Out(0).Data)
				if err := bound.Run(f); err != nil {
					return err
				}
			}
			return nil
		}
		require.Equal(t, want, run(t, s, kept, args, workers)[0].Data, "%s by %d workers at level %v", text, workers, level)
	}
}

// TestPreparedProducts names products that are prepared, and such as are not: vectors, small ones, those of many rows, and what comes from memory in any case.
func TestPreparedProducts(t *testing.T) {
	if vec.Best() != vec.AVX2 {
		t.Skip("other kernels read rows as fast, or cannot")
	}
	for _, c := range []struct {
		m, k, n int
		is      bool
	}{{8, 256, 256, true}, {2, 512, 512, true}, {64, 256, 256, true}, {1, 256, 256, false}, {65, 256, 256, false}, {2, 2, 2, false}, {8, 2048, 2048, false}, {2, 256, 100, false}} {
		s := siteOf(t, fmt.Sprintf("f32[%[1]d,%[3]d] dot(f32[%[1]d,%[2]d], f32[%[2]d,%[3]d]), lhs_contracting_dims={1}, rhs_contracting_dims={0}", c.m, c.k, c.n))
		bound, ok := chooseFast(s)
		require.True(t, ok)
		require.Equal(t, c.is, bound.Prepare != nil, "%v", c)
	}
}

// BenchmarkKeptProducts multiplies a few rows, as a step of a recurrent network does, with weights that are rows in memory and with kept ones.
func BenchmarkKeptProducts(b *testing.B) {
	for _, m := range []int{2, 4, 8, 32} {
		for _, kept := range []string{"rows", "kept"} {
			b.Run(fmt.Sprintf("m=%d/%s", m, kept), func(b *testing.B) {
				s := siteOf(b, fmt.Sprintf("f32[%[1]d,256] dot(f32[%[1]d,256], f32[256,256]), lhs_contracting_dims={1}, rhs_contracting_dims={0}", m))
				bound, ok := chooseFast(s)
				require.True(b, ok)
				var ins []*runtime.Buffer
				for _, t := range s.b.In {
					x := t.NewBuffer()
					ins = append(ins, &x)
				}
				out := s.b.Out[0].NewBuffer()
				queue := workqueue.NewMulti(workqueue.Config{Workers: 1})
				defer queue.Close()
				f := runtime.NewTensorFrame(&runtime.ExecContext{Queue: queue}, ins, []*runtime.Buffer{&out}, runtime.AlignedBytes(bound.Scratch))
				if kept == "kept" && bound.Prepare != nil {
					bound.Prepare.Prepare(f)
				}
				b.ReportAllocs()
				for b.Loop() {
					require.NoError(b, bound.Run(f))
				}
			})
		}
	}
}
