package halocmd

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gohalo/halo/internal/stack"
)

// TestWarming has work wait for the warming, come when it is over, and come twice.
func TestWarming(t *testing.T) {
	goroutine := func() string {
		b := make([]byte, 64)
		name, _, _ := strings.Cut(string(b[:runtime.Stack(b, false)]), " [")
		return name
	}
	here := goroutine()

	var none warming
	none.do(func() { assert.Equal(t, here, goroutine(), "nothing warms") })

	var w warming
	var there string
	var waited bool
	release, first := make(chan bool), make(chan bool)
	w.begin(func() {
		there = goroutine()
		<-release
	}, func() { waited = true })
	go func() {
		w.do(func() { assert.Equal(t, there, goroutine(), "the goroutine that warms does what waits for it") })
		assert.True(t, waited)
		close(first)
	}()
	for waits := false; !waits; runtime.Gosched() {
		w.mu.Lock()
		waits = w.next != nil
		w.mu.Unlock()
	}
	w.do(func() { assert.Equal(t, here, goroutine(), "one thing waits at a time") })
	close(release)
	<-first
	w.do(func() { assert.Equal(t, here, goroutine(), "the warming is over") })
}

// TestWarmingPanics has the work panic, which is the caller's to report.
func TestWarmingPanics(t *testing.T) {
	var w warming
	release := make(chan bool)
	w.begin(func() { <-release }, func() {})
	go func() {
		for waits := false; !waits; runtime.Gosched() {
			w.mu.Lock()
			waits = w.next != nil
			w.mu.Unlock()
		}
		close(release)
	}()
	failure := errors.New("a bug")
	defer func() {
		p, ok := recover().(*stack.Panic)
		require.True(t, ok)
		require.ErrorIs(t, p, failure)
		require.Contains(t, string(p.Stack), "TestWarmingPanics.func")
	}()
	w.do(func() {
		panic(failure)
	})
	t.Fatal("do returned")
}
