package distributed

import (
	"context"
	"encoding/binary"
	"time"
)

// clockRounds is how often a process asks for the time: the answer that came soonest is the best.
const clockRounds = 8

// Clock is what to add to the clock of this process for that of rank 0. All processes call it.
func (j *Job) Clock(ctx context.Context) (ahead time.Duration, err error) {
	if j.rank != 0 {
		return j.askClock(ctx)
	}
	errs := make(chan error, j.size)
	for p := 1; p < j.size; p++ {
		go func() { errs <- j.tellClock(ctx, p) }()
	}
	for p := 1; p < j.size; p++ {
		if e := <-errs; err == nil {
			err = e
		}
	}
	return 0, err
}

func (j *Job) askClock(ctx context.Context) (ahead time.Duration, err error) {
	w := newTask("asking for the time", 0)
	soonest := time.Duration(-1)
	for range clockRounds {
		var there [8]byte
		b := newBatch(w)
		b.send(worldContext, 0, tagClock, []byte{0})
		b.receive(worldContext, 0, tagClock, there[:])
		asked := time.Now()
		if err := j.do(ctx, b); err != nil {
			return 0, err
		}
		if took := time.Since(asked); soonest < 0 || took < soonest {
			soonest = took
			ahead = time.Unix(0, int64(binary.LittleEndian.Uint64(there[:]))).Sub(asked.Add(took / 2))
		}
	}
	return ahead, nil
}

func (j *Job) tellClock(ctx context.Context, to int) error {
	w := newTask("telling the time", 0)
	for range clockRounds {
		b := newBatch(w)
		b.receive(worldContext, to, tagClock, make([]byte, 1))
		if err := j.do(ctx, b); err != nil {
			return err
		}
		var now [8]byte
		binary.LittleEndian.PutUint64(now[:], uint64(time.Now().UnixNano()))
		b = newBatch(w)
		b.send(worldContext, to, tagClock, now[:])
		if err := j.do(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// Transfer is a message to or from another process, for traces.
type Transfer struct {
	Name       string // of the collective, or of whatever else it is for
	Peer       int
	Receive    bool
	Bytes      int
	Begin, End time.Time
}

// WatchTransfers has f called for every message that ends from now on, by the goroutine that moves them.
func (j *Job) WatchTransfers(f func(Transfer)) { j.transfers.Store(&f) }

// moved reports a message that has ended.
func (j *Job) moved(m *message, now time.Time) {
	if f := j.transfers.Load(); f != nil && !m.began.IsZero() {
		(*f)(Transfer{m.batch.task.String(), m.peer, m.receive, len(m.data), m.began, now})
	}
}
