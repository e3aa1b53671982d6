package floatflags

import "runtime"

// Exceptions of vector arithmetic.
const (
	Denormal  = 1 << 1 // of an operand
	Underflow = 1 << 4
)

//go:noescape
func get(mode *uint32)

//go:noescape
func set(mode *uint32)

// Of returns the exceptions that f meets.
func Of(f func()) uint32 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const all = 1<<6 - 1
	var mode uint32
	get(&mode)
	mode &^= all
	set(&mode)
	f()
	get(&mode)
	return mode & all
}
