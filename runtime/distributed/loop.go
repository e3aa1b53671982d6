package distributed

import (
	"fmt"
	"slices"
	"time"
)

// Contexts and tags that every job has.
const (
	worldContext = 0

	tagControl = 0
	tagCollect = 1
	tagClock   = 2
	firstTag   = 3 // of exchanges in the world's context
)

// loop is the state of the goroutine that talks to the wire.
type loop struct {
	*Job
	requests []Request
	messages []message // of the requests
	finished []int
	open     int // messages that somebody waits for
	control
	watchdog
}

func newLoop(j *Job) *loop {
	l := &loop{Job: j}
	l.heard = make([]time.Time, j.size)
	l.answers = make([]string, j.size)
	l.left = make([]bool, j.size)
	return l
}

// run is the goroutine.
func (l *loop) run() {
	var idle backoff
	l.listen()
	for {
		moved := l.take()
		began := time.Now()
		moved = l.test() || moved
		now := time.Now()
		l.watch(now)
		if done, err := l.leave(now); done {
			l.ended <- err
			return
		}
		// A poll that took long has copied something.
		if l.reserved() {
			l.rest(&idle, moved)
			continue
		}
		idle.wait(l, moved || now.Sub(began) > workingPoll)
	}
}

// take begins what has been queued.
func (l *loop) take() bool {
	l.mu.Lock()
	queue, failure := l.queue, l.failure
	l.queue = nil
	l.mu.Unlock()
	for _, b := range queue {
		if failure != nil {
			b.end(failure)
			continue
		}
		if b.colors != nil {
			var err error
			l.lastSplit, err = l.wire.Split(b.colors)
			b.end(err)
			continue
		}
		b.left = len(b.messages)
		for _, m := range b.messages {
			l.post(m)
		}
		if b.left == 0 {
			b.end(nil)
		}
	}
	if failure != nil && l.open > 0 {
		l.abandon(failure)
	}
	return len(queue) > 0
}

// post begins a message.
func (l *loop) post(m message) {
	var r Request
	var err error
	if m.receive {
		r, err = l.wire.Receive(m.context, m.peer, m.tag, m.data)
	} else {
		r, err = l.wire.Send(m.context, m.peer, m.tag, m.data)
	}
	if err != nil {
		l.fail(m.failed(err), false)
		if m.batch != nil {
			l.open++ // it is abandoned with the others
			l.requests, l.messages = append(l.requests, NoRequest), append(l.messages, m)
		}
		return
	}
	if m.batch != nil {
		l.open++
		if l.transfers.Load() != nil {
			m.began = time.Now()
		}
	}
	l.requests, l.messages = append(l.requests, r), append(l.messages, m)
}

// failed is the error of a message that could not begin.
func (m message) failed(err error) error {
	what := "control messages"
	if m.batch != nil {
		what = m.batch.task.String()
	}
	if m.receive {
		return fmt.Errorf("%s: receiving from rank %d: %w", what, m.peer, err)
	}
	return fmt.Errorf("%s: sending to rank %d: %w", what, m.peer, err)
}

// abandon ends all that is waited for, and reports it. The wire may still write to the memory: it is kept.
func (l *loop) abandon(failure error) {
	for i, w := range l.waits() {
		if i < maxReports {
			l.options.Log(fmt.Sprintf("%v was waiting for %s", w.task, ranks(w.peers)))
		}
	}
	l.open = 0
	for i := range l.messages {
		if b := l.messages[i].batch; b != nil {
			l.messages[i].batch = nil
			if b.left > 0 {
				b.left = 0
				b.end(failure)
			}
		}
	}
}

// test finds out what has been completed.
func (l *loop) test() bool {
	if len(l.requests) == 0 {
		return false
	}
	var err error
	l.finished, err = l.wire.Test(l.requests, l.finished[:0])
	if err != nil {
		l.fail(err, false)
		return false
	}
	if len(l.finished) == 0 {
		return false
	}
	now := time.Now()
	user := false
	slices.Sort(l.finished)
	for _, i := range l.finished {
		m := l.messages[i]
		if b := m.batch; b != nil {
			user = true
			l.open--
			b.task.moves(now)
			l.moved(&m, now)
			if m.receive {
				l.heard[m.peer] = now
			}
			if b.left--; b.left == 0 {
				b.end(nil)
			}
		}
	}
	var letters []message
	for _, i := range slices.Backward(l.finished) { // the last one takes the place of one that is done
		if m := l.messages[i]; m.receive && m.tag == tagControl && m.context == worldContext {
			letters = append(letters, m)
		}
		last := len(l.requests) - 1
		l.requests[i], l.messages[i] = l.requests[last], l.messages[last]
		l.messages[last] = message{}
		l.requests, l.messages = l.requests[:last], l.messages[:last]
	}
	for _, m := range letters {
		l.hear(m.data, now)
	}
	return user
}

// maxReports bounds how many waits are reported.
const maxReports = 8

// A poll that takes longer than this has moved data.
const workingPoll = 10 * time.Microsecond

// backoff is how often the loop polls: at once while messages move, then less and less often, so that computing has the processor. Without
// messages to wait for it polls only for control messages.
type backoff struct {
	fruitless int
	timer     *time.Timer
}

// Yielding is cheap while nobody wants the processor, and waking costs more than the pause between the pieces of a large exchange.
const (
	spins    = 64
	yields   = 4000
	shortest = 20 * time.Microsecond
	longest  = 500 * time.Microsecond
	atRest   = 10 * time.Millisecond
)

// rest is how a loop polls that has processors of its own: it leaves its thread to others of them only. Were it to wait as a goroutine, a thread that
// computes would have to wake it.
func (l *loop) rest(b *backoff, moved bool) {
	switch {
	case moved:
		b.fruitless = 0
	case b.fruitless < spins:
		b.fruitless++
	case l.open > 0:
		l.wire.Yield()
	default:
		nap()
	}
}

func (b *backoff) wait(l *loop, moved bool) {
	var pause time.Duration
	switch {
	case l.open == 0:
		b.fruitless = 0
		if moved {
			return
		}
		pause = atRest
	case moved:
		b.fruitless = 0
		return
	case b.fruitless < spins:
		b.fruitless++
		return
	case b.fruitless < yields:
		b.fruitless++
		l.wire.Yield()
		return
	default:
		b.fruitless++
		pause = min(shortest<<min((b.fruitless-yields)/8, 10), longest)
	}
	if b.timer == nil {
		b.timer = time.NewTimer(pause)
	} else {
		b.timer.Reset(pause)
	}
	select {
	case <-l.wake:
		b.fruitless = 0
		b.timer.Stop()
	case <-b.timer.C:
	}
}
