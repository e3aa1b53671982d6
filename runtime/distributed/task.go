package distributed

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// task is something that waits for other processes, as reports call it.
type task struct {
	name  string
	count int // which execution of an instruction it is; 0: it is none
	moved atomic.Int64
	noted bool // a long wait was reported; the loop's
}

func newTask(name string, count int) *task {
	w := &task{name: name, count: count}
	w.moves(time.Now())
	return w
}

func (w *task) moves(now time.Time) { w.moved.Store(now.UnixNano()) }

// idle is how long nothing has come.
func (w *task) idle(now time.Time) time.Duration {
	return time.Duration(now.UnixNano() - w.moved.Load())
}

func (w *task) String() string {
	if w.count == 0 {
		return w.name
	}
	return fmt.Sprintf("%s (execution %d)", w.name, w.count)
}

// message is one send or receive.
type message struct {
	receive            bool
	context, peer, tag int
	data               []byte
	batch              *batch
	began              time.Time // if somebody wants to know
}

// batch is messages that are waited for together.
type batch struct {
	task     *task
	messages []message
	second   bool        // the second round of an exchange
	colors   []int       // instead of messages: make a context
	then     func(error) // what the loop does when all messages have been moved, or will not be; may be nil
	left     int         // the loop's
	err      error
	done     chan struct{}
}

func newBatch(w *task) *batch { return &batch{task: w, done: make(chan struct{})} }

func (b *batch) send(context, to, tag int, data []byte) {
	b.messages = append(b.messages, message{context: context, peer: to, tag: tag, data: data, batch: b})
}

func (b *batch) receive(context, from, tag int, into []byte) {
	b.messages = append(b.messages, message{receive: true, context: context, peer: from, tag: tag, data: into, batch: b})
}

// pieceSize bounds a message: lengths are 32-bit numbers in MPI.
const pieceSize = 1 << 30

func (b *batch) sendPieces(context, to, tag int, data []byte) {
	for ; len(data) > 0; data = data[min(len(data), pieceSize):] {
		b.send(context, to, tag, data[:min(len(data), pieceSize)])
	}
}

func (b *batch) receivePieces(context, from, tag int, into []byte) {
	for ; len(into) > 0; into = into[min(len(into), pieceSize):] {
		b.receive(context, from, tag, into[:min(len(into), pieceSize)])
	}
}

// begin hands batches to the loop, which begins their messages in this order.
func (j *Job) begin(batches ...*batch) {
	j.mu.Lock()
	failed := j.failure
	if failed == nil {
		j.queue = append(j.queue, batches...)
	}
	j.mu.Unlock()
	if failed != nil {
		for _, b := range batches {
			b.end(failed)
		}
		return
	}
	j.rouse()
}

// end completes a batch.
func (b *batch) end(err error) {
	b.err = err
	if b.then != nil {
		b.then(err)
	}
	close(b.done)
}

// wait waits for a batch.
func (b *batch) wait() error {
	<-b.done
	return b.err
}

// do carries out a batch. When ctx ends, the job fails: the others would wait for ever.
func (j *Job) do(ctx context.Context, b *batch) error {
	if ctx.Err() != nil {
		j.Fail(context.Cause(ctx))
	}
	defer context.AfterFunc(ctx, func() { j.Fail(fmt.Errorf("%v: %w", b.task, context.Cause(ctx))) })()
	j.begin(b)
	return b.wait()
}
