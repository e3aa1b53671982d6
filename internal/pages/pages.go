// Package pages gives memory for arrays. What is large lies on large pages of the system, where it has them: they cost one fault for each 2 MB that is first
// touched instead of 512, and the processor finds far more memory by those addresses that it keeps.
//
// Memory comes from the heap, and the collector frees it. Large pages are asked for where an array covers at least half of one: what else is on that page
// belongs to the heap, too.
package pages

import "unsafe"

// Line is the alignment of arrays that nobody asks more for: a line of the cache.
const Line = 64

const (
	// large is what a large page holds, on amd64 and on most systems elsewhere.
	large = 2 << 20
	// leastLarge is the size of memory that has at least one large page, wherever it begins.
	leastLarge = 2 * large
	// leastAligned is the size from which on memory begins with a large page: what lies before the first one and behind the last would take 512 faults. That
	// takes addresses of up to a third more.
	leastAligned = 3 * large
)

// Bytes returns n zeroed bytes that start at a multiple of align, a power of two.
func Bytes(n, align int64) []byte {
	if n == 0 {
		return []byte{}
	}
	if n >= leastAligned {
		align = max(align, large)
	}
	b := make([]byte, n+align-1)
	skip := int64(-address(b) & uintptr(align-1))
	b = b[skip : skip+n : skip+n]
	if n >= leastLarge {
		first := nearestPage(address(b))
		enlarge(first, nearestPage(address(b)+uintptr(n))-first)
	}
	return b
}

// nearestPage is the beginning of the large page that begins nearest to an address.
func nearestPage(a uintptr) uintptr { return (a + large/2) &^ (large - 1) }

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
