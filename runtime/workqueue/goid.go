package workqueue

import "runtime"

// goroutineID returns the number of the calling goroutine, from the first line
// of its stack trace: "goroutine 7 [running]:". Go has no other way to ask
// whether the caller is a certain goroutine. It is used to diagnose calls that
// would wait for themselves, never to find data.
func goroutineID() uint64 {
	var buf [40]byte
	text := buf[len("goroutine "):runtime.Stack(buf[:], false)]
	id := uint64(0)
	for _, c := range text {
		if c < '0' || c > '9' {
			break
		}
		id = id*10 + uint64(c-'0')
	}
	return id
}
