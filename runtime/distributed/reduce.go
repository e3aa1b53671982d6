package distributed

import (
	"slices"
	"unsafe"

	"github.com/gohalo/halo/hlo"
	"github.com/gohalo/halo/runtime/devices"
)

// A reduction among processes: each folds a block of every array, and gives the others what it is folded to. Blocks are cut into pieces, so that folding
// a piece, sending the one before, and receiving the next go on at once.
//
// Every element is folded by one process, from what every device brings, in the order of the group. So the bits do not depend on how many processes there
// are, as they would if each first folded what its own devices bring, or if the library chose the order.

// foldPiece is the bytes of a piece.
const foldPiece = 512 << 10

// span is bytes of a leaf.
type span struct{ leaf, from, to int }

// pieces cuts the block of process number k of n of each leaf into pieces.
func pieces(t *devices.Meeting, k, n int) (all []span) {
	for i := range t.In.NumOperands() {
		s := t.In.OperandInstr(i).Shape()
		width := s.Type().ByteSize()
		elements := int(s.ByteSize()) / width
		from, to := elements*k/n*width, elements*(k+1)/n*width
		for step := foldPiece / width * width; from < to; from += step {
			all = append(all, span{i, from, min(from+step, to)})
		}
	}
	return all
}

// reduction is one under way.
type reduction struct {
	*Transport
	t     *devices.Meeting
	task  *task
	to    exchange
	ranks []int
	me    int // this process among them
}

// reduce folds what the members of a meeting bring.
func (x *Transport) reduce(t *devices.Meeting, fold *devices.Visitor, w *task, to exchange) error {
	r := &reduction{x, t, w, to, x.plan.ranks(t.Group), 0}
	r.me = slices.Index(r.ranks, x.job.rank)
	t.Reduced = make([][]byte, t.In.NumOperands())
	for i := range t.Reduced {
		if fold.Result != nil {
			t.Reduced[i] = fold.Result(i)
		} else {
			t.Reduced[i] = make([]byte, t.In.OperandInstr(i).Shape().ByteSize())
		}
	}
	mine := pieces(t, r.me, len(r.ranks))
	brought, coming := r.receiveRaw(mine)
	raw, folded := r.sendRaw(), r.receiveFolded()
	inPlace := r.inPlace()
	if inPlace { // what others folded takes the place of what they have got
		raw.then = func() { x.job.begin(folded) }
	}
	going := make([]*batch, len(mine))
	var failed error // of folding; those that run before a batch is done write it
	foldPiece := func(k int) {
		s := mine[k]
		out := t.Reduced[s.leaf][s.from:s.to]
		if failed != nil {
			return
		}
		if failed = fold.Fold(s.leaf, brought[k], out); failed != nil {
			x.job.Fail(failed) // the others wait for what does not come
			return
		}
		b := newBatch(w)
		for _, p := range r.ranks {
			if p != x.job.rank {
				b.send(to.context, p, to.tag+1, out)
			}
		}
		x.job.begin(b)
		going[k] = b
	}
	if x.job.reserved() { // the loop folds: handing over takes a processor that computes
		for k := range coming {
			coming[k].then = func() { foldPiece(k) }
		}
	}
	x.job.begin(coming...)
	x.job.begin(raw)
	if !inPlace {
		x.job.begin(folded)
	}
	if x.job.reserved() {
		_ = raw.wait() // the last of these to end, mostly: one wait instead of many
	}
	for k := range mine {
		if err := coming[k].wait(); err != nil {
			return err
		}
		if !x.job.reserved() {
			foldPiece(k)
		}
		if failed != nil {
			return failed
		}
	}
	for _, b := range slices.Concat([]*batch{raw}, going, []*batch{folded}) {
		if err := b.wait(); err != nil {
			return err
		}
	}
	for k := range mine {
		for rank, d := range t.Group {
			if x.plan.rank(d) != x.job.rank {
				x.plan.free.put(brought[k][rank])
			}
		}
	}
	return nil
}

// receiveRaw prepares to receive pieces from the devices of other processes. brought has those of all devices, by piece and rank in the group.
func (r *reduction) receiveRaw(mine []span) (brought [][][]byte, coming []*batch) {
	for _, s := range mine {
		b, all := newBatch(r.task), make([][]byte, len(r.t.Group))
		for rank, d := range r.t.Group {
			if p := r.plan.rank(d); p == r.job.rank {
				all[rank] = r.t.Visitors[rank].Operands[s.leaf].Bytes()[s.from:s.to]
			} else {
				all[rank] = r.plan.free.get(s.to - s.from)
				b.receive(r.to.context, p, r.to.tag, all[rank])
			}
		}
		brought, coming = append(brought, all), append(coming, b)
	}
	return brought, coming
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
