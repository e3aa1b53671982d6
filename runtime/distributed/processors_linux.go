package distributed

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// reserve keeps processors for communication: every thread that the process has, and those that they start, are kept off them.
func reserve(cpus []int) error {
	var rest unix.CPUSet
	if err := unix.SchedGetaffinity(0, &rest); err != nil {
		return fmt.Errorf("the processors of the process: %w", err)
	}
	for _, c := range cpus {
		if !rest.IsSet(c) {
			return fmt.Errorf("processor %d is none of those that the process may use", c)
		}
		rest.Clear(c)
	}
	if rest.Count() == 0 {
		return errors.New("no processor is left for kernels")
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, t := range threads {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			return err
		}
		if err := unix.SchedSetaffinity(id, &rest); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("the processors of thread %d: %w", id, err)
		}
	}
	return nil
}

// pin keeps the calling thread on some processors.
func pin(cpus []int) error {
	var set unix.CPUSet
	for _, c := range cpus {
		set.Set(c)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("the processors %v: %w", cpus, err)
	}
	return nil
}

// Processors lists those that the process may use.
func Processors() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, err
	}
	var all []int
	for c := 0; len(all) < set.Count(); c++ {
		if set.IsSet(c) {
			all = append(all, c)
		}
	}
	return all, nil
}

// Bound reports whether the launcher, the parent of this process, has given it fewer processors than it has itself.
func Bound() bool {
	var own, launcher unix.CPUSet
	return unix.SchedGetaffinity(0, &own) == nil && unix.SchedGetaffinity(os.Getppid(), &launcher) == nil && own.Count() < launcher.Count()
}

// napTime is how long a loop with processors of its own sleeps when there is nothing to wait for.
const napTime = 50_000 // nanoseconds

// nap puts the thread to sleep, and not the goroutine.
func nap() {
	t := unix.Timespec{Nsec: napTime}
	_, _, _ = unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&t)), 0, 0)
}
