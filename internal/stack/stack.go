// Package stack gives new goroutines room, and keeps the stacks of panics.
package stack

// Reserve lets the stack of the calling goroutine grow to 32 KiB at once; it is called first in a goroutine that is going to need as much.
// A stack that grows step by step is copied at each step, with all frames that are on it by then, and the tables of the program that
// describe these frames, which are looked at then, are a megabyte of memory that a short-lived command would not touch otherwise.
func Reserve() { use(0) }

//go:noinline
func use(i int) byte {
	var room [20 << 10]byte // which the compiler keeps, as it does not know i
	return room[i]
}
