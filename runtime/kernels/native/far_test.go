package native

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime"
	"github.com/gohalo/halo/runtime/kernels/vec"
)

// TestFar compares what is stored past the caches with what is not, and asks when that is: where vectors of results begin with multiples of their size, and are not operands.
func TestFar(t *testing.T) {
	for _, level := range []vec.Level{vec.AVX2, vec.AVX512} {
		if level > vec.Best() {
			continue
		}
		restore := vec.Use(level)
		for _, typ := range []hlo.PrimitiveType{hlo.F32, hlo.F64, hlo.S16, hlo.BF16} {
			if typ == hlo.BF16 && level == vec.AVX2 {
				continue // too many instructions
			}
			for _, n := range []int{64, 100, 1024, 1023} {
				t.Run(fmt.Sprint(level, typ, n), func(t *testing.T) { testFar(t, typ, n) })
			}
		}
		restore()
	}
}

func testFar(t *testing.T, typ hlo.PrimitiveType, n int) {
	size := typ.ByteSize()
	code := func(far bool) *Code {
		b := NewBuilder()
		x := b.Input(size, false, Neighbours)
		if typ == hlo.BF16 { // which has stores of two vectors
			wide := b.Op(vec.Of(hlo.OpConvert, typ, hlo.F32), false, x)
			b.Store(b.Op(vec.Of(hlo.OpAdd, vec.Unsigned(hlo.F32)), false, wide, wide), vec.Of(hlo.OpConvert, hlo.F32, typ))
		} else {
			b.Store(b.Op(vec.Of(hlo.OpAdd, vec.Unsigned(typ)), false, x, x), vec.Name{})
		}
		if far {
			b.Far()
		}
		c, ok := b.Compile()
		require.True(t, ok)
		return c
	}
	far, near := code(true), code(false)
	require.NotZero(t, far.far.at)
	require.Zero(t, near.far.at)
	whole := n
	if !far.Masked {
		whole = n / far.Lanes * far.Lanes
	}
	in := runtime.AlignedBytes(int64(n*size + 64))
	for i := range in {
		in[i] = byte(i * 7)
	}
	run := func(c *Code, from int, out []byte, rows, each, apart int) bool {
		slots := []unsafe.Pointer{unsafe.Pointer(&in[from]), unsafe.Pointer(&out[0])}
		strides := []int64{int64(apart), int64(apart), 0, 0}
		takes := c.takesFar(1, rows, slots, strides)
		c.Run(1, rows, each, slots, strides, runtime.AlignedBytes(int64(c.Memory)))
		return takes
	}
	for _, at := range []int{0, size} { // where results begin
		got, want := runtime.AlignedBytes(int64(n*size+64)), runtime.AlignedBytes(int64(n*size+64))
		clear(got)
		clear(want)
		require.Equal(t, at == 0, run(far, size, got[at:], 1, whole, 0))
		require.False(t, run(near, size, want[at:], 1, whole, 0))
		require.Equal(t, want, got)
	}
	got := runtime.AlignedBytes(int64(n*size + 64))
	half := far.Lanes * max(1, n/far.Lanes/2)
	for _, apart := range []int{half * size, half*size - size} { // rows that may be apart by other distances
		rows := min(2, n/half)
		require.Equal(t, apart%slotBytes == 0 || rows == 1, run(far, 0, got, rows, half, apart))
	}
	require.False(t, run(far, 0, in, 1, whole, 0), "a result in the place of the operand")
}
