package kernels

import (
	"container/heap"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A process that has nothing else to do sleeps in whole milliseconds, so the timers of Go are late by up to one then, and on time as long as something
// computes: a program would get slower by losing dead code. What is told the time by the system is not.

// clock calls functions in time. Its goroutine lives as long as somebody waits.
var clock struct {
	sync.Mutex
	waits sleepers
	timer *os.File // of the system; nil before it is needed
	fd    int
	runs  bool
}

// sleeper is a function to call.
type sleeper struct {
	at   time.Time
	call func()
}

// after calls f, which must do something once only, in a goroutine of its own after a time.
func after(d time.Duration, f func()) {
	time.AfterFunc(d, f) // where the system has no timer, or all threads compute
	at := time.Now().Add(d)
	clock.Lock()
	defer clock.Unlock()
	if clock.timer == nil {
		fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
		if err != nil {
			return
		}
		clock.timer, clock.fd = os.NewFile(uintptr(fd), "timer"), fd
	}
	heap.Push(&clock.waits, sleeper{at, f})
	if clock.waits[0].at.Equal(at) {
		setTimer(d)
	}
	if !clock.runs {
		clock.runs = true
		go ring()
	}
}

func setTimer(d time.Duration) {
	// Zero would stop it, and the error of a valid timer is none.
	_ = unix.TimerfdSettime(clock.fd, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(d, 1)))}, nil)
}

// ring calls what is due until nobody waits.
func ring() {
	var fired [8]byte
	for {
		_, err := clock.timer.Read(fired[:])
		clock.Lock()
		if err != nil {
			clear(clock.waits) // the timers of Go will do
			clock.waits = clock.waits[:0]
		}
		for len(clock.waits) > 0 && !clock.waits[0].at.After(time.Now()) {
			go heap.Pop(&clock.waits).(sleeper).call()
		}
		if len(clock.waits) == 0 {
			clock.runs = false
			clock.Unlock()
			return
		}
		setTimer(time.Until(clock.waits[0].at))
		clock.Unlock()
	}
}

// sleepers is a heap by time.
type sleepers []sleeper

func (w sleepers) Len() int           { return len(w) }
func (w sleepers) Less(i, j int) bool { return w[i].at.Before(w[j].at) }
func (w sleepers) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }
func (w *sleepers) Push(x any)        { *w = append(*w, x.(sleeper)) }
func (w *sleepers) Pop() any {
	last := (*w)[len(*w)-1]
	(*w)[len(*w)-1] = sleeper{}
	*w = (*w)[:len(*w)-1]
	return last
}
