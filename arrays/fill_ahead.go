package arrays

import (
	"sync"
	"sync/atomic"

	"github.com/gohalo/halo/hlo"
)

// Ahead makes the literals of leaves while something else is done that leaves a processor idle, and with the help of who waits for them from then on.
type Ahead struct {
	literals []*hlo.Literal
	pieces   []piece
	next     atomic.Int64 // the first piece that nobody has taken
	worker   sync.WaitGroup
}

// piece is some draws of a literal.
type piece struct {
	of       *filling
	from, to int
}

// Ahead begins to make the literals of leaves of these shapes, of which it has expected none yet. It is nil if that would take less than handing it on.
func (f *Filler) Ahead(shapes []hlo.Shape) *Ahead {
	bytes := int64(0)
	for _, s := range shapes {
		if s.IsArray() && s.IsStatic() {
			bytes += min(s.ByteSize(), worthWorker)
		}
	}
	if bytes < worthWorker {
		return nil
	}
	for _, s := range shapes {
		f.Expect(s)
	}
	a := &Ahead{literals: make([]*hlo.Literal, len(shapes))}
	all := make([]filling, len(shapes))
	for i, s := range shapes {
		x, err := f.begin(i, s)
		if err != nil {
			continue // who asks for it by itself hears why
		}
		all[i], a.literals[i] = x, x.literal
		for from := 0; from < x.draws; from += worthWorker {
			a.pieces = append(a.pieces, piece{&all[i], from, min(from+worthWorker, x.draws)})
		}
	}
	a.worker.Go(a.work)
	return a
}

func (a *Ahead) work() {
	for i := a.next.Add(1) - 1; i < int64(len(a.pieces)); i = a.next.Add(1) - 1 {
		p := &a.pieces[i]
		p.of.rule.fill(p.of.data, p.from, p.to)
	}
}

// Literals waits for the literals, one for each leaf; nil for leaves that cannot be filled.
func (a *Ahead) Literals() []*hlo.Literal {
	a.work()
	a.worker.Wait()
	return a.literals
}

// Stop leaves the literals as they are, which nobody needs any more.
func (a *Ahead) Stop() { a.next.Store(int64(len(a.pieces))) }
