//go:build mpi && linux

package mpi

import (
	"fmt"
	"syscall"

	"github.com/gohalo/halo/runtime/distributed"
)

// Open initialises Open MPI for the process that a launcher has started. All calls of the wire must be made on this thread.
func Open() (distributed.Wire, error) {
	l, err := open()
	if err != nil {
		return nil, err
	}
	// If it fails, the library may end the process instead of returning.
	var provided int32
	if err := l.check("MPI_Init_thread", l.initThread(0, 0, threadMultiple, &provided)); err != nil {
		return nil, err
	}
	if provided < threadFunneled {
		return nil, fmt.Errorf("Open MPI supports no threads (level %d)", provided)
	}
	w := &wire{l: l, contexts: []group{{comm: l.world}}}
	l.commSetErr(l.world, l.errorsReturn)
	var rank, size, flag int32
	var limit *int32
	l.commRank(l.world, &rank)
	l.commSize(l.world, &size)
	if w.maxTag = 1<<15 - 1; l.commGetAttr(l.world, keyTagUB, &limit, &flag) == 0 && flag != 0 {
		w.maxTag = int(*limit)
	}
	w.rank, w.size = int(rank), int(size)
	return w, nil
}

// wire is a [distributed.Wire] of Open MPI.
type wire struct {
	l                  *library
	rank, size, maxTag int
	contexts           []group
	indices            []int32
	words              []uintptr
}

// group is a context: a communicator, and the ranks in it of the processes of the job; none: all of them.
type group struct {
	comm  communicator
	ranks []int32
}

func (w *wire) Rank() int   { return w.rank }
func (w *wire) Size() int   { return w.size }
func (w *wire) MaxTag() int { return w.maxTag }

func (w *wire) Split(colors []int) (int, error) {
	color := int32(undefined)
	if colors[w.rank] >= 0 {
		color = int32(colors[w.rank])
	}
	g := group{ranks: make([]int32, w.size)}
	if err := w.l.check("MPI_Comm_split", w.l.commSplit(w.l.world, color, int32(w.rank), &g.comm)); err != nil {
		return 0, err
	}
	next := int32(0)
	for r, c := range colors {
		if color != undefined && c == int(color) {
			g.ranks[r] = next
			next++
		}
	}
	if color != undefined {
		w.l.commSetErr(g.comm, w.l.errorsReturn)
	}
	w.contexts = append(w.contexts, g)
	return len(w.contexts) - 1, nil
}

// peer is a process as the communicator of a context numbers it.
func (g *group) peer(rank int) int32 {
	if rank == distributed.AnyRank {
		return anySource
	}
	if g.ranks == nil {
		return int32(rank)
	}
	return g.ranks[rank]
}

// start is the address of a message. The memory of Go's heap does not move; the caller keeps it alive.
func start(data []byte) *byte {
	if len(data) == 0 {
		return nil
	}
	return &data[0]
}

func (w *wire) Send(context, to, tag int, data []byte) (distributed.Request, error) {
	g := &w.contexts[context]
	var r uintptr
	err := w.l.check("MPI_Isend", w.l.isend(start(data), int32(len(data)), w.l.typeByte, g.peer(to), int32(tag), g.comm, &r))
	return distributed.Request(r), err
}

func (w *wire) Receive(context, from, tag int, into []byte) (distributed.Request, error) {
	g := &w.contexts[context]
	var r uintptr
	err := w.l.check("MPI_Irecv", w.l.irecv(start(into), int32(len(into)), w.l.typeByte, g.peer(from), int32(tag), g.comm, &r))
	return distributed.Request(r), err
}

func (w *wire) Test(requests []distributed.Request, done []int) ([]int, error) {
	w.words = w.words[:0]
	for _, r := range requests {
		word := uintptr(r)
		if r == distributed.NoRequest {
			word = w.l.requestNull
		}
		w.words = append(w.words, word)
	}
	if cap(w.indices) < len(w.words) {
		w.indices = make([]int32, cap(w.words))
	}
	var n int32
	if err := w.l.check("MPI_Testsome", w.l.testsome(int32(len(w.words)), &w.words[0], &n, &w.indices[:1][0], 0)); err != nil {
		return done, err
	}
	if n == undefined { // all are null
		return done, nil
	}
	for _, i := range w.indices[:n] {
		requests[i] = distributed.NoRequest
		done = append(done, int(i))
	}
	return done, nil
}

func (w *wire) Cancel(r distributed.Request) {
	if word := uintptr(r); r != distributed.NoRequest {
		w.l.cancel(&word)
		w.l.requestFree(&word)
	}
}

func (w *wire) Yield() { _, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) }

func (w *wire) Abort(code int) { w.l.abort(w.l.world, int32(code)) }

func (w *wire) Close() error { return w.l.check("MPI_Finalize", w.l.finalize()) }
