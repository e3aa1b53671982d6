package tile

import (
	"encoding/binary"
	"testing"

	"github.com/gohalo/halo/hlo"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
	"github.com/stretchr/testify/require"
)

// TestQuotients divides all numbers of bf16 by all, or by some: one divisor for each row.
func TestQuotients(t *testing.T) {
	const all = 1 << 16
	divisors := make([]byte, 0, 4*all)
	for i := uint64(0); i < all; i += min(*stride, 97) {
		divisors = binary.LittleEndian.AppendUint32(divisors, uint32(i)<<16)
	}
	numbers := make([]byte, 0, 2*all)
	for i := range all {
		numbers = binary.LittleEndian.AppendUint16(numbers, uint16(i))
	}
	rows := int64(len(divisors) / 4)
	for _, level := range []vectors.Level{vectors.AVX512, vectors.AVX2} {
		if vectors.Best() < level {
			continue
		}
		t.Run(level.String(), func(t *testing.T) {
			defer vectors.Use(level)()
			program := func() *Program {
				b := NewBuilder(Space{[]int64{rows, all}})
				x := b.Input(0, hlo.BF16, View{Strides: []int64{0, 1}})
				v, ok := b.Op(instruction(t, "bf16[1] divide(bf16[1], bf16[1])"), x, b.Held(1, hlo.BF16, View{Strides: []int64{1, 0}}))
				require.True(t, ok)
				b.Store(0, v)
				p, ok := b.Build()
				require.True(t, ok)
				return p
			}
			byCode, bySteps := program(), program()
			byCode.native.work.Store(payingWork)
			const some = 16 // rows at a time
			want, got := make([]byte, 2*all*some), make([]byte, 2*all*some)
			for lo := int64(0); lo < rows; lo += some {
				n := min(some, rows-lo)
				in := [][]byte{numbers, divisors[4*lo:]}
				withSteps(bySteps, 0, int(n)*all, &raw{in, [][]byte{want}})
				byCode.Run(0, int(n)*all, &raw{in, [][]byte{got}})
				require.Equal(t, want[:2*all*n], got[:2*all*n], "divisors from %x", divisors[4*lo:4*lo+4])
			}
			c := byCode.native.code.Load()
			require.NotNil(t, c.Code)
		})
	}
}
