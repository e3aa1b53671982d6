package pages_test

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/internal/pages"
)

// TestLargePages asks the system which memory it has been asked to put on large pages.
func TestLargePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage/enabled"); err != nil {
		t.Skip("this system has no large pages")
	}
	for _, n := range []int{4 << 20, 5<<20 + 12345, 6 << 20, 16 << 20, 33<<20 + 1} {
		b := pages.Bytes(int64(n), 64)
		middle := n / 2 // of the smallest, an end of its only large page
		if n >= 6<<20 {
			require.Zero(t, pages.Address(b)%(2<<20), "%d bytes", n)
			middle = 0
		}
		require.True(t, isAsked(t, b, middle), "%d bytes", n)
		b[middle] = 1
	}
	b := pages.Bytes(7<<20, 64)
	require.True(t, isAsked(t, b, len(b)-1), "half of the last page is the array's")
}

// TestEnlargeHeap asks the system where the heap goes on.
func TestEnlargeHeap(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage/enabled"); err != nil {
		t.Skip("this system has no large pages")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // what is freed meanwhile would be taken first
	touch := pages.EnlargeHeap()
	b := make([]byte, 64)
	copy(b, "what memory holds")
	touch()
	require.Equal(t, "what memory holds", string(bytes.TrimRight(b, "\x00")))
	require.Positive(t, onLargePages(t, 64), "of 64 blocks")
}

// TestEnlargeHeapBy asks for more than the heap has at hand.
func TestEnlargeHeapBy(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage/enabled"); err != nil {
		t.Skip("this system has no large pages")
	}
	if text, err := os.ReadFile("/proc/sys/vm/overcommit_memory"); err != nil || text[0] == '2' {
		t.Skip("this system has no addresses without memory")
	}
	pages.EnlargeHeapBy(96 << 20)
	require.Greater(t, onLargePages(t, 2048), 1024, "of 2048 blocks, more than any chunk holds")
}

// onLargePages makes n blocks and counts those on large pages.
func onLargePages(t *testing.T, n int) (asked int) {
	var kept [][]byte // so that each is elsewhere
	for range n {
		b := make([]byte, 32<<10)
		if kept = append(kept, b); isAsked(t, b, 0) {
			asked++
		}
	}
	runtime.KeepAlive(kept)
	return asked
}

// isAsked reports whether the mapping around b[i] has the flag of large pages.
func isAsked(t *testing.T, b []byte, i int) bool {
	text, err := os.ReadFile("/proc/self/smaps")
	require.NoError(t, err)
	at, within := uint64(pages.Address(b))+uint64(i), false
	for line := range strings.Lines(string(text)) {
		var from, to uint64
		if n, _ := fmt.Sscanf(line, "%x-%x ", &from, &to); n == 2 {
			within = from <= at && at < to
		}
		if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && within {
			return strings.Contains(flags+" ", " hg ")
		}
	}
	t.Fatal("the system does not say where memory is")
	return false
}
