package workqueue

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// processor returns the number of the processor that runs the caller, or -1 if it is not known.
func processor() int32 {
	var cpu uint32
	if _, _, errno := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); errno != 0 {
		return -1
	}
	return int32(cpu)
}

// moveAway has the calling thread run on another processor than cpu, if it may. The thread's affinity is left as it was.
func moveAway(cpu int32) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var allowed unix.CPUSet
	if unix.SchedGetaffinity(0, &allowed) != nil || allowed.Count() < 2 {
		return
	}
	others := allowed
	others.Clear(int(cpu))
	if unix.SchedSetaffinity(0, &others) == nil {
		_ = unix.SchedSetaffinity(0, &allowed) // as it was, so it cannot fail
	}
}
