//go:build !linux

package pages

// enlarge does nothing: other systems decide by themselves, or not at all.
func enlarge(from, n uintptr) {}
