package runtime

import "sync"

// The return of a function comes after every kernel was attempted: it has run, was skipped, or waits for a value that is being computed. So a call
// that has given streams away to other workers takes back, before it returns, what they have not begun, and waits for what they have.
// It waits only for workers that run a part of what it called, so no cycle of waiting can form. A queue without workers keeps its own order: what was
// given away runs when somebody waits, and nothing runs beside the return.

// attempts are the streams that a call has given away.
type attempts struct {
	mu    sync.Mutex
	idle  sync.Cond     // something has ended, or was given away
	given []*streamTask // in the order in which they were given away; nil where the call has seen that it has begun
	next  int           // the first of them that may not have begun
	left  int           // that have not ended
}

func newAttempts() *attempts {
	a := &attempts{}
	a.idle.L = &a.mu
	return a
}

func (a *attempts) add(t *streamTask) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.given = append(a.given, t)
	a.left++
	a.idle.Broadcast()
}

// begin reports whether t is the caller's to run: no worker has begun it.
func (a *attempts) begin(t *streamTask) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	isFirst := !t.begun
	t.begun = true
	return isFirst
}

func (a *attempts) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left--
	a.idle.Broadcast()
}

// finish returns when every stream has ended, having run those that no worker took, first the one that was given away first.
func (a *attempts) finish() {
	a.mu.Lock()
	for a.left > 0 {
		t := a.untaken()
		if t == nil {
			a.idle.Wait()
			continue
		}
		a.mu.Unlock()
		t.run()
		a.mu.Lock()
	}
	a.mu.Unlock()
}

// untaken is the first stream that has not begun, or nil. a.mu is held.
func (a *attempts) untaken() *streamTask {
	for ; a.next < len(a.given); a.next++ {
		if t := a.given[a.next]; !t.begun {
			return t
		}
		a.given[a.next] = nil
	}
	return nil
}
