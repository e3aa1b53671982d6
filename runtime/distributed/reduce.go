package distributed

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/devices"
)

// A reduction among processes: each folds a block of every array, and gives the others what it is folded to. Blocks are cut into pieces, so that folding
// a piece, sending the one before, and receiving the next go on at once.
//
// Every element is folded by one process, from what every device brings, in the order of the group. So the bits do not depend on how many processes there
// are, as they would if each first folded what its own devices bring, or if the library chose the order.

// foldPiece is the bytes of a piece, and leastPiece those where many devices bring one: the loop folds a piece without a pause, and nobody hears of this process
// meanwhile.
const (
	foldPiece  = 512 << 10
	leastPiece = 64 << 10
	manyFold   = 8 // devices up to which pieces are large
)

// span is bytes of a leaf.
type span struct{ leaf, from, to int }

// pieces cuts the block of process number k of n of each leaf into pieces.
func pieces(t *devices.Meeting, k, n int) (all []span) {
	for i := range t.In.NumOperands() {
		s := t.In.OperandInstr(i).Shape()
		width := s.Type().ByteSize()
		elements := int(s.ByteSize()) / width
		from, to := elements*k/n*width, elements*(k+1)/n*width
		step := max(foldPiece/max(1, (len(t.Group)+manyFold-1)/manyFold), leastPiece) / width * width
		for ; from < to; from += step {
			all = append(all, span{i, from, min(from+step, to)})
		}
	}
	return all
}

// reduction is one under way. Nothing waits for it: whatever comes next begins when a batch ends.
type reduction struct {
	*Transport
	t     *devices.Meeting
	task  *task
	to    exchange
	ranks []int
	me    int // this process among them
	fold  *devices.Visitor

	mine    []span
	brought [][][]byte // by piece and rank in the group
	here    []bool     // pieces that have arrived; the loop's, as is next
	next    int        // the piece to fold

	mu   sync.Mutex
	left int // batches that have to end
	done func(error)
}

// reduce folds what the members of a meeting bring. done is called when that is done, not before reduce has returned.
func (x *Transport) reduce(t *devices.Meeting, fold *devices.Visitor, to exchange, done func(error)) {
	r := &reduction{Transport: x, t: t, task: newTask(t.Name, t.Count), to: to, ranks: x.plan.ranks(t.Group), fold: fold, done: done}
	r.me = slices.Index(r.ranks, x.job.rank)
	t.Reduced = make([][]byte, t.In.NumOperands())
	for i := range t.Reduced {
		if fold.Result != nil {
			t.Reduced[i] = fold.Result(i)
		} else {
			t.Reduced[i] = make([]byte, t.In.OperandInstr(i).Shape().ByteSize())
		}
	}
	r.mine = pieces(t, r.me, len(r.ranks))
	r.here, r.left = make([]bool, len(r.mine)), len(r.mine)+2
	coming, raw, folded := r.receiveRaw(), r.sendRaw(), r.receiveFolded()
	for k, b := range coming {
		b.then = func(err error) {
			if err != nil {
				r.ended(err)
				return
			}
			r.arrived(k)
		}
	}
	folded.then = r.ended
	first := []*batch{raw, folded}
	if raw.then = r.ended; r.inPlace() { // what others folded takes the place of what they have got
		first = []*batch{raw}
		raw.then = func(err error) {
			if err == nil {
				x.job.begin(folded)
			}
			r.ended(err)
		}
	}
	x.job.begin(append(coming, first...)...)
}

// arrived notes that a piece has come from everywhere. Pieces are folded, and sent, in their order, in which the others expect them; messages may end in another.
func (r *reduction) arrived(k int) {
	for r.here[k] = true; r.next < len(r.here) && r.here[r.next]; r.next++ {
		r.foldPiece(r.next)
	}
}

// foldPiece folds a piece and sends it to the others. The loop does it: to hand a piece to another goroutine, and to get it back, takes threads that wake each
// other, and longer than to fold it.
func (r *reduction) foldPiece(k int) {
	s := r.mine[k]
	out := r.t.Reduced[s.leaf][s.from:s.to]
	if err := r.fold.Fold(s.leaf, r.brought[k], out); err != nil {
		r.job.Fail(err) // the others wait for what does not come
		r.ended(err)
		return
	}
	b := newBatch(r.task)
	for _, p := range r.ranks {
		if p != r.job.rank {
			b.send(r.to.context, p, r.to.tag+1, out)
		}
	}
	b.then = r.ended
	r.job.begin(b)
}

// ended notes that a batch has ended. The last one, or the first that fails, ends the reduction.
func (r *reduction) ended(err error) {
	r.mu.Lock()
	r.left--
	done := r.done
	if r.left > 0 && err == nil {
		done = nil
	} else {
		r.done = nil
	}
	r.mu.Unlock()
	switch {
	case done == nil:
	case err != nil: // the library may still write to the memory; begin may have failed at once
		go done(err)
	default:
		for k := range r.mine {
			for rank, d := range r.t.Group {
				if r.plan.rank(d) != r.job.rank {
					r.plan.free.put(r.brought[k][rank])
				}
			}
		}
		if r.job.reserved() { // to wake another goroutine takes a processor that computes
			done(nil)
			return
		}
		go done(nil)
	}
}

// receiveRaw prepares to receive pieces from the devices of other processes.
func (r *reduction) receiveRaw() (coming []*batch) {
	for _, s := range r.mine {
		b, all := newBatch(r.task), make([][]byte, len(r.t.Group))
		for rank, d := range r.t.Group {
			if p := r.plan.rank(d); p == r.job.rank {
				all[rank] = r.t.Visitors[rank].Operands[s.leaf].Bytes()[s.from:s.to]
			} else {
				all[rank] = r.plan.free.get(s.to - s.from)
				b.receive(r.to.context, p, r.to.tag, all[rank])
			}
		}
		r.brought, coming = append(r.brought, all), append(coming, b)
	}
	return coming
}

// sendRaw prepares to send each process its block of what the devices of this one bring.
func (r *reduction) sendRaw() *batch {
	b := newBatch(r.task)
	for k, p := range r.ranks {
		if p == r.job.rank {
			continue
		}
		for _, s := range pieces(r.t, k, len(r.ranks)) {
			for _, v := range r.t.Visitors {
				if v != nil {
					b.send(r.to.context, p, r.to.tag, v.Operands[s.leaf].Bytes()[s.from:s.to])
				}
			}
		}
	}
	return b
}

// receiveFolded prepares to receive what the others fold, into its place.
func (r *reduction) receiveFolded() *batch {
	b := newBatch(r.task)
	b.second = true
	for k, p := range r.ranks {
		if p == r.job.rank {
			continue
		}
		for _, s := range pieces(r.t, k, len(r.ranks)) {
			b.receive(r.to.context, p, r.to.tag+1, r.t.Reduced[s.leaf][s.from:s.to])
		}
	}
	return b
}

// inPlace reports whether the result lies in the memory of operands.
func (r *reduction) inPlace() bool {
	for _, v := range r.t.Visitors {
		for i := range r.t.Reduced {
			if v != nil && overlap(r.t.Reduced[i], v.Operands) {
				return true
			}
		}
	}
	return false
}

func overlap(b []byte, operands []*hlo.Literal) bool {
	return slices.ContainsFunc(operands, func(l *hlo.Literal) bool {
		a := l.Bytes()
		if len(a) == 0 || len(b) == 0 {
			return false
		}
		x, y := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
		return x < y+uintptr(len(b)) && y < x+uintptr(len(a))
	})
}
