package kernels

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
)

// TestProductColumns has one worker and several compute products of columns that do and do not come out even, and asks for the same bits. Some have right sides of which
// workers share the columns where they are.
func TestProductColumns(t *testing.T) {
	for _, size := range [][3]int{{300, 700, 900}, {129, 65, 2500}, {512, 512, 512}, {97, 257, 193}, {37, 530, 1030}, {45, 60, 700}} {
		for _, typ := range []string{"f32", "f64", "bf16"} {
			text := fmt.Sprintf("%[4]s[%[1]d,%[3]d] dot(%[4]s[%[1]d,%[2]d], %[4]s[%[2]d,%[3]d]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
				size[0], size[1], size[2], typ)
			s := siteOf(t, text)
			bound, ok := chooseFast(s)
			require.True(t, ok)
			var args []*hlo.Literal
			for i := range 2 {
				args = append(args, kernelCase{}.operand(t, rand.New(rand.NewPCG(5, uint64(i))), s.in.OperandInstr(i).Shape(), i))
			}
			want := run(t, s, bound, args, 1)[0].Data
			for workers := 2; workers <= 5; workers++ {
				require.Equal(t, want, run(t, s, bound, args, workers)[0].Data, "%s by %d workers", text, workers)
			}
		}
	}
}
