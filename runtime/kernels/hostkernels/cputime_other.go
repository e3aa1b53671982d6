//go:build !unix && !windows

package hostkernels

import "time"

var processStart = time.Now()

// processTime returns the time since the start: where the system does not tell, one processor is taken to be busy all the time.
func processTime() time.Duration { return time.Since(processStart) }
