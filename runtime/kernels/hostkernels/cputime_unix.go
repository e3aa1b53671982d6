//go:build unix

package hostkernels

import (
	"time"

	"golang.org/x/sys/unix"
)

// processTime returns the processor time that the process has used.
func processTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
