package async

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// ConcurrentVector is an append-only list that is read without locks: for
// tables that grow while the program runs and are consulted on hot paths. The
// zero ConcurrentVector is empty and ready for use; it must not be copied.
type ConcurrentVector[T any] struct {
	// Chunk k holds 8<<k elements and never moves, so that elements may be
	// read, and pointed to, while others are appended.
	chunks [56]atomic.Pointer[[]T]
	size   atomic.Int64
	mu     sync.Mutex // writers
}

const firstChunkBits = 3

// Append adds x and returns its index.
func (v *ConcurrentVector[T]) Append(x T) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	i := int(v.size.Load())
	k, at := locate(i)
	chunk := v.chunks[k].Load()
	if chunk == nil {
		s := make([]T, 1<<(k+firstChunkBits))
		chunk = &s
		v.chunks[k].Store(chunk)
	}
	(*chunk)[at] = x
	v.size.Store(int64(i) + 1) // from here on readers may see x
	return i
}

// Len returns the number of elements.
func (v *ConcurrentVector[T]) Len() int { return int(v.size.Load()) }

// At returns the element at i, which must be less than a Len seen before.
// What it points to may be read at any time.
func (v *ConcurrentVector[T]) At(i int) *T {
	if i < 0 || i >= v.Len() {
		panic("async: index out of the vector's range")
	}
	k, at := locate(i)
	return &(*v.chunks[k].Load())[at]
}

// locate returns the chunk of element i and the place in it.
func locate(i int) (chunk, at int) {
	j := uint(i) + 1<<firstChunkBits
	top := bits.Len(j) - 1
	return top - firstChunkBits, int(j - 1<<top)
}
