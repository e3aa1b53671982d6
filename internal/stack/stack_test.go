package stack_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"github.com/gohalo/halo/internal/stack"
)

// TestReserve looks at where the stack is before and after it has been needed.
func TestReserve(t *testing.T) {
	moves := func(reserve func()) bool {
		moved := make(chan bool)
		go func() {
			reserve()
			var here byte // stays on the stack
			before := uintptr(unsafe.Pointer(&here))
			down(12)
			moved <- before != uintptr(unsafe.Pointer(&here))
		}()
		return <-moved
	}
	assert.False(t, moves(stack.Reserve))
	assert.True(t, moves(func() {}), "twelve frames of a kilobyte need no more room than a goroutine has anyway")
}

// BenchmarkReserve goes down some frames in a new goroutine, with room reserved and without.
func BenchmarkReserve(b *testing.B) {
	for name, reserve := range map[string]func(){"reserved": stack.Reserve, "grown": func() {}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				done := make(chan byte)
				go func() {
					reserve()
					done <- down(12)
				}()
				<-done
			}
		})
	}
}

//go:noinline
func down(n int) byte {
	var frame [1 << 10]byte
	frame[n] = byte(n)
	if n > 0 {
		return down(n-1) + frame[n/2]
	}
	return frame[0]
}
