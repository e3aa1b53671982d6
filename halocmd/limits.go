package halocmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gohalo/halo/internal/budget"
)

// memorySize is a number of bytes as it is written in flags: 500MB, 2GiB, 1048576. Reading the flag sets the process's limit.
type memorySize int64

// units are the suffixes of sizes.
var units = []struct {
	suffix string
	bytes  int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}, {"", 1}}

// leastMemory is what the command itself needs.
const leastMemory = 16 << 20

// UnmarshalText reads a size.
func (m *memorySize) UnmarshalText(text []byte) error {
	for _, u := range units {
		number, ok := strings.CutSuffix(string(text), u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err != nil || n < 0 || n > (1<<62)/u.bytes || n*u.bytes < leastMemory {
			break
		}
		*m = memorySize(n * u.bytes)
		budget.SetLimit(int64(*m))
		limitMemory()
		return nil
	}
	return errors.New("want a size of at least 16MiB, as 500MB or 2GiB")
}

// watchMemory ends the process with a message, and not with a trace, when memory runs out outside of the budget.
func watchMemory(e *env) (stop func()) {
	return budget.Watch(func(err *budget.Error) {
		fmt.Fprintf(e.stderr, "halo: error: out of memory: %v\n", err)
		os.Exit(exitInput)
	})
}

// errTimeout is the cause of a context whose time is up.
type errTimeout struct{ after time.Duration }

func (e errTimeout) Error() string {
	return fmt.Sprintf("not done after %v, the limit of --timeout", e.after)
}

// errInterrupted is the cause of a context that a signal has ended.
var errInterrupted = errors.New("interrupted")

// grace is how long work that was told to stop may take to do so.
const grace = time.Second

// timeout is the limit of --timeout; 0 is none.
func (e *env) timeout() time.Duration {
	if e.common == nil {
		return 0
	}
	return max(e.common.Timeout, 0)
}

// guard ends the process when the time of a command is up that does not look at a context.
func (e *env) guard() (stop func()) {
	limit := e.timeout()
	if limit == 0 || e.watched {
		return func() {}
	}
	timer := time.AfterFunc(limit, func() {
		fmt.Fprintf(e.stderr, "halo: error: %v\n", errTimeout{limit})
		os.Exit(exitInput)
	})
	return func() { timer.Stop() }
}

// interruptible returns a context that a signal ends, or the time when it is up. What does not stop when it is told to, a
// kernel in the middle of its work, ends with the process soon after.
func interruptible(e *env) (ctx context.Context, stop func()) {
	timeout := e.timeout()
	e.watched = true
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		if _, ok := <-signals; ok {
			signal.Stop(signals) // a second one ends the process at once
			cancel(errInterrupted)
		}
	}()
	e.ended = func() error { return context.Cause(ctx) }
	var timer *time.Timer
	if timeout > 0 {
		timer = time.AfterFunc(timeout, func() { cancel(errTimeout{timeout}) })
	}
	var end *time.Timer
	unhook := context.AfterFunc(ctx, func() {
		end = time.AfterFunc(grace, func() {
			fmt.Fprintf(e.stderr, "halo: error: %v\n", context.Cause(ctx))
			os.Exit(exitInput)
		})
	})
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		if timer != nil {
			timer.Stop()
		}
		if !unhook() && end != nil {
			end.Stop()
		}
		cancel(nil)
	}
}
