package workqueue

// Worker returns a number that the calling goroutine has alone among those that exist, so that traces can tell workers apart. It is for nothing else.
func Worker() uintptr { return goroutineID() }
