package vec

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestFindEvery takes elements that lie apart, and reads no further than to where the next would be.
func TestFindEvery(t *testing.T) {
	for level := Portable; level <= Best(); level++ {
		restore := Use(level)
		for _, width := range []int{1, 2, 4, 8, 16} {
			for stride := 1; stride <= 9; stride++ {
				loop := FindEvery(width, stride)
				for _, n := range []int{1, 15, 16, 31, 32, 77, 130} {
					if loop == nil {
						break
					}
					src, want, got := make([]byte, n*stride*width), []byte{}, make([]byte, n*width+1)
					for i := range src {
						src[i] = byte(i*7 + i/256)
					}
					for i := range n {
						want = append(want, src[i*stride*width:][:width]...)
					}
					loop(n, unsafe.Pointer(&got[0]), unsafe.Pointer(&src[0]), nil, nil)
					require.Equal(t, append(want, 0), got, "%v: %d bytes, every %d of %d", level, width, stride, n)
				}
			}
		}
		restore()
	}
}
