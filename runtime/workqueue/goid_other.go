//go:build !amd64 && !arm64

package workqueue

import "runtime"

// goroutineID returns the number of the calling goroutine, from the first line
// of its stack trace: "goroutine 7 [running]:".
func goroutineID() uintptr {
	var buf [40]byte
	text := buf[len("goroutine "):runtime.Stack(buf[:], false)]
	id := uintptr(0)
	for _, c := range text {
		if c < '0' || c > '9' {
			break
		}
		id = id*10 + uintptr(c-'0')
	}
	return id
}
