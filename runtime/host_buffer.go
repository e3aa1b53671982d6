package runtime

import (
	"sync/atomic"

	"github.com/gohalo/halo/runtime/async"
)

// HostBuffer is tensor memory with a count: the payload of values whose life ends with their last use, not with an
// execution. It implements async.Counted. The last reference gives the memory back to where it came from.
type HostBuffer struct {
	data     []byte
	memory   []byte // what was allocated
	refs     atomic.Int32
	allocate HostAllocator
	release  func()
	parent   *HostBuffer
}

// hostBufferHeader is what a buffer takes from its allocator besides its size: in TFRT, whose accounts are part of the
// contract, header and bytes are one allocation.
const hostBufferHeader = 64

// NewHostBuffer returns a buffer of size bytes with undefined contents and one reference.
func NewHostBuffer(a HostAllocator, size, align int64) (*HostBuffer, error) {
	if size < 0 || size > maxAllocation {
		return nil, async.Errorf(async.ResourceExhausted, "cannot allocate %d bytes", size)
	}
	memory, err := a.Allocate(size+hostBufferHeader, align)
	if err != nil {
		return nil, err
	}
	b := &HostBuffer{data: memory[:size:size], memory: memory, allocate: a}
	b.refs.Store(1)
	return b, nil
}

// NewExternalBuffer returns a buffer over the caller's memory, with one reference. release, which may be nil, is called
// when the last reference goes.
func NewExternalBuffer(data []byte, release func()) *HostBuffer {
	b := &HostBuffer{data: data, release: release}
	b.refs.Store(1)
	return b
}

// Slice returns a buffer over size bytes of b from offset, with one reference. It keeps b alive.
func (b *HostBuffer) Slice(offset, size int64) *HostBuffer {
	b.AddRef()
	s := &HostBuffer{data: b.data[offset : offset+size : offset+size], parent: b}
	s.refs.Store(1)
	return s
}

// Data returns the bytes. They may be written only by a holder for whom IsExclusiveOwner is true.
func (b *HostBuffer) Data() []byte { return b.data }

// AddRef takes a reference.
func (b *HostBuffer) AddRef() { b.refs.Add(1) }

// DropRef gives a reference back. It panics if there was none.
func (b *HostBuffer) DropRef() {
	switch n := b.refs.Add(-1); {
	case n > 0:
		return
	case n < 0:
		panic("runtime: DropRef of a released host buffer")
	}
	memory := b.memory
	b.data, b.memory = nil, nil
	switch {
	case b.parent != nil:
		b.parent.DropRef()
	case b.allocate != nil:
		b.allocate.Deallocate(memory)
	case b.release != nil:
		b.release()
	}
}

// IsExclusiveOwner reports whether the caller's reference is the only way to the memory: a slice answers for its parent
// too, and external memory is never exclusive.
func (b *HostBuffer) IsExclusiveOwner() bool {
	if b.refs.Load() != 1 {
		return false
	}
	if b.parent != nil {
		return b.parent.IsExclusiveOwner()
	}
	return b.allocate != nil
}
