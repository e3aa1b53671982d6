//go:build unix

package attack

import (
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/gohalo/halo/runtime"
)

// Guard is an allocator whose buffers lie between two inaccessible pages. They end where the page behind begins, as far as their
// alignment allows; the bytes that are left before and behind have a pattern that is looked at when the buffer comes back.
type Guard struct {
	mu      sync.Mutex
	regions map[*byte]region
	// Overruns are the buffers that came back with another pattern around them.
	Overruns []string
}

type region struct {
	memory        []byte
	before, after []byte // of the buffer, in its pages
	size          int64
}

// canary is the pattern.
const canary = 0xA5

var page = int64(os.Getpagesize())

// Allocate implements runtime.HostAllocator.
func (g *Guard) Allocate(size, align int64) ([]byte, error) {
	if size == 0 {
		return nil, nil
	}
	pages := (size+align-1)/align*align/page + 1
	if size < 0 || pages > 1<<16 {
		return nil, fmt.Errorf("%d bytes", size)
	}
	memory, err := unix.Mmap(-1, 0, int((pages+2)*page), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	end := (pages + 1) * page
	for _, guard := range [][]byte{memory[:page], memory[end:]} {
		if err := unix.Mprotect(guard, unix.PROT_NONE); err != nil {
			return nil, err
		}
	}
	start := (end - size) / align * align
	r := region{memory: memory, before: memory[page:start], after: memory[start+size : end], size: size}
	for _, slack := range [][]byte{r.before, r.after} {
		for i := range slack {
			slack[i] = canary
		}
	}
	for i := range memory[start : start+size] {
		memory[start : start+size][i] = 0x5C // what was there before is undefined
	}
	b := memory[start : start+size : start+size]
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.regions == nil {
		g.regions = make(map[*byte]region)
	}
	g.regions[&b[0]] = r
	return b, nil
}

// Deallocate implements runtime.HostAllocator.
func (g *Guard) Deallocate(b []byte) {
	if len(b) == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	r, ok := g.regions[&b[0]]
	if !ok {
		g.Overruns = append(g.Overruns, "a buffer came back that was not given out")
		return
	}
	delete(g.regions, &b[0])
	g.look(r)
	_ = unix.Munmap(r.memory)
}

func (g *Guard) look(r region) {
	for i, x := range r.after {
		if x != canary {
			g.Overruns = append(g.Overruns, fmt.Sprintf("byte %d behind a buffer of %d is %#x", i, r.size, x))
			return
		}
	}
	for i, x := range r.before {
		if x != canary {
			g.Overruns = append(g.Overruns, fmt.Sprintf("byte %d before a buffer of %d is %#x", len(r.before)-i, r.size, x))
			return
		}
	}
}

// Data is a copy of data, as of a file with constants, between pages like a buffer, which must not be written.
func (g *Guard) Data(data []byte) ([]byte, error) {
	const align = 64 // of the sections of a file
	b, err := g.Allocate(int64(len(data)), align)
	if err != nil || len(data) == 0 {
		return b, err
	}
	copy(b, data)
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.regions[&b[0]]
	return b, unix.Mprotect(r.memory[page:len(r.memory)-int(page)], unix.PROT_READ)
}

// Close gives back what is left, and returns the overruns.
func (g *Guard) Close() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.regions {
		g.look(r)
		_ = unix.Munmap(r.memory)
	}
	g.regions = nil
	return g.Overruns
}

// Buffer is an argument or result of type t.
func (g *Guard) Buffer(t runtime.TensorType) (runtime.Buffer, error) {
	b, err := g.Allocate(t.Bytes, runtime.BufferAlign)
	return runtime.Buffer{Data: b, Type: t.Type, Dims: t.Dims}, err
}
