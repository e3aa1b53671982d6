//go:build !linux

package pages

// EnlargeHeap does nothing: other systems decide by themselves, or not at all.
func EnlargeHeap() (touch func()) { return func() {} }

// EnlargeHeapBy does nothing, for the same reason.
func EnlargeHeapBy(int64) {}
