//go:build unix

package halocmd

import (
	goruntime "runtime"

	"golang.org/x/sys/unix"
)

// peakBytes is the largest resident size that the process has had.
func peakBytes() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	if goruntime.GOOS == "darwin" {
		return int64(u.Maxrss) // bytes there, kilobytes elsewhere
	}
	return int64(u.Maxrss) * 1024
}
