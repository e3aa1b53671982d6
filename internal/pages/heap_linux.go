package pages

import (
	"os"
	"runtime/debug"
)

const (
	// chunk is by what the heap grows.
	chunk = 4 << 20
	// unshared is the size from which on memory comes from the first addresses of the heap that are free, not from those that a processor has put aside.
	unshared = 128 << 10
)

// EnlargeHeap has the heap go on on large pages, for about what a process makes that compiles and runs one program: 4 MB of small pages are a thousand
// faults, which take a tenth of the time from text to a program that is ready. A process calls it when it begins. Should the heap grow in another
// way some day, nothing is lost but this.
//
// It touches the first large page, as several threads that need one at the same time would each clear one, and returns what touches the others: clearing a
// page takes longer than compiling a small program, and is better done by a thread that waits for another.
func EnlargeHeap() (touch func()) {
	// The advice holds for what is mapped. So a block that nobody touches takes the rest of the chunk at hand, and the next one is begun.
	end := heapAddress(unshared) + unshared
	if rest := -end & (chunk - 1); rest > 0 {
		heapAddress(rest)
	}
	next := heapAddress(unshared) &^ (chunk - 1)
	enlarge(next, chunk)
	populate(next, large)
	return func() { populate(next+large, chunk-large) }
}

// EnlargeHeapBy has the heap go on on large pages for n bytes, for a process that is about to make so much: what it makes then is first touched without most of the
// faults, and found without most of the walks through tables of addresses, which no cache holds for a large heap. It ends with a collection, so it
// is called while there is little.
func EnlargeHeapBy(n int64) {
	if n < leastLarge || refusesAddresses() {
		return
	}
	b := make([]byte, n) // nobody touches it, so it has no memory
	first := nearestPage(address(b))
	enlarge(first, nearestPage(address(b)+uintptr(n))-first)
	b = nil
	debug.FreeOSMemory() // the heap has the addresses, and counts no memory for them
}

// refusesAddresses reports whether the system counts memory that is mapped as memory that is used: then there may be none for addresses alone.
func refusesAddresses() bool {
	text, err := os.ReadFile("/proc/sys/vm/overcommit_memory")
	return err != nil || text[0] == '2'
}

// heapAddress is where memory of that size is now. Nothing holds it.
func heapAddress(size uintptr) uintptr { return address(make([]byte, size)) }
