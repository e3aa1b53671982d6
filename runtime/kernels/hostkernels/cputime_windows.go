package hostkernels

import (
	"time"

	"golang.org/x/sys/windows"
)

// processTime returns the processor time that the process has used.
func processTime() time.Duration {
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user) != nil {
		return 0
	}
	const tick = 100 * time.Nanosecond
	ticks := func(f windows.Filetime) time.Duration {
		return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * tick
	}
	return ticks(kernel) + ticks(user)
}
