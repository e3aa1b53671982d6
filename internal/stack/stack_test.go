package stack_test

import (
	"testing"

	"github.com/gohalo/halo/internal/stack"
)

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
