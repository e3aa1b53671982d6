//go:build amd64 || arm64

package workqueue

// goroutineID returns a number that the calling goroutine has alone among those that exist: the address of what Go keeps of it. Go has no
// other way to ask whether the caller is a certain goroutine than its stack trace, which takes microseconds. It is used to diagnose
// calls that would wait for themselves, never to find data.
func goroutineID() uintptr
