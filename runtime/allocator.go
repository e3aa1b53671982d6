package runtime

import (
	"fmt"
	"io"
	"math/bits"
	"sync"
	"unsafe"

	"github.com/gohalo/halo/internal/budget"
	"github.com/gohalo/halo/internal/pages"
	"github.com/gohalo/halo/runtime/async"
)

// HostAllocator gives memory for tensors: arenas of executions and buffers whose life ends at a known moment. Go objects
// do not come from here. Implementations are safe for concurrent use.
type HostAllocator interface {
	// Allocate returns size bytes with undefined contents that start at a multiple of align, a power of two. Where memory
	// is short it returns an error of code ResourceExhausted.
	Allocate(size, align int64) ([]byte, error)
	// Deallocate takes back what Allocate returned, exactly that slice. The memory may be used again at once.
	Deallocate(b []byte)
}

// maxAllocation bounds one request to what the size classes cover.
const maxAllocation = 1 << 38

// HeapAllocator keeps freed memory in lists by size class and takes new memory from the Go heap.
type HeapAllocator struct {
	mu     sync.Mutex
	free   [numClasses][][]byte
	cached int64
	limit  int64
}

const (
	minClassBits = 6 // 64 bytes
	numClasses   = 2 * (39 - minClassBits)

	defaultCacheLimit = 1 << 30
)

// NewHeapAllocator returns an allocator that keeps up to 1 GiB of freed memory.
func NewHeapAllocator() *HeapAllocator { return &HeapAllocator{limit: defaultCacheLimit} }

// sizeClass rounds up to 2^k or 3·2^(k-1), so that at most a third is wasted.
func sizeClass(size int64) (class int, rounded int64) {
	if size <= 1<<minClassBits {
		return 0, 1 << minClassBits
	}
	k := bits.Len64(uint64(size - 1)) // size is in (2^(k-1), 2^k]
	if mid := int64(3) << (k - 2); size <= mid {
		return 2*(k-minClassBits) - 1, mid
	}
	return 2 * (k - minClassBits), 1 << k
}

// Allocate implements HostAllocator.
func (a *HeapAllocator) Allocate(size, align int64) ([]byte, error) {
	if size < 0 || size > min(maxAllocation, machineMemory()) {
		return nil, async.Errorf(async.ResourceExhausted, "cannot allocate %d bytes", size)
	}
	if align > BufferAlign {
		if err := budget.Check("a buffer", size); err != nil {
			return nil, async.Errorf(async.ResourceExhausted, "%w", err)
		}
		return pages.Bytes(size, align), nil
	}
	class, rounded := sizeClass(size)
	a.mu.Lock()
	if list := a.free[class]; len(list) > 0 {
		b := list[len(list)-1]
		list[len(list)-1] = nil
		a.free[class] = list[:len(list)-1]
		a.cached -= rounded
		a.mu.Unlock()
		return b[:size], nil
	}
	a.mu.Unlock()
	if err := budget.Check("a buffer", rounded); err != nil {
		return nil, async.Errorf(async.ResourceExhausted, "%w", err)
	}
	return AlignedBytes(rounded)[:size], nil
}

// Deallocate implements HostAllocator.
func (a *HeapAllocator) Deallocate(b []byte) {
	class, rounded := sizeClass(int64(cap(b)))
	if int64(cap(b)) != rounded || dataAddress(b)%BufferAlign != 0 {
		return // over-aligned memory; the collector has it
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.cached+rounded <= a.limit {
		a.free[class] = append(a.free[class], b[:cap(b)])
		a.cached += rounded
	}
}

// BudgetAllocator refuses what would exceed a number of bytes, as a test of programs that must live with little.
// Requests of up to Exempt bytes are not counted.
type BudgetAllocator struct {
	Base   HostAllocator
	Limit  int64
	Exempt int64
	// Log, if set, gets a line for every counted request and return.
	Log io.Writer

	mu   sync.Mutex
	used int64
}

// Allocate implements HostAllocator.
func (a *BudgetAllocator) Allocate(size, align int64) ([]byte, error) {
	if size <= a.Exempt {
		return a.Base.Allocate(size, align)
	}
	a.mu.Lock()
	left := a.Limit - a.used
	fits := size <= left
	if fits {
		a.used += size
		a.logf("Allocating %d bytes. %d remaining.\n", size, left-size)
	} else {
		a.logf("Attempted to allocate %d bytes. However current capacity is only %d.\n", size, left)
	}
	a.mu.Unlock()
	if !fits {
		return nil, async.Errorf(async.ResourceExhausted, "cannot allocate %d bytes: %d of a budget of %d are left", size, left, a.Limit)
	}
	b, err := a.Base.Allocate(size, align)
	if err != nil {
		a.mu.Lock()
		a.used -= size
		a.mu.Unlock()
	}
	return b, err
}

// Deallocate implements HostAllocator.
func (a *BudgetAllocator) Deallocate(b []byte) {
	if size := int64(len(b)); size > a.Exempt {
		a.mu.Lock()
		a.used -= size
		a.logf("Freeing %d bytes. %d available.\n", size, a.Limit-a.used)
		a.mu.Unlock()
	}
	a.Base.Deallocate(b)
}

func (a *BudgetAllocator) logf(format string, args ...any) {
	if a.Log != nil {
		fmt.Fprintf(a.Log, format, args...)
	}
}

// AllocationStats are the counts of a ProfileAllocator.
type AllocationStats struct {
	Allocations     int64 // requests served
	Bytes           int64 // sum of them
	LiveAllocations int64 // not given back yet
	LiveBytes       int64
	PeakAllocations int64 // highest LiveAllocations
	PeakBytes       int64 // highest LiveBytes
}

// ProfileAllocator counts. It serves as a profile, and as a leak check: what is live at the end has leaked.
type ProfileAllocator struct {
	Base HostAllocator

	mu    sync.Mutex
	stats AllocationStats
	live  map[*byte]int64
}

// Allocate implements HostAllocator.
func (a *ProfileAllocator) Allocate(size, align int64) ([]byte, error) {
	b, err := a.Base.Allocate(size, align)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.live == nil {
		a.live = make(map[*byte]int64)
	}
	a.live[unsafe.SliceData(b)] = size
	s := &a.stats
	s.Allocations++
	s.Bytes += size
	s.LiveAllocations++
	s.LiveBytes += size
	s.PeakAllocations = max(s.PeakAllocations, s.LiveAllocations)
	s.PeakBytes = max(s.PeakBytes, s.LiveBytes)
	return b, nil
}

// Deallocate implements HostAllocator. Memory that it did not give, or that was given back before, is a broken promise.
func (a *ProfileAllocator) Deallocate(b []byte) {
	a.mu.Lock()
	p := unsafe.SliceData(b)
	size, ok := a.live[p]
	if !ok || size != int64(len(b)) {
		a.mu.Unlock()
		panic("runtime: deallocation of memory that is not allocated")
	}
	delete(a.live, p)
	a.stats.LiveAllocations--
	a.stats.LiveBytes -= size
	a.mu.Unlock()
	a.Base.Deallocate(b)
}

// Stats returns the counts so far.
func (a *ProfileAllocator) Stats() AllocationStats {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stats
}

// Report writes the counts in TFRT's words.
func (a *ProfileAllocator) Report(w io.Writer) {
	s := a.Stats()
	fmt.Fprintf(w, "HostAllocator profile:\nCurrent number of allocations = %d\nMax number of allocations = %d\n"+
		"Total number of allocations = %d\nCurrent number of bytes allocated = %d\nMax number of bytes allocated = %d\n",
		s.LiveAllocations, s.PeakAllocations, s.Allocations, s.LiveBytes, s.PeakBytes)
}

// Leak describes what is live, or is empty if nothing is.
func (a *ProfileAllocator) Leak() string {
	s := a.Stats()
	if s.LiveAllocations == 0 {
		return ""
	}
	return fmt.Sprintf("Memory leak detected: %d alive allocations, %d alive bytes", s.LiveAllocations, s.LiveBytes)
}
