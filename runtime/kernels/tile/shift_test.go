package tile

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gohalo/halo/hlo"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
	"github.com/stretchr/testify/require"
)

// shiftedProgram shifts its input by a constant and changes it once more, as a single op would stay a loop.
func shiftedProgram(t *testing.T, typ hlo.PrimitiveType, op string, by uint64, n int) *Program {
	c := &chain{t: t, b: NewBuilder(Space{[]int64{int64(n)}})}
	x := c.b.Input(0, typ, c.b.space.RowMajor())
	var v Value
	if op == "rotate" {
		v = c.b.Rotate(x, int(by))
	} else {
		amount := c.b.Constant(typ, binary.LittleEndian.AppendUint64(nil, by))
		var ok bool
		v, ok = c.op(fmt.Sprintf("%s[1] %s(%[1]s[1], %[1]s[1])", typ, op), x, amount)
		require.True(t, ok)
	}
	v, ok := c.op(fmt.Sprintf("%s[1] xor(%[1]s[1], %[1]s[1])", typ), v, x)
	require.True(t, ok)
	c.b.Store(0, v)
	p, ok := c.b.Build()
	require.True(t, ok)
	return p
}

// TestNativeShifts by every constant, and by more places than there are.
func TestNativeShifts(t *testing.T) {
	const n = 96
	for _, level := range []vectors.Level{vectors.AVX512, vectors.AVX2} {
		if vectors.Best() < level {
			continue
		}
		restore := vectors.Use(level)
		for _, typ := range []hlo.PrimitiveType{hlo.U32, hlo.S32, hlo.U64, hlo.S64} {
			for _, op := range []string{"shift-left", "shift-right-logical", "shift-right-arithmetic", "rotate"} {
				for by := range uint64(typ.Bits()) + 2 {
					in := randomBytes(rand.New(rand.NewPCG(by, 1)), typ, n)
					var got [2][]byte
					for i := range got {
						p := shiftedProgram(t, typ, op, by, n)
						data := &raw{in: [][]byte{in}, out: [][]byte{make([]byte, len(in))}}
						if i == 0 {
							withSteps(p, 0, n, data)
						} else {
							p.native.work.Store(payingWork)
							p.Run(0, n, data)
						}
						got[i] = data.out[0]
					}
					require.Equal(t, got[0], got[1], "%v: %v %s by %d", level, typ, op, by)
				}
			}
		}
		restore()
	}
}
