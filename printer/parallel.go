package printer

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/stack"
)

// Large modules are printed by several workers. A planner cuts the computations, in the order in which they are written, into chunks of
// about as many instructions; workers print chunks, each into a buffer of its own; the caller hands the buffers over in order. A module
// is immutable and all names are in it, so a chunk does not depend on those before it. There are few chunks, used again and again: the
// planner waits for the next one that has been written, so that memory does not grow with the module.

const (
	// parallelFrom is the number of instructions from which on a module is worth the workers.
	parallelFrom = 2048
	// chunkSize is the number of instructions of a chunk, and chunkBytes about the text that they make: little enough to stay in the
	// cache of a processor from one chunk to the next.
	chunkSize  = 128
	chunkBytes = 40 << 10
)

// stretch is instructions of one computation that are written one after the other, or a computation as a whole.
type stretch struct {
	c     hlo.Computation
	lines []hlo.InstrID // nil: the whole computation
	first bool          // what is before the instructions belongs to it
	last  bool          // and what is behind them
}

// chunk is what a worker prints at a time.
type chunk struct {
	parts   []stretch
	size    int // in instructions
	text    []byte
	problem any           // what its worker panicked with
	done    chan struct{} // has a token when text is complete
}

// workers is how many workers print the computations of the module; at most 1: the caller does it alone. Without a writer all text ends up
// in one slice, and moving it there costs what the workers gain. A limit of bytes counts all that is before.
func (p *printer) workers() int {
	if p.w == nil || p.max != 0 || p.m.NumInstructions() < parallelFrom {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}

// parallel writes the computations of the module by n workers, in chunks of chunkSize instructions.
func (p *printer) parallel(n, chunkSize int) {
	p.flush()
	chunks := 2*n + 2
	var (
		free    = make(chan *chunk, chunks)
		todo    = make(chan *chunk, chunks)
		inOrder = make(chan *chunk, chunks)
		stop    atomic.Bool
		running sync.WaitGroup
		problem any // what the first worker panicked with that did
		planned any // what the planner did
	)
	for range chunks {
		free <- &chunk{done: make(chan struct{}, 1), text: make([]byte, 0, chunkBytes)}
	}
	running.Go(func() {
		defer close(inOrder)
		defer close(todo)
		defer func() { planned = recover() }()
		stack.Reserve()
		p.plan(chunkSize, func() *chunk { return <-free }, func(k *chunk) bool {
			inOrder <- k
			todo <- k
			return !stop.Load()
		})
	})
	for range n {
		worker := *p
		worker.w, worker.b = nil, nil // text stays where it is written
		running.Go(func() {
			stack.Reserve()
			for k := range todo {
				worker.chunk(k)
				k.done <- struct{}{}
			}
		})
	}
	for k := range inOrder {
		<-k.done
		if problem == nil {
			problem = k.problem
		}
		if problem == nil && p.err == nil {
			_, p.err = p.w.Write(k.text)
		}
		if problem != nil || p.err != nil {
			stop.Store(true)
		}
		k.parts, k.size, k.text, k.problem = k.parts[:0], 0, k.text[:0], nil
		free <- k
	}
	running.Wait()
	if problem == nil {
		problem = planned
	}
	if problem != nil {
		panic(problem)
	}
}

// plan cuts the computations into chunks. next gives an empty one, and send takes it full and reports whether to go on.
func (p *printer) plan(chunkSize int, next func() *chunk, send func(*chunk) bool) {
	k := next()
	add := func(s stretch, size int) bool {
		k.parts = append(k.parts, s)
		if k.size += size; k.size < chunkSize {
			return true
		}
		if !send(k) {
			return false
		}
		k = next()
		return true
	}
	for c := range p.order() {
		if p.isSugared(c.ID()) {
			continue
		}
		size := c.NumInstructions()
		if p.CanonicalNames || size < 2*chunkSize { // canonical names count from the first line of a computation
			if !add(stretch{c: c}, size+1) {
				return
			}
			continue
		}
		lines := make([]hlo.InstrID, 0, size)
		p.instructions(c, false, func(in hlo.Instruction) bool { lines = append(lines, in.ID()); return true })
		for from := 0; from < len(lines); {
			to := min(from+chunkSize-k.size, len(lines))
			if !add(stretch{c, lines[from:to], from == 0, to == len(lines)}, to-from) {
				return
			}
			from = to
		}
	}
	send(k)
}

// chunk prints one chunk into its buffer.
func (p *printer) chunk(k *chunk) {
	defer func() { k.problem = recover() }()
	p.b = k.text
	entry := p.m.Entry().ID()
	for i := range k.parts {
		s := &k.parts[i]
		isEntry := s.c.ID() == entry
		if s.lines == nil {
			p.computation(s.c, p.Indent, isEntry, false)
			p.between()
			continue
		}
		if s.first {
			p.opening(s.c, p.Indent, isEntry, false)
			p.line()
		}
		for _, id := range s.lines {
			p.instructionLine(s.c.MustAt(id), p.Indent+1)
		}
		if s.last {
			p.closing(s.c, p.Indent)
			p.between()
		}
	}
	k.text = p.b
}
