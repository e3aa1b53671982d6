package kernels

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
)

// TestVectorRuns has one worker and several compute a row times a matrix whose rows are longer than a run, and asks for the same bits as for a part of the columns alone.
func TestVectorRuns(t *testing.T) {
	const part = 300 // columns, the last ones
	for _, typ := range []string{"f32", "f64", "s32", "c64"} {
		whole := siteOf(t, replaceType("T[2,1,9000] dot(T[2,1,37], T[2,37,9000]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}", typ))
		some := siteOf(t, replaceType("T[2,1,300] dot(T[2,1,37], T[2,37,300]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}", typ))
		var args []*hlo.Literal
		for i := range 2 {
			args = append(args, kernelCase{}.operand(t, rand.New(rand.NewPCG(5, uint64(i))), whole.in.OperandInstr(i).Shape(), i))
		}
		size := int(whole.in.Shape().Type().ByteSize())
		rows := func(b []byte, rows, n int) (last []byte) {
			for r := range rows {
				last = append(last, b[((r+1)*n-part)*size:][:part*size]...)
			}
			return last
		}
		right, err := hlo.NewLiteral(some.in.OperandInstr(1).Shape(), rows(args[1].Bytes(), 2*37, 9000))
		require.NoError(t, err)
		bound, ok := chooseFast(some)
		require.True(t, ok)
		want := run(t, some, bound, []*hlo.Literal{args[0], right}, 1)[0].Data
		bound, ok = chooseFast(whole)
		require.True(t, ok)
		for workers := 1; workers <= 5; workers++ {
			require.Equal(t, want, rows(run(t, whole, bound, args, workers)[0].Data, 2, 9000), "%s by %d workers", typ, workers)
		}
	}
}
