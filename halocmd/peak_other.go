//go:build !unix

package halocmd

import goruntime "runtime"

// peakBytes is the memory that the Go runtime has taken from the system.
func peakBytes() int64 {
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return int64(m.Sys)
}
