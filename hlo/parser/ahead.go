package parser

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/internal/stack"
)

// A large text is read by two: while the parser proper goes through it from the beginning, a second reader goes ahead of it and reads what
// instructions say without knowing what their names mean (reading.go). The parser then has names to resolve and instructions to append,
// which is the smaller part of the work.
//
// The text is cut into chunks of equal size. The reader ahead takes chunks not far in front of the parser, and leaves one to the parser
// whenever it is about to be caught up with; so both have work all the time. What it makes of a chunk is a guess: it does not know where
// computations begin, and takes any line for an instruction that looks like one. The parser looks a reading up by the offset where it
// stands itself, and reads the instruction at that offset the same way, so a guess is right or never asked for. Instructions that are
// not simple, or have faults, are left to the parser.

const (
	// chunkSize is the bytes of text in a chunk: some dozens of instructions, which take some microseconds.
	chunkSize = 4 << 10
	// maxAhead is how many chunks are read, or being read, at a time.
	maxAhead = 12
	// minAhead is the number of chunks from which on a text is read by two.
	minAhead = 16
)

// aheadReader is what the parser and the reader ahead share.
type aheadReader struct {
	p       *parser // the reader ahead
	size    int     // of a chunk
	current *chunk  // that the parser is in, nil: it reads by itself; the parser's only
	end     int     // of the parser's chunk; likewise

	mu      sync.Mutex
	moved   sync.Cond // with mu: the parser has gone on, or stopped
	at      int       // the parser's chunk
	stopped bool
	chunks  [maxAhead]*chunk // the last taken, by index
	ended   chan struct{}
}

// chunk is what has been read of a piece of text. Its memory is used again.
type chunk struct {
	index    int
	ready    atomic.Bool
	readings []reading // by place
	next     int       // the first one that the parser has not passed
	refs     []ref
	called   []hlo.CompID // as places in names
	names    []string     // of computations
	version  int          // of a session's text
}

// readAhead lets a second goroutine read ahead of p, whose first computation begins at an offset, if that is worth while. It ends when
// done is called.
func (p *parser) readAhead(from int) (done func()) {
	size := p.chunk
	if size == 0 {
		size = chunkSize
	}
	if p.ahead != nil || p.session != nil || len(p.text)-from < minAhead*size || runtime.GOMAXPROCS(0) < 2 {
		return func() {}
	}
	a := &aheadReader{p: p.second(), size: size, at: from / size, ended: make(chan struct{})}
	a.end = (a.at + 1) * size
	a.moved.L = &a.mu
	p.ahead = a
	go a.run()
	return a.stop
}

// stop ends the reader ahead, which then no longer looks at the text.
func (a *aheadReader) stop() {
	a.mu.Lock()
	a.stopped = true
	a.moved.Signal()
	a.mu.Unlock()
	<-a.ended
}

// run is the goroutine of the reader ahead.
func (a *aheadReader) run() {
	defer close(a.ended)
	stack.Reserve()
	for index := 0; ; index++ {
		c := a.claim(index)
		if c == nil {
			return
		}
		index = c.index
		useful := a.p.readChunk(c, index*a.size, (index+1)*a.size)
		c.ready.Store(true)
		if !useful {
			return
		}
	}
}

// claim takes the next chunk to read, index or a later one; nil when there is none.
func (a *aheadReader) claim(index int) *chunk {
	a.mu.Lock()
	defer a.mu.Unlock()
	for {
		index = max(index, a.at+1)
		if c := a.chunks[a.at%maxAhead]; c != nil && c.index == a.at && index < a.at+3 {
			index++ // else the parser, which goes fast through chunks that have been read, would have to wait
		}
		if a.stopped || index*a.size >= len(a.p.text) {
			return nil
		}
		if index < a.at+maxAhead {
			break
		}
		a.moved.Wait()
	}
	c := a.chunks[index%maxAhead]
	if c == nil {
		c = new(chunk)
		a.chunks[index%maxAhead] = c
	}
	c.reset(index)
	return c
}

func (c *chunk) reset(index int) {
	c.index, c.next = index, 0
	c.ready.Store(false)
	c.readings, c.refs, c.called, c.names = c.readings[:0], c.refs[:0], c.called[:0], c.names[:0]
}

// drop forgets what does not belong to a reading.
func (c *chunk) drop() {
	refs, called := uint32(0), uint32(0)
	if n := len(c.readings); n > 0 {
		r := &c.readings[n-1]
		refs, called = r.refs+r.operands+r.control, r.called+r.callees
	}
	c.refs, c.called = c.refs[:refs], c.called[:called]
}

// find is the reading of the instruction at an offset, and the chunk that it is in; nil if there is none. Offsets ascend.
func (a *aheadReader) find(pos int) (*chunk, *reading) {
	if a == nil {
		return nil, nil
	}
	if pos >= a.end {
		a.enter(pos / a.size)
	}
	c := a.current
	if c == nil {
		return nil, nil
	}
	for ; c.next < len(c.readings); c.next++ {
		if r := &c.readings[c.next]; int(r.start) >= pos {
			if int(r.start) == pos {
				return c, r
			}
			break
		}
	}
	return nil, nil
}

// enter says that the parser comes to a chunk. If the reader ahead is in it, it will be through in some microseconds, less than it takes to
// sleep and wake up; if not, as its processor has been taken from it, the parser goes on without.
func (a *aheadReader) enter(index int) {
	a.end, a.current = (index+1)*a.size, nil
	c := a.move(index)
	if c == nil {
		return
	}
	for range patience {
		if c.ready.Load() {
			a.current = c
			return
		}
		runtime.Gosched()
	}
}

// patience is how often the parser looks whether a chunk is ready.
const patience = 256

// move makes index the parser's chunk, and returns it if the reader ahead has taken it.
func (a *aheadReader) move(index int) *chunk {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = index
	a.moved.Signal()
	if c := a.chunks[index%maxAhead]; c != nil && c.index == index {
		return c
	}
	return nil
}
