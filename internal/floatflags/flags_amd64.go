// Package floatflags reads which exceptions a thread's vector arithmetic has met. Tests use it to hold code to what costs nothing: a result that is denormal, or an operand, takes
// some processors a hundred cycles, and others none, so that no measurement on one machine tells.
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
