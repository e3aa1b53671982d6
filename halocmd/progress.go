package halocmd

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// progress shows on a terminal what a slow command is doing: one line, written over and over and erased at the
// end. A nil progress says nothing.
type progress struct {
	mu     sync.Mutex
	out    io.Writer
	file   string
	stage  string
	rounds atomic.Int64 // of loops that a program has made
	began  time.Time
	shown  bool
	timer  *time.Timer
}

// When the line first appears, and how often it is renewed.
const (
	patience = 2 * time.Second
	renewal  = time.Second
)

// newProgress is nil unless diagnostics go to a terminal.
func newProgress(stderr io.Writer) *progress {
	f, ok := stderr.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return &progress{out: f}
}

// begin says that work on a file begins.
func (p *progress) begin(file string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.file, p.stage, p.began = file, "reading", time.Now()
	p.timer = time.AfterFunc(patience, p.show)
}

// at says which stage the work is at.
func (p *progress) at(stage string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.stage = stage
	p.rounds.Store(0)
	p.mu.Unlock()
}

// loops is where an execution may count the rounds of its loops, to be shown; nil when nothing is.
func (p *progress) loops() *atomic.Int64 {
	if p == nil {
		return nil
	}
	return &p.rounds
}

// end says that the work is over.
func (p *progress) end() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer.Stop()
	p.file = ""
	p.erase()
}

func (p *progress) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == "" {
		return
	}
	p.erase()
	rounds := ""
	if n := p.rounds.Load(); n > 0 {
		rounds = fmt.Sprintf(", %s of loops", count(int(n), "round", "rounds"))
	}
	fmt.Fprintf(p.out, "%s: %s%s, %d s", p.file, p.stage, rounds, int(time.Since(p.began).Seconds()))
	p.shown = true
	p.timer.Reset(renewal)
}

func (p *progress) erase() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.shown = false
	}
}

// over is w, with the progress line out of the way whenever something is written.
func (p *progress) over(w io.Writer) io.Writer {
	if p == nil {
		return w
	}
	return overProgress{p, w}
}

type overProgress struct {
	p *progress
	w io.Writer
}

func (o overProgress) Write(b []byte) (int, error) {
	o.p.mu.Lock()
	defer o.p.mu.Unlock()
	o.p.erase()
	return o.w.Write(b)
}
