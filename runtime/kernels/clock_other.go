//go:build !linux

package kernels

import "time"

// after calls f in a goroutine of its own after a time.
func after(d time.Duration, f func()) { time.AfterFunc(d, f) }
