package vec

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
)

// TestPick has indices inside and outside of an array, single ones and pairs.
func TestPick(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	const n = 48
	src := make([]uint32, 70)
	for i := range src {
		src[i] = rng.Uint32()
	}
	for axes, mode := range map[int]Mode{1: Picking, 2: PickingByPairs} {
		loop := Find(Of(hlo.OpGather, hlo.U32).In(mode), nil)
		if loop == nil {
			t.Skip("no loop for this processor")
		}
		highest, strides := [][]int32{1: {69}, 2: {6, 9}}[axes], [][]int32{1: {1}, 2: {10, 1}}[axes]
		var table [32]int32
		for i := range 16 {
			table[i], table[16+i] = highest[i%axes], strides[i%axes]
		}
		indices, want, got := make([]int32, n*axes), make([]uint32, n), make([]uint32, n)
		for i := range want {
			at := int32(0)
			for c := range axes {
				v := rng.Int32N(100) - 20
				if rng.IntN(5) == 0 {
					v = int32(rng.Uint32())
				}
				indices[i*axes+c] = v
				at += max(0, min(v, highest[c])) * strides[c]
			}
			want[i] = src[at]
		}
		loop(n, unsafe.Pointer(&got[0]), unsafe.Pointer(&src[0]), unsafe.Pointer(&indices[0]), unsafe.Pointer(&table[0]))
		require.Equal(t, want, got)
	}
}

// TestTake has elements of all widths at any offset, the last ones of the array among them, and any number of them.
func TestTake(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for _, width := range []int{1, 2, 4} {
		loop := Find(Of(hlo.OpGather, Sized(width)).In(Taking), nil)
		if loop == nil {
			t.Skip("no loop for this processor")
		}
		for _, elements := range []int{4, 5, 70} {
			src := make([]byte, elements*width)
			for i := range src {
				src[i] = byte(rng.Uint32())
			}
			last := int32(len(src) - 4)
			for n := range 40 {
				offsets, want, got := make([]int32, n+1), make([]byte, n*width), make([]byte, (n+1)*width)
				for i := range n {
					offsets[i] = rng.Int32N(int32(elements))
					copy(want[i*width:][:width], src[int(offsets[i])*width:])
				}
				loop(n, unsafe.Pointer(&got[0]), unsafe.Pointer(&src[0]), unsafe.Pointer(&offsets[0]), unsafe.Pointer(&last))
				require.Equal(t, append(want, make([]byte, width)...), got, "%d of %d elements of %d bytes", n, elements, width)
			}
		}
	}
}
