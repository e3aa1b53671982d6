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
	open  []*streamTask // not begun yet
	begun int           // and not ended
}

func newAttempts() *attempts {
	a := &attempts{}
	a.idle.L = &a.mu
	return a
}

func (a *attempts) add(t *streamTask) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = append(a.open, t)
	a.idle.Broadcast()
}

// begin reports whether t is the caller's to run: no worker has begun it.
func (a *attempts) begin(t *streamTask) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, o := range a.open {
		if o == t {
			a.open = append(a.open[:i], a.open[i+1:]...)
			a.begun++
			return true
		}
	}
	return false
}

func (a *attempts) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begun--
	a.idle.Broadcast()
}

// finish returns when every stream has ended, having run those that no worker took, first the one that was given away first.
func (a *attempts) finish() {
	a.mu.Lock()
	for len(a.open) > 0 || a.begun > 0 {
		if len(a.open) == 0 {
			a.idle.Wait()
			continue
		}
		t := a.open[0]
		a.mu.Unlock()
		t.run()
		a.mu.Lock()
	}
	a.mu.Unlock()
}
