package tile

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/gohalo/halo/runtime/kernels/native"
	vectors "github.com/gohalo/halo/runtime/kernels/vec"
	"github.com/stretchr/testify/require"
)

// TestCodeCallsUnderflow holds one call of machine code, on the same memory again and again, to the bits of the steps, with denormals in some stretches, which move,
// and then without.
func TestCodeCallsUnderflow(t *testing.T) {
	defer native.Assist()()
	defer CodeAtOnce()()
	for _, dims := range [][]int64{{304}, {1001}, {40, 96}, {64, 3, 32}} {
		n := int(productOf(dims))
		p, judge := underflowing(t, dims, false), underflowing(t, dims, false)
		judge.native.once.Do(func() {})
		judge.native.code.Store(&nativeSteps{})
		calls, room, ok := p.CodeCalls()
		if !ok {
			require.NotEqual(t, vectors.AVX512, vectors.InUse(), "%v", dims)
			continue // without masks, or without machine code
		}
		require.Len(t, calls, 1)
		got := &raw{out: [][]byte{make([]byte, 4*n), make([]byte, 4*n)}}
		memory := make([]byte, room)
		r := rand.New(rand.NewPCG(uint64(n), 1))
		met := false
		for run := range 9 {
			in := partlyDenormal(r, n, run%4 > 1)
			if got.in == nil {
				got.in = in
			}
			for i := range in {
				copy(got.in[i], in[i])
			}
			c := &calls[0]
			table := make([]unsafe.Pointer, len(c.D.Table))
			for i, at := range c.D.Table {
				switch at.Kind {
				case InInput:
					table[i] = unsafe.Pointer(&got.in[at.Index][at.Offset])
				case InOutput:
					table[i] = unsafe.Pointer(&got.out[at.Index][at.Offset])
				case InRegister:
					table[i] = unsafe.Pointer(&memory[at.Offset])
				}
			}
			c.Loop(c.N, unsafe.Pointer(&table[0]), nil, nil, nil)
			want := &raw{in: in, out: [][]byte{make([]byte, 4*n), make([]byte, 4*n)}}
			judge.Run(0, n, want)
			require.Equal(t, want.out, got.out, "%v run %d", dims, run)
			met = met || p.native.code.Load().Underflows()
		}
		require.True(t, met)
	}
}
