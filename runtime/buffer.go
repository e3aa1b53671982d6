package runtime

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/gohalo/halo/internal/pages"
)

// Buffer is a dense row-major array in memory. Data is exactly as long as the array: the product of Dims times the bytes
// of one element. Elements narrower than a byte take a byte each; a predicate is a byte 0 or 1. A token has no bytes.
type Buffer struct {
	Data []byte
	Type uint8 // element type code; opaque to this package
	Dims []int64
}

// NumElements returns the product of the dimensions.
func (b *Buffer) NumElements() int64 { return numElements(b.Dims) }

func (b Buffer) String() string {
	return fmt.Sprintf("type %d%v in %d bytes", b.Type, b.Dims, len(b.Data))
}

// TensorType is what is known of a buffer before it has memory.
type TensorType struct {
	Type  uint8
	Dims  []int64
	Bytes int64
}

// NumElements returns the product of the dimensions.
func (t *TensorType) NumElements() int64 { return numElements(t.Dims) }

// Equal reports whether two types are the same.
func (t *TensorType) Equal(o TensorType) bool {
	return t.Type == o.Type && t.Bytes == o.Bytes && slices.Equal(t.Dims, o.Dims)
}

func (t *TensorType) String() string {
	return fmt.Sprintf("type %d%v of %d bytes", t.Type, t.Dims, t.Bytes)
}

// NewBuffer returns a zeroed buffer of that type, aligned to BufferAlign.
func (t *TensorType) NewBuffer() Buffer {
	return Buffer{Data: AlignedBytes(t.Bytes), Type: t.Type, Dims: t.Dims}
}

func numElements(dims []int64) int64 {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	return n
}

// checkedElements is numElements for unchecked dimensions.
func checkedElements(dims []int64) (int64, error) {
	n := uint64(1)
	for _, d := range dims {
		if d < 0 {
			return 0, fmt.Errorf("negative dimension in %v", dims)
		}
		hi, lo := bits.Mul64(n, uint64(d))
		if hi != 0 || lo > math.MaxInt64 {
			return 0, fmt.Errorf("dimensions %v overflow", dims)
		}
		n = lo
	}
	return int64(n), nil
}

// AlignedBytes returns n zeroed bytes that start on a BufferAlign boundary.
func AlignedBytes(n int64) []byte { return pages.Bytes(n, BufferAlign) }

func dataAddress(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

func sameMemory(a, b []byte) bool { return unsafe.SliceData(a) == unsafe.SliceData(b) }

// naturalAlign is the alignment that a kernel may assume of memory from outside: that of one element, up to a word.
func naturalAlign(bytes, elements int64) uintptr {
	if elements == 0 {
		return 1
	}
	size := bytes / elements
	return uintptr(min(size&-size, 8))
}

func alignUp(n, align int64) int64 { return (n + align - 1) &^ (align - 1) }
